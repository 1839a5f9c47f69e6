"""The rules of one payload: its fields, its pages, and whether it names the run's index, models and revision.

What a record owes depends on what it is (`Demand`): a citation owes the whole payload, a candidate owes it
where it states part of it, the auditable answer of the prompt contract asks for five fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.field_values import OFFSET_UNITS, id_of, index_of, offsets_of, page_of
from proofspan.contracts.records.records import Json, OffsetUnit
from proofspan.contracts.rules.finding import Context, Finding, Placed, shown
from proofspan.contracts.rules.parity import same_analyzer, same_embed_model, same_index, same_rev
from proofspan.contracts.rules.ranking import (
    CANDIDATE_SCORES,
    CITATION_SCORES,
    rank_findings,
    score_findings,
)

#: What every retrieved unit must carry, in the order of the traceability contract.
PAYLOAD_FIELDS = (
    *("doc_id", "section_id", "snippet_id", "source_url", "offsets", "tokens"),
    *("index_hash", "embed_model", "analyzer", "rev"),
)
#: What the prompt contract asks of each citation inside an answer.
AUDITABLE_FIELDS = ("snippet_id", "section_id", "source_url", "offsets", "tokens")
#: A candidate that states one of these is meant as a payload.
PAYLOAD_MARKS = frozenset(PAYLOAD_FIELDS) - {"doc_id", "section_id", "snippet_id"}

_MISSING: Mapping[str, Finding] = {
    name: Finding(f"missing_{name}", name, f"{name} is missing") for name in PAYLOAD_FIELDS
}
_COMPARED: tuple[tuple[str, str, Callable[[str, str], bool]], ...] = (
    ("index_hash", "mismatch_index_hash", same_index),
    ("embed_model", "embed_model_mismatch", same_embed_model),
    ("analyzer", "analyzer_mismatch", same_analyzer),
)


@dataclass(frozen=True, slots=True)
class Demand:
    """What a record owes: fields, one of the scores (none where there are none), its k_pos."""

    fields: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    needs_k_pos: bool = False


CITATION = Demand(PAYLOAD_FIELDS, CITATION_SCORES, needs_k_pos=True)
AUDITABLE = Demand(AUDITABLE_FIELDS)
#: What a log line says of each citation: no more than its scores and ranks.
LOGGED = Demand((), CITATION_SCORES, needs_k_pos=True)
CANDIDATE = Demand(PAYLOAD_FIELDS, CANDIDATE_SCORES)
BARE_CANDIDATE = Demand()


def item_findings(item: Mapping[str, Json], context: Context, demand: Demand) -> Iterator[Finding]:
    """Everything that is wrong with one payload by itself and against its run; fields are its own keys."""
    yield from field_findings(item, demand.fields)
    if demand is not BARE_CANDIDATE or "page" in item:
        yield from page_findings(item)
    yield from score_findings(item, needed=demand.scores)
    yield from rank_findings(item, needs_k_pos=demand.needs_k_pos)
    if demand is BARE_CANDIDATE:
        return
    yield from parity_findings(item, context)
    yield from rev_findings(item, context)


def candidate_demand(item: Mapping[str, Json]) -> Demand:
    """A candidate owes the whole payload where it states one, else only that what it states is right."""
    return BARE_CANDIDATE if PAYLOAD_MARKS.isdisjoint(item) else CANDIDATE


def field_findings(item: Mapping[str, Json], fields: tuple[str, ...]) -> Iterator[Finding]:
    """The fields that are missing (null is), empty as by an adapter's default, or of a wrong type."""
    for name in fields:
        value = item.get(name)
        if value is None and name == "snippet_id":
            value = id_of(item)
        if value is None:
            yield _MISSING[name]
        elif name == "offsets":
            yield from offset_findings(value)
        elif name == "tokens":
            yield from _token_findings(value)
        elif not isinstance(value, str):
            yield Finding(f"wrong_type_{name}", name, f"{name} is {shown(value)}, no text")
        elif not value.strip():
            yield Finding(f"empty_{name}", name, f"{name} is {shown(value)}")


def page_findings(item: Mapping[str, Json]) -> Iterator[Finding]:
    """What is odd about a record's page (from 1) and page_idx (from 0)."""
    _, note = page_of(item)
    page, page_idx = item.get("page"), item.get("page_idx")
    if note == "page_below_one":
        yield Finding(note, "page", f"page is {shown(page)}, and pages count from 1")
    elif note == "pages_disagree":
        said = (
            f"page is {shown(page)}, but page_idx {shown(page_idx)} is page {(index_of(page_idx) or 0) + 1}"
        )
        yield Finding(note, "page", said)
    elif note == "page_unreadable":
        name, value = ("page", page) if page_idx is None else ("page_idx", page_idx)
        kind = "bad" if index_of(value) is not None else "wrong_type"
        yield Finding(f"{kind}_{name}", name, f"{name} is {shown(value)}, no page")


