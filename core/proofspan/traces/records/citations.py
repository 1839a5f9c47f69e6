"""The citations of an answer: its payload, else the ids in its text.

The payload may be in the text as well, in an auditable answer block. The traceability contract
(docs/requirements.md) asks the model for a block: `{"citations": […], "answer": "…", "ΔS": 0.37, "λ":
"convergent"}`. Models write it bare or in a fence, with prose around it; so it is looked for wherever an
object begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import orjson

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import (
    DELTA_S_NAMES,
    ID_NAMES,
    LAMBDA_NAMES,
    box_of,
    first_of,
    id_of,
    index_of,
    lambda_of,
    number_of,
    page_of,
    span_of,
    text_of,
)
from proofspan.contracts.records.records import AnswerBlock, Chunk, Citation, Json, Trace
from proofspan.traces.lines.reader import MAX_DEPTH, is_deeper

#: An answer without this has no block, which settles it for nearly all of them.
MARK = '"citations"'
#: How many beginnings of objects are tried: each failure costs a pass over the text before it.
MOST_TRIES = 100

_OPENING = re.compile(r'\{\s*"')
_DECODER = json.JSONDecoder()
# The reference's reading, in two steps: one pattern up to the closing bracket takes quadratic time on an
# answer that opens many lists and closes none.
_CITATIONS = re.compile(r"citations\s*:\s*\[", re.IGNORECASE)
#: What `_citation` reads of a candidate's entry.
_ENTRY_NAMES = (*ID_NAMES, "doc_id", "section_id", "page_idx", "page", "page_label")
_BETWEEN_IDS = re.compile(r"[,\s]+")


def citation_ids_in_text(answer: str) -> tuple[str, ...]:
    """Return the ids of the first `citations: [id, id]` in an answer, repeats included."""
    opening = _CITATIONS.search(answer) if "]" in answer else None
    if opening is None:
        return ()
    end = answer.find("]", opening.end())
    return tuple(filter(None, _BETWEEN_IDS.split(answer[opening.end() : end]))) if end >= 0 else ()


def auditable_block(answer: str) -> AnswerBlock | None:
    """Return the first block of an answer's text: `citations` a list, `answer` a text; None without one.

    The time is linear in the length of the text. A block after `MOST_TRIES` other objects is not found.
    """
    if MARK not in answer:
        return None
    place = 0
    for _ in range(MOST_TRIES):
        opening = _OPENING.search(answer, place)
        if opening is None:
            return None
        start = opening.start()
        try:
            _, place = _DECODER.raw_decode(answer, start)
        except json.JSONDecodeError as error:
            # An object that opened in between and did not end fails at the same place, unless it begins with
            # the quote that ended the last string. So no text is read more than a few times.
            last = answer.rfind("{", start + 1, error.pos)
            place = last if last >= 0 else max(start + 1, error.pos)
            continue
        except (RecursionError, ValueError):  # far too deep, or a number with thousands of digits
            return None
        try:  # by the rules for every record
            obj = orjson.loads(answer[start:place])
        except (orjson.JSONDecodeError, UnicodeEncodeError):  # NaN, a lone surrogate
            continue
        is_block = isinstance(obj.get("citations"), list) and isinstance(obj.get("answer"), str)
        if is_block and not is_deeper(obj, MAX_DEPTH):
            return AnswerBlock(
                citations=tuple(obj["citations"]),
                answer=obj["answer"],
                delta_s=number_of(first_of(obj, DELTA_S_NAMES)),
                lambda_state=lambda_of(first_of(obj, LAMBDA_NAMES)),
                start=start,
                end=place,
                keys=tuple(obj),
            )
    return None


def payload_of(raw: Mapping[str, Json], block: AnswerBlock | None) -> Sequence[Json]:
    """Return the citation payload of a trace line, unchanged.

    It is the line's own `citations`, else those of its `segments`, else those of the block in its answer.
    """
    own = raw.get("citations")
    if isinstance(own, list) and own:
        return own
    segments = raw.get("segments")
    if isinstance(segments, list):
        lists = [part.get("citations") for part in segments if isinstance(part, dict)]
        if items := [item for each in lists if isinstance(each, list) for item in each]:
            return items
    return block.citations if block is not None else ()


def line_payload(raw: Mapping[str, Json]) -> Sequence[Json]:
    """Return the citation payload of a line that has not been read as a trace."""
    answer = raw.get("answer")
    return payload_of(raw, auditable_block(answer) if isinstance(answer, str) else None)


def citations(trace: Trace) -> tuple[Citation, ...]:
    """Return the trace's citations, numbered from 1 by place; entries without a target leave a gap.

    The ids in the answer's text count only without a payload. Fields that a citation does not state are taken
    from the candidate of the same id, then from the id's own parts.
    """
    return _citations(trace.payload, trace.ids_in_text, trace.raw)


def cited_record(trace: Trace) -> bytes | None:
    """Return what the trace's citations are read from, as JSON for `recorded_citations`; None without any."""
    named = {_named(item) for item in trace.payload} if trace.payload else trace.ids_in_text
    if not named:
        return None
    entries = [
        {name: entry[name] for name in _ENTRY_NAMES if name in entry}
        for entry in _entries_by_id(trace.raw, named).values()
    ]
    return orjson.dumps({"payload": trace.payload, "ids_in_text": trace.ids_in_text, "chunks": entries})


