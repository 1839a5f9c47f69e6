"""What may go wrong, said so that a person can act: what happened, where, and what to do next.

Every error that reaches a person is a `Fault`. The command line prints its three parts and the pages show
them in a panel; a traceback is for a defect of ours and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


def printable(text: str) -> str:
    """`text` for a terminal: control characters as escapes, so that it cannot act on the screen."""
    return "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in text)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with the input, as data: it can be listed, counted and shown.

    `code` is a stable snake_case name, `message` one sentence, `where` names the file (and line or key),
    `fix` says what to do next, a command where there is one. `severity` is "error", "warning" or "note":
    a note is what is as it should be, and worth knowing.
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
    """Input that cannot be used. Carries the `Problem`s that say why; the command line exits with 2."""

    def __init__(self, *problems: Problem) -> None:
        if not problems:
            raise ValueError("a Fault needs at least one Problem")
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems: tuple[Problem, ...] = problems

    @classmethod
    def of(cls, code: str, message: str, *, where: str = "", fix: str = "") -> Self:
        """A fault with a single problem."""
        return cls(Problem(code, message, where, fix))


class ManifestFault(Fault):
    """The workspace's manifest cannot be read or names things that cannot be used."""


class InputFault(Fault):
    """A file given to a command cannot be used at all (single bad lines are `LineIssue`s instead)."""


class EvidenceFault(Fault):
    """A document or a page cannot be opened, placed or drawn."""


class StoreFault(Fault):
    """The index cannot be built, opened or queried."""
