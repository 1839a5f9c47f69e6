"""The release gates of a run besides its goals: flips, suspicions, broken rules, lines and drift.

They are the manifest's `gates`. A gate that cannot be understood fails the run, as a misspelt name would let
everything pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from proofspan.contracts.records.records import LABELS
from proofspan.contracts.rules.catalogue import RULES, is_known, rule_of
from proofspan.diagnosis.messages import SUSPICIONS
from proofspan.errors import Problem
from proofspan.metrics.goals import Goal, read_goals
from proofspan.metrics.ranked import BUCKETS

Column = Literal["label", "bucket"]

DRIFT = "generation_drift"
#: The suspicions of questions; `template_absent` is one of a whole run.
OF_QUESTIONS = tuple(name for name in SUSPICIONS if name != "template_absent")
#: The states of a question in a run by column.
STATES: Mapping[Column, tuple[str, ...]] = {"label": LABELS, "bucket": BUCKETS}
_KEYS = ("flips", "suspicions", "codes", "line_issues", DRIFT)


@dataclass(frozen=True, slots=True)
class FlipRule:
    """A rule that at most `most` questions may change from `was` in the baseline to one of `now`.

    `allow` are questions that may change. `was` and `now` are labels or buckets, as `column` says.
    """

    was: str
    now: tuple[str, ...]
    allow: frozenset[str] = frozenset()
    most: int = 0
    column: Column = "label"


#: The rules of a manifest without `flips`.
DEFAULT_FLIPS = (FlipRule("ok", ("retrieval_drift", DRIFT)),)


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of a workspace.

    `suspicions` and `codes` map each to the number of questions that may have it, `line_issues` is the number
    of lines that may be unreadable beyond the declared ones, `drift` a threshold on generation_drift.
    """

    flips: tuple[FlipRule, ...] = DEFAULT_FLIPS
    suspicions: Mapping[str, int] = field(default_factory=dict)
    codes: Mapping[str, int] = field(default_factory=dict)
    line_issues: int = 0
    drift: Goal | None = None


def read_gates(given: Mapping[str, Any], *, where: str = "gates") -> tuple[Gates, tuple[Problem, ...]]:
    """Read the gates of a manifest that its schema accepts; return them and the problems of the rest.

    `where` names the place of `given`.
    """
    goals, problems = ({}, ()) if DRIFT not in given else read_goals({DRIFT: given[DRIFT]}, where=where)
    rules, suspicions, codes = given.get("flips"), given.get("suspicions", {}), given.get("codes", {})
    unknown = [_unknown("gate", name, _KEYS, where) for name in given if name not in _KEYS]
    flips = []
    for number, entry in enumerate(rules or ()):
        rule = _rule(entry, f"{where}.flips[{number}]")
        if isinstance(rule, FlipRule):
            flips.append(rule)
        else:
            unknown += rule
    unknown += [
        _unknown("suspicion", name, OF_QUESTIONS, f"{where}.suspicions")
        for name in suspicions
        if name not in OF_QUESTIONS
    ]
    unknown += [_unknown_code(code, f"{where}.codes") for code in codes if not _is_of_traces(code)]
    gates = Gates(
        flips=DEFAULT_FLIPS if rules is None else tuple(flips),
        suspicions={name: int(most) for name, most in suspicions.items() if name in OF_QUESTIONS},
        codes={code: int(most) for code, most in codes.items() if _is_of_traces(code)},
        line_issues=int(given.get("line_issues", 0)),
        drift=goals.get(DRIFT),
    )
    return gates, (*problems, *unknown)


def _rule(entry: Mapping[str, Any], where: str) -> FlipRule | list[Problem]:
    """Return a rule, or its problems: its states have to be all labels or all buckets."""
    now, states = tuple(dict.fromkeys(entry["to"])), dict.fromkeys([entry["from"], *entry["to"]])
    for column, known in STATES.items():
        if states.keys() <= set(known):
            return FlipRule(
                entry["from"], now, frozenset(entry.get("allow", ())), int(entry.get("most", 0)), column
            )
    either = (*LABELS, *BUCKETS)
    message = f"`{entry['from']}` → `{', '.join(entry['to'])}` mixes labels and buckets"
    mixed = Problem("gate_mixed", message, where, "write one rule for labels and one for buckets")
    return [_unknown("label or bucket", each, either, where) for each in states if each not in either] or [
        mixed
    ]


def _unknown(kind: str, name: str, known: Sequence[str], where: str) -> Problem:
    fix = _nearest(name, known) or f"name one of {', '.join(known)}"
    return Problem(f"unknown_{kind.split()[0]}", f"`{name[:80]}` is not a {kind}", where, fix)


def _is_of_traces(code: str) -> bool:
    """True if a trace can break the rule: rules of chunks or of a file's bytes are no question's."""
    return is_known(code) and rule_of(code).group not in ("chunk", "reading")


def _unknown_code(code: str, where: str) -> Problem:
    if is_known(code):
        message = f"`{code}` is not a rule for questions, so the gate would always pass"
        return Problem("unknown_code", message, where, "check the files with `proofspan validate`")
    fix = _nearest(code, tuple(RULES)) or "name one that Health shows, or `missing_` and a field's name"
    return Problem("unknown_code", f"`{code[:80]}` is not a code of the contract", where, fix)


def _nearest(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"write `{near[0]}`" if near else ""
