"""The rules of citations in the traceability contract (docs/requirements.md), and what they leave open.

`validate_citations` answers as the validator of that contract does. The findings hold citations to
more: all ten fields and what an adapter puts in for them, offsets and their units, scores and ranks, pages,
and whether index, models and revisions are those of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from proofspan.contracts.records.field_values import id_of, number_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.fast_path import is_clean
from proofspan.contracts.rules.finding import Context, Finding, Placed, shown
from proofspan.contracts.rules.payload import CITATION, Demand, cross_section, item_findings, mixed_units
from proofspan.contracts.rules.ranking import cited_ties, shared_ranks

#: What the contract's validator asks for, in its order.
_VALIDATED = (
    *("snippet_id", "section_id", "source_url", "offsets", "tokens"),
    *("index_hash", "embed_model", "analyzer", "rev"),
)
_EMPTY = Finding("empty_citations", "", "nothing is cited")


def validate_citations(items: Json, allow_cross: bool = False) -> str:
    """Return the traceability contract's first code for the citations of one answer segment, or ok.

    For citations of the types that the payload's schema gives, the outcome of the contract's own validator,
    check for check: field names, `start < end`, one section, a score. It says nothing of units, ranks or
    parity; `citation_findings` does. For anything else a code, never an exception: null is absent,
    `wrong_type_…` names the field, `wrong_type_citations` a list that is none or an entry that is no object.
    """
    if not items:
        return "empty_citations"
    if not isinstance(items, list | tuple):
        return "wrong_type_citations"
    for item in items:
        code = _validated(item, items[0], allow_cross)
        if code is not None:
            return code
    return "ok"


def payload_findings(item: Json, context: Context) -> tuple[Finding, ...]:
    """Everything that is wrong with one citation payload; its id names the findings."""
    if is_clean(item, context):
        return ()
    if not isinstance(item, dict):
        return (_no_object(item),)
    record_id = id_of(item) or ""
    return tuple(
        [replace(finding, record_id=record_id) for finding in item_findings(item, context, CITATION)]
    )


def citation_findings(items: Sequence[Json], context: Context) -> tuple[Finding, ...]:
    """Everything that is wrong with the citations of one answer segment.

    Fields are relative to their list, `[2].offsets`, "" for the list itself: `.inside("citations")` says
    where it stands in its record.
    """
    if not items:
        return (_EMPTY,)
    sections = [section_of(item) for item in items]
    found = (
        *items_findings(items, context, CITATION),
        *list_findings(items),
        *cross_section(sections, context),
    )
    return tuple([finding.inside(f"[{place}]") for place, finding in found])


def items_findings(items: Sequence[Json], context: Context, demand: Demand) -> Iterator[Placed]:
    """What is wrong with each citation of a list by itself."""
    for place, item in enumerate(items, start=1):
        if demand is CITATION and is_clean(item, context):
            continue
        if not isinstance(item, dict):
            is_bare = demand is CITATION and isinstance(item, str) and item
            yield place, _bare(item) if is_bare else _no_object(item)
            continue
        for finding in item_findings(item, context, demand):
            yield place, finding


def list_findings(items: Sequence[Json]) -> Iterator[Placed]:
    """What is wrong with the citations of one answer together, whatever its segments."""
    if len(items) < 2:
        return
    yield from mixed_units(items)
    yield from shared_ranks(items)
    yield from cited_ties(items)


def section_of(item: Json) -> str | None:
    """The section that a citation states; None where it states none."""
    section = item.get("section_id") if isinstance(item, dict) else None
    return section if isinstance(section, str) and section.strip() else None


def _bare(chunk_id: str) -> Finding:
    """The finding of a citation that is an id alone."""
    return Finding("bare_citation", "", f"{shown(chunk_id)} is cited without a payload")


def _no_object(item: Json) -> Finding:
    return Finding("wrong_type_citations", "", f"a citation is {shown(item)}, no object with the payload")


def _validated(item: Json, first: Json, allow_cross: bool) -> str | None:
    """The first code that one citation deserves; None for none."""
    if not isinstance(item, dict):
        return "wrong_type_citations"
    for name in _VALIDATED:
        if item.get(name) is None:
            return f"missing_{name}"
    for name in _VALIDATED:
        if not _is_typed(name, item[name]):
            return f"wrong_type_{name}"
    if not _is_span(item["offsets"]):
        return "bad_offsets"
    if not allow_cross and item["section_id"] != first["section_id"]:
        return "cross_section_reuse"
    scores = [item.get("score_raw"), item.get("score_norm")]
    if all(score is None for score in scores):
        return "missing_score"
    for name, score in zip(("score_raw", "score_norm"), scores, strict=True):
        if score is not None and number_of(score) is None:
            return f"wrong_type_{name}"
    return None


def _is_typed(name: str, value: Json) -> bool:
    if name == "offsets":
        return isinstance(value, dict)
    return _is_whole(value) if name == "tokens" else isinstance(value, str)


def _is_span(offsets: dict[str, Json]) -> bool:
    start, end = offsets.get("start"), offsets.get("end")
    return start is not None and end is not None and _is_whole(start) and _is_whole(end) and start < end


def _is_whole(value: Json) -> bool:
    """Whether a value is an integer to JSON Schema: of any size, 14.0 as well."""
    return type(value) is int or (type(value) is float and value.is_integer())
