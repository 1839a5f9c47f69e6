"""Chunk ids of an earlier build, resolved through redirects to the chunks of the current one.

Only ids that the chunk file does not have are redirected.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from itertools import chain
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
    Trace,
)
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.lines.tables import read_by_id
from proofspan.traces.records.citations import payload_of
from proofspan.traces.records.identity import record_from

V = TypeVar("V")
W = TypeVar("W")

#: The keys of a trace line that name chunks.
_LISTING = frozenset({"chunks", "stages", "citations", "segments"})
#: How many redirects in a row an id may follow.
MOST_STEPS = 16


class Redirected(Mapping[str, V]):
    """Values by chunk id, earlier ids too. Iteration, length and comparison cover the current ids only.

    `redirects` has the redirect of each earlier id.
    """

    __slots__ = ("_former", "_own", "redirects")

    def __init__(
        self, own: Mapping[str, V], former: Mapping[str, V], redirects: Mapping[str, Redirect]
    ) -> None:
        self._own, self._former, self.redirects = own, former, redirects

    def __getitem__(self, chunk_id: str) -> V:
        value = self._own.get(chunk_id)
        return self._former[chunk_id] if value is None else value

    def __contains__(self, chunk_id: object) -> bool:
        return chunk_id in self._own or chunk_id in self._former

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


def mapped(chunks: Mapping[str, V], made: Callable[[V], W | None]) -> Mapping[str, W]:
    """Return `made` of each chunk, by its current and earlier ids, without those that are None."""

    def each(values: Mapping[str, V]) -> dict[str, W]:
        pairs = ((chunk_id, made(value)) for chunk_id, value in values.items())
        return {chunk_id: value for chunk_id, value in pairs if value is not None}

    if isinstance(chunks, Redirected):
        return Redirected(each(chunks._own), each(chunks._former), chunks.redirects)
    return each(chunks)


def redirects_of(chunks: Mapping[str, object]) -> Mapping[str, Redirect]:
    """Return the redirects of the chunks by earlier id; no current or unknown id is among them."""
    return chunks.redirects if isinstance(chunks, Redirected) else {}


def with_redirects(chunks: Mapping[str, Chunk], redirects: Mapping[str, Redirect]) -> Mapping[str, Chunk]:
    """Return the chunks, found by their earlier ids too; the parts of a split chunk as one, in order.

    A chunk under an earlier id is at the place and of the revision of its first part.
    """
    former: dict[str, Chunk] = {}
    leading: dict[str, Redirect] = {}
    for old_id in redirects:
        if old_id in chunks or (redirect := _followed(old_id, redirects, chunks)) is None:
            continue
        parts = [chunks[new_id] for new_id in redirect.new_ids]
        current = parse(parts[0].chunk_id)
        rev: dict[str, Json] = {"rev": current.rev} if current is not None else {}
        chunk = replace(parts[0], chunk_id=old_id, raw={**rev, **parts[0].raw})
        if len(parts) > 1:
            text = "\n\n".join(part.text for part in parts)
            chunk = replace(chunk, text=text, offsets=None, box=None, hash=None)
        former[old_id], leading[old_id] = chunk, redirect
    return Redirected(chunks, former, leading) if former else chunks


def _followed(old_id: str, redirects: Mapping[str, Redirect], chunks: Container[str]) -> Redirect | None:
    """Return the redirect to current chunks, through the builds between; None if it leads to none."""
    first = redirects[old_id]
    kind, confidence, ids = first.kind, first.confidence, first.new_ids
    for _ in range(MOST_STEPS):
        onward = [redirects[each] for each in ids if each not in chunks and each in redirects]
        if not onward:
            break
        led = {each.old_id: each.new_ids for each in onward}
        ids = tuple(dict.fromkeys(new_id for each in ids for new_id in led.get(each, (each,))))
        kinds = [kind, *(each.kind for each in onward)]
        changes = (each for each in kinds if each not in ("split", "gone"))
        kind = "split" if len(ids) > 1 else max(changes, key=KINDS.index, default="shift")  # the greatest
        confidence *= min(each.confidence for each in onward)
    ids = tuple(each for each in ids if each in chunks)
    return Redirect(old_id, kind, ids, round(confidence, 4)) if ids else None


def of_today(trace: Trace, chunks: Mapping[str, object], *, wanted: Container[str]) -> Trace:
    """Return the trace with current chunk ids, so that it can be compared with current gold.

    A split chunk is replaced by its first part that is `wanted`, else by its first part.
    """
    if not isinstance(chunks, Redirected):
        return trace
    redirects = chunks.redirects

    def current(chunk_id: str) -> str:
        redirect = redirects.get(chunk_id)
        if redirect is None:
            return chunk_id
        return next((each for each in redirect.new_ids if each in wanted), redirect.new_ids[0])

    def updated(value: Json) -> Json:
        """Return a list of entries or ids, an object with such lists, or an entry, with current ids."""
        if isinstance(value, list):
            return [current(each) if isinstance(each, str) else updated(each) for each in value]
        if not isinstance(value, dict):
            return value
        chunk_id = id_of(value)
        named = {name: current(chunk_id) for name in ID_NAMES if name in value} if chunk_id else {}
        lists = {name: updated(each) for name, each in value.items() if isinstance(each, list | dict)}
        return {**value, **lists, **named}

    raw = {name: updated(value) if name in _LISTING else value for name, value in trace.raw.items()}
    if trace.ids_in_text and not trace.payload:
        raw["citations"] = [current(each) for each in trace.ids_in_text]
    chunk_ids = tuple(map(current, trace.chunk_ids))
    return replace(trace, raw=raw, chunk_ids=chunk_ids, payload=payload_of(raw, trace.block))


def without_former_place(citation: Citation) -> Citation:
    """Return the citation without the document and section that only its id states."""
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
    """Return the candidate with the place that its entry states, without that of its id."""
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
    """Return the gold questions with current chunk ids."""
    if not isinstance(chunks, Redirected):
        return questions
    redirects = chunks.redirects
    current = dict(questions)
    for q_id, question in questions.items():
        if not redirects.keys().isdisjoint(question.chunks):
            ids = (redirects[each].new_ids if each in redirects else (each,) for each in question.chunks)
            grades = {
                now: grade
                for each, grade in question.grades.items()
                for now in (redirects[each].new_ids if each in redirects else (each,))
            }
            chunks_now = tuple(dict.fromkeys(chain.from_iterable(ids)))
            current[q_id] = replace(question, chunks=chunks_now, grades=grades)
    return current


def read_redirects(path: Path, *, file: str) -> tuple[dict[str, Redirect], list[LineIssue]]:
    """Return the redirects of a JSON or JSONL file by their old id, and the issues of single lines.

    Of several with one old id the last counts. Raises InputFault if the file cannot be read at all.
    """
    return read_by_id(path, file=file, record_of=redirect_from, id_name="old_id")


def redirect_from(obj: Json) -> Redirect:
    """Return the redirect of a parsed line. Raises UnusableError."""
    obj = record_from("redirect", obj)
    old_id, kind, new_ids = text_of(obj.get("old_id")), obj.get("kind"), obj.get("new_ids")
    if old_id is None:
        raise UnusableError("old_id_missing", "old_id is missing or no text", "Give the redirect its old_id.")
    if kind not in KINDS:
        raise UnusableError("bad_kind", "kind is not a kind of redirect", f"Write one of {', '.join(KINDS)}.")
    if not isinstance(new_ids, list) or not all(isinstance(each, str) and each for each in new_ids):
        raise UnusableError(
            "bad_new_ids", "new_ids is not a list of ids", "Write new_ids as a list of texts."
        )
    confidence = number_of(obj.get("confidence"))
    sure = min(1.0, max(0.0, confidence)) if confidence is not None else 0.0
    return Redirect(old_id, cast(RedirectKind, kind), tuple(map(str, new_ids)), sure)