def recorded_citations(record: bytes | None) -> tuple[Citation, ...]:
    """Return the citations of a trace from its `cited_record`."""
    if record is None:
        return ()
    kept = orjson.loads(record)
    return _citations(kept["payload"], kept["ids_in_text"], kept)


def _citations(
    payload: Sequence[Json], ids_in_text: Sequence[str], raw: Mapping[str, Json]
) -> tuple[Citation, ...]:
    named: Sequence[str | None] = list(map(_named, payload)) if payload else ids_in_text
    items: Sequence[Json] = payload or [{}] * len(named)
    entries = _entries_by_id(raw, set(named))
    origin: Literal["payload", "answer_text"] = "payload" if payload else "answer_text"
    return tuple(
        [
            _citation(number, chunk_id, item if isinstance(item, dict) else {}, entries, origin)
            for number, (chunk_id, item) in enumerate(zip(named, items, strict=True), start=1)
            if isinstance(item, dict) or chunk_id
        ]
    )


def filled_from(citation: Citation, chunk: Chunk) -> Citation:
    """Return the citation with the quote of its chunk, and the chunk's place if only the id gave it."""
    page_idx, page_from = citation.page_idx, citation.page_from
    if page_from != "record" and chunk.page_idx is not None:
        page_idx, page_from = chunk.page_idx, "record"
    has_box = citation.box is not None
    # A chunk's box is on the page where the chunk begins, so it is not that of a quote on a later page.
    is_there = page_idx == chunk.page_idx and citation.page_label in (None, chunk.page_label)
    return replace(
        citation,
        doc_id=citation.doc_id or chunk.doc_id,
        section_id=citation.section_id or chunk.section_id,
        page_idx=page_idx,
        page_from=page_from,
        page_label=citation.page_label or chunk.page_label,
        offsets=citation.offsets or chunk.offsets,
        quote=citation.quote or chunk.text,
        box=citation.box if has_box else chunk.box if is_there else None,
        box_space=citation.box_space if has_box else chunk.box_space if is_there else None,
    )


def _named(item: Json) -> str | None:
    return (item if isinstance(item, str) else id_of(item) if isinstance(item, dict) else None) or None


def _entries_by_id(raw: Mapping[str, Json], wanted: Collection[str | None]) -> dict[str, Mapping[str, Json]]:
    """Return the entries of the wanted candidates; the answerer's chunks count before the earlier stages."""
    named = raw.get("stages")
    lists = [raw.get("chunks"), *(named.values() if isinstance(named, dict) else ())]
    missing = {chunk_id for chunk_id in wanted if chunk_id is not None}
    found: dict[str, Mapping[str, Json]] = {}
    for entries in lists:
        for entry in entries if isinstance(entries, list) else ():
            if not missing:
                return found
            if isinstance(entry, dict) and (chunk_id := id_of(entry)) in missing:
                found[chunk_id] = entry
                missing.remove(chunk_id)
    return found


def _citation(
    number: int,
    chunk_id: str | None,
    item: Mapping[str, Json],
    entries: Mapping[str, Mapping[str, Json]],
    origin: Literal["payload", "answer_text"],
) -> Citation:
    """Build a citation from the payload's `item`, then the candidate's entry, then the chunk's id."""
    entry = entries.get(chunk_id, {}) if chunk_id else {}
    parts = parse(chunk_id) if chunk_id else None
    page_idx, note = page_of(item)
    page_idx = page_of(entry)[0] if page_idx is None else page_idx
    page_from: Literal["record", "chunk_id"] | None = None if page_idx is None else "record"
    if page_idx is None and parts and parts.page_idx is not None:
        page_idx, page_from = parts.page_idx, "chunk_id"
    box, box_space = box_of(item)
    quote = item.get("quote") or item.get("text")
    return Citation(
        number=number,
        chunk_id=chunk_id,
        doc_id=text_of(item.get("doc_id"))
        or text_of(entry.get("doc_id"))
        or (parts.doc_uid if parts else None),
        section_id=text_of(item.get("section_id"))
        or text_of(entry.get("section_id"))
        or (parts.sect_path if parts else None),
        page_idx=page_idx,
        offsets=span_of(item),
        quote=quote if isinstance(quote, str) else None,
        box=box,
        box_space=box_space,
        origin=origin,
        raw=item,
        page_from=page_from,
        page_note=note,
        page_label=text_of(item.get("page_label")) or text_of(entry.get("page_label")),
        last_page_idx=_last_page(item) if page_from == "record" else None,
    )


def _last_page(item: Mapping[str, Json]) -> int | None:
    """Return the last of the pages that a payload names; None where it names one."""
    first, last = page_of(item)[0], index_of(item.get("last_page_idx"))
    return last if first is not None and last is not None and last > first else None
