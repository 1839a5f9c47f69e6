"""What building the index takes and gives back, as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.errors import Problem
from core.store.plan import State


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run's index is: bytes of the source done and in all, traces indexed."""

    run_id: str
    done: int
    total: int
    rows: int


@dataclass(frozen=True, slots=True)
class RunReport:
    """What was done for one run. `was` is its state before, `lines_read` the lines that had to be read."""

    run_id: str
    was: State
    reason: str
    rows: int
    lines_read: int
    line_issues: int
    waiting_bytes: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What was done, run by run in the manifest's order."""

    runs: tuple[RunReport, ...]

    @property
    def has_findings(self) -> bool:
        """Whether any line could not be read or anything else is wrong."""
        return any(run.line_issues or run.problems for run in self.runs)


@dataclass(frozen=True, slots=True)
class IndexState:
    """Whether a run's index can be used: fresh, growing (valid, but lines came), stale or missing."""

    state: State
    reason: str


OnProgress = Callable[[Progress], None]
