"""The spans of one trace: their tree, and the questions that they make with their stages."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from operator import itemgetter
from typing import Literal

from proofspan.contracts.records.records import Json, StageName
from proofspan.traces.formats.types import Asked, Cited, Passage, Reading

SpanKind = Literal["chain", "retriever", "reranker", "llm", "embedding", "tool", "evaluator"]
#: Whose question is a trace's: of the kinds beside each other the outermost, and at one depth the first kind.
_ASKING: tuple[tuple[SpanKind, ...], ...] = (("chain", "retriever", "reranker"), ("llm",), ("embedding",))


@dataclass(slots=True, kw_only=True)
class Span:
    """A step of a trace, in one form for all tools.

    `place` is its place in the source for messages. `trace` and `id` are the source's own; a span without a
    trace has "". `parent` is None for a root. `kind` decides what its texts are: `question` is the text that
    a chain, retriever or reranker was asked (for an llm its last user message), `answer` the text that it
    gave. `documents` are the passages that it returned, the best first, and `candidates` those that a
    reranker was given. `start` and `end` are seconds of one clock. `expected`, `gold`, `cited` and `scores`
    are as in `Asked`. `fields` become fields of the question: the outermost span's count, and of spans side
    by side the first.
    """

    place: str
    trace: str
    id: str
    parent: str | None = None
    kind: SpanKind = "chain"
    name: str = ""
    start: float | None = None
    end: float | None = None
    question: str | None = None
    answer: str | None = None
    documents: list[Passage] = field(default_factory=list)
    candidates: list[Passage] = field(default_factory=list)
    cited: list[Cited] = field(default_factory=list)
    expected: str | None = None
    gold: list[Passage] = field(default_factory=list)
    scores: dict[str, Json] = field(default_factory=dict)
    fields: dict[str, Json] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether this span alone has a question and its answer, as the outermost of a pipeline has."""
        return self.kind == "chain" and bool(self.question) and self.answer is not None


#: A span with its depth below the outermost span of its question, from 0.
Step = tuple[Span, int]


def questions_of(
    spans: Sequence[Span], reading: Reading, notes: Counter[str], *, by_time: bool = False
) -> Iterator[Asked]:
    """Yield the questions of the spans of one trace: mostly one.

    A root without a question over several whole spans that have documents, as a run over a data set has, is
    as many questions. Parents are found by containing times with `by_time`. `notes` counts what was odd:
    "repeated", "other_repeated", "no_parent", "cycle", "outside". A trace without a question is a problem.
    """
    tree = _Tree(spans, notes, by_time=by_time)
    groups, above = tree.questions()
    inside = [[*tree.below(group)] for group in groups]
    notes["outside"] += len(tree.spans) - len(above) - sum(map(len, inside))
    for group in inside:
        asked = _asked([(tree.spans[each], depth) for each, depth in group])
        for each in above:
            asked.fields = tree.spans[each].fields | asked.fields
        if asked.q.strip():
            yield asked
        else:
            count = len(tree.spans)
            reading.lost += count - 1
            message = f"its {count:,} spans hold no question" if count > 1 else "is a span without a question"
            reading.problem("no_question", message, asked.place, "Export whole traces with their inputs.")


