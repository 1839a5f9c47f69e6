"""The trail of a gold passage: who holds its words, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.contracts.records.records import NOWHERE, GoldQuestion, GoldSpan, Json, Trace
from proofspan.diagnosis.verdicts.gold_text import GoldTrails, first_loss, has_passage
from proofspan.diagnosis.verdicts.types import GoldTrail, PartPlace, TrailStage
from proofspan.traces.records.chunks import Place
from proofspan.traces.records.trace_record import trace_from

TABLE = """\
Balance sheet of the ferry company
(in thousands)
2024
2023
Ships and piers
41,205
39,870
Spare parts
1,312
1,290
Cash at banks
7,455
6,018
Total assets
49,972
47,178
"""
DESCALE = "Descale the boiler every 90 days with 250 ml of vinegar, then rinse it twice."

Corpus = Mapping[str, tuple[str, int | None]]


def _chunks(corpus: Corpus) -> GoldTrails:
    """Return the trails of a corpus given as text and page of document `d` by chunk id."""
    texts = {chunk_id: text for chunk_id, (text, _) in corpus.items()}
    return GoldTrails(texts, {chunk_id: Place("d", None, page) for chunk_id, (_, page) in corpus.items()})


def _trace(prompt: Sequence[str], *, cited: Sequence[Json] = (), **stages: Sequence[Any]) -> Trace:
    lists = {
        name: [each if isinstance(each, dict) else {"id": each} for each in ids]
        for name, ids in stages.items()
    }
    line: dict[str, Json] = {"q_id": "Q1", "q": "How often?", "answer": "Every 90 days."}
    line |= {"chunks": [{"id": each} for each in prompt], "stages": lists, "citations": list(cited)}
    trace = trace_from(line, NOWHERE, run_id="R1")
    assert isinstance(trace, Trace)
    return trace


def _gold(*quotes: str | tuple[str, int], **more: Any) -> GoldQuestion:
    """Return a gold question with quotes on page 0, or on the one given."""
    pairs = [(each, 0) if isinstance(each, str) else each for each in quotes]
    spans = tuple(GoldSpan("d", page, quote) for quote, page in pairs)
    return GoldQuestion("Q1", more.pop("q", "How often?"), spans=spans, **more)


def _trail(corpus: Corpus, trace: Trace, gold: GoldQuestion) -> GoldTrail:
    trail = _chunks(corpus).trail(trace, gold)
    assert trail is not None
    return trail


def _place(text: str, quote: str, *, page: int = 0, **more: Any) -> PartPlace:
    """Return how a chunk in the prompt has a quote of page 0."""
    (part,) = _trail({"a": (text, page)}, _trace(["a"]), _gold(quote, **more)).parts
    return part.places["prompt"]


def _held(place: PartPlace, text: str) -> str:
    return text[place.start : place.end]


def test_a_chunk_with_the_passage_holds_it_at_its_characters() -> None:
    text = f"Care. {DESCALE} Unplug the machine before."
    place = _place(text, DESCALE)
    assert (place.holding, place.share, place.rank, place.chunk_id) == ("held", 1.0, 1, "a")
    assert _held(place, text) == DESCALE.removesuffix(".")


def test_another_paragraph_of_the_page_holds_nothing() -> None:
    other = "Rinse the milk tube twice with warm water, every time that the boiler has been used for milk."
    assert _place(other, DESCALE).holding == "same_page"
    assert _place(other, DESCALE, page=3).holding == "absent"


def test_a_phrase_in_the_middle_of_another_sentence_is_no_part_of_the_passage() -> None:
    quote = (
        "On 3 May the Northern Ferry Company agreed with the holders of the 4.5% secured bonds due 2031 that"
        " their interest is paid once a year, and that the ships Alba and Brisa no longer secure them."
    )
    other = (
        "Exhibit 7 is the form of the 4.5% secured bonds due 2031, filed with the registrar of Port Ellis."
    )
    assert _place(other, quote).holding == "same_page"


def test_a_table_that_is_cut_off_holds_a_part() -> None:
    text = TABLE[: TABLE.index("Cash")]
    place = _place(text, TABLE)
    assert place.holding == "part" and 0.3 < place.share < 0.7
    assert _held(place, text).endswith("1,290")


def test_the_rows_that_are_cut_off_have_the_answer_or_not() -> None:
    asked = {"q": "How much cash did the ferry company have at the end of 2024?", "answer": "7,455 thousand"}
    first, second = TABLE[: TABLE.index("Cash")], TABLE[TABLE.index("Cash") :]
    assert _place(first, TABLE, **asked).has_answer is False
    assert _place(second, TABLE, **asked).has_answer is True
    assert _place(second, TABLE).has_answer is None


def test_the_needed_row_is_named_and_found() -> None:
    gold = _gold(TABLE, q="What did the company have in cash in 2024?", answer="7,455 thousand")
    text = TABLE[TABLE.index("Cash") :]
    (part,) = _trail({"a": (f"{TABLE[:60]}\n{'Nothing more. ' * 40}\n{text}", 0)}, _trace(["a"]), gold).parts
    ((start, end),) = part.needed
    assert part.text[start:end] == "Cash at banks\n7,455\n6,018"
    place = part.places["prompt"]
    assert place.holding == "part" and place.has_answer and place.start > 500


def test_a_change_is_answered_by_the_row_that_it_follows_from() -> None:
    asked = {"q": "By how much did cash at banks grow?", "answer": "It grew by 23.9%."}
    assert _place(TABLE[TABLE.index("Cash") :], TABLE, **asked).has_answer is True
    assert _place(TABLE[: TABLE.index("Cash")], TABLE, **asked).has_answer is False


def test_the_scale_that_is_asked_for_counts() -> None:
    asked = {"q": "What was the cash of the ferry company? Answer in millions.", "answer": "$7.50"}
    assert _place(TABLE[TABLE.index("Cash") :], TABLE, **asked).has_answer is True
    assert _place(TABLE[: TABLE.index("Cash")], TABLE, **asked).has_answer is False


def test_a_figure_in_several_sentences_decides_nothing() -> None:
    quote = "The pump runs for 5 minutes on request. The lamp flashes for 5 minutes after the filter is full."
    place = _place(quote[: quote.index("The lamp")], quote, q="How long does it flash?", answer="5 minutes")
    assert place.holding == "part" and place.has_answer is None


def test_an_expected_answer_that_says_much_more_than_its_figures_decides_nothing() -> None:
    answer = "It bought a shipyard in Port Ellis, two tugs, a ticket agency and 49,972 lamps for its piers."
    assert _place(TABLE[TABLE.index("Cash") :], TABLE, answer=answer).has_answer is None


def test_the_anchor_says_what_the_answer_rests_on() -> None:
    anchor = {"anchor": "every 90 days"}
    text = "Descale the boiler every 90 days"
    assert _place(text, DESCALE, **anchor).has_answer is True
    assert _place("with 250 ml of vinegar, then rinse it twice.", DESCALE, **anchor).has_answer is False


def test_without_a_figure_the_passage_is_not_whole() -> None:
    assert _place(DESCALE.replace("90 days", "60 days"), DESCALE).holding == "part"
    assert _place(DESCALE.replace("250 ml", "some drops"), DESCALE).holding != "held"


def test_the_number_of_the_page_need_not_be_there() -> None:
    assert _place(TABLE, f"{TABLE}\n58").holding == "held"


def test_line_breaks_hyphens_ligatures_and_cells_make_no_difference() -> None:
    quote = (
        "The efficient non-stick coating of the waffle iron lasts 1,500 bakings, the company’s tests show."
    )
    text = "The e\ufb03cient non-\nstick coat-\ning of the wa\ufb04e iron\nlasts 1500 bakings"
    text += ", the companys tests show."
    assert _place(text, quote).holding == "held"
    flat = (
        "Balance sheet of the ferry company (in thousands) 2024 2023Ships and piers41,205 39,870Spare parts"
    )
    flat += "1,312 1,290Cash at banks7,455 6,018Total assets49,972 47,178"
    assert _place(flat, TABLE).holding == "held"


def test_a_short_quote_is_not_found_within_words_or_numbers() -> None:
    assert _place("The art of tea.", "he art").holding == "same_page"
    assert _place("At 12.5 bar.", "2.5 bar").holding == "same_page"
    assert _place("At 2.55 bar.", "at 2.5").holding == "same_page"


def test_a_chunk_that_begins_within_the_passage_holds_its_part() -> None:
    text = "of vinegar, then rinse it twice. Unplug the machine before you open the lid of its boiler."
    long = f"{DESCALE[:-1]} until no smell of vinegar is left in the boiler or in its tube."
    place = _place(text.replace("twice.", "twice until no smell of vinegar is left in the boiler."), long)
    assert place.holding == "part" and 0.3 < place.share < 0.8


def test_a_passage_over_two_chunks_is_held_by_both_together() -> None:
    middle = DESCALE.index("with")
    corpus = {"a": (DESCALE[:middle], 0), "b": (DESCALE[middle:], 0)}
    trail = _trail(corpus, _trace(["b", "a"], reranked=["a"]), _gold(DESCALE))
    (part,) = trail.parts
    prompt = part.places["prompt"]
    assert (prompt.holding, prompt.together) == ("held", 1.0) and prompt.share < 1
    assert part.places["reranked"].holding == "part"
    assert part.places["corpus"].holding == "held"


def test_boilerplate_that_the_passage_repeats_counts_once() -> None:
    each = (
        "In {} the company bought {}; the deal is part of its ferries segment, and goodwill was {} million."
    )
    deals = [("May", "two tugs", "12"), ("June", "a pier", "31"), ("July", "a shipyard", "77")]
    quote = " ".join(each.format(*deal) for deal in deals)
    assert 0.25 < _place(each.format(*deals[1]), quote).share < 0.45


def test_a_sentence_that_the_passage_repeats_is_there_wherever_it_is() -> None:
    same = "The price is paid in three years once the harbour office agrees."
    texts = [
        "In May the company bought two tugs.",
        "In June the company bought the pier of Port Ellis.",
        same,
    ]
    corpus = {str(number): (text, 0) for number, text in enumerate(texts)}
    gold = _gold(f"{texts[0]} {same} {texts[1]} {same}")
    (part,) = _trail(corpus, _trace(list(corpus)), gold).parts
    assert part.places["prompt"].holding == "held" and part.places["prompt"].share < 0.5


def test_a_chunk_below_keys_may_begin_within_the_passage() -> None:
    keys = "Company: Boilers\nPeriod: 2024\n\n"
    middle = DESCALE.index("with")
    assert _place(f"{keys}{DESCALE[middle:]} Empty the tray.", DESCALE).holding == "part"
    assert _place(f"{keys}Fill a cup {DESCALE[middle:]} Empty the tray.", DESCALE).holding == "same_page"


def test_two_pages_are_two_parts() -> None:
    second = "Every third descaling, replace the seal of the boiler's lid."
    corpus = {"a": (DESCALE, 0), "b": (second, 4), "c": ("Clean the drip tray.", 4)}
    trace = _trace(["a", "c"], retrieved=["c", "a", "b"], cited=[{"chunk_id": "a"}])
    first, other = _trail(corpus, trace, _gold(DESCALE, (second, 4))).parts
    assert [(part.page_idx, part.text) for part in (first, other)] == [(0, DESCALE), (4, second)]
    assert {stage: place.holding for stage, place in first.places.items()} == {
        "corpus": "held",
        "retrieved": "held",
        "prompt": "held",
        "cited": "held",
    }
    assert [other.places[stage].holding for stage in _stages("retrieved", "prompt", "cited")] == [
        "held",
        "same_page",
        "absent",
    ]
    assert other.places["retrieved"].rank == 3
    assert (first_loss(first), first_loss(other)) == (None, "prompt")


def _stages(*names: TrailStage) -> tuple[TrailStage, ...]:
    return names


def test_quotes_that_repeat_one_another_count_once() -> None:
    gold = _gold(DESCALE, DESCALE.upper(), (DESCALE, 7), "every 90 days with 250 ml")
    (part,) = _trail({"a": (DESCALE, 7)}, _trace(["a"]), gold).parts
    assert part.places["prompt"].holding == "held"
    (part,) = _trail({"a": ("Clean the drip tray.", 7)}, _trace(["a"]), gold).parts
    assert part.places["prompt"].holding == "same_page"


def test_only_stages_that_the_trace_lists_are_on_the_trail() -> None:
    corpus = {"a": (DESCALE, 0)}
    (part,) = _trail(corpus, _trace(["a"], fused=["a"]), _gold(DESCALE)).parts
    assert list(part.places) == ["corpus", "fused", "prompt"]
    (part,) = _trail(corpus, _trace([], retrieved=["a"]), _gold(DESCALE)).parts
    assert part.places["prompt"].holding == "absent" and first_loss(part) == "prompt"


def test_another_page_holds_the_passage_if_it_has_its_words() -> None:
    assert _place(f"Once more: {DESCALE}", DESCALE, page=30).holding == "held"
    assert _place(TABLE[: TABLE.index("Cash")], TABLE + DESCALE * 2, page=30).holding == "absent"


def test_the_text_of_an_entry_is_read_where_the_corpus_has_none() -> None:
    trace = _trace([], retrieved=[{"id": "gone", "text": DESCALE}])
    (part,) = _trail({"a": ("Clean the drip tray.", 0)}, trace, _gold(DESCALE)).parts
    assert part.places["retrieved"].holding == "held"


def test_gold_chunks_are_passages_where_gold_has_no_quotes() -> None:
    corpus = {"a": (DESCALE, 0), "b": (f"Care.\n{DESCALE}", 0), "c": ("Clean the drip tray.", 1)}
    trail = _trail(corpus, _trace(["b"], retrieved=["c"]), GoldQuestion("Q1", "?", chunks=("a",)))
    (part,) = trail.parts
    assert trail.by == "text" and (part.text, part.doc_id, part.page_idx) == (DESCALE, "d", 0)
    assert (part.places["prompt"].holding, part.places["retrieved"].holding) == ("held", "absent")


def test_an_anchor_is_the_passage_where_gold_has_no_other_words() -> None:
    gold = GoldQuestion("Q1", "?", anchor="every 90 days with 250 ml of vinegar")
    (part,) = _trail({"a": (DESCALE, 0)}, _trace(["a"]), gold).parts
    assert has_passage(part.places["prompt"]) and "corpus" not in part.places


def test_gold_without_words_is_compared_by_chunk_section_or_page() -> None:
    corpus = {"a": (DESCALE, 0), "b": ("Clean the drip tray.", 4)}
    trace = _trace(["b"], retrieved=[{"id": "a", "section_id": "7.2"}], cited=[{"doc_id": "d", "page": 5}])
    by_chunk = _trail(corpus, trace, GoldQuestion("Q1", "?", chunks=("gone",)))
    assert (by_chunk.by, by_chunk.parts[0].target) == ("chunk", "gone")
    assert by_chunk.parts[0].places["prompt"].holding == "absent"
    by_section = _trail(corpus, trace, GoldQuestion("Q1", "?", sections=(" 7.2 ",)))
    assert (by_section.by, by_section.parts[0].target) == ("section", "7.2")
    assert by_section.parts[0].places["retrieved"].holding == "held"
    by_page = _trail(corpus, trace, _gold("", (" ", 4)))
    assert by_page.by == "page"
    first, second = by_page.parts
    assert [place.holding for place in first.places.values()] == ["held", "absent", "absent"]
    assert [place.holding for place in second.places.values()] == ["absent", "held", "held"]


def test_a_trace_whose_chunks_have_no_text_is_compared_by_page() -> None:
    trace = _trace([], retrieved=[{"id": "x", "doc_id": "d", "page_idx": 0}])
    trail = _trail({"a": (DESCALE, 0)}, trace, _gold(DESCALE))
    assert trail.by == "page" and trail.parts[0].places["retrieved"].holding == "held"


def test_a_citation_of_the_page_alone_cites_the_passage() -> None:
    trace = _trace(["a"], cited=[{"doc_id": "d", "page": 2}, {"doc_id": "d", "page": 1}])
    (part,) = _trail({"a": (DESCALE, 0)}, trace, _gold(DESCALE)).parts
    assert part.places["cited"][:4] == ("held", 1.0, 2, None)


def test_the_corpus_is_known_where_its_pages_are() -> None:
    other = "Clean the drip tray."
    whole = {f"c{page}": (other, page) for page in range(10)}
    (part,) = _trail(whole, _trace(["c9"]), _gold(DESCALE)).parts
    assert part.places["corpus"].holding == "same_page"
    (part,) = _trail({"c9": (other, 9)}, _trace(["c9"]), _gold(DESCALE)).parts
    assert "corpus" not in part.places  # no chunk of the page
    (part,) = _trail({"c0": (other, 0), "c9": (other, 9)}, _trace(["c9"]), _gold(DESCALE)).parts
    assert "corpus" not in part.places  # a sample


def test_no_gold_and_no_answer_have_no_trail() -> None:
    trails, trace = _chunks({"a": (DESCALE, 0)}), _trace(["a"])
    assert trails.trail(trace, None) is None
    assert trails.trail(trace, _gold(DESCALE, answerable=False)) is None
    assert trails.trail(trace, GoldQuestion("Q1", "?", answer="Every 90 days.")) is None


def test_the_greatest_loss_is_named_where_no_stage_has_all() -> None:
    corpus = {"a": (TABLE[: TABLE.index("Total")], 0), "b": ("Clean the drip tray.", 1)}
    (part,) = _trail(corpus, _trace(["b"], retrieved=["b", "a"], reranked=["b"]), _gold(TABLE)).parts
    assert part.places["retrieved"].together > 0.6 and first_loss(part) == "reranked"


def test_trails_do_not_depend_on_what_was_asked_before() -> None:
    corpus = {"a": (DESCALE, 0), "b": ("Clean the drip tray.", 0)}
    trails, gold = _chunks(corpus), _gold(DESCALE)
    first = trails.trail(_trace(["b"], retrieved=["a"]), gold)
    trails.trail(_trace(["a"]), _gold("Clean the drip tray."))  # another question of the same id
    assert trails.trail(_trace(["b"], retrieved=["a"]), gold) == first


_WORDS = st.text(st.characters(categories=("Lu", "Ll", "Nd", "Po", "Zs")), min_size=1, max_size=60)


@settings(max_examples=150, deadline=None)
@given(_WORDS.filter(lambda text: any(map(str.isalnum, text))), _WORDS, _WORDS)
def test_a_chunk_with_the_quote_in_it_always_holds_it(quote: str, before: str, behind: str) -> None:
    corpus = {"a": (f"{before} {quote} {behind}", 9)}
    trail = _trail(corpus, _trace(["a"]), _gold(quote))
    if trail.by == "text":
        assert [part.places["prompt"].holding for part in trail.parts] == ["held"]


@settings(max_examples=150, deadline=None)
@given(st.text("abcd 123.,-\n", min_size=1, max_size=80), st.text("efgh 789.,-\n", max_size=80))
def test_a_chunk_without_any_of_its_words_never_holds_it(quote: str, text: str) -> None:
    trail = _chunks({"a": (text, 0)}).trail(_trace(["a"]), _gold(quote))
    if trail is not None and trail.by == "text":
        assert {part.places["prompt"].holding for part in trail.parts} == {"same_page"}


def test_huge_gold_is_bounded() -> None:
    huge = "The boiler of machine 7 holds 250 ml of water. " * 45_000
    spans = [f"Part {number} weighs {number * 3} grams with its lid." for number in range(10_000)]
    corpus = {"a": (huge, 0), "b": (" ".join(spans), 1), "c": ("a" * 200_000, 0), "d": ("9 " * 100_000, 0)}
    trace = _trace(list(corpus))
    assert len(_trail(corpus, trace, _gold(huge)).parts) == 1
    parts = _trail(corpus, trace, _gold(*spans)).parts
    assert len(parts) < 100 and {part.places["prompt"].holding for part in parts} == {"held"}
