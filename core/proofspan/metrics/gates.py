"""What a run has to pass besides its goals: flips that may not be, suspicions, broken rules, lines, drift.

Read out of the manifest's `gates`. A gate that cannot be understood is a problem, and whoever judges fails
the run over it: a misspelt name would let everything pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from proofspan.contracts.records.records import LABELS
from proofspan.contracts.rules.catalogue import RULES, is_known, rule_of
from proofspan.diagnosis.messages import SUSPICIONS
from proofspan.errors import Problem
from proofspan.metrics.goals import Goal, read_goals
from proofspan.metrics.ranked import BUCKETS

DRIFT = "generation_drift"
#: The suspicions that questions carry; `template_absent` is one of a whole run, and its labels show it.
OF_QUESTIONS = tuple(name for name in SUSPICIONS if name != "template_absent")
#: What a question can be in a run, by the column that says so.
STATES: Mapping[Literal["label", "bucket"], tuple[str, ...]] = {"label": LABELS, "bucket": BUCKETS}


@dataclass(frozen=True, slots=True)
class FlipRule:
    """Questions that were `was` in the baseline may not become one of `now`, but for `most` of them.

    `allow` are questions that may. `was` and `now` are labels or buckets, as `column` says.
    """

    was: str
    now: tuple[str, ...]
    allow: frozenset[str] = frozenset()
    most: int = 0
    column: Literal["label", "bucket"] = "label"


#: Where the manifest says nothing of flips.
DEFAULT_FLIPS = (FlipRule("ok", ("retrieval_drift", DRIFT)),)


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of a workspace. `suspicions` says how many questions may have which, `codes` how many may
    break which rule of the contract, `line_issues` how many lines may be unreadable beyond the declared ones;
    `drift` is a threshold on the share of generation_drift.
    """

    flips: tuple[FlipRule, ...] = DEFAULT_FLIPS
    suspicions: Mapping[str, int] = field(default_factory=dict)
    codes: Mapping[str, int] = field(default_factory=dict)
    line_issues: int = 0
    drift: Goal | None = None


def read_gates(given: Mapping[str, Any], *, where: str = "gates") -> tuple[Gates, tuple[Problem, ...]]:
    """The gates of a manifest that its schema accepts, and what in them cannot be understood.

    `where` names the place of `given`. What is not understood is left out of the gates.
    """
    drift, problems = _drift(given, where)
    rules = given.get("flips")
    flips = DEFAULT_FLIPS if rules is None else tuple(_rule(entry) for entry in rules if _is_known(entry))
    suspicions, codes = given.get("suspicions", {}), given.get("codes", {})
    gates = Gates(
        flips=flips,
        suspicions={name: int(most) for name, most in suspicions.items() if name in OF_QUESTIONS},
        codes={code: int(most) for code, most in codes.items() if _is_of_traces(code)},
        line_issues=int(given.get("line_issues", 0)),
        drift=drift,
    )
    unknown = [
        *(_unknown("gate", name, _KEYS, where) for name in given if name not in _KEYS),
        *(
            problem
            for place, entry in enumerate(rules or ())
            for problem in _odd(entry, f"{where}.flips[{place}]")
        ),
        *(
            _unknown("suspicion", name, OF_QUESTIONS, f"{where}.suspicions")
            for name in suspicions
            if name not in OF_QUESTIONS
        ),
        *(_unknown_code(code, f"{where}.codes") for code in codes if not _is_of_traces(code)),
    ]
    return gates, (*problems, *unknown)


_KEYS = ("flips", "suspicions", "codes", "line_issues", DRIFT)


def _drift(given: Mapping[str, Any], where: str) -> tuple[Goal | None, tuple[Problem, ...]]:
    if DRIFT not in given:
        return None, ()
    goals, problems = read_goals({DRIFT: given[DRIFT]}, where=where)
    return goals.get(DRIFT), problems


def _column(states: Sequence[str]) -> Literal["label", "bucket"] | None:
    """What all of the names are; None where they are not all labels or all buckets."""
    return next((column for column, known in STATES.items() if set(states) <= set(known)), None)


def _is_known(entry: Mapping[str, Any]) -> bool:
    return _column([entry["from"], *entry["to"]]) is not None


def _rule(entry: Mapping[str, Any]) -> FlipRule:
    now = tuple(dict.fromkeys(entry["to"]))
    column = _column([entry["from"], *now]) or "label"
    return FlipRule(entry["from"], now, frozenset(entry.get("allow", ())), int(entry.get("most", 0)), column)


def _odd(entry: Mapping[str, Any], where: str) -> Iterator[Problem]:
    """What keeps a rule from being one."""
    states = [entry["from"], *entry["to"]]
    known = (*LABELS, *BUCKETS)
    unknown = [state for state in states if state not in known]
    yield from (_unknown("label or bucket", state, known, where) for state in dict.fromkeys(unknown))
    if not unknown and _column(states) is None:
        message = f"`{entry['from']}` → `{', '.join(entry['to'])}` mixes labels and buckets"
        yield Problem("gate_mixed", message, where, "write one rule for labels and one for buckets")


def _unknown(kind: str, name: str, known: Sequence[str], where: str) -> Problem:
    fix = _nearest(name, known) or f"name one of {', '.join(known)}"
    return Problem(f"unknown_{kind.split()[0]}", f"`{name[:80]}` is no {kind}", where, fix)


def _is_of_traces(code: str) -> bool:
    """Whether a trace may break the rule: one of chunks, or of a file's bytes, no question ever breaks."""
    return is_known(code) and rule_of(code).group not in ("chunk", "reading")


def _unknown_code(code: str, where: str) -> Problem:
    if is_known(code):
        said = f"`{code}` is no code of a question: the gate would always pass"
        return Problem("unknown_code", said, where, "hold the files to it with `proofspan validate`")
    fix = _nearest(code, tuple(RULES)) or "name one that Health shows, or `missing_` and a field's name"
    return Problem("unknown_code", f"`{code[:80]}` is no code of the contract", where, fix)


def _nearest(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"write `{near[0]}`" if near else ""
