"""Which warnings and cautions of a cited section an answer may leave out."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Attachment, AttachmentKind, Label, Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.safety import MOST_NOTICES, MOST_WORDS, Notices, SafetyOmission, omitted
from proofspan.diagnosis.types import ReportRow, Signals
from proofspan.diagnosis.words import Passage, form, named_words
from proofspan.traces.records.chunks import Place
from tests.made_traces import made_trace

FAN = (
    "Keep your hands, hair and clothing away from the radiator fan, which can start by itself even when the "
    "ignition is off. The engine, the exhaust and the turbocharger are hot enough to burn you."
)
OIL = "Never fill in oil above the MAX mark. The surplus destroys the catalytic converter."
CHUNKS = {
    "level": "Pull out the dipstick, wipe it and read the oil level between MIN and MAX.",
    "fan": f"WARNING\n{FAN}",
    "grades": "The engine takes oil of grade 0W-20; the diesel takes 5.1 litres with the filter.",
    "tyres": "Pump the tyres up to 2.4 bar while they are cold.",
}
PLACES = {
    "level": Place("manual", "7.3.2", 57),
    "fan": Place("manual", "7.3.2", 57),
    "grades": Place("manual", "7.3.3", 58),
    "tyres": Place("manual", "8.1", 62),
}
CORPUS = Corpus(CHUNKS)


def notice(name: str, section: str | None, text: str, kind: AttachmentKind = "warning") -> Attachment:
    return Attachment(name, kind, "manual", section, 57, text=text)


CATALOGUE = (
    notice("w-fan", "7.3.2", FAN),
    notice("c-oil", "7.3.3", OIL, "caution"),
    notice("n-oil", "7.3.2", "Oil is sold in bottles of one litre.", "note"),
)


def trace_of(answer: str, *cited: object) -> Trace:
    record = {"q": "How much oil?", "answer": answer, "citations": list(cited), "chunks": []}
    return made_trace(record, run_id="R")


def verdict(label: Label = "ok", *in_text: str) -> ReportRow:
    return ReportRow("q", label, "", (), in_text, Signals())


def found(
    answer: str, *cited: object, catalogue: Sequence[Attachment] = CATALOGUE, label: Label = "ok"
) -> tuple[SafetyOmission, ...] | None:
    return omitted(trace_of(answer, *cited), verdict(label), Notices(catalogue, CORPUS), PLACES)


def ids(omissions: Sequence[SafetyOmission] | None) -> list[str] | None:
    return None if omissions is None else [each.attachment_id for each in omissions]


def test_a_warning_of_the_cited_section_that_nobody_mentions_is_reported_with_its_words() -> None:
    (omission,) = found("Read the level between MIN and MAX.", "level") or ()
    assert omission == SafetyOmission(
        attachment_id="w-fan",
        kind="warning",
        section_id="7.3.2",
        page_idx=57,
        text=FAN,
        words=(
            *("hands", "hair", "clothing", "away", "radiator", "fan", "start", "ignition"),
            *("engine", "exhaust", "turbocharger", "hot", "burn"),
        ),
        found=(),
        doc_id="manual",
    )


def test_the_words_that_are_there_are_named() -> None:
    (omission,) = found("Stop the engine and start reading once it is off.", "level") or ()
    assert omission.found == ("start", "engine")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(f"Wipe the dipstick. {FAN}", id="all of it"),
        pytest.param("The engine, exhaust and turbocharger are hot enough to burn you.", id="a sentence"),
        pytest.param("Mind the hot engine, turbocharger and exhaust: you could get burned.", id="its words"),
        pytest.param("KEEP CLOTHING, HAND AND HAIR AWAY FROM FANS; THE RADIATOR CAN START ONE", id="case"),
    ],
)
def test_what_the_answer_mentions_is_not_omitted(answer: str) -> None:
    assert found(answer, "level") == ()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Let the engine cool. The fan belt drives the alternator.", id="two words of it"),
        pytest.param(" and much else besides the road ".join(FAN.split()), id="far apart"),
    ],
)
def test_a_few_words_or_words_far_apart_mention_nothing(answer: str) -> None:
    assert ids(found(answer, "level")) == ["w-fan"]


def test_a_sentence_that_forbids_is_not_mentioned_by_one_that_asks_for_the_same() -> None:
    cited = {"chunk_id": "grades", "quote": "The engine takes oil of grade 0W-20"}
    assert ids(found("Fill in oil up to above the MAX mark.", cited)) == ["c-oil"]
    assert found("Do not fill in oil above the MAX mark.", cited) == ()
    assert found("You mustn’t fill oil in above the MAX mark.", cited) == ()


def test_a_cited_chunk_that_is_the_warning_mentions_it() -> None:
    assert found("Read the level.", "level", "fan") == ()


def test_of_a_quote_the_chunk_around_it_mentions_nothing() -> None:
    assert ids(found("Read the level.", {"chunk_id": "fan", "quote": "WARNING"})) == ["w-fan"]
    assert found("Read the level.", {"chunk_id": "level", "quote": FAN.upper()}) == ()


def test_each_notice_is_reported_once_in_the_order_of_the_citations() -> None:
    cited = ["grades", "level", "grades", "level"]
    assert ids(found("Some.", *cited)) == ["c-oil", "w-fan"]


def test_ids_in_the_answer_count_where_there_is_no_payload() -> None:
    trace = trace_of("Some oil. citations: [grades]")
    row = verdict("ok", "grades")
    assert ids(omitted(trace, row, Notices(CATALOGUE, CORPUS), PLACES)) == ["c-oil"]


def test_an_id_that_is_made_of_the_words_is_no_mention() -> None:
    chunk_id = "fill-oil-above-the-MAX-mark-surplus-destroys-catalytic-converter-never"
    trace = trace_of(f"Some oil. citations: [{chunk_id}]")
    places = {chunk_id: PLACES["grades"]}
    assert ids(omitted(trace, verdict("ok", chunk_id), Notices(CATALOGUE, CORPUS), places)) == ["c-oil"]


def test_the_payload_says_where_its_citation_lies() -> None:
    cited = {"doc_id": "manual", "section_id": "7.3.3", "text": "grade 0W-20"}
    assert ids(found("0W-20", cited)) == ["c-oil"]
    assert found("0W-20", cited | {"doc_id": "bulletin"}) == ()


def test_the_candidate_outweighs_the_record_and_the_record_the_id() -> None:
    chunk_id = "manual|r=00000000|s=7.3.2|p=058|b=001"
    notices = Notices(CATALOGUE, CORPUS)
    trace = trace_of("Some.", chunk_id)
    assert ids(omitted(trace, verdict(), notices, {})) == ["w-fan"]
    assert ids(omitted(trace, verdict(), notices, {chunk_id: Place("manual", "7.3.3", 58)})) == ["c-oil"]
    record = trace.raw | {
        "chunks": [{"id": chunk_id, "doc_id": "manual", "section_id": "8.1", "page_idx": 62}]
    }
    seen = made_trace(record, run_id="R", source=trace.source)
    assert omitted(seen, verdict(), notices, {chunk_id: Place("manual", "7.3.3", 58)}) == ()


@pytest.mark.parametrize("label", ["refusal_ok", "refusal_suspect"])
def test_a_refusal_omits_nothing(label: Label) -> None:
    assert found("not in context", "level", label=label) == ()


def test_without_a_citation_or_a_verdict_nothing_is_known() -> None:
    assert found("Some.") is None
    assert found("Some.", 7, None, "") is None
    assert omitted(trace_of("Some.", "level"), None, Notices(CATALOGUE, CORPUS), PLACES) is None


def test_a_section_without_a_notice_leaves_nothing_out() -> None:
    assert found("2.4 bar", "tyres") == ()
    assert found("Somewhere.", {"doc_id": "manual"}) == ()


@pytest.mark.parametrize(
    ("of", "holds"),
    [
        ("7.3.2", True),
        ("7.3", True),
        ("7", True),
        ("§ 7.3.", True),
        ("Section 7.3.2", True),
        ("7.3.3", False),
        ("7.30", False),
        ("7.3.2.1", False),
        ("", False),
    ],
)
def test_a_notice_holds_for_its_section_and_what_lies_in_it(of: str, holds: bool) -> None:
    """A warning in 7.3 before 7.3.2 applies to 7.3.2 too; one in a part does not apply to the whole."""
    assert (ids(found("Some.", "level", catalogue=[notice("w", of, FAN)])) == ["w"]) is holds


def test_the_own_sections_notices_come_before_those_above_and_a_text_comes_once() -> None:
    catalogue = [
        notice("chapter", "7", OIL),
        notice("own", "7.3.2", FAN),
        notice("above", "7.3", FAN.upper()),
    ]
    assert ids(found("Some.", "level", catalogue=catalogue)) == ["own", "chapter"]


def test_without_sections_a_page_is_one() -> None:
    catalogue = [notice("w", None, FAN)]
    by_page = {"doc_id": "manual", "page": 58, "quote": "Read the level."}
    assert ids(found("Some.", by_page, catalogue=catalogue)) == ["w"]
    assert found("Some.", by_page | {"page": 57}, catalogue=catalogue) == ()
    cited = "manual|r=00000000|s=p058|p=058|b=001"
    assert ids(omitted(trace_of("", cited), verdict(), Notices(catalogue, CORPUS), {})) == ["w"]


def test_a_region_to_draw_places_a_notice_that_has_no_page() -> None:
    drawn = Attachment("w", "warning", text=FAN, render_ref="pdf:manual#page_idx=57&bbox=72,140,320,260")
    cited = {"doc_id": "manual", "page": 58}
    assert ids(found("Some.", cited, catalogue=[drawn])) == ["w"]


@pytest.mark.parametrize("text", ["", "  \n", "Do not.", "!!!", "7"])
def test_a_notice_without_content_words_cannot_be_looked_for(text: str) -> None:
    assert found("Some.", "level", catalogue=[notice("w", "7.3.2", text)]) == ()


HYPHENED = "Start-stop can start the engine again at any moment and catch hands, hair or clothing."


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param(FAN, FAN.replace("iator", "i-\nator").replace("thing", "t-\n hing"), id="breaks"),
        pytest.param(FAN.replace("radiator", "radi-\nator"), FAN, id="a break in the catalogue"),
        pytest.param(FAN, FAN.replace("ignition", "igni\u00adtion"), id="soft hyphen"),
        pytest.param("Mind the filter: floors are stiff.", "mind the ﬁlter, ﬂoors are stiﬀ", id="ligatures"),
        pytest.param("Apply no more than 300º F.", "Apply no more than 300 F", id="degrees"),
        pytest.param(HYPHENED, HYPHENED.replace("Start-stop", "Startstop"), id="one word"),
        pytest.param(HYPHENED.replace("t-stop", "t-\nstop"), HYPHENED, id="a hyphen at a line's end"),
        pytest.param(
            "高温のエンジンに触れないでください", "注意：高温のエンジンに触れないでください。", id="no spaces"
        ),
        pytest.param("Vor dem Öffnen Zündung aus!", "VOR DEM ÖFFNEN: ZÜNDUNG AUS", id="German"),
    ],
)
def test_how_a_text_is_set_makes_no_difference(text: str, answer: str) -> None:
    catalogue = [notice("w", "7.3.2", text)]
    assert ids(found("Some.", "level", catalogue=catalogue)) == ["w"]
    assert found(answer, "level", catalogue=catalogue) == ()


@pytest.mark.parametrize(
    ("words", "shared"),
    [
        (("tyre", "tyres"), True),
        (("battery", "batteries"), True),
        (("tow", "towed", "towing", "tows"), True),
        (("stop", "stopped", "stopping"), True),
        (("close", "closes", "closing", "closed"), True),
        (("speed", "spe"), False),
        (("string", "str"), False),
        (("glass", "gla"), False),
        (("red", "r"), False),
        (("axle", "axis"), False),
    ],
)
def test_inflections_share_a_form(words: Sequence[str], shared: bool) -> None:
    assert (len(set(map(form, words))) == 1) is shared


texts = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=12)
    | st.sampled_from(["not", "engine", "hot.", "don't", "radi-\nator", "MAX", "!", "ﬁlter", "高温"]),
    min_size=1,
    max_size=30,
).map(" ".join)


@given(texts, texts, texts)
@example("a-\nb-\nc", "", "")
@example("0", "engine", "engine")
def test_an_answer_that_holds_the_notice_word_by_word_never_omits_it(
    text: str, before: str, after: str
) -> None:
    catalogue = [notice("w", "7.3.2", text)]
    assert found(f"{before}\n{text}\n{after}", "level", catalogue=catalogue) == ()
    assert found("", {"chunk_id": "level", "quote": text}, catalogue=catalogue) in ((), None)


@given(st.lists(st.sampled_from([FAN, OIL, HYPHENED]), max_size=8), st.randoms(), st.booleans())
def test_the_order_of_the_catalogue_never_matters(
    words: list[str], shuffle: random.Random, nested: bool
) -> None:
    listed = [
        Attachment(f"w{n}", "warning", "manual", "7.3" if nested and n % 2 else "7.3.2", n % 3, text=text)
        for n, text in enumerate(words)
    ]
    mixed = shuffle.sample(listed, len(listed))
    assert found("Some.", "level", catalogue=mixed) == found("Some.", "level", catalogue=listed)


@given(texts)
def test_words_of_a_notice_are_forms_of_its_passage(text: str) -> None:
    passage = Passage(text)
    assert passage.layout.places.keys() == passage.forms
    assert all(0 <= at < passage.layout.length for places in passage.layout.places.values() for at in places)
    assert len({form(word) for word in named_words(text)}) == len(named_words(text))


def test_ten_thousand_warnings_in_one_section_are_bounded_and_reported() -> None:
    crowd = [notice(f"w{n:05}", "7.3.2", f"{FAN} Number {'x' * (n % 7)}{n}abc.") for n in range(10_000)]
    notices = Notices(crowd, CORPUS)
    assert notices.crowded == (("manual", "7.3.2", 10_000),)
    omissions = omitted(trace_of("Some.", "level"), verdict(), notices, PLACES)
    assert ids(omissions) == [f"w{n:05}" for n in range(MOST_NOTICES)]


def test_huge_texts_and_deep_sections_cost_little() -> None:
    words = " ".join(f"word{n}x never." for n in range(200_000))
    deep = ".".join(["7"] * 400)
    catalogue = [notice("w", deep, f"{FAN} {words}")]
    started = time.process_time()
    (omission,) = (
        found(words.replace("x", "y"), {"doc_id": "manual", "section_id": deep}, catalogue=catalogue) or ()
    )
    assert found("Some.", {"doc_id": "manual", "section_id": deep * 9_999}, catalogue=catalogue) == ()
    assert time.process_time() - started < 5
    assert len(omission.words) == MOST_WORDS
