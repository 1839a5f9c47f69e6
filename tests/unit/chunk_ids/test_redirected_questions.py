"""A question of a run that names ids of an earlier build, beside the same with those of today."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.records import Chunk, GoldQuestion, GoldSpan
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import Profile
from proofspan.services.compare import aligned
from proofspan.services.page.target import chunk_target
from proofspan.services.question.view import QuestionView, load_question
from proofspan.traces.records.redirects import gold_of_today, mapped, with_redirects
from proofspan.ui.question.candidates import candidates_grid
from proofspan.ui.wording.citation import ID_CHARS, citation_line, leading, redirected, short_id
from tests.made_traces import made_trace

NEW = "m|r=8c1e9a02|s=4.2|p=042|b=003"
OLD = "m|r=1e0f1e0f|s=9.9|p=007|b=001"
CHUNKS = {
    NEW: Chunk(NEW, "The oil filter holds 4 litres.", "m", "4.2", page_idx=41),
    "c2": Chunk("c2", "Check the coolant.", "m", "4.3", page_idx=42),
}
LED = with_redirects(
    CHUNKS,
    {
        OLD: Redirect(OLD, "shift", (NEW,), 0.93),
        "both": Redirect("both", "split", ("c2", NEW), 0.99),
    },
)
GOLD = {"Q1": GoldQuestion("Q1", "What?", chunks=(NEW,), spans=(GoldSpan("m", 41, "4 litres"),))}


def question(chunk_id: str, gold: dict[str, GoldQuestion] = GOLD) -> QuestionView:
    trace = made_trace(
        {
            "q": "What does the oil filter hold?",
            "q_id": "Q1",
            "chunks": [{"id": chunk_id}, {"id": "c2"}],
            "answer": f"The oil filter holds 4 litres.\ncitations: [{chunk_id}]",
        }
    )
    corpus = Corpus(mapped(LED, lambda chunk: chunk.text))
    return load_question(trace, chunks=LED, gold=gold_of_today(gold, LED), corpus=corpus, profile=Profile())


def test_an_old_id_has_text_place_gold_and_label_of_its_chunk_of_today() -> None:
    former, today = question(OLD), question(NEW)
    assert former.row is not None and today.row is not None
    assert (former.row.label, former.row.signals) == (today.row.label, today.row.signals)
    assert former.gold_outcome == today.gold_outcome
    assert set(former.row.suspicions) - set(today.row.suspicions) == {"redirected_chunk_id"}
    (cited,), (now,) = former.citations, today.citations
    assert replace(cited.citation, chunk_id=NEW) == now.citation
    assert (cited.chunk is not None, now.redirect) == (True, None)
    assert cited.redirect == Redirect(OLD, "shift", (NEW,), 0.93)
    candidate, is_now = former.stages[0].candidates[0], today.stages[0].candidates[0]
    assert (candidate.gold, candidate.candidate.section_id, candidate.candidate.page_idx) == (
        "chunk",
        "4.2",
        41,
    )
    assert candidate.id_today == is_now.id_today == NEW


def test_a_chunk_that_was_split_is_gold_by_any_part() -> None:
    split = question("both")
    assert split.stages[0].candidates[0].gold == "chunk"
    assert split.gold_outcome is not None and split.gold_outcome.state == "cited"
    assert split.citations[0].citation.quote == "Check the coolant.\n\nThe oil filter holds 4 litres."


def test_gold_that_names_an_old_id_means_its_chunk_of_today() -> None:
    stale = {"Q1": replace(GOLD["Q1"], chunks=(OLD,))}
    assert question(NEW, stale).stages[0].candidates[0].gold == "chunk"


def test_two_runs_of_different_builds_list_the_same_chunk_once() -> None:
    (row, _) = aligned(question(OLD).stages[0], question(NEW).stages[0])
    assert (row.move, row.gold) == ("same", "chunk")


def test_the_page_says_from_where_an_id_was_redirected() -> None:
    former = question(OLD)
    sentence = "redirected from …|s=9.9|p=007|b=001 (shift, 0.93)"
    assert citation_line(former.citations[0], None).place == f"section 4.2 · PDF page 42 · {sentence}"
    first, second = candidates_grid(former.stages[0]).rows
    assert (first.details, first.cells[-1].chips[-1].text) == (sentence, "redirected")
    assert (second.details, second.cells[-1].chips) == ("", ())
    assert citation_line(question(NEW).citations[0], None).place == "section 4.2 · PDF page 42"


def test_a_chunk_by_its_old_id_is_of_the_revision_of_today_and_says_where_it_leads() -> None:
    assert chunk_target(LED[OLD]).rev == "8c1e9a02"
    assert leading(Redirect(OLD, "shift", (NEW,), 0.93)) == (
        "An id of an earlier build: it leads to …|s=4.2|p=042|b=003 (shift, 0.93)."
    )
    many = Redirect(OLD, "split", ("c1", "c2", "c3", "c4", "c5"), 1.0)
    assert "leads to c1 and c2 and c3 and 2 more (split, 1.00)" in leading(many)


@pytest.mark.parametrize("old_id", ["c" * 200, "\ud800", "a\u202eb", ""])
def test_whatever_an_old_id_is_it_is_shown_short_and_clean(old_id: str) -> None:
    assert len(short_id(old_id)) <= ID_CHARS + 1
    redirected(Redirect(old_id, "gone", (), 1.0)).encode()
