"""Citations of a chunk or page alone: the claims that they are given for, and what is highlighted of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from proofspan.contracts.records.records import Chunk
from proofspan.diagnosis.claims.split import split_claims
from proofspan.diagnosis.types import Profile
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.types import Artifact, Document, Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.target import choose, targets_of
from proofspan.services.page.view import PageView, locate_view
from proofspan.services.question.cited_sentences import claims_by_citation, sentences_for
from proofspan.services.question.view import QuestionView, load_question
from proofspan.ui.wording.citation import findings
from tests.made_traces import made_trace
from tests.pdf_files import write_pages

LINES = (
    "Park on level ground and switch the engine off.",
    "The distance between the marks is 1.0 litre.",
    "Pull out the dipstick and wipe it with a cloth.",
    "Coolant under pressure can scald your hands.",
)
OTHER = "The spare wheel may be driven at 80 km/h only."
CHUNK = " ".join(LINES)
ANSWER = "The distance between both marks is 1.0 litre. Hot coolant under pressure can scald you."


@pytest.fixture(scope="module")
def placer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with PdfPool(workers=1) as pool:
        yield Placer(pool)


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    write_pages(tmp_path / "d.pdf", [list(LINES), [OTHER]])
    (tmp_path / "notes.md").write_text(f"# Notes\n\n{OTHER}\n\n{CHUNK}\n", encoding="utf-8")
    documents = (
        Document("d", Artifact("documents[d]", "d.pdf")),
        Document("notes", Artifact("documents[notes]", "notes.md"), paged=False),
    )
    return Manifest("m", tmp_path, documents=documents)


def question(citations: Sequence[object], *, answer: str = ANSWER, chunk: str = CHUNK) -> QuestionView:
    line = {
        "q_id": "Q1",
        "q": "How far apart?",
        "answer": answer,
        "chunks": [{"id": "c1"}],
        "citations": citations,
    }
    chunks = {
        "c1": Chunk("c1", chunk, doc_id="d", page_idx=0),
        "n1": Chunk("n1", chunk, doc_id="notes"),
    }
    return load_question(made_trace(line), chunks=chunks, corpus=None, profile=Profile())


def shown(view: QuestionView, manifest: Manifest, placer: Placer, *, page: int | None = None) -> PageView:
    targets = targets_of(view)
    chosen = choose(targets)
    assert chosen is not None
    return locate_view(chosen, targets, manifest=manifest, placer=placer, page=page)


def words_under(view: PageView, span_id: str = "cite:1") -> str:
    return " ".join(view.texts.get(span_id, "").split())


def test_of_a_cited_chunk_the_sentences_are_highlighted_and_the_chunk_is_outlined(
    manifest: Manifest, placer: Placer
) -> None:
    view = shown(question(["c1"]), manifest, placer)
    (span,) = [each for each in view.spans if each.id == "cite:1"]
    assert words_under(view) == f"{LINES[1]} {LINES[3]}"
    assert len(span.rects) == 2
    top, bottom = span.extent[0][1], span.extent[-1][1] + span.extent[-1][3]
    assert top < span.rects[0][1]
    assert bottom >= span.rects[-1][1]
    assert view.found["cite:1"].status == "exact"  # that of the chunk
    _, words = findings(view, answer=ANSWER, quote_from="chunk")
    assert words[0].text.startswith("Cited is a whole chunk; what comes closest")


def test_of_a_cited_page_the_sentences_are_highlighted(manifest: Manifest, placer: Placer) -> None:
    view = shown(question([{"doc_id": "d", "page_idx": 0}]), manifest, placer)
    (span,) = [each for each in view.spans if each.id == "cite:1"]
    assert (words_under(view), span.extent, span.is_verified) == (f"{LINES[1]} {LINES[3]}", (), True)
    assert "cite:1" not in view.found  # nothing was quoted
    _, words = findings(view, answer=ANSWER, quote_from=None)
    assert words[0].text.startswith("Cited is a whole page; what comes closest")


def test_a_page_with_nothing_of_the_answer_is_shown_without_a_highlight(
    manifest: Manifest, placer: Placer
) -> None:
    view = shown(question([{"doc_id": "d", "page_idx": 1}]), manifest, placer)
    assert (view.page_idx, view.spans) == (1, ())
    _, words = findings(view, answer=ANSWER, quote_from=None)
    assert "nothing in it is highlighted" in words[0].text


def test_a_page_that_is_turned_to_shows_no_sentence_of_another(manifest: Manifest, placer: Placer) -> None:
    view = shown(question([{"doc_id": "d", "page_idx": 0}, "c1"]), manifest, placer, page=1)
    assert [span.id for span in view.spans] == []


def test_a_quote_of_the_citation_itself_stays_the_highlight(manifest: Manifest, placer: Placer) -> None:
    view = shown(question([{"chunk_id": "c1", "quote": LINES[2]}]), manifest, placer)
    (span,) = [each for each in view.spans if each.id == "cite:1"]
    assert (words_under(view), span.extent) == (LINES[2], ())


@pytest.mark.parametrize("answer", ["not in context", ""])
def test_without_a_claim_the_whole_chunk_is_shown(manifest: Manifest, placer: Placer, answer: str) -> None:
    view = shown(question(["c1"], answer=answer), manifest, placer)
    (span,) = [each for each in view.spans if each.id == "cite:1"]
    assert (words_under(view), span.extent) == (CHUNK, ())


def test_a_chunk_that_has_no_word_of_the_answer_is_only_outlined(manifest: Manifest, placer: Placer) -> None:
    view = shown(question(["c1"], answer="Xyzzy plughs quux."), manifest, placer)
    (span,) = [each for each in view.spans if each.id == "cite:1"]
    assert (span.rects, bool(span.extent)) == ((), True)


def test_a_chunks_own_lines_are_never_highlighted(manifest: Manifest, placer: Placer) -> None:
    headed = f"Title: marks apart\nUnit: litre\n\n{CHUNK}"
    view = shown(question(["c1"], chunk=headed), manifest, placer)
    assert words_under(view) == f"{LINES[1]} {LINES[3]}"
    assert view.found["cite:1"].differences == ()


def test_in_a_text_the_sentences_are_marked_inside_the_passage(manifest: Manifest, placer: Placer) -> None:
    view = shown(question(["n1"]), manifest, placer)
    assert view.text is not None
    runs = [run for line in view.text.lines for run in line.runs if run.layers]
    assert [run.text for run in runs if not run.extents] == [LINES[1], LINES[3]]
    assert "".join(run.text for run in runs) == CHUNK
    assert [run.tags for run in runs if run.tags] == [(("cited", "cited 1"),)]


ONE, TWO, THREE = "The marks are 1.0 litre apart", "Coolant can scald you", "The wheel is for 80 km/h"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"{ONE} [1]. {TWO} [2]. {THREE}.", {1: [ONE], 2: [TWO]}),
        (f"{ONE}. [1] {TWO}. [2][1] {THREE}.", {1: [ONE, TWO], 2: [TWO]}),
        (f"{ONE} (c1). {TWO}.", {1: [ONE], 2: [TWO]}),
        (f"{ONE}. {TWO}.", {1: [ONE, TWO], 2: [ONE, TWO]}),
        (f"{ONE}. {TWO}. citations: [c1, c2]", {1: [ONE, TWO], 2: [ONE, TWO]}),
        (f"{ONE} [1]. {TWO} [1].", {1: [ONE, TWO], 2: [ONE, TWO]}),
        ("", {1: [], 2: []}),
    ],
)
def test_a_citation_is_given_for_the_claims_that_name_it(answer: str, expected: dict[int, list[str]]) -> None:
    claims = split_claims(answer)
    of_citation = claims_by_citation(answer, claims, {1: "c1", 2: "c2"})
    texts = {n: [each.text for each in own] for n, own in of_citation.items()}
    assert {
        n: [next(s for s in (ONE, TWO, THREE) if s in text) for text in own] for n, own in texts.items()
    } == (expected)


def test_the_claims_of_a_citation_are_compared_wherever_they_are_in_the_answer() -> None:
    answer = f"Something else altogether comes first, and at some length. {LINES[3]} [c1]"
    (claim,) = split_claims(answer)[1:]
    ((start, end),) = sentences_for((claim,), CHUNK)
    assert CHUNK[start:end] == LINES[3]


def test_only_what_decides_is_taken_from_a_passage_that_goes_on_elsewhere() -> None:
    claims = split_claims("Coolant keeps the whole orchestra entertained.")
    assert sentences_for(claims, CHUNK)
    assert sentences_for(claims, CHUNK, only_decided=True) == ()
    assert sentences_for(claims, "") == ()


def test_many_citations_and_claims_are_bounded() -> None:
    answer = " ".join(f"Sentence number {n} says that part {n} is red." for n in range(400))
    view = question([{"doc_id": "d", "page_idx": 0}] * 200, answer=answer)
    counts = [len(each.claims) for each in view.citations]
    assert max(counts) == 40
    assert counts[50:] == [0] * 150
