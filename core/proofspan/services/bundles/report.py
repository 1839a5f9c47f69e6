"""What became of a run's bundles, counted as they are built: levels, coverage, what can't be shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from proofspan.contracts.records.records import Json, LineIssue
from proofspan.errors import Problem
from proofspan.evidence.bundles import LEVELS, Bundle, BundleProblem, Level
from proofspan.evidence.levels import name_of
from proofspan.metrics.statistics import share_in_words, wilson

Key = tuple[str, int, int, int]

#: The levels at which a bundle covers its answer.
COVERING: tuple[Level, ...] = ("full", "safety_citation", "citation_only")


@dataclass(frozen=True, slots=True)
class Built:
    """A bundle and its line, with the line end."""

    bundle: Bundle
    line: bytes


@dataclass(frozen=True, slots=True)
class Earlier:
    """What stands where the bundles are to be written: keys of all bundles, and the records with more fields.

    `issues` are lines that are no bundle; writing the file anew leaves them out.
    """

    keys: frozenset[Key] = frozenset()
    records: Mapping[Key, Mapping[str, Json]] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()


def counts(key: Key, answer: str, *, is_refusal: bool) -> bool:
    """Whether a trace is an answered question of its run, which a bundle has to cover."""
    return key[1:] == (0, 0, 1) and not is_refusal and bool(answer.strip())


@dataclass(slots=True)
class Coverage:
    """Bundles at `citation_only` or better of the answered questions, one a question.

    A refusal, an empty answer, a paraphrase, another seed and a repeat do not count. `passages` are those of
    the covered that show the closest retrieved passage, since no citation could be shown.
    """

    covered: int = 0
    answered: int = 0
    passages: int = 0

    def add(self, bundle: Bundle) -> None:
        """Count a bundle."""
        key = (bundle.q_id, bundle.paraphrase, bundle.seed, bundle.repeat)
        if not counts(key, bundle.answer, is_refusal=bundle.is_refusal):
            return
        self.answered += 1
        if bundle.level in COVERING:
            self.covered += 1
            self.passages += bundle.citation_origin == "retrieved"

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson interval of the share, 0–1."""
        return wilson(self.covered, self.answered)

    def in_words(self) -> str:
        """`bundle coverage 95 % (82–99 %): 35 of 37 answered questions at citation_only or better`."""
        if not self.answered:
            return "bundle coverage: no question was answered"
        share = share_in_words(self.covered, self.answered)
        passages = f", {self.passages} by the closest retrieved passage" if self.passages else ""
        counted = f"{self.covered} of {self.answered} answered questions at citation_only or better"
        return f"bundle coverage {share}: {counted}{passages}"

    def to_json(self) -> dict[str, Json]:
        """The same as plain data; the share is null where nothing was answered."""
        low, high = self.interval
        share = self.covered / self.answered if self.answered else None
        counts = {"covered": self.covered, "answered": self.answered, "closest_passages": self.passages}
        return {**counts, "share": share, "low": low, "high": high}


