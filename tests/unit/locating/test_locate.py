"""Locating in a document: cited page, neighbours, the rest, and the choice between two places."""

from __future__ import annotations

import math

import pytest

from proofspan.contracts.records.records import Offsets
from proofspan.evidence.text.locate import locate
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.types import FoundSpan, SpanQuery
from tests.pdf_files import LINE, MadeDocument, page_text

OIL = "Change the engine oil every 15,000 km and note the date in the service book."
TYRES = "Check the pressure of all tyres, the spare wheel included, while they are cold."
SEATS = "Fold the rear seats down by their handles before you load long things."
LIGHTS = "Replace a blown bulb only by one of the same wattage to protect the wiring."


def document(*pages: str) -> MadeDocument:
    return MadeDocument(*(page_text(*page.split("\n")) for page in pages))


def find(quote: str, cited: int | None, *pages: str) -> FoundSpan:
    return locate(SpanQuery(quote, cited), document(*pages))


def test_the_cited_page_settles_it_without_reading_others() -> None:
    made = document(OIL, TYRES, OIL)
    found = locate(SpanQuery(OIL, 2), made)
    assert (found.page_idx, found.page_mismatch, found.status) == (2, False, "exact")
    assert set(made.read) == {2}


def test_page_zero_is_a_page() -> None:
    found = find(OIL, 0, OIL, TYRES)
    assert (found.page_idx, found.page_mismatch) == (0, False)


def test_a_neighbour_is_tried_before_the_rest() -> None:
    made = document(OIL, LIGHTS, OIL, TYRES, LIGHTS)
    found = locate(SpanQuery(OIL, 3), made)
    assert (found.page_idx, found.page_mismatch) == (2, True)
    assert 0 not in made.read


def test_the_whole_document_is_searched_last() -> None:
    found = find(OIL, 0, *[TYRES] * 5, OIL)
    assert (found.page_idx, found.page_mismatch) == (5, True)


def test_a_noisy_quote_is_found_anywhere() -> None:
    noisy = "Change the engjne oil every 15,000 km and n0te the date in the servicc book."
    found = find(noisy, 0, *[TYRES] * 5, OIL, LIGHTS)
    assert (found.page_idx, found.status) == (5, "fuzzy")


def test_a_clean_place_elsewhere_beats_a_misquoted_one_here() -> None:
    other = OIL.replace("15,000", "10,000")
    found = find(other, 0, OIL, TYRES, other)
    assert (found.page_idx, found.status, found.page_mismatch) == (2, "exact", True)


def test_not_found_is_an_answer() -> None:
    found = find("Nothing of this sentence stands in that book.", 1, OIL, TYRES)
    assert found == FoundSpan("not_found", None, False, 0.0)


def test_without_a_cited_page_every_place_is_offered() -> None:
    found = find(OIL, None, OIL, TYRES, OIL)
    assert (found.page_idx, found.page_mismatch) == (0, False)
    assert [place.page_idx for place in found.alternatives] == [2]


def test_a_cited_page_beyond_the_end_is_reported_and_the_rest_searched() -> None:
    found = find(OIL, 9, OIL, TYRES)
    assert (found.page_idx, found.page_mismatch) == (0, True)
    assert found.note == "page_idx 9 is not in the document, which has 2 pages"


def test_minus_one_is_no_page() -> None:
    found = find(OIL, -1, TYRES, OIL)
    assert (found.page_idx, found.page_mismatch) == (1, True)
    assert "page_idx -1" in found.note


def test_a_page_without_text_says_so() -> None:
    found = find(OIL, 0, "", TYRES)
    assert found.note == "page_idx 0 has no text to compare the quote with"


def test_a_quote_without_words_says_so() -> None:
    assert "no letter or digit" in find(" — … ", 0, OIL).note


def test_a_common_scrap_is_not_claimed_for_a_page_that_nobody_cited() -> None:
    assert find("check the", 0, "nothing", TYRES, TYRES).status == "not_found"
    assert find("15,000 km", 0, "nothing", TYRES, OIL).page_idx == 2


def test_text_that_runs_on_to_the_next_page() -> None:
    first, second = f"{TYRES}\n{OIL}", f"{LIGHTS}\n{TYRES}"
    found = find(f"{OIL} {LIGHTS}", 0, first, second)
    assert (found.status, found.page_idx, found.page_mismatch) == ("partial", 0, False)
    assert [place.page_idx for place in found.continues] == [1]
    assert found.agreement > 0.9
    assert found.differences == ()


