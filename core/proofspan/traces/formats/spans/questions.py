"""Spans of a tracing tool, in any order, as questions with their stages."""

from __future__ import annotations

import pickle
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from operator import attrgetter
from typing import NamedTuple

from proofspan.traces.formats.spans.traced import Span, questions_of
from proofspan.traces.formats.types import Asked, Cited, Passage, Reading
from proofspan.traces.lines.worker_process import collector_paused

#: About the bytes of spans that are kept in memory; more lie in a temporary file until all are read.
_IN_MEMORY = 32 << 20
#: About the bytes of a span or a value in it besides its text.
_SPAN_SIZE, _VALUE_SIZE = 1_000, 100
#: Most questions at one time among which a span's is looked for.
_MOST_AT_ONCE = 256
#: The fields of a span, which are pickled twice as fast without their names.
_NAMES = tuple(each.name for each in fields(Span))
_values = attrgetter(*_NAMES)
_contents = attrgetter(
    *("question", "answer", "documents", "candidates", "cited", "expected", "gold", "scores", "fields")
)
_contents_of_passage = attrgetter("text", "more")
#: What was odd about the spans of a source: message and remedy by its code.
_NOTES = {
    "repeated": ("spans are in the file more than once and count once", "No action is needed."),
    "other_repeated": ("spans share an id with another span; both are read", "Export the traces again."),
    "no_parent": ("spans name a parent that is not in the file; they count as roots", "Export whole traces."),
    "cycle": ("circles of parents; the earliest span of each counts as a root", "Export the traces again."),
    "outside": ("spans lie in a trace of several questions, but in no question", "No action is needed."),
    "by_time": (
        "spans name neither a parent nor a trace that they share; each was joined to the question that was "
        "asked and answered around its time",
        "Check a few questions, or export the traces with their parents.",
    ),
}


class _Light(NamedTuple):
    """A span as joining by time needs it: seconds, whether it is no question with its answer, its number."""

    start: float
    not_whole: bool
    end: float
    question: str
    number: int


def questions(spans: Iterable[Span], reading: Reading) -> Iterator[Asked]:
    """Yield the questions of spans in any order, by the first span of each trace.

    Where no span names a parent or shares its trace with another, spans are joined by their times. What was
    odd, and a trace without a question, is a problem of `reading`.
    """
    notes: Counter[str] = Counter()
    with tempfile.TemporaryFile() as file:
        held: list[Span] = []  # the first
        room = _IN_MEMORY
        traces: dict[str, array[int]] = {}  # the numbers of each trace's spans
        ends = array("Q", [0])  # where each span after them ends in the file
        linked = False
        with collector_paused():  # what is kept would be searched again and again
            for number, span in enumerate(spans):
                key = span.trace or f"\0{number}"
                linked |= span.parent is not None or key in traces
                traces.setdefault(key, array("Q")).append(number)
                if room > 0:
                    held.append(span)
                    room -= _SPAN_SIZE + _size(_contents(span))
                else:
                    ends.append(ends[-1] + file.write(pickle.dumps(_values(span), pickle.HIGHEST_PROTOCOL)))

        def load(number: int) -> Span:
            if number < len(held):
                return held[number]
            number -= len(held)
            file.seek(ends[number])
            data = file.read(ends[number + 1] - ends[number])
            values = pickle.loads(data)  # noqa: S301 - written above, in a file without a name
            return Span(**dict(zip(_NAMES, values, strict=True)))

        by_time = not linked and len(traces) > 1
        if by_time:
            groups = _by_time((_light(load(each), each) for (each,) in traces.values()), notes)
        else:
            groups = traces.values()
        for group in groups:
            yield from questions_of([*map(load, group)], reading, notes, by_time=by_time)
    for code, count in sorted(notes.items()):
        if count:
            message, fix = _NOTES[code]
            reading.problem(f"spans_{code}", f"{count:,} {message}", "spans", fix, lost=False)


def _size(values: Iterable[object]) -> int:
    """Return about how many bytes values have."""
    size = 0
    for value in filter(None, values):
        size += _VALUE_SIZE
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, list):
            size += _size(value)
        elif isinstance(value, dict):
            size += _size((*value, *value.values()))
        elif isinstance(value, Passage):
            size += _size(_contents_of_passage(value))
        elif isinstance(value, Cited):
            size += _size([value.passage])
    return size


def _light(span: Span, number: int) -> _Light:
    start = span.start if span.start is not None else float("inf")
    end = span.end if span.end is not None else start
    return _Light(start, not span.whole, end, span.question or "", number)


def _by_time(spans: Iterable[_Light], notes: Counter[str]) -> Iterable[Iterable[int]]:
    """Return the numbers of spans by the question with an answer in whose time they lie.

    Of questions at the same time, a span belongs to the one with its own question; if that does not decide,
    to none.
    """
    groups: dict[int, list[int]] = {}
    around: list[_Light] = []
    for span in sorted(spans):
        around = [each for each in around if each.end >= span.start]
        holding = [each for each in around if each.end >= span.end]
        if len(holding) > 1 or not span.not_whole:
            holding = [each for each in holding if each.question == span.question]
        if len(holding) == 1 and span.start < float("inf"):
            notes["by_time"] += 1
            groups[holding[0].number].append(span.number)
            continue
        groups[span.number] = [span.number]
        if not span.not_whole:
            around = [*around[1 - _MOST_AT_ONCE :], span]
    return [groups[number] for number in sorted(groups)]
