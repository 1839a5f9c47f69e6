"""Detecting a wrong page base from quotes found beside the cited pages."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.evidence.page_base import (
    NEAR_OFFSETS,
    Kind,
    PageBaseFinding,
    PlacedQuote,
    diagnose,
    is_clear,
    is_telling,
)
from proofspan.evidence.types import FoundSpan, Place

QUOTE = "Downhill, cruise control brakes with the engine only."


def quotes(*offsets: int, doc: str = "manual", section: str | None = None) -> list[PlacedQuote]:
    """One quote an offset, on pages 20, 21, …"""
    return [PlacedQuote(doc, 20 + n, 20 + n + offset, section) for n, offset in enumerate(offsets)]


def only(found: tuple[PageBaseFinding, ...]) -> PageBaseFinding:
    (finding,) = found
    return finding


@pytest.mark.parametrize(
    ("offsets", "kind", "offset", "standing"),
    [
        ([0] * 7, "as_cited", 0, 7),
        ([-1] * 212 + [0] * 5 + [7] * 3, "shifted", -1, 212),
        ([-1] * 5, "shifted", -1, 5),
        ([1] * 7 + [0], "shifted", 1, 7),
        ([8] * 30, "shifted", 8, 30),
        ([-1] * 4, "too_few", 0, 4),
        ([-1] * 4 + [0] * 200, "too_few", 0, 4),
        ([-1] * 6 + [0], "mixed", 0, 6),
        ([-1] * 34 + [1] * 33 + [0] * 279, "mixed", 0, 67),
    ],
)
def test_what_a_document_shows_about_its_page_base(
    offsets: list[int], kind: Kind, offset: int, standing: int
) -> None:
    finding = only(diagnose(quotes(*offsets)))
    assert (finding.kind, finding.offset, finding.supporting) == (kind, offset, standing)
    assert finding.quotes == len(offsets)
    assert finding.off == sum(each != 0 for each in offsets)


def test_offsets_are_counted_from_two_before_to_two_after() -> None:
    finding = only(diagnose(quotes(-3, -2, -1, -1, 0, 0, 0, 2, 9)))
    assert dict(zip(NEAR_OFFSETS, finding.near, strict=True)) == {-2: 1, -1: 2, 0: 3, 1: 0, 2: 1}
    assert finding.elsewhere == 2


def test_a_mixed_document_is_distinguished_by_its_sections() -> None:
    found = diagnose(
        [
            *quotes(*[-1] * 9, section="5.4.2"),
            *quotes(*[0] * 28, section="2.1"),
            *quotes(0, 0, 0, section="9"),
        ]
    )
    finding = only(found)
    assert finding.kind == "in_sections"
    assert (finding.sections, finding.supporting, finding.within) == (("5.4.2",), 9, 9)
    assert (finding.offset, finding.quotes) == (-1, 40)


def test_a_section_of_one_quote_shows_nothing() -> None:
    found = diagnose([*quotes(-1, section="5.4.2"), *quotes(*[0] * 39, section="2.1")])
    assert (only(found).kind, only(found).sections, only(found).within) == ("too_few", ("5.4.2",), 1)


def test_sections_that_are_off_in_two_directions_are_not_thrown_together() -> None:
    found = diagnose(
        [
            *quotes(*[-1] * 6, section="1"),
            *quotes(*[-1] * 5, section="2"),
            *quotes(*[1] * 8, section="3"),
            *quotes(*[0] * 30, section="4"),
        ]
    )
    assert (only(found).sections, only(found).offset, only(found).supporting) == (("1", "2"), -1, 11)


#: Eight pages of front matter, then 1, 2, 3 …: the number printed on page_idx 20 is 13.
LABELS = {"manual": ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", *map(str, range(1, 90))]}


@pytest.mark.parametrize("base", [0, 1])
def test_cited_numbers_that_are_printed_ones_are_no_page_base(base: int) -> None:
    """A producer that cites what is printed, its numbers read as `page_idx` (0) or as counted from 1 (1)."""
    cited = [PlacedQuote("manual", int(LABELS["manual"][page]) - base, page) for page in range(20, 32)]
    assert only(diagnose(cited)).kind == "shifted"
    assert (only(diagnose(cited, LABELS)).kind, only(diagnose(cited, LABELS)).supporting) == ("printed", 12)


def test_printed_numbers_that_equal_the_page_idx_win_over_a_base_that_fits_as_well() -> None:
    """Printed 127 on page_idx 127, read as counted from 1: one page later, but no base fixes every page."""
    labels = {"manual": [str(n) for n in range(153)]}
    found = diagnose(quotes(*[1] * 20), labels)
    assert only(found).kind == "printed"


def test_labels_that_are_only_pages_counted_from_one_change_nothing() -> None:
    labels = {"manual": [str(n + 1) for n in range(90)]}
    finding = only(diagnose(quotes(*[-1] * 20), labels))
    assert (finding.kind, finding.offset) == ("shifted", -1)


def test_labels_of_few_pages_do_not_break_it() -> None:
    assert only(diagnose(quotes(*[-1] * 20), {"manual": ["1"]})).kind == "shifted"


def test_documents_with_one_quote_each_show_it_together() -> None:
    found = diagnose(quote for n in range(8) for quote in quotes(-1, doc=f"d{n}"))
    assert (found[0].doc_id, found[0].kind, found[0].supporting) == (None, "shifted", 8)
    assert [each.kind for each in found[1:]] == ["too_few"] * 8


def test_documents_that_differ_are_not_thrown_together() -> None:
    found = diagnose([*quotes(*[-1] * 90, doc="b"), *quotes(*[0] * 6, doc="a")])
    assert [(each.doc_id, each.kind) for each in found] == [
        (None, "mixed"),
        ("a", "as_cited"),
        ("b", "shifted"),
    ]


def test_no_quote_no_finding() -> None:
    assert diagnose([]) == ()


@pytest.mark.parametrize(
    ("found", "quote", "speaks"),
    [
        (FoundSpan("exact", 42, True, 1.0), QUOTE, True),
        (FoundSpan("normalized", 42, True, 1.0), QUOTE, True),
        (FoundSpan("exact", 42, True, 1.0), "the engine only", False),
        (FoundSpan("fuzzy", 42, True, 0.95), QUOTE, False),
        (FoundSpan("fuzzy", 42, True, 0.95), f"{QUOTE} {QUOTE}", True),
        (FoundSpan("partial", 42, True, 0.4), f"{QUOTE} {QUOTE}", False),
        (FoundSpan("not_found", None, False, 0.0), QUOTE, False),
        (FoundSpan("exact", 42, True, 1.0, alternatives=(Place(50, ()),)), QUOTE, False),
        (FoundSpan("exact", 42, True, 1.0, alternatives=(Place(42, ()),)), QUOTE, True),
        (FoundSpan("partial", 42, False, 0.9, continues=(Place(43, ()),)), f"{QUOTE} {QUOTE}", False),
    ],
)
def test_only_quotes_that_speak_for_themselves_count(found: FoundSpan, quote: str, speaks: bool) -> None:
    assert is_telling(found, quote) is speaks


many = st.lists(
    st.builds(
        PlacedQuote,
        st.sampled_from(["a", "b"]),
        st.integers(0, 30),
        st.integers(0, 30),
        st.sampled_from([None, "1", "2"]),
    ),
    max_size=60,
)


@given(many, st.randoms(use_true_random=False))
def test_no_quote_is_lost_and_their_order_says_nothing(rows: list[PlacedQuote], random) -> None:  # type: ignore[no-untyped-def]
    found = diagnose(rows)
    for finding in found:
        assert sum(finding.near) + finding.elsewhere == finding.quotes
        assert 0 <= finding.supporting <= finding.quotes
        assert (finding.kind == "as_cited") == (finding.off == 0)
    assert sum(each.quotes for each in found if each.doc_id is not None) == len(rows)
    shuffled = random.sample(rows, len(rows))
    assert diagnose(shuffled) == found


@given(many)
def test_what_is_called_systematic_is_borne_out_by_a_clear_majority(rows: list[PlacedQuote]) -> None:
    for finding in diagnose(rows):
        if finding.kind == "shifted":
            assert is_clear(finding.supporting, finding.quotes)
            assert finding.offset != 0
        if finding.kind == "in_sections":
            assert is_clear(finding.supporting, finding.within)


@given(many)
def test_quotes_that_are_alike_may_be_given_once_with_their_number(rows: list[PlacedQuote]) -> None:
    alike = [replace(quote, times=rows.count(quote)) for quote in dict.fromkeys(rows)]
    assert diagnose(alike) == diagnose(rows)
