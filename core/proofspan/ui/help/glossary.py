"""The glossary: every label, cause, code, metric and term of the product, with what it means.

Help shows it, tooltips lead to it, and docs/glossary.md is written from it:

    python -m proofspan.ui.help.glossary > docs/glossary.md

Meanings come from where pages take them. Only terms without a code of their own are written down here, in
`proofspan.ui.help.terms`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from proofspan.contracts.rules.catalogue import FAMILIES, RULES
from proofspan.diagnosis.messages import (
    CAUSE_MEANINGS,
    CLAIM_MEANINGS,
    GOLD_MEANINGS,
    MEANINGS,
    SUSPICIONS,
)
from proofspan.display_names import NAMES
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.ranked import BUCKET_MEANINGS
from proofspan.services.health.failure_modes import FAILURES
from proofspan.services.health.rule_counts import UNSUPPORTED
from proofspan.services.question.verdict_signs import CORRECT_SIGNS, GROUNDED_SIGNS
from proofspan.services.release import STATE_NAMES
from proofspan.store.files.evidence_states import EVIDENCE
from proofspan.ui.help.terms import DIFFERENCE_MEANINGS, FAMILY_MEANINGS, RELEASE_MEANINGS, TERMS
from proofspan.ui.wording.verdict import CERTAINTIES

_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_OPENING = """# Glossary

The terms of the pages, the commands and the code. Each thing has one name; please use it in messages and
docstrings too. Help, on every page at the key `?`, has the same list.
"""
_ON_SCREEN = """
## On screen

Pages show names for codes. Files, addresses, options and exports keep the code, and a tooltip shows it.
"""


class Entry(NamedTuple):
    """A term with its meaning in plain text; `code` is what files and addresses have for it, "" without one.

    `term` is its key in an address (`help=`) and in `Piece.term`: a kind and the code, such as `label.ok`.
    """

    term: str
    group: str
    name: str
    code: str
    meaning: str


_FINDINGS = tuple(each for each in EVIDENCE.values() if each.code)
#: Kinds of terms with a code: heading, names, meanings.
_CODED: Mapping[str, tuple[str, Mapping[Any, str], Mapping[Any, str]]] = {
    "label": ("Labels", NAMES["label"], MEANINGS),
    "grounded": ("Grounded", NAMES["grounded"], {key: sign.means for key, sign in GROUNDED_SIGNS.items()}),
    "correct": ("Correct", NAMES["correct"], {key: sign.means for key, sign in CORRECT_SIGNS.items()}),
    "cause": ("Causes", NAMES["cause"], CAUSE_MEANINGS),
    "certainty": ("Certainty", {each: each.capitalize() for each in CERTAINTIES}, CERTAINTIES),
    "release": ("Release check", STATE_NAMES, RELEASE_MEANINGS),
    "claim": ("Claims", NAMES["claim"], CLAIM_MEANINGS),
    "difference": ("Differences", NAMES["difference"], DIFFERENCE_MEANINGS),
    "evidence": ("Cited text", NAMES["evidence"], {key: each.meaning for key, each in EVIDENCE.items()}),
    "gold": ("Gold passage", NAMES["gold"], GOLD_MEANINGS),
    "bucket": ("Ranking", NAMES["bucket"], BUCKET_MEANINGS),
    "issue": ("Issues", NAMES["suspicion"], SUSPICIONS),
    "finding": (
        "Findings on answers",
        {**{each.code: each.name for each in _FINDINGS}, "unsupported": "number without evidence"},
        {**{each.code: each.meaning for each in _FINDINGS}, "unsupported": UNSUPPORTED.message},
    ),
    "failure": (
        "Likely causes on Health",
        {each.code: each.message for each in FAILURES},
        {each.code: each.fix.replace("`", "") for each in FAILURES},
    ),
}


@cache
def entries() -> tuple[Entry, ...]:
    """Return all entries in the order in which Help lists them."""
    return (*_coded(), *_metrics(), *_rules(), *_terms())


@cache
def _by_code() -> Mapping[str, str]:
    kinds = ("rule", "issue", "finding")
    return {each.code: each.term for each in reversed(entries()) if each.term.partition(".")[0] in kinds}


def term_of(code: str) -> str:
    """Return the term of a rule, an issue or a finding by its code; "" without an entry."""
    return _by_code().get(code, "")


def _coded() -> Iterator[Entry]:
    for kind, (group, names, meanings) in _CODED.items():
        for code, name in names.items():
            yield Entry(f"{kind}.{code}", group, _titled(name), code, meanings[code])


def _metrics() -> Iterator[Entry]:
    for metric_id, metric in METRICS.items():
        yield Entry(f"metric.{metric_id}", "Metrics", metric.name, metric_id, metric.counted)


def _rules() -> Iterator[Entry]:
    for rule in (*FAMILIES.values(), *RULES.values()):
        meaning = FAMILY_MEANINGS.get(rule.code, rule.meaning)
        yield Entry(f"rule.{rule.code}", "Rules", _titled(rule.title), rule.code, meaning)


def _titled(name: str) -> str:
    """Return a name with a capital; that of a field keeps its letters."""
    title = name.replace("{}", "Field")
    return title if "_" in title.split(" ")[0] else title[:1].upper() + title[1:]


def _terms() -> Iterator[Entry]:
    for group, terms in TERMS.items():
        for name, meaning in terms.items():
            plain = _LINK.sub(r"\1", meaning).replace("`", "").replace("*", "")
            yield Entry(f"term.{name}", group, name, "", f"{plain[:1].upper()}{plain[1:]}.")


def markdown() -> str:
    """Return docs/glossary.md."""
    parts = [_OPENING]
    for group, terms in TERMS.items():
        if group == "Program":
            parts.append(_ON_SCREEN)
            for heading in (heading for heading, *_ in _CODED.values()):
                parts.append(f"\n### {heading}\n\n{_table(heading, 'on screen', 'code')}")
            parts.append(f"\n## Metrics\n\n{_table('Metrics', 'metric', 'id')}")
            parts.append(f"\n## Rules\n\n{_table('Rules', 'rule', 'code')}")
        rows = "".join(f"| {name} | {meaning} |\n" for name, meaning in terms.items())
        parts.append(f"\n## {group}\n\n| term | meaning |\n|---|---|\n{rows}")
    return "".join(parts)


def _table(group: str, name: str, code: str) -> str:
    rows = (
        f"| {each.name} | `{each.code}` | {each.meaning} |\n" for each in entries() if each.group == group
    )
    return f"| {name} | {code} | meaning |\n|---|---|---|\n{''.join(rows)}"


if __name__ == "__main__":
    sys.stdout.write(markdown())
