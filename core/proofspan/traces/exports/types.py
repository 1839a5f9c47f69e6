"""A format that a run is written in, and the count of what it has a place for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ctypes import c_float
from dataclasses import dataclass, field
from itertools import pairwise
from typing import BinaryIO, NamedTuple

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import index_of, number_of
from proofspan.contracts.records.records import Json, StageName
from proofspan.traces.formats.native import id_by_text
from proofspan.traces.formats.types import Asked, Passage

#: The list that a format with one list holds: what the model saw, else the last one before it.
_LISTS: tuple[StageName, ...] = ("chunks", "reranked", "fused", "retrieved")


class Fact(NamedTuple):
    """Something that a question states: its kind, and its name in messages.

    Kinds are `q_id`, `answer`, `expected`, `answerable`, `run`, `citation`, `field`; `score.number`,
    `score.text` and `score.parts`; and of a passage `text`, `id`, `document`, `page`, `place`, `score` and
    `more`, after `chunks.` for the list that a format with one list holds, `gold.` for what holds the
    expected answer. The other lists are one kind, `stage`, for each of their passages. `review` is a verdict
    or a note of a person.
    """

    kind: str
    name: str


@dataclass(slots=True)
class Writing:
    """The written questions, and how often each fact has a place in the format and how often not."""

    questions: int = 0
    held: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)

    def count(self, asked: Asked, format_: ExportFormat) -> None:
        """Count a question and its facts."""
        self.questions += 1
        holds = format_.holds | format_.stages(asked)
        for kind, name in facts(asked):
            (self.held if kind in holds or name in holds else self.left)[name] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat:
    """A format to write. `files` are the files of a folder, () for a single file.

    `holds` are the kinds of facts that it has a place for, or names of single ones; `stages` returns the
    lists that it holds beside the one that the model saw. `write` writes questions to the opened files in the
    order of `files`; its second argument are all passages of the workspace. `documentation` is a sentence for
    docs: which parts become what.
    """

    name: str
    title: str
    suffix: str
    holds: frozenset[str]
    documentation: str
    write: Callable[[Iterable[Asked], Iterable[Passage], Sequence[BinaryIO]], None]
    files: tuple[str, ...] = ()
    stages: Callable[[Asked], frozenset[str]] = lambda _: frozenset()


def with_ids(asked: Iterable[Asked]) -> Iterator[tuple[str, Asked]]:
    """Yield questions with their ids: of several with the same, the second is `ID#2`.

    Without an id of its own, a question's is made of its text.
    """
    seen: Counter[str] = Counter()
    for each in asked:
        q_id = each.q_id or sha1_8(each.q)
        seen[q_id] += 1
        yield (q_id if seen[q_id] == 1 else f"{q_id}#{seen[q_id]}"), each


def falling_scores(listed: Sequence[Passage]) -> list[float]:
    """Return the scores if they give the list's order, else the number of passages from here to the end.

    Tools for runs ignore ranks. trec_eval 9 orders by score in single precision, then by id, both falling.
    """
    scores = [each.score for each in listed if each.score is not None]
    order = [(c_float(score).value, each.id or "") for score, each in zip(scores, listed, strict=False)]
    if len(scores) == len(listed) and all(first > second for first, second in pairwise(order)):
        return scores
    return [float(len(listed) - place) for place in range(len(listed))]


def grades_of(gold: Iterable[Passage]) -> dict[str, int]:
    """Return the relevance of gold passages by id, 1 where none is known."""
    return {each.id: index_of(each.more.get("relevance")) or 1 for each in gold if each.id}


def context_of(asked: Asked) -> tuple[StageName | None, list[Passage]]:
    """Return the list that a format with one list holds, and its name; None without any."""
    for name in _LISTS:
        if passages := asked.lists.get(name):
            return name, passages
    return None, []


def each_score(scores: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield scores with their names, each of several of one name."""
    for name, value in scores.items():
        for each in value if isinstance(value, list) else (value,):
            yield name, each


def with_numbers(scores: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield the same with names of their own: the second of one name is "NAME 2"."""
    seen: Counter[str] = Counter()
    for name, each in each_score(scores):
        seen[name] += 1
        own = name if seen[name] == 1 else f"{name} {seen[name]}"
        yield own, each


def facts(asked: Asked) -> Iterator[Fact]:
    """Yield everything that a question states beside its text."""
    for name in ("q_id", "answer", "expected", "answerable"):
        if getattr(asked, name) is not None:
            yield Fact(name, name)
    if asked.run:
        yield Fact("run", "run")
    held, _ = context_of(asked)
    for stage, passages in asked.lists.items():
        for passage in passages:
            if stage == held:
                yield from _passage_facts("chunks", stage, passage)
            else:
                yield Fact("stage", stage)
    for passage in asked.gold:
        yield from _passage_facts("gold", "gold", passage)
    for _ in asked.cited:
        yield Fact("citation", "citations")
    for name, value in each_score(asked.scores):
        if isinstance(value, dict):
            if "score" in value:
                yield Fact("score.number", f"scores.{name}")
            yield from (Fact("score.parts", f"scores.{name}.{part}") for part in value if part != "score")
        else:
            yield Fact("score.text" if number_of(value) is None else "score.number", f"scores.{name}")
    for name in asked.fields:
        yield Fact("field", f"fields.{name}")
    for part in ("verdicts", "notes"):
        yield from (Fact("review", f"review.{part}") for _ in asked.review.get(part, ()))


def _passage_facts(kind: str, name: str, passage: Passage) -> Iterator[Fact]:
    is_made = bool(passage.text) and passage.id == id_by_text(passage.document, passage.text or "")
    parts: dict[str, Json] = {
        "text": passage.text or None,
        "id": None if is_made else passage.id,
        "document": passage.document,
        "page": passage.page,
        "score": passage.score,
    }
    yield from (
        Fact(f"{kind}.{part}", f"{name}.{part}") for part, value in parts.items() if value is not None
    )
    place = {
        "section": passage.section,
        "label": passage.label,
        "offsets": passage.offsets,
        "box": passage.box,
    }
    yield from (Fact(f"{kind}.place", f"{name}.{part}") for part, value in place.items() if value is not None)
    yield from (Fact(f"{kind}.more", f"{name}.{part}") for part in passage.more)
