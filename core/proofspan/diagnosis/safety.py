"""Safety omissions: a WARNING or CAUTION of the cited section that neither answer nor citations mention.

It is a suspicion in words, no judgement of sense: a notice counts as mentioned where enough of its content
words stand close together in the answer or in a cited passage, endings aside and rare words counting more. So
a paraphrase that shares no words with it ("keep clear of the blades" for "hands away from the fan") is
suspected all the same, a text that turns the words round passes, and nobody asks whether a notice matters for
the question: that it stands in the section is the manual's own choice. A person reads "may leave out".

Every trace of an index build comes through here; one that cites no section with a notice costs some look-ups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Literal, NamedTuple, cast

from proofspan.contracts.chunk_ids import parse
from proofspan.contracts.records import Json, Trace
from proofspan.diagnosis.answers import claims_of
from proofspan.diagnosis.notices import Notice, Notices
from proofspan.diagnosis.types import ReportRow
from proofspan.diagnosis.wordforms import Passage
from proofspan.traces.chunks import Place, Places
from proofspan.traces.citations import payload_of
from proofspan.traces.fields import id_of, page_of, text_of

_NOWHERE = Place(None, None, None)


@dataclass(frozen=True, slots=True)
class SafetyOmission:
    """A notice that an answer may leave out. `words` were looked for; `found` are those that do stand there.

    `section_id` is the notice's own: the cited section, or one that it lies in. `doc_id` is the citation's.
    """

    attachment_id: str
    kind: Literal["warning", "caution"]
    section_id: str | None
    page_idx: int | None
    text: str
    words: tuple[str, ...]
    found: tuple[str, ...]
    doc_id: str | None = None


class _Cited(NamedTuple):
    """What one citation points at; `quote` is the payload's own, None where the whole chunk is cited."""

    chunk_id: str | None
    place: Place
    quote: str | None


def omitted(
    trace: Trace, verdict: ReportRow | None, notices: Notices, places: Places
) -> tuple[SafetyOmission, ...] | None:
    """The notices that govern the cited sections and are not mentioned, each once, in the citations' order.

    None where nothing can be said: the answer cites nothing, or there are no chunks to judge by. A refusal
    omits nothing. `places` says where a chunk lies whose candidate or citation does not.
    """
    found = _unmentioned(trace, verdict, notices, places)
    return None if found is None else tuple(_omission(notice, held) for notice, held in found)


def omitted_ids(
    trace: Trace, verdict: ReportRow | None, notices: Notices, places: Places
) -> list[str] | None:
    """The attachment ids of what `omitted` gives, for those who keep no more of it."""
    found = _unmentioned(trace, verdict, notices, places)
    return None if found is None else [notice.attachment.attachment_id for notice, _ in found]


def _unmentioned(
    trace: Trace, verdict: ReportRow | None, notices: Notices, places: Places
) -> list[tuple[Notice, int]] | None:
    """Each omitted notice with the mask of its words that do stand somewhere; None as in `omitted`."""
    if verdict is None:
        return None
    cited = list(_cited(trace, verdict.citations_in_answer, places))
    if not cited:
        return None
    if verdict.label in ("refusal_ok", "refusal_suspect"):
        return []
    governing: dict[str, Notice] = {}
    for each in cited:
        for notice in notices.governing(each.place):
            governing.setdefault(notice.attachment.attachment_id, notice)
    return list(_sought(trace, governing.values(), cited, notices)) if governing else []


def _sought(
    trace: Trace, governing: Iterable[Notice], cited: Sequence[_Cited], notices: Notices
) -> Iterator[tuple[Notice, int]]:
    """Looks in the answer, then in each cited passage: the payload's quote, else the chunk."""
    ids = [each.chunk_id for each in cited if each.chunk_id is not None]
    answer = claims_of(trace.answer, trace.answer.lower(), (trace.chunk_ids, ids))
    said = [Passage(answer), *(Passage(each.quote) for each in cited if each.quote is not None)]
    chunks = [each.chunk_id for each in cited if each.quote is None and each.chunk_id is not None]
    for notice in governing:
        found = [notice.sought_in(passage) for passage in said]
        found += [notices.held(notice, chunk_id) for chunk_id in chunks]
        if not any(each.is_mentioned for each in found):
            yield notice, reduce(or_, [each.mask for each in found])


def _omission(notice: Notice, found: int) -> SafetyOmission:
    about = notice.attachment
    return SafetyOmission(
        about.attachment_id,
        cast(Literal["warning", "caution"], about.kind),
        about.section_id,
        about.page_idx,
        about.text,
        notice.words,
        tuple(word for place, word in enumerate(notice.words) if found >> place & 1),
        notice.doc_id,
    )


def _cited(trace: Trace, in_text: Sequence[str], places: Places) -> Iterator[_Cited]:
    """Yield what a trace cites, as `proofspan.traces.citations` reads it, with only what is needed here."""
    payload = payload_of(trace.raw)
    for item in payload or in_text:
        if isinstance(item, str) and item:
            yield _Cited(item, _place_of(trace, item, places), None)
        elif isinstance(item, dict):
            yield _cited_by(item, trace, places)


def _cited_by(item: dict[str, Json], trace: Trace, places: Places) -> _Cited:
    chunk_id, quote = id_of(item) or None, item.get("quote") or item.get("text")
    doc_id, section_id = text_of(item.get("doc_id")), text_of(item.get("section_id"))
    page_idx = None
    if doc_id is None or section_id is None:
        known = _place_of(trace, chunk_id, places) if chunk_id is not None else _NOWHERE
        doc_id, section_id = doc_id or known.doc_id, section_id or known.section_id
        page_idx = known.page_idx if (own := page_of(item)[0]) is None else own
    return _Cited(chunk_id, Place(doc_id, section_id, page_idx), quote if isinstance(quote, str) else None)


def _place_of(trace: Trace, chunk_id: str, places: Places) -> Place:
    """Where a chunk lies: as its candidate says, else as its record has it, else by its id."""
    entries = trace.raw.get("chunks")
    found = _NOWHERE
    if isinstance(entries, list) and len(entries) == len(trace.chunk_ids) and chunk_id in trace.chunk_ids:
        entry = entries[trace.chunk_ids.index(chunk_id)]
        found = Place(text_of(entry.get("doc_id")), text_of(entry.get("section_id")), page_of(entry)[0])
    if None not in found:
        return found
    parts = parse(chunk_id)
    by_id = Place(parts.doc_uid, parts.sect_path, parts.page_idx) if parts else _NOWHERE
    known = places.get(chunk_id, by_id)
    page_idx = known.page_idx if found.page_idx is None else found.page_idx
    return Place(found.doc_id or known.doc_id, found.section_id or known.section_id, page_idx)
