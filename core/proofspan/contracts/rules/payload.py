"""The rules of one payload: its fields, offsets and pages, and the section fence around several.

What a record owes depends on what it is (`Demand`): a citation owes the whole payload, a candidate owes it
if it states part of it, the auditable answer of the prompt contract asks for five fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import jsonschema_rs

from proofspan.contracts.records.field_values import (
    LARGEST,
    OFFSET_UNITS,
    id_of,
    index_of,
    offsets_of,
    page_of,
)
from proofspan.contracts.records.records import Json
from proofspan.contracts.records.schemas import both, resolved_schema
from proofspan.contracts.rules.catalogue import Placed, Rule, missing, problem
from proofspan.contracts.rules.context import Context, shown
from proofspan.contracts.rules.parity import parity_problems, rev_problems
from proofspan.contracts.rules.ranking import (
    CANDIDATE_SCORES,
    CITATION_SCORES,
    RANKS,
    SCORES,
    rank_problems,
    score_problems,
)
from proofspan.errors import Problem

#: What every retrieved unit must carry, in the order of the traceability contract.
PAYLOAD_FIELDS = (
    *("doc_id", "section_id", "snippet_id", "source_url", "offsets", "tokens"),
    *("index_hash", "embed_model", "analyzer", "rev"),
)
#: What the prompt contract asks of each citation inside an answer.
AUDITABLE_FIELDS = ("snippet_id", "section_id", "source_url", "offsets", "tokens")
#: A candidate that states one of these is meant as a payload.
PAYLOAD_MARKS = frozenset(PAYLOAD_FIELDS) - {"doc_id", "section_id", "snippet_id"}


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """The fields that a record owes, the scores of which it owes one (if any), whether it owes k_pos.

    A record of `record_type` has to follow the schema of that type as well.
    """

    fields: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    needs_k_pos: bool = False
    record_type: str = ""


CITATION = Demand(PAYLOAD_FIELDS, CITATION_SCORES, needs_k_pos=True)
#: A citation that is a record of its own.
CITATION_RECORD = Demand(PAYLOAD_FIELDS, CITATION_SCORES, needs_k_pos=True, record_type="citation")
AUDITABLE = Demand(AUDITABLE_FIELDS)
#: A log line states only the scores and ranks of each citation.
LOGGED = Demand((), CITATION_SCORES, needs_k_pos=True)
CANDIDATE = Demand(PAYLOAD_FIELDS, CANDIDATE_SCORES)
BARE_CANDIDATE = Demand()


def item_problems(
    item: Mapping[str, Json], context: Context, demand: Demand, *, is_clean: bool | None = None
) -> Iterator[Problem]:
    """Check one payload by itself and against its run; places are its own keys.

    `is_clean` says whether `are_clean` proves it, where that is known.
    """
    if is_clean is None:
        is_clean = demand is not BARE_CANDIDATE and are_clean([item], demand)
    if not is_clean:
        yield from field_problems(item, demand.fields)
        if demand is not BARE_CANDIDATE or "page" in item:
            yield from page_problems(item)
        yield from score_problems(item, needed=demand.scores)
        yield from rank_problems(item, needs_k_pos=demand.needs_k_pos)
    if demand is not BARE_CANDIDATE:
        yield from parity_problems(item, context)
        yield from rev_problems(item, context)


def are_clean(items: Sequence[Json], demand: Demand) -> bool:
    """True if a compiled schema proves, in a microsecond or two, that payloads have no problem of their own.

    Bare candidates are proven to state nothing but a score, as nearly all do.
    """
    owed = _owed(demand)
    for item in items if owed else ():
        if type(item) is dict and not owed <= item.keys():
            return False  # without a look at the values
    try:
        if not _clean(demand).is_valid(items):
            return False
    except UnicodeEncodeError:  # a lone surrogate
        return False
    for item in items if "offsets" in demand.fields else ():
        if item["offsets"]["start"] >= item["offsets"]["end"]:
            return False
    return True


@cache
def _owed(demand: Demand) -> frozenset[str]:
    return frozenset((*demand.fields, *(["k_pos"] if demand.needs_k_pos else ())))


@cache
def _clean(demand: Demand) -> jsonschema_rs.Validator:
    """Compile a schema that only clean payloads follow; other clean ones pass the checks below."""
    place: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": LARGEST}
    rank, score = {**place, "minimum": 1}, {"type": ["number", "null"]}
    text = {"type": "string", "pattern": "[!-~]"}
    properties: dict[str, Any] = {
        **dict.fromkeys(demand.fields, text),
        **dict.fromkeys(SCORES, score),
        "score_norm": {**score, "minimum": 0, "maximum": 1},
        **dict.fromkeys(RANKS, rank),
        "page": rank,
        "page_idx": place,
    }
    if "offsets" in demand.fields:
        span = {"start": place, "end": place, "unit": {"enum": [None, *OFFSET_UNITS]}}
        properties["offsets"] = {"type": "object", "required": ["start", "end"], "properties": span}
        properties["tokens"] = rank
    item: dict[str, Any] = {
        "type": "object",
        "required": sorted(_owed(demand)),
        "properties": properties,
        "not": {"required": ["page", "page_idx"]},
    }
    if demand.scores:
        scores = [{"required": [name], "properties": {name: {"type": "number"}}} for name in demand.scores]
        item["anyOf"] = scores
    if demand is BARE_CANDIDATE:  # whose page_idx alone is left to the record's schema
        absent: dict[str, Any] = dict.fromkeys({*PAYLOAD_MARKS, *SCORES, *RANKS, "page"}, False)
        item = {"type": "object", "properties": {**absent, "score": score}}
    if demand.record_type:
        item = both(resolved_schema(demand.record_type), item)
    return jsonschema_rs.validator_for({"type": "array", "items": item})


def candidate_demand(item: Mapping[str, Json]) -> Demand:
    """Return what a candidate owes: the whole payload if it states part of it."""
    return BARE_CANDIDATE if PAYLOAD_MARKS.isdisjoint(item) else CANDIDATE


def field_problems(item: Mapping[str, Json], fields: tuple[str, ...]) -> Iterator[Problem]:
    """Find fields that are missing or null, empty as an adapter's default is, or of a wrong type."""
    for name in fields:
        value = item.get(name)
        if value is None and name == "snippet_id":
            value = id_of(item)
        if value is None:
            yield missing(name)
        elif name == "offsets":
            yield from offset_problems(value)
        elif name == "tokens":
            number = index_of(value)
            if number is None:
                yield problem("wrong_type_tokens", name, f"tokens is {shown(value)}, not a whole number")
            elif number == 0:
                yield problem("empty_tokens", name, "tokens is 0")
            elif number < 0:
                yield problem("bad_tokens", name, f"tokens is {shown(value)}, below 0")
        elif not isinstance(value, str):
            yield problem(f"wrong_type_{name}", name, f"{name} is {shown(value)}, not text")
        elif not value.strip():
            yield problem(f"empty_{name}", name, f"{name} is {shown(value)}")


