"""The codes of the contract: what each means and what to do next.

The rules are those of docs/requirements.md: the traceability contract, the data contracts and the chunk id
schema. A code is a stable snake_case name. Some are families: `missing_rev` is the code of `missing_` and the
field `rev`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from proofspan.contracts.rule import GROUPS, Group, Rule, listed
from proofspan.contracts.rules_of_content import OF_CONTENT
from proofspan.contracts.rules_of_form import OF_FORM

#: Families: prefix → (group, title, meaning, next step), each with the field's name put in for `{}`.
_FAMILIES: Mapping[str, tuple[Group, str, str, str]] = {
    "missing_": (
        "citation",
        "{} missing",
        "The record has no {}, which the contract asks for.",
        "Carry {} on in the adapter that writes the record.",
    ),
    "empty_": (
        "citation",
        "{} empty",
        "The record's {} holds nothing, as an adapter's default does.",
        "Let the adapter fail where it has no {}, instead of writing an empty one.",
    ),
    "wrong_type_": (
        "citation",
        "{} of the wrong type",
        "The record's {} is not of the type that its schema says.",
        "Write {} as the schema in data/schemas says.",
    ),
    "bad_": (
        "citation",
        "{} not allowed",
        "The record's {} is a value that its schema does not allow.",
        "Write {} as the schema in data/schemas says.",
    ),
}
#: Members of families that are only recommended.
_RECOMMENDED = frozenset({"missing_text_normalized"})
_ENVELOPE = frozenset({"schema_version", "event", "ts", "trace_id", "agent_id", "mem_rev", "mem_hash"})

#: Every code but those of families.
RULES: Mapping[str, Rule] = {each.code: each for each in (*OF_FORM, *OF_CONTENT)}
_PLACES: Mapping[str, int] = {code: place for place, code in enumerate(RULES)}


def is_of_family(code: str) -> bool:
    """Whether a code says of a field that it is missing, empty, of the wrong type or not allowed."""
    return code not in RULES and code.startswith(tuple(_FAMILIES))


@lru_cache(maxsize=1 << 10)
def rule_of(code: str) -> Rule:
    """The rule of a code; of one that nobody here knows, a rule that says so."""
    if (rule := RULES.get(code)) is not None:
        return rule
    for prefix, (group, title, meaning, next_step) in _FAMILIES.items():
        field = code.removeprefix(prefix)
        if field and field != code:
            where: Group = "envelope" if field in _ENVELOPE else group
            filled = (words.replace("{}", field) for words in (title, meaning, next_step))
            return listed(where, code, *filled, warns=code in _RECOMMENDED)
    return listed("across", code, code.replace("_", " "), f"{code} is not one of this program's codes.", "")


def is_known(code: str) -> bool:
    """Whether a code is one of this program's, listed or of a family."""
    return code in RULES or any(code.startswith(prefix) and len(code) > len(prefix) for prefix in _FAMILIES)


def in_order(codes: Iterable[str]) -> list[str]:
    """The codes, each once: errors before warnings, then by group, the listed ones first, then by name."""
    return list(_in_order(frozenset(codes)))


@lru_cache(maxsize=1 << 12)
def _in_order(codes: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(codes, key=_order))


def _order(code: str) -> tuple[bool, int, int, str]:
    rule = rule_of(code)
    place = _PLACES.get(code, len(_PLACES))
    return rule.severity == "warning", GROUPS.index(rule.group), place, code
