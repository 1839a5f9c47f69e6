"""Results of building and querying the index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from proofspan.contracts.records.records import Label, LineIssue, SourceLine, TraceKey
from proofspan.diagnosis.suggest import Suggestion
from proofspan.diagnosis.types import Profile
from proofspan.diagnosis.verdicts.types import Cause, Correct, Grounded
from proofspan.errors import Problem
from proofspan.store.files.checked import CheckedFile
from proofspan.store.files.located import PlacedFile

#: An index is up to date with its files, behind a file that grew (still valid), behind one that changed, or
#: missing.
State = Literal["fresh", "growing", "stale", "missing"]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: bytes of the source done and in all, traces indexed.

    While citations are located: traces done and in all, citations so far; while claims are checked: traces
    done and in all, traces checked so far.
    """

    run_id: str
    done: int
    total: int
    rows: int

    @property
    def estimate(self) -> int:
        """Return about how many traces there are, two digits of it, by the bytes that are done."""
        if not self.done:
            return 0
        traces = self.rows * self.total / self.done
        return int(float(f"{traces:.1e}")) if self.done < self.total else self.rows

    @property
    def share(self) -> float:
        """Return the part that is done, 0–1; 0 while nothing is known."""
        return min(1.0, self.done / self.total) if self.total else 0.0


@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of indexing one run. `was` is its state before, `lines_read` the lines that were read.

    `line_issues` counts the lines that could not be used, `issues` holds the first of them.
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
    """The results of indexing, in the manifest's order of runs."""

    runs: tuple[RunReport, ...]

    @property
    def has_findings(self) -> bool:
        """Return whether any line could not be read or a file has a problem."""
        return any(run.line_issues or run.problems for run in self.runs)


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbours of a question in a list. `position` counts from 1, None if it is not in the list."""

    previous: TraceKey | None
    next: TraceKey | None
    position: int | None
    total: int


@dataclass(frozen=True, slots=True)
class FailureCount:
    """How many of the traces about the same places can be judged, and how many of those fail.

    `about` are those places (see `proofspan.diagnosis.topic`).
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

    @property
    def judged(self) -> int:
        """The number of questions that can be judged in both runs."""
        return self.fixed + self.regressed + self.both + self.neither


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts that are shown beside a run's numbers.

    `traces` counts all, `questions` the headline ones (paraphrase 0, seed 0, one per question), `repeats` the
    duplicates. `line_issues` are lines that could not be read or belong to nothing; `unmatched` of them are
    rows of the report without a trace. `waiting_bytes` belong to an unfinished last line. `from_report`: the
    run has no traces and opens on its stored report. `suggestion` is the profile that would fit where no
    answer follows the template (`template_absent`). `placed` is None while the citations are not located in
    the documents as they are, `checked` while the claims are not checked. `unread_bytes` of the file are
    still to be read: all facts are of the part before them.
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
    placed: PlacedFile | None = None
    checked: CheckedFile | None = None
    unread_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A trace in the index: the place of its line, and its row with all columns."""

    source: SourceLine
    row: Mapping[str, object]


class TraceVerdict(NamedTuple):
    """A trace of a question with its verdicts, as the index has them."""

    paraphrase: int
    seed: int
    repeat: int
    label: Label | None
    grounded: Grounded | None
    correct: Correct | None
    cause: Cause | None