def test_text_that_runs_on_over_two_pages_further() -> None:
    """The longest part is on the first page, so that the others follow one after the other."""
    long = " ".join((TYRES, OIL, OIL.replace("oil", "filter")))
    found = find(f"{long} {LIGHTS} {SEATS}", 0, long, LIGHTS, f"{SEATS}\n{TYRES}")
    assert (found.page_idx, [place.page_idx for place in found.continues]) == (0, [1, 2])
    assert found.agreement > 0.9 and found.differences == ()


def test_a_quote_on_any_of_several_cited_pages_is_no_page_mismatch() -> None:
    pages = document(TYRES, OIL, LIGHTS, OIL, OIL)
    found = locate(SpanQuery(LIGHTS, 1, last_cited_page_idx=3), pages)
    assert (found.page_idx, found.page_mismatch) == (2, False)
    assert locate(SpanQuery(TYRES, 1, last_cited_page_idx=3), pages).page_mismatch
    # The first cited page with the text counts, and a range beyond the end is read as far as pages go.
    found = locate(SpanQuery(OIL, 3, last_cited_page_idx=4_000_000), pages)
    assert (found.page_idx, found.page_mismatch) == (3, False)


def test_text_that_came_from_the_page_before() -> None:
    first, second = f"{TYRES}\n{OIL}", f"{LIGHTS}\n{TYRES}"
    found = find(f"{OIL} {LIGHTS}", 1, first, second)
    assert (found.page_idx, [place.page_idx for place in found.continues]) == (1, [0])
    assert found.differences == ()


def test_text_that_begins_on_the_cited_page_is_no_page_mismatch_where_most_of_it_follows() -> None:
    found = find(f"{OIL} {LIGHTS} {TYRES}", 0, f"{TYRES}\n{OIL}", f"{LIGHTS}\n{TYRES}")
    assert (found.page_idx, [place.page_idx for place in found.continues]) == (1, [0])
    assert not found.page_mismatch


def test_an_ellipsis_joins_two_pieces_in_order() -> None:
    page = f"{OIL}\n{TYRES}\n{LIGHTS}"
    found = find("Change the engine oil every 15,000 km … only by one of the same wattage", 0, page)
    assert found.status == "partial"
    assert [rect[1] for rect in found.rects] == [0.0, 2 * LINE]


def test_pieces_in_the_wrong_order_are_not_joined() -> None:
    page = f"{LIGHTS}\n{OIL}"
    found = find("Change the engine oil every 15,000 km … only by one of the same wattage", 0, page)
    assert len(found.rects) < 2


def test_a_header_before_a_blank_line_does_not_hide_a_short_body() -> None:
    header = "Company: Meridian\nPeriod: 2026\nFiling: manual\nDocument ID: meridian-2026"
    found = find(f"{header}\n\nnote the date in the service book.", 0, OIL, TYRES)
    assert (found.status, found.page_idx) == ("not_found", None)
    found = find(f"{header}\n\n{OIL}", 0, OIL, TYRES)
    assert (found.status, found.page_idx, found.differences) == ("normalized", 0, ())
    lines = "; ".join(header.split("\n"))
    assert found.note == f"above the text are lines that are not on the page: {lines}"


def test_a_header_of_the_page_itself_counts_as_its_text() -> None:
    header = "Interval: 15,000 km\nPart: engine"
    found = find(f"{header}\n\n{OIL}", 0, f"Interval: 15,000 km\nPart: engine\n{OIL}", TYRES)
    assert (found.status, found.note, len(found.rects)) == ("exact", "", 3)
    other = find(header.replace("15,000", "10,000") + f"\n\n{OIL}", 0, f"{header}\n{OIL}", TYRES)
    assert [(each.quote, each.page) for each in other.differences] == [("10,000", "15,000")]


@pytest.mark.parametrize(
    "quote",
    [
        "Change the <b>engine oil</b> every 15,000 km and<br/>note the date in the service book.",
        '<p style="x">Change the engine o<em>i</em>l every 15,000 km</p><td>and note the date.',
    ],
)
def test_tags_that_only_format_are_no_difference(quote: str) -> None:
    found = find(quote, 0, OIL, TYRES)
    assert (found.status, found.differences, found.page_idx) == ("normalized", (), 0)


