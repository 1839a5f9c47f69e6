"""The registry of rules: what each code means and how to fix it, registered together with its check.

A check is decorated with the rules that it reports, and with the types of records on which it runs:

    @checks("chunk")
    @Rule("hash_mismatch", "chunk", "hash is not the text's", meaning="…", fix="…")
    def hash_problems(record, context):
        if …:
            yield problem("hash_mismatch", "hash", "hash is …, the text's is …")

`problem` accepts registered codes only, so no code exists without its text, and no text without a check.
Other packages add rules in the same way, through the entry point group `proofspan.rules`. The rules
themselves are those of docs/requirements.md: the traceability contract, the data contracts and the chunk id
schema. Some codes are families: `missing_rev` is `missing_` and the field `rev`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import entry_points
from typing import Any, Literal, TypeVar, get_args

from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.context import Context
from proofspan.errors import Problem

Severity = Literal["error", "warning"]
#: What a rule is about, in the order in which pages list rules.
Group = Literal["reading", "envelope", "citation", "ranking", "parity", "answer", "chunk", "across"]
GROUPS: tuple[Group, ...] = get_args(Group)

#: A check of one record: the parsed object, and what else is known about its run.
Check = Callable[[Mapping[str, Json], Context], Iterable[Problem]]
#: An entry of a list by its position from 1, and a problem whose `where` is relative to the entry.
Placed = tuple[int, Problem]
_Checking = TypeVar("_Checking", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the contract, which decorates a check that reports it.

    `title` is its name in a few words, as a table shows it; `meaning` and `fix` are one sentence each. A
    record that breaks a rule with the severity "warning" only misses a recommendation.
    """

    code: str
    group: Group
    title: str
    meaning: str
    fix: str
    severity: Severity = "error"

    def __call__(self, check: _Checking) -> _Checking:
        """Register the rule of a check. ValueError if its code is taken."""
        register(self)
        return check


#: All rules by code, except those of families.
RULES: dict[str, Rule] = {}
#: Record type → the checks that run on each of its records.
CHECKS: dict[str, list[Check]] = {}


def checks(*record_types: str) -> Callable[[_Checking], _Checking]:
    """Run the decorated check on each record of these types."""

    def decorate(check: _Checking) -> _Checking:
        for record_type in record_types:
            CHECKS.setdefault(record_type, []).append(check)
        return check

    return decorate


def register(rule: Rule) -> None:
    """Register a rule that a check reports. ValueError for a code that is taken."""
    if RULES.setdefault(rule.code, rule) != rule:
        raise ValueError(f"two rules have the code {rule.code}")


def load_plugins() -> None:
    """Import the modules that other packages name under the entry point group `proofspan.rules`."""
    for entry in entry_points(group="proofspan.rules"):
        try:
            entry.load()
        except Exception as error:
            warnings.warn(f"the rules of {entry.value} cannot be loaded: {error!r}", stacklevel=2)


#: Prefix of a family → its rule, with `{}` for the field's name.
FAMILIES: Mapping[str, Rule] = {
    rule.code: rule
    for rule in (
        Rule(
            "missing_",
            "citation",
            "{} missing",
            "The record has no {}, which the contract requires.",
            "Pass {} on in the adapter that writes the record.",
        ),
        Rule(
            "empty_",
            "citation",
            "{} empty",
            "The record's {} is empty, as an adapter's default is.",
            "Let the adapter fail when it has no {}, instead of writing an empty one.",
        ),
        Rule(
            "wrong_type_",
            "citation",
            "{} of the wrong type",
            "The record's {} does not have the type that its schema requires.",
            "Write {} as the schema in data/schemas requires.",
        ),
        Rule(
            "bad_",
            "citation",
            "{} not allowed",
            "The record's {} has a value that its schema does not allow.",
            "Write {} as the schema in data/schemas requires.",
        ),
    )
}
#: The groups of rules about the form of records: other tools' records follow forms of their own.
_LOGGING: frozenset[Group] = frozenset({"envelope", "citation", "ranking", "parity"})
#: Members of families that are only recommended.
_RECOMMENDED = frozenset({"missing_text_normalized", "missing_vector"})
_ENVELOPE = frozenset({"schema_version", "event", "ts", "trace_id", "agent_id", "mem_rev", "mem_hash"})


