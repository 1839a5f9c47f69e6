"""Problems with the input: what happened, where, and how to fix it.

Every error that reaches a person is a `Fault`. The command line prints its problems and the pages show them
in a panel; a traceback is a bug of Proofspan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self, TypeVar


def printable(text: str) -> str:
    """Return `text` with its control characters escaped, so that it cannot act on a terminal."""
    return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with the input.

    `code` is a stable snake_case name, `message` one sentence, `where` the file (and line or key), `fix` what
    to do next, with a command if there is one. `severity` is "error", "warning" or "note"; a note needs no
    action.
    """

    code: str
    message: str
    where: str = ""
    fix: str = ""
    severity: str = "error"

    def __str__(self) -> str:
        parts = [f"{self.where}: {self.message}" if self.where else self.message]
        if self.fix:
            parts.append(self.fix)
        return printable(" — ".join(parts))


class Fault(Exception):  # noqa: N818 - the input is at fault, not the program
    """Input that cannot be used, with the `Problem`s that say why. The command line exits with 2."""

    def __init__(self, *problems: Problem) -> None:
        if not problems:
            raise ValueError("a Fault needs at least one Problem")
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems: tuple[Problem, ...] = problems

    @classmethod
    def of(cls, code: str, message: str, *, where: str = "", fix: str = "") -> Self:
        """Return a fault with a single problem."""
        return cls(Problem(code, message, where, fix))


Item = TypeVar("Item")
Result = TypeVar("Result")


def for_all(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Apply a function to every item. Raises one InputFault with the problems of all items that fail."""
    results: list[Result] = []
    problems: list[Problem] = []
    for item in items:
        try:
            results.append(function(item))
        except Fault as fault:
            problems += fault.problems
    if problems:
        raise InputFault(*problems)
    return results


class ManifestFault(Fault):
    """The workspace's manifest cannot be read, or names something that cannot be used."""


class InputFault(Fault):
    """A file given to a command cannot be used at all (a single bad line is a `LineIssue`)."""


class EvidenceFault(Fault):
    """A document cannot be opened, or a page cannot be located or rendered."""


class StoreFault(Fault):
    """The index cannot be built, opened or queried."""