class _Tree:
    """The spans of a trace, the earliest first, with their parents and children by position."""

    def __init__(self, spans: Iterable[Span], notes: Counter[str], *, by_time: bool) -> None:
        ordered = sorted(spans, key=lambda span: (span.start is None, span.start or 0.0, -(span.end or 0.0)))
        self.spans: list[Span] = []
        first: dict[str, int] = {}
        for span in ordered:
            known = first.setdefault(span.id, len(self.spans)) if span.id else len(self.spans)
            if known != len(self.spans):
                same = replace(span, place="") == replace(self.spans[known], place="")
                notes["repeated" if same else "other_repeated"] += 1
                if same:
                    continue
            self.spans.append(span)
        self.parents = self._by_time() if by_time else self._by_ids(first, notes)
        self.children: list[list[int]] = [[] for _ in self.spans]
        for number, parent in enumerate(self.parents):
            if parent is not None:
                self.children[parent].append(number)
        self.roots = [number for number, parent in enumerate(self.parents) if parent is None]

    def _by_ids(self, first: dict[str, int], notes: Counter[str]) -> list[int | None]:
        parents: list[int | None] = []
        may_have_cycle = False
        for number, span in enumerate(self.spans):
            parent = None if span.parent is None else first.get(span.parent)
            parents.append(parent)
            if parent is None:
                notes["no_parent"] += span.parent is not None
            elif parent >= number:
                may_have_cycle = True
        if not may_have_cycle:  # mostly
            return parents
        rooted = [parent is None for parent in parents]
        for number in range(len(parents)):
            way: dict[int, None] = {}
            at: int | None = number
            while at is not None and not rooted[at] and at not in way:
                way[at] = None
                at = parents[at]
            if at is not None and not rooted[at]:  # a cycle: its earliest span is taken as a root
                cycle = list(way)[list(way).index(at) :]
                parents[min(cycle)] = None
                notes["cycle"] += 1
            for each in way:
                rooted[each] = True
        return parents

    def _by_time(self) -> list[int | None]:
        parents: list[int | None] = []
        around: list[int] = []
        for number, span in enumerate(self.spans):
            while around and (self.spans[around[-1]].end or 0.0) < (span.end or 0.0):
                around.pop()
            parents.append(around[-1] if around else None)
            around.append(number)
        return parents

    def below(self, tops: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Yield spans and all below them with their depth, parents first, the earliest first."""
        waiting = [(top, 0) for top in reversed([*tops])]
        while waiting:
            number, depth = waiting.pop()
            yield number, depth
            if below := self.children[number]:
                waiting += [(child, depth + 1) for child in reversed(below)]

    def questions(self) -> tuple[list[list[int]], list[int]]:
        """Return the outermost spans of each question, and the spans above all questions."""
        level, above = self.roots, list[int]()
        while True:
            if len(level) != 1:
                complete = [each for each in level if self.spans[each].whole and self._has_documents(each)]
                if len({self.spans[each].question for each in complete}) > 1:
                    return [[each] for each in complete], above
                return [self.roots], []
            if self.spans[level[0]].question:
                return [self.roots], []
            above.append(level[0])
            level = self.children[level[0]]

    def _has_documents(self, top: int) -> bool:
        return any(self.spans[each].documents for each, _ in self.below([top]))


def _asked(steps: Sequence[Step]) -> Asked:
    """Return the question of spans with their depths, parents first."""
    first = steps[0][0]
    working = _cut(steps, _evaluates, tops=False)
    by_depth = [span for span, _ in sorted(working, key=itemgetter(1))]
    cited: list[Cited] = []
    gold: list[Passage] = []
    expected: str | None = None
    fields: dict[str, Json] = {}
    for span in reversed(by_depth):  # the outermost counts
        fields |= span.fields
        cited, gold = span.cited or cited, span.gold or gold
        expected = expected if span.expected is None else span.expected
    asked = Asked(
        place=f"trace {first.trace}" if first.trace else first.place,
        q=_question(working) or "",
        answer=_answer(by_depth, [span for span, depth in working if depth == 0]),
        lists=_lists(working),
        cited=cited,
        expected=expected,
        gold=gold,
        fields=fields,
    )
    if first.trace:
        asked.fields.setdefault("trace_id", first.trace)
    if (ts := _iso(first.start)) is not None:
        asked.fields.setdefault("ts", ts)
    if first.start is not None and first.end is not None and first.end >= first.start:
        asked.fields.setdefault("latency_ms", round((first.end - first.start) * 1000, 3))
    for span, _ in steps:
        for name, score in span.scores.items():
            if asked.scores.setdefault(name, score) != score:
                asked.scores.setdefault(f"{name} ({span.name or span.id})", score)
    return asked


def _iso(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return None


def _cut(steps: Iterable[Step], cut: Callable[[Span], bool], *, tops: bool) -> list[Step]:
    """Return the steps without those below one that is cut, and without that one unless `tops`."""
    kept: list[Step] = []
    deepest: int | None = None
    for span, depth in steps:
        if deepest is not None and depth > deepest:
            continue
        deepest = depth if cut(span) else None
        if deepest is None or tops:
            kept.append((span, depth))
    return kept


def _question(steps: Sequence[Step]) -> str | None:
    """Return the question of the outermost chain or retriever, else of a model or an embedding."""
    for kinds in _ASKING:
        asking = [
            (depth, kinds.index(span.kind), span.question)
            for span, depth in steps
            if span.kind in kinds and span.question
        ]
        if asking:
            return min(asking, key=lambda each: each[:2])[2]
    return None


def _answer(by_depth: Sequence[Span], roots: Sequence[Span]) -> str | None:
    """Return what the outermost span answered, else the last model, else the outermost chain."""
    for span in roots:
        if span.whole:
            return span.answer
    models = [span for span in by_depth if span.kind == "llm" and span.answer]
    if models:
        return sorted(models, key=lambda span: span.end or span.start or 0.0)[-1].answer
    return next((span.answer for span in by_depth if span.kind == "chain" and span.answer), None)


def _lists(steps: Sequence[Step]) -> dict[StageName, list[Passage]]:
    """Return the stages of retrieval: what was retrieved, fused and reranked, and what is left at the end.

    Of retrievers in each other, the innermost retrieved and the outermost gave the result.
    """
    lists: dict[StageName, list[Passage]] = {}
    holding = [span for span, _ in steps if span.documents]
    if len(holding) < 2 and not any(map(_reranks, holding)):  # mostly
        return {"chunks": _merged([holding[0].documents])} if holding else {}
    rerankers = [span for span, _ in _cut(steps, _reranks, tops=True) if _reranks(span)]
    retrievers = _cut(steps, _retrieves, tops=True)
    outer = [span for span, _ in retrievers if _retrieves(span)]
    inner = [
        span
        for number, (span, depth) in enumerate(steps)
        if _retrieves(span) and not _deeper(steps, number, depth)
    ]
    if not outer and not rerankers:
        outer = inner = [span for span, _ in _cut(steps, _has_documents, tops=True) if span.documents]
    final, retrieved = _merged(span.documents for span in outer), _merged(span.documents for span in inner)
    retrieved = retrieved or _merged(span.candidates for span in rerankers[:1])
    reranked = _merged(span.documents for span in _last_of_each(rerankers, inner))
    if reranked:
        lists = {"retrieved": retrieved, "reranked": reranked}
    elif _keys(final) != _keys(retrieved):
        lists = {"retrieved": retrieved, "fused": final}
    lists["chunks"] = reranked or final
    return {name: passages for name, passages in lists.items() if passages}


def _evaluates(span: Span) -> bool:
    return span.kind == "evaluator"


def _retrieves(span: Span) -> bool:
    return span.kind == "retriever" and bool(span.documents)


def _reranks(span: Span) -> bool:
    return span.kind == "reranker" and bool(span.documents)


def _has_documents(span: Span) -> bool:
    return bool(span.documents)


def _deeper(steps: Sequence[Step], number: int, depth: int) -> bool:
    """Return whether a retriever lies below the step at `number`."""
    for span, below in islice(steps, number + 1, None):
        if below <= depth:
            return False
        if _retrieves(span):
            return True
    return False


def _last_of_each(rerankers: Sequence[Span], retrievers: Sequence[Span]) -> list[Span]:
    """Return the last reranker after each retrieval: an agent that searches again reranks again."""
    searches = [span.start for span in retrievers if span.start is not None]
    rounds: dict[int, Span] = {}
    for span in rerankers:
        rounds[bisect_right(searches, span.start) if span.start is not None else 0] = span
    return [*rounds.values()]


def _merged(lists: Iterable[list[Passage]]) -> list[Passage]:
    found: dict[str, Passage] = {}
    for passages in lists:
        for passage in passages:
            found.setdefault(_key(passage), passage)
    return [*found.values()]


def _keys(passages: Iterable[Passage]) -> list[str]:
    return [_key(passage) for passage in passages]


def _key(passage: Passage) -> str:
    return f"id {passage.id}" if passage.id else f"text {passage.text}"
