"""The rules of the citations of one answer: each payload, and all of them together.

`validate_citations` answers as the validator of the traceability contract does (docs/requirements.md). The
other checks ask for more: all ten fields and no adapter's defaults, offsets and their units, scores and
ranks, pages, and the index, models and revisions of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofspan.contracts.records.field_values import number_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import Placed, Rule, inside, problem
from proofspan.contracts.rules.context import Context, shown
from proofspan.contracts.rules.payload import CITATION, Demand, cross_section, item_problems, mixed_units
from proofspan.contracts.rules.ranking import CITATION_SCORES, RANKS, cited_ties, shared_ranks
from proofspan.errors import Problem

#: What the contract's validator asks for, in its order.
_VALIDATED = (
    *("snippet_id", "section_id", "source_url", "offsets", "tokens"),
    *("index_hash", "embed_model", "analyzer", "rev"),
)


def validate_citations(items: Json, allow_cross: bool = False) -> str:
    """Return the traceability contract's first code for the citations of one answer segment, or ok.

    For citations of the types that the payload's schema gives, this is the outcome of the contract's own
    validator, check for check: field names, `start < end`, one section, a score. It does not look at units,
    ranks or parity; `citation_problems` does. For anything else it returns a code and never raises: null is
    absent, `wrong_type_…` names the field, `wrong_type_citations` is for a value that is not a list or an
    entry that is not an object.
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


def _validated(item: Json, first: Json, allow_cross: bool) -> str | None:
    if not isinstance(item, dict):
        return "wrong_type_citations"
    for name in _VALIDATED:
        if item.get(name) is None:
            return f"missing_{name}"
    for name in _VALIDATED:
        value, kind = item[name], dict if name == "offsets" else str
        if not (_is_whole(value) if name == "tokens" else isinstance(value, kind)):
            return f"wrong_type_{name}"
    start, end = item["offsets"].get("start"), item["offsets"].get("end")
    if not (_is_whole(start) and _is_whole(end) and start < end):
        return "bad_offsets"
    if not allow_cross and item["section_id"] != first["section_id"]:
        return "cross_section_reuse"
    stated = [name for name in CITATION_SCORES if item.get(name) is not None]
    wrong = [f"wrong_type_{name}" for name in stated if number_of(item[name]) is None]
    return next(iter(wrong), None) if stated else "missing_score"


def _is_whole(value: Json) -> bool:
    """True for an integer as JSON Schema defines it: of any size, 14.0 as well."""
    return type(value) is int or (type(value) is float and value.is_integer())


@Rule(
    "empty_citations",
    "citation",
    "no citations",
    "The answer cites nothing and does not decline in the words of the triage profile.",
    "Make the prompt ask for citations first; `proofspan contract` prints the text.",
)
def citation_problems(
    items: Sequence[Json], context: Context, where: str = "", demand: Demand = CITATION
) -> Iterator[Problem]:
    """Check the citations of one answer segment, whose list is at `where` in its record."""
    if not items:
        yield problem("empty_citations", where, "nothing is cited")
    for place, breach in (
        *items_problems(items, context, demand),
        *list_problems(items),
        *cross_section([section_of(item) for item in items], context),
    ):
        yield inside(f"{where}[{place}]", breach)


@Rule(
    "bare_citation",
    "citation",
    "cited by id alone",
    "A citation is a chunk id alone, so neither its span nor its index and revision can be checked.",
    "Pass the citation payload on in the adapter, and write it beside the answer.",
    "warning",
)
def items_problems(items: Sequence[Json], context: Context, demand: Demand) -> Iterator[Placed]:
    """Check each citation of a list by itself."""
    for place, item in enumerate(items, start=1):
        if isinstance(item, dict):
            for breach in item_problems(item, context, demand):
                yield place, breach
        elif demand is CITATION and isinstance(item, str) and item:
            yield place, problem("bare_citation", "", f"{shown(item)} is cited without a payload")
        else:
            message = f"a citation is {shown(item)}, not an object with the payload"
            yield place, problem("wrong_type_citations", "", message)


def list_problems(items: Sequence[Json]) -> Iterator[Placed]:
    """Check the citations of one answer together, across its segments."""
    if len(items) < 2:
        return
    stated = set().union(*(item for item in items if isinstance(item, dict)))
    if "offsets" in stated:
        yield from mixed_units(items)
    if not stated.isdisjoint(RANKS):
        yield from shared_ranks(items)
        yield from cited_ties(items)


def section_of(item: Json) -> str | None:
    """Return the section that a citation states, None if it states none."""
    section = item.get("section_id") if isinstance(item, dict) else None
    return section if isinstance(section, str) and section.strip() else None