def is_of_logging(code: str) -> bool:
    """True if a rule is about how this contract logs, not about what the logged facts say."""
    return rule_of(code).group in _LOGGING and code != "duplicate_candidate"


def is_of_family(code: str) -> bool:
    """True if a code says that a field is missing, empty, of the wrong type or not allowed."""
    return code not in RULES and any(code.startswith(prefix) and code != prefix for prefix in FAMILIES)


def is_known(code: str) -> bool:
    """True if a code is registered or belongs to a family."""
    return code in RULES or is_of_family(code)


@lru_cache(maxsize=1 << 10)
def rule_of(code: str) -> Rule:
    """Return the rule of a code; for an unknown code, which an older index may hold, one that says so."""
    if (rule := RULES.get(code)) is not None:
        return rule
    for prefix, family in FAMILIES.items():
        field = code.removeprefix(prefix)
        if field and field != code:
            return Rule(
                code,
                "envelope" if field in _ENVELOPE else family.group,
                family.title.replace("{}", field),
                family.meaning.replace("{}", field),
                family.fix.replace("{}", field),
                "warning" if code in _RECOMMENDED else "error",
            )
    return Rule(code, "across", code.replace("_", " "), f"{code} is not one of this program's codes.", "")


def problem(code: str, where: str, message: str) -> Problem:
    """Return the breach of a rule at the place `where` of a record, such as `citations[2].offsets`.

    List positions count from 1; "" is the record as a whole. KeyError for a code that no rule has.
    """
    rule = rule_of(code)
    if not rule.fix:
        raise KeyError(code)
    return Problem(code, message, where, rule.fix, rule.severity)


#: `problem` of a message that names no value of the record: made once, since many records may have it.
plain_problem = cache(problem)


@cache
def missing(field: str) -> Problem:
    """Return the problem of a record without a field that the contract names."""
    return problem(f"missing_{field}", field, f"{field} is missing")


@dataclass(frozen=True, slots=True)
class Finding(Problem):
    """A problem of one record: `where` is the place inside the record, as `problem` has it.

    `record_id` is the record's own id or question, `line` its 1-based line in `file`, 0 if not known.
    """

    record_id: str = ""
    file: str = ""
    line: int = 0


def finding(breach: Problem, record_id: str, file: str = "", line: int = 0) -> Finding:
    """Return a breach as the finding of a record."""
    return Finding(
        breach.code, breach.message, breach.where, breach.fix, breach.severity, record_id, file, line
    )


def finding_of(code: str, where: str, message: str, record_id: str) -> Finding:
    """Return the breach of a rule by the record `record_id`; the rest as `problem` has it."""
    return finding(problem(code, where, message), record_id)


def inside(place: str, breach: Problem) -> Problem:
    """Return a problem of an entry as seen from the record that holds the entry at `place`."""
    separator = "." if breach.where and not breach.where.startswith("[") else ""
    return replace(breach, where=f"{place}{separator}{breach.where}")


def in_order(codes: Iterable[str]) -> list[str]:
    """Return the distinct codes: errors before warnings, then by group, registered ones first, by name."""
    return list(_in_order(frozenset(codes)))


@lru_cache(maxsize=1 << 12)
def _in_order(codes: frozenset[str]) -> tuple[str, ...]:
    places = {code: place for place, code in enumerate(RULES)}

    def order(code: str) -> tuple[bool, int, int, str]:
        rule = rule_of(code)
        return rule.severity == "warning", GROUPS.index(rule.group), places.get(code, len(places)), code

    return tuple(sorted(codes, key=order))