@Rule(
    "pages_disagree",
    "citation",
    "page and page_idx disagree",
    "The citation's page is not its page_idx plus 1.",
    "Write one of the two, or correct the wrong one.",
)
@Rule(
    "page_below_one",
    "citation",
    "page below 1",
    "A citation's page counts from 1, and this one is smaller.",
    "Add 1 where the payload is written, or write page_idx, which counts from 0.",
)
def page_problems(item: Mapping[str, Json]) -> Iterator[Problem]:
    """Check a record's page (from 1) and page_idx (from 0)."""
    page, page_idx = item.get("page"), item.get("page_idx")
    if page is None and page_idx is None:
        return
    _, note = page_of(item)
    if note == "page_below_one":
        yield problem(note, "page", f"page is {shown(page)}, and pages count from 1")
    elif note == "pages_disagree":
        own = (index_of(page_idx) or 0) + 1
        yield problem(note, "page", f"page is {shown(page)}, but page_idx {shown(page_idx)} is page {own}")
    elif note == "page_unreadable":
        name, value = ("page", page) if page_idx is None else ("page_idx", page_idx)
        kind = "bad" if index_of(value) is not None else "wrong_type"
        yield problem(f"{kind}_{name}", name, f"{name} is {shown(value)}, not a page")


@Rule(
    "bad_offsets",
    "citation",
    "offsets do not span",
    "The offsets do not begin before they end, begin below 0, or are in no known unit.",
    "Rebuild the chunks' offsets and check their unit.",
)
def offset_problems(value: Json) -> Iterator[Problem]:
    """Check a record's `offsets`, `{start, end, unit}` or a pair: whole numbers from 0, start before end."""
    start: Json = None
    end: Json = None
    unit: Json = None
    wrong = []
    if isinstance(value, dict):
        start, end, unit = value.get("start"), value.get("end"), value.get("unit")
    elif isinstance(value, list) and len(value) == 2:
        start, end = value
    elif isinstance(value, list):
        wrong.append(f"offsets are {shown(value)}, not a start and an end")
    else:
        yield problem("wrong_type_offsets", "offsets", f"offsets are {shown(value)}, not start and end")
        return
    if unit is not None and (not isinstance(unit, str) or unit not in OFFSET_UNITS):
        wrong.append(f"the unit {shown(unit)} is not one of {', '.join(OFFSET_UNITS)}")
    for name, number in (("start", start), ("end", end)):
        if number is None:
            wrong.append(f"{name} is missing")
        elif (whole := index_of(number)) is None or whole < 0:
            wrong.append(f"{name} is {shown(number)}, not a whole number from 0")
    if not wrong and start >= end:
        wrong.append(f"start {shown(start)} is not before end {shown(end)}")
    if wrong:
        yield problem("bad_offsets", "offsets", wrong[0])