@dataclass(slots=True)
class RunReport:
    """What building a run's bundles came to. `unread` are lines of the traces that hold no trace.

    `undrawn`, `odd` and `documents` say why an attachment can't be drawn, what is wrong with one that can,
    and why a document can't be used, by their names; `texts` are attachments that name nothing to draw.
    """

    run_id: str
    levels: Counter[Level] = field(default_factory=Counter)
    passages: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    citation_problems: Counter[str] = field(default_factory=Counter)
    keys: set[Key] = field(default_factory=set)
    unread: list[LineIssue] = field(default_factory=list)
    undrawn: dict[str, BundleProblem] = field(default_factory=dict)
    odd: dict[str, BundleProblem] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    documents: dict[str, BundleProblem] = field(default_factory=dict)

    @property
    def bundles(self) -> int:
        """How many there are."""
        return self.levels.total()

    def add(self, bundle: Bundle) -> None:
        """Count a bundle."""
        self.levels[bundle.level] += 1
        self.passages += bundle.citation_origin == "retrieved"
        self.coverage.add(bundle)
        self.keys.add((bundle.q_id, bundle.paraphrase, bundle.seed, bundle.repeat))
        self.citation_problems.update(each.code for item in bundle.citations for each in item.problems)
        for item in bundle.attachments:
            if item.render_ref is None:
                self.texts.add(name_of(item))
            elif item.problem is not None:
                told = self.odd if item.drawable else self.undrawn
                told.setdefault(name_of(item), item.problem)
        for document in bundle.documents:
            if document.problem is not None:
                self.documents.setdefault(document.doc_id, document.problem)

    def in_words(self) -> str:
        """`246 bundles: 244 full, 2 text_only · 52 show the closest retrieved passage`."""
        counted = ", ".join(f"{self.levels[level]:,} {level}" for level in LEVELS if self.levels[level])
        words = f"{self.bundles:,} bundle{'s' * (self.bundles != 1)}" + (f": {counted}" if counted else "")
        return words + (f" · {self.passages:,} show the closest retrieved passage" if self.passages else "")

    def problems(self, *, declared: int | None = None, earlier: Earlier | None = None) -> list[Problem]:
        """What is to be mended (errors), and what is worth knowing (notes).

        `declared` lines of the traces are known to hold no trace; `earlier` is what stood in the file before.
        """
        found = [*self._unread(declared), *self._not_shown()]
        if self.citation_problems:
            told = ", ".join(f"{count:,} {code}" for code, count in sorted(self.citation_problems.items()))
            found.append(Problem("citation_problems", f"citations with problems: {told}", severity="note"))
        return [*found, *(self._left_out(earlier) if earlier is not None else ())]

    def _unread(self, declared: int | None) -> Iterator[Problem]:
        if len(self.unread) != (declared or 0):
            said = f"{len(self.unread):,} line{'s' * (len(self.unread) != 1)} of the traces could not be read"
            said += f", and {declared:,} declared" if declared is not None else ""
            first = self.unread[0] if self.unread else None
            where = f"{first.source.file}:{first.source.line}" if first else ""
            yield Problem("lines_unreadable", said, where, first.fix if first else "correct the manifest")

    def _not_shown(self) -> Iterator[Problem]:
        for doc_id, problem in self.documents.items():
            yield Problem("document_problem", problem.message, doc_id, problem.remedy)
        fix = "proofspan check WORKSPACE lists what is wrong with the catalogue"
        if self.undrawn:
            said = f"{_attachments(self.undrawn)} can't be drawn; {_first(self.undrawn)}"
            yield Problem("attachments_not_drawn", said, "", fix)
        if self.odd:
            said = f"{_attachments(self.odd)} can be drawn, but not all is right; {_first(self.odd)}"
            yield Problem("attachments_odd", said, "", fix, severity="warning")
        if self.texts:
            said = f"{_attachments(self.texts)} shown as text: the catalogue names nothing to draw"
            yield Problem("nothing_to_draw", said, severity="note")

    def _left_out(self, earlier: Earlier) -> Iterator[Problem]:
        """What stood in the file before and is not written again."""
        gone, unread = len(earlier.keys - self.keys), len(earlier.issues)
        if gone:
            said = f"{gone:,} bundle{'s' * (gone != 1)} of the earlier file belonged to no trace of the run"
            yield Problem("bundles_left_out", f"{said}: left out", severity="warning")
        if unread:
            said = f"{unread:,} line{'s' * (unread != 1)} of the earlier file held no bundle: left out"
            yield Problem("lines_left_out", said, severity="warning")


def _attachments(names: Collection[str]) -> str:
    return f"{len(names):,} attachment{'s' * (len(names) != 1)}"


def _first(problems: Mapping[str, BundleProblem]) -> str:
    name, problem = next(iter(problems.items()))
    return f"first: {name}: {problem.message}"