def test_tags_hide_no_other_figure_and_may_be_the_pages_own() -> None:
    found = find(
        "Change the <b>engine oil</b> every <i>10,000</i> km and note the date in the service book.", 0, OIL
    )
    assert ("10,000", "15,000") in [(each.quote, each.page) for each in found.differences]
    code = "Write <b>engine oil</b> to set the words engine oil in bold on your own page."
    assert find(code, 0, code, OIL).status == "exact"


@pytest.mark.parametrize(
    "header",
    ["Warning: drain it at 90 degrees", "Drain it hot: now\nIt says: use no gloves.", "Note:\nDate: May"],
)
def test_a_line_or_a_sentence_above_the_text_is_part_of_it(header: str) -> None:
    found = find(f"{header}\n\n{OIL}", 0, OIL, TYRES)
    assert (found.status, found.agreement < 1) == ("partial", True)


@pytest.mark.parametrize("quote", ["Words that stand nowhere in this manual at all.", "Press the button."])
def test_offsets_in_tokens_say_that_they_cannot_settle_what_is_open(quote: str) -> None:
    found = locate(SpanQuery(quote, 0, Offsets(3, 9, "token")), document(TWICE))
    assert "without the tokenizer" in found.note
    once = locate(SpanQuery("The lamp goes out.", 0, Offsets(3, 9, "token")), document(TWICE))
    assert (once.status, once.note) == ("exact", "")


TWICE = "Press the button.\nThe lamp lights up.\nPress the button.\nThe lamp goes out."


def settled(**extra: object) -> FoundSpan:
    return locate(SpanQuery("Press the button.", 0, **extra), document(TWICE))  # type: ignore[arg-type]


def test_a_quote_that_occurs_twice_offers_both() -> None:
    assert len(settled().alternatives) == 1


def test_context_settles_it() -> None:
    for extra in ({"after": "The lamp goes out."}, {"before": "lights up."}):
        found = settled(**extra)
        assert found.rects[0][1] == 2 * LINE
        assert found.alternatives == ()


def test_offsets_settle_it() -> None:
    assert settled(offsets=Offsets(37, 54)).rects[0][1] == 2 * LINE
    assert settled(offsets=Offsets(5_000, 5_020)).alternatives != ()


def test_a_box_settles_it_in_any_space() -> None:
    box = (0.0, 2 * LINE, 120.0, 3 * LINE)
    unit = (0.0, 2 * LINE / 792, 120 / 612, 3 * LINE / 792)
    for given, space in ((box, "points"), (unit, "unit"), (tuple(1000 * c for c in unit), "per_mille")):
        found = settled(box=given, box_space=space)
        assert (found.rects[0][1], found.note) == (2 * LINE, "")


@pytest.mark.parametrize(
    ("top", "expected"),
    [
        (LINE, "the box given with the quote holds other text: “The lamp lights up.”"),
        (300.0, "the box given with the quote holds no text"),
        (900.0, "the box given with the quote does not lie on the page"),
    ],
)
def test_a_box_that_holds_other_text_is_reported(top: float, expected: str) -> None:
    found = settled(box=(0.0, top, 400.0, top + LINE), box_space="points")
    assert (found.box_agrees, found.note) == (False, expected)
    assert found.status == "exact"


def test_a_box_that_holds_the_text_agrees_however_large_it_is() -> None:
    assert settled(box=(0.0, 0.0, 1000.0, 1000.0), box_space="per_mille").box_agrees is True
    assert settled().box_agrees is None


def test_a_box_that_holds_less_than_half_of_the_text_does_not_agree() -> None:
    found = locate(
        SpanQuery(
            "The lamp lights up. Press the button. The lamp goes out.",
            0,
            box=(0, LINE, 400, 2 * LINE),
            box_space="points",
        ),
        document(TWICE),
    )
    assert found.box_agrees is False
    assert found.note == "the box given with the quote holds 1 of the 3 lines found"


def test_a_box_is_compared_with_the_part_of_the_quote_on_its_own_page() -> None:
    pages = f"{TYRES}\n{OIL}", f"{LIGHTS}\n{TYRES}"
    asked = SpanQuery(f"{OIL} {LIGHTS} {TYRES}", 0, box=(0, LINE, 600, 2 * LINE), box_space="points")
    found = locate(asked, document(*pages))
    assert (found.page_idx, [place.page_idx for place in found.continues]) == (1, [0])
    assert (found.box_agrees, found.note) == (True, "")