@Rule(
    "mixed_offset_units",
    "citation",
    "offset units mixed",
    "Offsets are in one unit here and in another elsewhere in the run.",
    "Decide on one unit, characters best, and convert the others where they are written.",
)
def mixed_units(items: Sequence[Json]) -> Iterator[Placed]:
    """Find the first entry of a list whose offsets are in another unit than those before it."""
    first: str | None = None
    for place, item in enumerate(items, start=1):
        offsets = offsets_of(item.get("offsets")) if isinstance(item, dict) else None
        if offsets is None:
            continue
        first = first or offsets.unit
        if offsets.unit != first:
            message = f"offsets here are in {offsets.unit}, the first of this list in {first}"
            yield place, problem("mixed_offset_units", "offsets", message)
            return


#: How many sections a message names.
NAMED = 4


@Rule(
    "cross_section_reuse",
    "citation",
    "sections mixed",
    "One segment of an answer cites several sections, which the contract forbids unless allowed.",
    "Install the section fence in the prompt, or list what may be combined under "
    "contract.allow_cross_section.",
)
def cross_section(sections: Sequence[str | None], context: Context) -> Iterator[Placed]:
    """Find the first citation of a segment that is in another section than those before it.

    `sections` are those of the segment's citations in order, None for an unknown one.
    """
    if context.allow_cross:
        return
    first: dict[str, int] = {}  # the first place of each section
    for place, section in enumerate(sections, start=1):
        if section and section not in context.cross_sections:
            first.setdefault(section, place)
    if len(first) < 2:
        return
    named, place = list(first), list(first.values())[1]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    message = f"one segment cites the sections {', '.join(map(shown, named[:NAMED]))}{more}"
    yield place, problem("cross_section_reuse", "section_id", message)
