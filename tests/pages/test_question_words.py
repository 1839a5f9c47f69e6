"""The sentences of the Question page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Chunk
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile, Signals, Template
from proofspan.evidence.types import Difference, FoundSpan, Place, SpanQuery, TextRange
from proofspan.services.page.target import Target
from proofspan.services.page.text_view import TextView
from proofspan.services.page.view import PageView
from proofspan.services.question.view import load_question
from proofspan.ui.widgets.text import lines
from proofspan.ui.wording import answer as answer_words
from proofspan.ui.wording import citation, question
from tests.made_traces import made_trace

Golden = Callable[[str, str], None]
MISQUOTE = (Difference("1/16", "1/32", "number"),)


IN_TEXT = (TextRange(10, 90, 12, 14),)


def test_a_finding_in_a_text_speaks_of_lines_and_of_the_text(golden: Golden) -> None:
    found = FoundSpan(
        "fuzzy", None, False, 0.97, differences=MISQUOTE, ranges=IN_TEXT,
        alternatives=(Place(0, (), (TextRange(100, 110, 40, 40),)),),
    )  # fmt: skip
    target = Target("cited", 1, "notes", SpanQuery("quote", 65))
    view = PageView(target, text=TextView((), 220), found={"cite:1": found})
    assert question.place_words(view) == "lines 12–14 of 220"
    gone = replace(view, found={"cite:1": FoundSpan("not_found", None, False, 0.0)})
    golden("question/findings_in_text", f"{finding(view)}\n{finding(gone)}")
    assert question.place_words(gone) == "220 lines"


def test_several_ranges_name_each_of_their_lines_once() -> None:
    ranges = (TextRange(0, 9, 3, 3), TextRange(10, 12, 3, 3), TextRange(20, 90, 1_200, 1_201))
    assert lines(ranges) == "lines 3, 1,200–1,201"
    assert lines(ranges[:2]) == "line 3"


def shown(found: FoundSpan | None, *, cited: int | None = 65, printed: str | None = None) -> PageView:
    target = Target("cited", 1, "manual", SpanQuery("quote", cited))
    page_idx = found.page_idx if found and found.page_idx is not None else cited
    known = {"cite:1": found} if found else {}
    return PageView(target, page_idx=page_idx, page_count=152, printed=printed, found=known)


def finding(view: PageView, *, answer: str = "", quote_from: str = "payload") -> str:
    _, pieces = citation.findings(view, answer=answer, quote_from=quote_from)
    return "".join(piece.text for piece in pieces)


def test_a_place_names_the_index_the_page_and_the_printed_label_where_there_is_one() -> None:
    assert question.place_words(shown(None)) == "PDF page 66"
    assert question.place_tip(shown(None)) == "page_idx 65 · PDF page 66 of 152"
    assert question.place_words(shown(None, printed="2-26")) == "p. 2-26 (PDF 66)"
    assert question.place_words(shown(None, cited=0)) == "PDF page 1"


def figures(view: PageView, *, answer: str = "") -> list[str]:
    sentences, _ = citation.findings(view, answer=answer, quote_from="payload")
    return ["".join(piece.text for piece in pieces) for pieces in sentences]


def test_figures_that_differ_are_above_the_rest_and_are_not_reported_twice() -> None:
    many = tuple(Difference(str(n), str(n + 1), "number") for n in range(5))
    view = shown(FoundSpan("fuzzy", 65, False, 0.97, differences=(*MISQUOTE, *many)))
    assert figures(view, answer="Strip 1/16 inch.") == [
        "The answer says 1/16, the page says 1/32.",
        "The quote says 0, the page says 1.",
        "The quote says 1, the page says 2.",
    ]
    assert "1/16" not in finding(view)
    assert "The quote says 4, the page says 5." in finding(view)
    assert figures(replace(view, page_idx=3)) == []


def test_a_page_without_text_says_that_its_box_is_unverified() -> None:
    box = ((10.0, 10.0, 90.0, 20.0),)
    view = shown(FoundSpan("not_found", None, False, 0.0, unverified=box, note="it has no text"))
    assert finding(view).startswith("Unverified: the page has no text that could confirm the quote.")
    assert "Not found" not in finding(view)


def test_a_producers_box_that_holds_other_text_is_no_small_print() -> None:
    note = "the box given with the quote holds other text: “Fuses”"
    view = shown(FoundSpan("exact", 65, False, 1.0, box_agrees=False, note=note))
    _, pieces = citation.findings(view, answer="", quote_from="payload")
    assert (pieces[-1].text, pieces[-1].kind) == (f" T{note[1:]}.", "plain")
    agrees = shown(FoundSpan("exact", 65, False, 1.0, box_agrees=True, note="settled by context"))
    assert citation.findings(agrees, answer="", quote_from="payload")[1][-1].kind == "muted"


def test_on_another_page_only_the_way_to_the_passage_is_shown(golden: Golden) -> None:
    found = FoundSpan("exact", 65, False, 1.0, alternatives=(Place(3, ()),), continues=(Place(66, ()),))
    turned = replace(shown(found), page_idx=64)
    assert citation.is_elsewhere(turned)
    assert not citation.is_elsewhere(replace(turned, page_idx=3))
    origins = [finding(turned, quote_from=origin) for origin in ("payload", "gold", "chunk")]
    others = [finding(replace(turned, page_idx=page_idx)) for page_idx in (66, 3)]
    golden("question/findings_elsewhere", "\n".join((*origins, *others)))


def test_each_finding_is_one_sentence_or_more(golden: Golden) -> None:
    words = (Difference("solder", "", "word"), Difference("", "2.5", "number"))
    across = FoundSpan("partial", 65, False, 0.9999, continues=(Place(64, ()),))
    spans = [
        FoundSpan("exact", 65, False, 1.0, alternatives=(Place(3, ()),)),
        FoundSpan("normalized", 65, False, 1.0),
        FoundSpan("fuzzy", 65, False, 0.9, differences=words),
        FoundSpan("partial", 65, False, 0.8),
        across,
        replace(across, differences=words),
        FoundSpan("exact", 66, True, 1.0),
        FoundSpan("not_found", None, False, 0.0),
        None,
    ]
    golden("question/findings", "\n".join(finding(shown(span)) for span in spans))


def test_what_was_not_found_is_not_called_cited_here_on_another_page() -> None:
    turned = replace(shown(FoundSpan("not_found", None, False, 0.0)), page_idx=3)
    assert not citation.is_elsewhere(turned)
    assert "shown because" not in finding(turned)


def test_marks_may_overlap_and_a_number_outweighs_its_phrase() -> None:
    pieces = answer_words.answer_pieces(
        "Strip 1/16 inch [c1].",
        phrases=[(0, 15)],
        unsupported=[(6, 10)],
        numbers_after={15: [2]},
        instead={(17, 19): 1},
        chosen=1,
    )
    assert [(piece.text, piece.kind) for piece in pieces] == [
        ("Strip ", "phrase"),
        ("1/16", "unsupported"),
        (" inch", "phrase"),
        ("2", "number"),
        (" [", "plain"),
        ("1", "number-chosen"),
        ("].", "plain"),
    ]


RANGES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda r: (min(r), max(r))), max_size=4
)


@given(st.text(max_size=30), RANGES, RANGES)
def test_marking_never_changes_the_text(
    answer: str, phrases: list[tuple[int, int]], unsupported: list[tuple[int, int]]
) -> None:
    pieces = answer_words.answer_pieces(answer, phrases=phrases, unsupported=unsupported)
    assert "".join(piece.text for piece in pieces) == answer


def test_as_many_passages_as_badges_are_reported_beside_the_cited_ids() -> None:
    def in_words(signals: Signals, *, passages: int) -> str:
        cites = [{"chunk_id": f"c{number}"} for number in range(passages)]
        return cited_words({"citations": cites}, signals)

    two = Signals(cited=2, cited_retrieved=1, cited_resolved=2)
    one = Signals(cited=1, cited_retrieved=1, cited_resolved=1)
    assert in_words(two, passages=2) == "2 cited, 1 retrieved, 2 with a chunk"
    assert in_words(one, passages=2) == "1 chunk cited for 2 passages, 1 retrieved, 1 with a chunk"
    assert in_words(Signals(), passages=0) == "none"


def cited_words(record: dict[str, object], signals: Signals, template: Template = "seed") -> str:
    line = {"q_id": "Q1", "q": "Which flux?", "answer": "Rosin.", "chunks": [{"id": "c1"}]} | record
    view = load_question(made_trace(line), chunks={}, corpus=None, profile=Profile(template))
    return question._citation_words(view, signals)


def test_citations_that_the_profile_does_not_read_are_reported_elsewhere() -> None:
    in_payload = cited_words({"citations": [{"chunk_id": "c1"}, {"chunk_id": "c2"}]}, Signals())
    assert in_payload == (
        "none where template seed looks; 2 passages in the citation payload, "
        "which template payload or none reads"
    )
    in_text = cited_words({"answer": "Rosin. citations: [c1]"}, Signals(), "payload")
    assert in_text == (
        "none where template payload looks; 1 passage in the answer's text, which template seed or none reads"
    )
    of_page = cited_words({"citations": [{"doc_id": "d", "page_idx": 4}]}, Signals(), "payload")
    assert of_page == "no chunk id; 1 passage in the citation payload"


def test_a_quote_of_the_payload_is_marked_whole_with_its_own_number() -> None:
    line = {
        "q_id": "Q1",
        "q": "Which flux?",
        "answer": "Rosin 60,000 km or 5 years. Strip it. citations: [c1]",
        "chunks": [{"id": "c1"}],
        "citations": [
            {"chunk_id": "c1", "quote": "Rosin 60,000 km or 5 years."},
            {"chunk_id": "c1", "quote": "Strip it."},
            {"chunk_id": "c1", "quote": "nowhere"},
        ],
    }
    trace = made_trace(line)
    chunks = {"c1": Chunk("c1", "Rosin 60,000 km or 5 years.\nStrip it.")}
    corpus = Corpus({"c1": chunks["c1"].text})
    view = load_question(trace, chunks=chunks, gold={}, corpus=corpus, profile=Profile())
    reported = [piece.text for piece in answer_words.marked_answer(view, chosen=None)]
    assert reported[:5] == ["Rosin 60,000 km or 5 years.", "1", " ", "Strip it.", "2"]
    elsewhere = {"c1": Chunk("c1", "Something else altogether.")}
    corpus = Corpus({"c1": elsewhere["c1"].text})
    view = load_question(trace, chunks=elsewhere, gold={}, corpus=corpus, profile=Profile())
    assert not [piece for piece in answer_words.marked_answer(view, chosen=None) if piece.kind == "phrase"]
