"""Ids of an earlier build, as far as redirects lead them to chunks of today.

An id that the chunk file has means the chunk of today, whatever redirects say: only what is absent is led on.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

from proofspan.contracts.chunk_ids.redirects import KINDS, Redirect, RedirectKind
from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import ID_NAMES, id_of, number_of, page_of, text_of
from proofspan.contracts.records.records import (
    Candidate,
    Chunk,
    Citation,
    GoldQuestion,
    Json,
    LineIssue,
    SourceLine,
    Trace,
)
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.lines.tables import read_by_id
from proofspan.traces.records.citations import citation_ids_in_text, payload_of
from proofspan.traces.records.identity import refuse_other_major

V = TypeVar("V")
W = TypeVar("W")

#: An id may be led on through so many builds.
MOST_STEPS = 16


class Redirected(Mapping[str, V]):
    """What ids stand for, those of earlier builds too. It lists, counts and compares only the ids of today.

    `redirects` say of each former id where it leads now.
    """

    __slots__ = ("_former", "_own", "redirects")

    def __init__(
        self, own: Mapping[str, V], former: Mapping[str, V], redirects: Mapping[str, Redirect]
    ) -> None:
        self._own, self._former, self.redirects = own, former, redirects

    def __getitem__(self, chunk_id: str) -> V:
        found = self._own.get(chunk_id)
        return self._former[chunk_id] if found is None else found

    def __contains__(self, chunk_id: object) -> bool:
        return chunk_id in self._own or chunk_id in self._former

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)

    def mapped(self, made: Callable[[V], W]) -> Redirected[W]:
        """The same ids with what is made of each value; what is None is left out."""
        return Redirected(_made(self._own, made), _made(self._former, made), self.redirects)


def mapped(chunks: Mapping[str, V], made: Callable[[V], W | None]) -> Mapping[str, W]:
    """What is made of each chunk, by its id and by former ones; what is None is left out."""
    if isinstance(chunks, Redirected):
        return cast(Redirected[W], chunks.mapped(made))
    return _made(chunks, made)


def _made(values: Mapping[str, V], made: Callable[[V], W | None]) -> dict[str, W]:
    found = ((chunk_id, made(value)) for chunk_id, value in values.items())
    return {chunk_id: value for chunk_id, value in found if value is not None}


def former_ids(chunks: Mapping[str, object]) -> frozenset[str]:
    """The ids of earlier builds that are known."""
    return frozenset(chunks.redirects) if isinstance(chunks, Redirected) else frozenset()


def redirect_of(chunks: Mapping[str, object], chunk_id: str | None) -> Redirect | None:
    """Where an id of an earlier build leads now; None for an id of today and for one that is not known."""
    known = chunks.redirects if isinstance(chunks, Redirected) else {}
    return known.get(chunk_id) if chunk_id is not None else None


def with_redirects(chunks: Mapping[str, Chunk], redirects: Mapping[str, Redirect]) -> Mapping[str, Chunk]:
    """The chunks, found by their former ids too: of one that was split its parts together, in order."""
    former: dict[str, Chunk] = {}
    leading: dict[str, Redirect] = {}
    for old_id in redirects:
        found = None if old_id in chunks else _led(old_id, redirects, chunks)
        if found is not None:
            former[old_id] = _joined(old_id, [chunks[new_id] for new_id in found.new_ids])
            leading[old_id] = found
    return Redirected(chunks, former, leading) if former else chunks


def _led(old_id: str, redirects: Mapping[str, Redirect], chunks: Container[str]) -> Redirect | None:
    """The redirect to chunks of today, through the builds between; None where it leads to none of them."""
    first = redirects[old_id]
    kind, confidence, ids = first.kind, first.confidence, first.new_ids
    for _ in range(MOST_STEPS):
        onward = [redirects[each] for each in ids if each not in chunks and each in redirects]
        if not onward:
            break
        led = {each.old_id: each.new_ids for each in onward}
        ids = tuple(dict.fromkeys(new_id for each in ids for new_id in led.get(each, (each,))))
        kind = _kind_of([kind, *(each.kind for each in onward)], ids)
        confidence *= min(each.confidence for each in onward)
    ids = tuple(each for each in ids if each in chunks)
    return Redirect(old_id, kind, ids, round(confidence, 4)) if ids else None


def _kind_of(kinds: Sequence[RedirectKind], ids: Sequence[str]) -> RedirectKind:
    """What several redirects after each other amount to: the one that changes most."""
    if len(ids) > 1:
        return "split"
    return max((kind for kind in kinds if kind not in ("split", "gone")), key=KINDS.index, default="shift")


def _joined(old_id: str, parts: Sequence[Chunk]) -> Chunk:
    """The parts as one chunk of the former id, at the place and of the revision of the first."""
    today = parse(parts[0].chunk_id)
    rev: dict[str, Json] = {"rev": today.rev} if today is not None else {}
    first = replace(parts[0], chunk_id=old_id, raw={**rev, **parts[0].raw})
    if len(parts) == 1:
        return first
    return replace(first, text="\n\n".join(part.text for part in parts), offsets=None, box=None, hash=None)


def of_today(trace: Trace, chunks: Mapping[str, object], *, wanted: Container[str]) -> Trace:
    """The trace as if it named chunks of today, so that gold of today can be compared with it.

    Of the parts of a split chunk the first that is `wanted` stands for it, else the first.
    """
    if not isinstance(chunks, Redirected):
        return trace
    own = payload_of(trace.raw)
    cited = () if own else citation_ids_in_text(trace.answer)
    today = _Today(chunks.redirects, wanted)
    raw = {name: today.value(value) if name in _LISTING else value for name, value in trace.raw.items()}
    if cited:
        raw["citations"] = [today.id(each) for each in cited]
    return replace(trace, raw=raw, chunk_ids=tuple(map(today.id, trace.chunk_ids)))


#: Where a trace line names chunks.
_LISTING = frozenset({"chunks", "stages", "citations", "segments"})


class _Today:
    """Puts the id of a chunk of today in the place of a former one, wherever an entry or a list names it."""

    def __init__(self, redirects: Mapping[str, Redirect], wanted: Container[str]) -> None:
        self._redirects, self._wanted = redirects, wanted

    def id(self, chunk_id: str) -> str:
        """The id of today; an id that is not led on stays."""
        redirect = self._redirects.get(chunk_id)
        if redirect is None:
            return chunk_id
        return next((each for each in redirect.new_ids if each in self._wanted), redirect.new_ids[0])

    def value(self, value: Json) -> Json:
        """A list of entries or ids, what holds such lists, or an entry."""
        if isinstance(value, list):
            return [self.id(each) if isinstance(each, str) else self.value(each) for each in value]
        if not isinstance(value, dict):
            return value
        chunk_id = id_of(value)
        named = {name: self.id(chunk_id) for name in ID_NAMES if name in value} if chunk_id else {}
        lists = {name: self.value(each) for name, each in value.items() if isinstance(each, list | dict)}
        return {**value, **lists, **named}


def without_former_place(citation: Citation) -> Citation:
    """The citation without the document and section that it has from its id alone."""
    raw, parts = citation.raw, parse(citation.chunk_id or "")
    if parts is None:
        return citation
    is_named = text_of(raw.get("section_id")) is not None or citation.section_id != parts.sect_path
    return replace(
        citation,
        doc_id=citation.doc_id if citation.doc_id != parts.doc_uid else text_of(raw.get("doc_id")),
        section_id=citation.section_id if is_named else None,
    )


def candidate_of_today(candidate: Candidate) -> Candidate:
    """A candidate of a former id with the place that its entry states, and nothing from the id."""
    raw = candidate.raw
    return replace(
        candidate,
        doc_id=text_of(raw.get("doc_id")),
        section_id=text_of(raw.get("section_id")),
        page_idx=page_of(raw)[0],
    )


def gold_of_today(
    questions: Mapping[str, GoldQuestion], chunks: Mapping[str, object]
) -> Mapping[str, GoldQuestion]:
    """The gold questions with ids of today in the place of former ones."""
    if not isinstance(chunks, Redirected):
        return questions
    known = chunks.redirects
    return {
        q_id: replace(question, chunks=_ids_of_today(question.chunks, known))
        if not known.keys().isdisjoint(question.chunks)
        else question
        for q_id, question in questions.items()
    }


def _ids_of_today(ids: Iterable[str], redirects: Mapping[str, Redirect]) -> tuple[str, ...]:
    led = (redirects[each].new_ids if each in redirects else (each,) for each in ids)
    return tuple(dict.fromkeys(new_id for found in led for new_id in found))


def read_redirects(path: Path, *, file: str) -> tuple[dict[str, Redirect], list[LineIssue]]:
    """The redirects of a JSON or JSONL file by their old id, and what is wrong with single lines of it.

    Of several with one old id the last counts. InputFault where the file is missing or none at all.
    """
    return read_by_id(
        path, file=file, record_of=redirect_from, id_of=lambda each: each.old_id, duplicate=_duplicate
    )


def redirect_from(obj: Json) -> Redirect:
    """The redirect of a parsed line. UnusableError where it is none."""
    if not isinstance(obj, dict):
        raise UnusableError("not_an_object", "the redirect is no JSON object", "Write one object a line.")
    refuse_other_major("redirect", obj)
    old_id, kind, new_ids = text_of(obj.get("old_id")), obj.get("kind"), obj.get("new_ids")
    if old_id is None:
        raise UnusableError("old_id_missing", "old_id is missing or no text", "Give the redirect its old_id.")
    if kind not in KINDS:
        raise UnusableError("bad_kind", "kind is no kind of redirect", f"Write one of {', '.join(KINDS)}.")
    if not isinstance(new_ids, list) or not all(isinstance(each, str) and each for each in new_ids):
        raise UnusableError("bad_new_ids", "new_ids is no list of ids", "Write new_ids as a list of texts.")
    confidence = number_of(obj.get("confidence"))
    sure = min(1.0, max(0.0, confidence)) if confidence is not None else 0.0
    return Redirect(old_id, cast(RedirectKind, kind), tuple(map(str, new_ids)), sure)


def _duplicate(redirect: Redirect, earlier: Redirect, source: SourceLine) -> LineIssue:
    where = "the same" if redirect.new_ids == earlier.new_ids else "another"
    return LineIssue.at(
        source=source,
        code="duplicate_old_id",
        message=f"the old id {redirect.old_id!r} came before, to {where} place; the last one counts",
        fix="Write one redirect an old id.",
        excerpt=redirect.old_id[:200],
    )
