"""The traceability contract's validator: its outcome for well-typed citations, a code for all others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.rules.citations import validate_citations
from tests.unit.contracts.citation_payloads import JSON, payload

_ASKED = ("snippet_id", "section_id", "source_url", "offsets", "tokens", "index_hash", "embed_model")
_ASKED_TOO = ("analyzer", "rev")


def as_the_page_says(citations: list[dict[str, Any]], may_cross: bool) -> str:
    """Return the first check of the traceability contract that fails, citation by citation."""
    if len(citations) == 0:
        return "empty_citations"
    home = citations[0]["section_id"]
    for citation in citations:
        lacking = [name for name in (*_ASKED, *_ASKED_TOO) if name not in citation]
        if lacking:
            return "missing_" + lacking[0]
        span = citation["offsets"]
        if not span["start"] < span["end"]:
            return "bad_offsets"
        if citation["section_id"] != home and not may_cross:
            return "cross_section_reuse"
        if not {"score_raw", "score_norm"} & citation.keys():
            return "missing_score"
    return "ok"


_SPANS = st.fixed_dictionaries({"start": st.integers(), "end": st.integers()}, optional={"unit": st.text()})
_TYPES: dict[str, st.SearchStrategy[Any]] = {
    "doc_id": st.text(max_size=3),
    "snippet_id": st.text(max_size=3),
    "source_url": st.text(max_size=3),
    "offsets": st.one_of(st.just({"start": 1, "end": 9}), _SPANS),
    "tokens": st.integers(),
    "index_hash": st.text(max_size=3),
    "embed_model": st.text(max_size=3),
    "analyzer": st.text(max_size=3),
    "rev": st.text(max_size=3),
    "score_raw": st.floats(allow_nan=False),
    "score_norm": st.integers(0, 1),
}


@st.composite
def well_typed(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Citations whose fields are of the page's types, of which some are left out; all have a section."""
    found = []
    for _ in range(draw(st.integers(0, 3))):
        absent = draw(st.sets(st.sampled_from([*_TYPES, None, None, None]), max_size=2))
        citation = {name: draw(values) for name, values in _TYPES.items() if name not in absent}
        found.append({**citation, "section_id": draw(st.sampled_from(["4.2", "4.2", "4.3"]))})
    if found and len(found) > 1 and draw(st.integers(0, 5)) == 0:
        del found[-1]["section_id"]
    return found


@given(well_typed(), st.booleans())
def test_citations_of_the_right_types_come_out_as_on_the_page(
    citations: list[dict[str, Any]], may_cross: bool
) -> None:
    assert validate_citations(citations, may_cross) == as_the_page_says(citations, may_cross)


@pytest.mark.parametrize(
    ("items", "code"),
    [
        ([], "empty_citations"),
        ([payload()], "ok"),
        ([payload(rev=...)], "missing_rev"),
        ([payload(offsets={"start": 9, "end": 9})], "bad_offsets"),
        ([payload(), payload(section_id="b")], "cross_section_reuse"),
        ([payload(score_raw=..., score_norm=...)], "missing_score"),
        ([payload(), payload(tokens=...), payload(section_id="b")], "missing_tokens"),
        ([payload(offsets={"start": -5, "end": 3, "unit": "ell"}, tokens=0, rev="")], "ok"),
    ],
)
def test_the_pages_codes(items: list[dict[str, Any]], code: str) -> None:
    assert validate_citations(items) == code
    assert as_the_page_says(items, False) == code


def test_sections_may_be_mixed_where_that_is_allowed() -> None:
    assert validate_citations([payload(), payload(section_id="b")], allow_cross=True) == "ok"


@pytest.mark.parametrize(
    ("items", "code"),
    [
        (None, "empty_citations"),
        ({}, "empty_citations"),
        (7, "wrong_type_citations"),
        ("hb-0007", "wrong_type_citations"),
        ({"snippet_id": "a"}, "wrong_type_citations"),
        (["hb-0007"], "wrong_type_citations"),
        ([None], "wrong_type_citations"),
        ([payload(), 4], "wrong_type_citations"),
        ([{}], "missing_snippet_id"),
        ([payload(section_id=...)], "missing_section_id"),
        ([payload(section_id=None)], "missing_section_id"),
        ([payload(section_id=4.2)], "wrong_type_section_id"),
        ([payload(section_id=[["4"]])], "wrong_type_section_id"),
        ([payload(tokens="188")], "wrong_type_tokens"),
        ([payload(tokens=True)], "wrong_type_tokens"),
        ([payload(offsets="2310-2688")], "wrong_type_offsets"),
        ([payload(offsets=[2310, 2688])], "wrong_type_offsets"),
        ([payload(offsets={})], "bad_offsets"),
        ([payload(offsets={"start": None, "end": 3})], "bad_offsets"),
        ([payload(offsets={"start": "1", "end": 3})], "bad_offsets"),
        ([payload(offsets={"start": 1.5, "end": 3})], "bad_offsets"),
        ([payload(score_raw=None, score_norm=None)], "missing_score"),
        ([payload(score_raw="0.8", score_norm=...)], "wrong_type_score_raw"),
        ([payload(score_norm=True)], "wrong_type_score_norm"),
    ],
)
def test_anything_else_gets_a_code(items: Any, code: str) -> None:
    assert validate_citations(items) == code


_NEARLY = st.lists(st.dictionaries(st.sampled_from([*payload()]), JSON, max_size=4), max_size=3)


@given(JSON | st.lists(JSON, max_size=3) | _NEARLY)
def test_nothing_raises(items: Any) -> None:
    code = validate_citations(items)
    assert code and (code == "ok") <= bool(items)


@given(st.sampled_from([*payload()]), JSON)
def test_no_value_of_any_field_raises(name: str, value: Any) -> None:
    assert validate_citations([payload(), payload(**{name: value})])