def test_a_box_without_its_space_is_not_compared() -> None:
    found = settled(box=(0.0, 0.0, 400.0, LINE))
    assert found.box_agrees is None
    assert "has no unit" in found.note


def test_the_box_of_a_quote_that_is_not_there_is_compared_with_the_cited_page() -> None:
    absent = SpanQuery("Nothing of this stands there.", 0, box=(0, 0, 400, LINE), box_space="points")
    found = locate(absent, document(TWICE))
    assert (found.status, found.box_agrees) == ("not_found", False)
    assert "“Press the button.”" in found.note


BARE = PageText.of((), width=600.0, height=800.0)


def test_a_box_on_a_page_without_text_is_handed_on_unverified() -> None:
    asked = SpanQuery(OIL, 0, box=(500.0, 100.0, 1200.0, 200.0), box_space="per_mille")
    found = locate(asked, MadeDocument(BARE, page_text(TYRES)))
    assert (found.status, found.page_idx, found.rects, found.box_agrees) == ("not_found", None, (), None)
    assert found.unverified == ((300.0, 80.0, 600.0, 160.0),)
    assert found.note == "page_idx 0 has no text to compare the quote with"


def test_a_box_stays_unverified_where_the_quote_is_on_another_page() -> None:
    asked = SpanQuery(OIL, 0, box=(0.0, 0.0, 1.0, 0.5), box_space="unit")
    found = locate(asked, MadeDocument(BARE, page_text(OIL)))
    assert (found.page_idx, found.page_mismatch, found.box_agrees) == (1, True, None)
    assert found.unverified == ((0.0, 0.0, 600.0, 400.0),)


def test_a_box_of_a_quote_without_words_is_unverified_on_a_page_without_text_alone() -> None:
    asked = SpanQuery("—", 0, box=(0.0, 0.0, 60.0, 80.0), box_space="points")
    assert locate(asked, MadeDocument(BARE)).unverified == ((0.0, 0.0, 60.0, 80.0),)
    there = locate(asked, document(OIL))
    assert (there.unverified, there.box_agrees) == ((), None)


@pytest.mark.parametrize("side", [math.nan, math.inf, -math.inf])
def test_a_box_that_no_page_can_hold_is_reported(side: float) -> None:
    found = settled(box=(0.0, 0.0, side, LINE), box_space="points")
    assert (found.box_agrees, found.status) == (False, "exact")
    assert "does not lie on the page" in found.note


def test_pieces_of_an_ellipsis_are_taken_where_both_occur_word_by_word() -> None:
    page = f"{OIL} {TYRES} {LIGHTS}"
    near = page.replace("15,000", "10,000").replace("tyres", "wheels")
    found = find("note the date in the service book. … while they are cold. Replace a blown", 0, page, near)
    assert (found.page_idx, found.status, found.differences) == (0, "partial", ())


def test_of_pieces_that_occur_twice_those_closest_together_are_meant() -> None:
    found = find("Change the engine oil every … blown bulb only", 0, f"{OIL}\n{TYRES}\n{OIL}\n{LIGHTS}")
    assert [rect[1] for rect in found.rects] == [2 * LINE, 3 * LINE]


def test_a_whole_quote_beside_the_cited_page_beats_a_part_on_it() -> None:
    tail = "Check the pressure of all tyres, the spare wheel"
    found = find(f"{OIL} {TYRES}", 1, f"{LIGHTS}\n{OIL}\n{TYRES}", f"{tail} is kept apart.\n{LIGHTS}")
    assert (found.page_idx, found.status, found.page_mismatch) == (0, "exact", True)


def test_a_sentence_with_other_numbers_far_from_the_cited_page_is_not_the_one_meant() -> None:
    other = "The lamps of 1,840 vehicles were replaced in 2018 in all workshops"
    quote = "The lamps of 1,840 vehicles were replaced in 2021 in workshops"
    assert find(quote, 0, *[TYRES] * 5, other).status == "not_found"
    assert find(quote, 5, *[TYRES] * 5, other).page_idx == 5


def test_a_quote_too_long_to_be_looked_for_as_a_whole_is_never_exact() -> None:
    words = [f"word{number}" for number in range(3_000)]
    whole, altered = " ".join(words), " ".join([*words[:-1], "5"])
    for quote in (whole, altered):
        found = find(quote, 0, whole)
        assert (found.status, found.page_idx) == ("partial", 0)
        assert 0.5 < found.agreement < 1.0
        assert "only the first 20,000 characters" in found.note
