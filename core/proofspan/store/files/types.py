"""What building and asking the index gives back, as values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.records import LineIssue, SourceLine, TraceKey
from proofspan.diagnosis.suggest import Suggestion
from proofspan.diagnosis.types import Profile
from proofspan.errors import Problem

#: Of an index beside its files: as they are, behind a file that has grown, behind one that changed, none.
State = Literal["fresh", "growing", "stale", "missing"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run's index is: bytes of the source done and in all, traces indexed."""

    run_id: str
    done: int
    total: int
    rows: int


@dataclass(frozen=True, slots=True)
class RunReport:
    """What was done for one run. `was` is its state before, `lines_read` the lines that had to be read.

    `line_issues` counts what could not be used, `issues` holds the first of them.
    """

    run_id: str
    was: State
    reason: str
    rows: int
    lines_read: int
    line_issues: int
    waiting_bytes: int
    problems: tuple[Problem, ...]
    issues: tuple[LineIssue, ...]


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


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A question's place in a list: `position` counts from 1 and is None where the list does not hold it."""

    previous: TraceKey | None
    next: TraceKey | None
    position: int | None
    total: int


@dataclass(frozen=True, slots=True)
class FailureCount:
    """Traces that are about the same places (`about`, see `proofspan.diagnosis.topic`).

    `judged` is how many of them can be judged, `failing` how many of those fail.
    """

    about: tuple[str, ...]
    judged: int
    failing: int


@dataclass(frozen=True, slots=True)
class Flips:
    """How an outcome changed from another run to this one, in questions.

    `fixed`, `regressed`, `both` and `neither` count those that can be judged in both runs: wrong there and
    right here, the reverse, right in both, in neither. `left_out` are in both and cannot be judged in one of
    them; `only_here` the other run does not have, `only_there` this one not.
    """

    fixed: int
    regressed: int
    both: int
    neither: int
    only_here: int
    only_there: int
    left_out: int


@dataclass(frozen=True, slots=True)
class PlacedFacts:
    """What became of a run's citations: how many there are, how many could be looked for, and `counts`.

    `counts` says how many are in which of the `EVIDENCE_STATES`; a citation may be in several.
    """

    citations: int
    placed: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What stands beside a run's numbers.

    `traces` counts all, `questions` the headline ones (paraphrase 0, seed 0, one a question), `repeats` the
    traces that come again. `line_issues` are lines that could not be read or belong to nothing; `unmatched`
    of them are rows of the report without a trace. `waiting_bytes` belong to a last line whose writer may
    still be at work. `from_report`: the run has no traces and opens on its stored report. `suggestion` is the
    profile that would fit where no answer follows the template (`template_absent`). `placed` is None while
    the citations are not located, or no longer as files are now.
    """

    run_id: str
    file: str
    profile: Profile
    traces: int
    questions: int
    repeats: int
    line_issues: int
    unmatched: int
    waiting_bytes: int
    from_report: bool
    problems: tuple[Problem, ...]
    suggestion: Suggestion | None
    placed: PlacedFacts | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A trace in the index: where its line is, and its row with all columns."""

    source: SourceLine
    row: Mapping[str, object]
