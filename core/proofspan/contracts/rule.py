"""What a rule of the contract is: its code, what it is about, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]
#: What a rule is about; the order in which pages list them.
Group = Literal["reading", "envelope", "citation", "ranking", "parity", "answer", "chunk", "across"]
GROUPS: tuple[Group, ...] = (
    "reading",
    "envelope",
    "citation",
    "ranking",
    "parity",
    "answer",
    "chunk",
    "across",
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the contract.

    `title` is its name in a few words, as a table shows it; `meaning` and `next_step` are one sentence each.
    """

    code: str
    group: Group
    severity: Severity
    title: str
    meaning: str
    next_step: str


def listed(group: Group, code: str, title: str, meaning: str, next_step: str, *, warns: bool = False) -> Rule:
    """One rule of a list; one that `warns` is only recommended."""
    return Rule(code, group, "warning" if warns else "error", title, meaning, next_step)
