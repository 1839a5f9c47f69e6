"""The report on a run's bundles, counted as they are built: levels, coverage, and what cannot be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from proofspan.contracts.records.records import Json, LineIssue, TraceKey
from proofspan.errors import Problem
from proofspan.evidence.bundles import LEVELS, Bundle, Level, Origin
from proofspan.evidence.levels import name_of
from proofspan.metrics.statistics import share_in_words, wilson
from proofspan.wording import counted

#: The levels at which a bundle covers its answer.
COVERING: tuple[Level, ...] = ("full", "safety_citation", "citation_only")


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier file of bundles: the keys of all bundles, and the records that have unknown fields.

    `issues` are lines that hold no bundle; rebuilding the file drops them.
    """

    keys: frozenset[TraceKey] = frozenset()
    records: Mapping[TraceKey, Mapping[str, Json]] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()


def counts(key: TraceKey, answer: str, *, is_refusal: bool) -> bool:
    """Return whether a trace is an answered question of its run, which a bundle has to cover."""
    is_headline = (key.paraphrase, key.seed, key.repeat) == (0, 0, 1)
    return is_headline and not is_refusal and bool(answer.strip())


def covers(level: Level, origin: Origin) -> bool:
    """Return whether a bundle covers its answer: a citation of the answer leads to a page that can be shown.

    The closest retrieved passage does not count: it is shown because no citation can be.
    """
    return level in COVERING and origin in ("payload", "answer_text")


@dataclass(slots=True)
class RunReport:
    """The result of building a run's bundles. `unread` are lines of the traces that hold no trace.

    Coverage is the share of answered questions, one trace per question, with a bundle that `covers` its
    answer. Refusals, empty answers, paraphrases, other seeds and repeats do not count. `uncovered_passages`
    counts the answered questions that show the closest retrieved passage, because no citation could be shown.

    By name: `undrawn` attachments cannot be drawn, `odd` ones can but have a problem, `texts` have nothing to
    draw; `documents` cannot be used.
    """

    run_id: str
    levels: Counter[Level] = field(default_factory=Counter)
    passages: int = 0
    answered: int = 0
    covered: int = 0
    uncovered_passages: int = 0
    citation_problems: Counter[str] = field(default_factory=Counter)
    keys: set[TraceKey] = field(default_factory=set)
    unread: list[LineIssue] = field(default_factory=list)
    undrawn: dict[str, Problem] = field(default_factory=dict)
    odd: dict[str, Problem] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    documents: dict[str, Problem] = field(default_factory=dict)

    @property
    def bundles(self) -> int:
        """Return how many bundles were counted."""
        return self.levels.total()

    def add(self, bundle: Bundle) -> None:
        """Count a bundle."""
        self.levels[bundle.level] += 1
        self.passages += bundle.citation_origin == "retrieved"
        if counts(bundle.key, bundle.answer, is_refusal=bundle.is_refusal):
            self.answered += 1
            self.covered += covers(bundle.level, bundle.citation_origin)
            self.uncovered_passages += bundle.citation_origin == "retrieved"
        self.keys.add(bundle.key)
        self.citation_problems.update(each.code for item in bundle.citations for each in item.problems)
        for item in bundle.attachments:
            name = name_of(item.attachment)
            if item.attachment.render_ref is None:
                self.texts.add(name)
            elif item.problem is not None:
                (self.odd if item.drawable else self.undrawn).setdefault(name, item.problem)
        for document in bundle.documents:
            if document.problem is not None:
                self.documents.setdefault(document.doc_id, document.problem)

    def in_words(self) -> str:
        """Return `246 bundles: 244 full, 2 text_only · 52 show the closest retrieved passage`."""
        levels = ", ".join(f"{self.levels[level]:,} {level}" for level in LEVELS if self.levels[level])
        words = counted(self.bundles, "bundle") + (f": {levels}" if levels else "")
        return words + (f" · {self.passages:,} show the closest retrieved passage" if self.passages else "")

    def coverage_in_words(self) -> str:
        """Return `bundle coverage 95 % (82–99 %): 35 of 37 answers have a citation that can be shown`."""
        if not self.answered:
            return "bundle coverage: no question was answered"
        share = share_in_words(self.covered, self.answered)
        count = self.uncovered_passages
        passages = f", {count} only the closest retrieved passage" if count else ""
        of_all = f"{self.covered} of {counted(self.answered, 'answer')} have a citation that can be shown"
        return f"bundle coverage {share}: {of_all}{passages}"

    def coverage(self) -> dict[str, Json]:
        """Return the counts, the share (null if nothing was answered) and its Wilson interval, 0–1."""
        low, high = wilson(self.covered, self.answered)
        share = self.covered / self.answered if self.answered else None
        return {
            "covered": self.covered,
            "answered": self.answered,
            "closest_passages": self.uncovered_passages,
            "share": share,
            "low": low,
            "high": high,
        }

    def problems(self, *, declared: int | None = None, earlier: Earlier | None = None) -> Iterator[Problem]:
        """Yield what has to be fixed (errors and warnings) and what is worth knowing (notes).

        `declared` is how many lines of the traces the manifest lists as unreadable, `earlier` the file that
        was overwritten.
        """
        if len(self.unread) != (declared or 0):
            message = f"{counted(len(self.unread), 'line')} of the traces could not be read"
            message += f", and {declared:,} declared" if declared is not None else ""
            first = self.unread[0] if self.unread else None
            where = f"{first.source.file}:{first.source.line}" if first else ""
            yield Problem("lines_unreadable", message, where, first.fix if first else "correct the manifest")
        for doc_id, problem in self.documents.items():
            yield Problem("document_problem", problem.message, doc_id, problem.fix)
        fix = "proofspan check WORKSPACE lists what is wrong with the catalogue"
        for code, named, what, severity in (
            ("attachments_not_drawn", self.undrawn, "can't be drawn", "error"),
            ("attachments_odd", self.odd, "can be drawn but has a problem", "warning"),
        ):
            for name, problem in islice(named.items(), 1):
                message = f"{counted(len(named), 'attachment')} {what}; first: {name}: {problem.message}"
                yield Problem(code, message, "", fix, severity=severity)
        if self.texts:
            shown = f"{counted(len(self.texts), 'attachment')} shown as text"
            message = f"{shown}: the catalogue names nothing to draw"
            yield Problem("nothing_to_draw", message, severity="note")
        if self.citation_problems:
            codes = ", ".join(f"{count:,} {code}" for code, count in sorted(self.citation_problems.items()))
            yield Problem("citation_problems", f"citations with problems: {codes}", severity="note")
        if earlier is not None and (gone := len(earlier.keys - self.keys)):
            message = f"{counted(gone, 'bundle')} of the earlier file had no trace in the run: left out"
            yield Problem("bundles_left_out", message, severity="warning")
        if earlier is not None and earlier.issues:
            message = f"{counted(len(earlier.issues), 'line')} of the earlier file held no bundle: left out"
            yield Problem("lines_left_out", message, severity="warning")