def parity_findings(item: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Index, embedding model and analyzer that are not those that the run pins."""
    for name, code, is_same in _COMPARED:
        value, pinned = item.get(name), getattr(context, name)
        if pinned is not None and isinstance(value, str) and not is_same(value, pinned):
            yield Finding(code, name, f"{name} is {shown(value)}, the run's is {shown(pinned)}")


def rev_findings(item: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """A revision that is not the document's."""
    value, doc_id = item.get("rev"), document_of(item)
    if doc_id is None or not isinstance(value, str):
        return
    rev = context.revs.get(doc_id)
    if rev is not None and not same_rev(value, rev):
        yield Finding(
            "rev_mismatch", "rev", f"rev is {shown(value)}, that of {shown(doc_id)} is {shown(rev)}"
        )


def document_of(item: Mapping[str, Json]) -> str | None:
    """The document that a record names, else the one in its chunk id."""
    doc_id = item.get("doc_id")
    if isinstance(doc_id, str) and doc_id:
        return doc_id
    parts = parse(chunk_id) if (chunk_id := id_of(item)) else None
    return parts.doc_uid if parts else None


def _token_findings(value: Json) -> Iterator[Finding]:
    number = index_of(value)
    if number is None:
        yield Finding("wrong_type_tokens", "tokens", f"tokens is {shown(value)}, no whole number")
    elif number == 0:
        yield Finding("empty_tokens", "tokens", "tokens is 0")
    elif number < 0:
        yield Finding("bad_tokens", "tokens", f"tokens is {shown(value)}, below 0")


# The rules of offsets: they begin before they end, from 0, in whole numbers of one known unit.


def offset_findings(value: Json) -> Iterator[Finding]:
    """What is wrong with the `offsets` of a record: `{start, end, unit}` or a pair; not null."""
    if not isinstance(value, dict | list):
        yield Finding("wrong_type_offsets", "offsets", f"offsets are {shown(value)}, not start and end")
    elif (wrong := _wrong(value)) is not None:
        yield Finding("bad_offsets", "offsets", wrong)


def unit_of(item: Mapping[str, Json]) -> OffsetUnit | None:
    """The unit of a record's offsets; None where they cannot be read."""
    offsets = offsets_of(item.get("offsets"))
    return None if offsets is None else offsets.unit


def mixed_units(items: Sequence[Json]) -> Iterator[Placed]:
    """One finding where the offsets of a list are in several units, at the first entry that differs."""
    units = [unit_of(item) if isinstance(item, dict) else None for item in items]
    first = next(filter(None, units), None)
    for place, unit in enumerate(units, start=1):
        if unit is not None and unit != first:
            said = f"offsets here are in {unit}, the first of this list in {first}"
            yield place, Finding("mixed_offset_units", "offsets", said)
            return


def _wrong(value: dict[str, Json] | list[Json]) -> str | None:
    """What is wrong with offsets, in words; None for a span."""
    if isinstance(value, list):
        if len(value) != 2:
            return f"offsets are {shown(value)}, not a start and an end"
        start, end, unit = value[0], value[1], None
    else:
        start, end, unit = value.get("start"), value.get("end"), value.get("unit")
    if unit is not None and (not isinstance(unit, str) or unit not in OFFSET_UNITS):
        return f"the unit {shown(unit)} is none of {', '.join(OFFSET_UNITS)}"
    for name, number in (("start", start), ("end", end)):
        if number is None:
            return f"{name} is missing"
        if (whole := index_of(number)) is None or whole < 0:
            return f"{name} is {shown(number)}, no whole number from 0"
    return None if start < end else f"start {shown(start)} is not before end {shown(end)}"


# The section fence: one segment of an answer cites one section, unless a whitelist says otherwise.

#: So many sections are named in a message.
NAMED = 4


def cross_section(sections: Sequence[str | None], context: Context) -> Iterator[Placed]:
    """One finding where a segment cites several sections, at the first citation of another one.

    `sections` are those of the segment's citations in order, None where one is not known.
    """
    if context.allow_cross:
        return
    fenced = [
        (place, section)
        for place, section in enumerate(sections, start=1)
        if section and section not in context.cross_sections
    ]
    named = dict.fromkeys(section for _, section in fenced)
    if len(named) < 2:
        return
    place = next(place for place, section in fenced if section != fenced[0][1])
    listed = ", ".join(shown(section) for section in list(named)[:NAMED])
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    said = f"one segment cites the sections {listed}{more}"
    yield place, Finding("cross_section_reuse", "section_id", said)
