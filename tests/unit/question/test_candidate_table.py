"""The candidates' table: what its cells say, what the browser gets, and what it may say."""

from __future__ import annotations

import math
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from proofspan.contracts.records.records import Candidate
from proofspan.services.question.view import CandidateView, StageView
from proofspan.ui.question.candidates import MAX_SCORES, candidates_grid, row_key
from proofspan.ui.widgets.table import packed

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


def candidate(rank: int, *, bare: bool = False, **changes: Any) -> CandidateView:
    made = Candidate(**{"chunk_id": f"c{rank}", "rank": rank, **changes})
    cited, gold = ((), None) if bare else ((1, 3), "page")
    return CandidateView(made, was_rank=None, cited_by=cited, gold=gold)  # type: ignore[arg-type]


def sent(
    *views: CandidateView,
    chosen: str | None = None,
    titles: dict[str, str] | None = None,
    labels: dict[str | None, list[str]] | None = None,
) -> dict[str, Any]:
    printed = labels or {}
    grid = candidates_grid(
        StageView("reranked", views), titles or {}, labels=lambda doc_id: printed.get(doc_id, ())
    )
    data: dict[str, Any] = orjson.loads(packed(grid, chosen=None if chosen is None else row_key(chosen)))
    return data


def rows(*views: CandidateView) -> list[dict[str, str]]:
    """Each row: column → text, `marks` the chips' texts, `details` besides."""
    return [
        {name: cell.get("text", "") for name, cell in row["cells"].items()}
        | {"marks": ", ".join(chip["text"] for chip in row["cells"].get("marks", {}).get("chips", ()))}
        | {"details": row.get("details", "")}
        for row in sent(*views)["rows"]
    ]


def test_a_row_reads_in_words_and_its_numbers_as_numbers() -> None:
    features = {"bm25": 8.3, "note": "x", "is": True, "hits": 4}
    first, second = rows(
        candidate(1, text="a\nb", page_idx=0, score=0.5, features=features, post_score={"ce": math.inf}),
        candidate(2, bare=True, pre_score={"dense": 0.00001}),
    )
    assert [first[name] for name in ("rank", "chunk", "page", "score")] == ["1", "a b", "PDF 1", "0.500"]
    assert first["marks"] == "cited 1, 3, gold page"
    assert first["details"] == "keywords (BM25) 8.300 · hits 4"
    assert (second["chunk"], second["marks"]) == ("(no such chunk: c2)", "")
    assert (second["page"], second["score"], second["details"]) == ("–", "–", "pre dense 1.0e-05")


def test_ranks_are_in_words_and_the_raw_numbers_in_the_tooltip() -> None:
    scores = {"bm25": 2.911, "bm25_rank": 9, "dense_rank": 4, "maxsim_section": 0.6}
    (row,) = sent(candidate(1, page_idx=25, doc_id="m", features=scores), labels={"m": ["x"] * 25 + ["18"]})[
        "rows"
    ]
    assert row["details"] == "keywords (BM25): rank 9 · meaning (embedding): rank 4 · maxsim section 0.600"
    assert row["detailsTip"] == "bm25 2.911 · bm25_rank 9 · dense_rank 4 · maxsim_section 0.600"
    page = row["cells"]["page"]
    assert (page["text"], page["note"], page["tip"]) == ("p. 18", "PDF 26", "page_idx 25 · PDF page 26")


def test_the_document_is_named_where_there_are_several() -> None:
    def documents(*views: CandidateView, **titles: str) -> list[str]:
        return [row["cells"]["chunk"].get("note", "") for row in sent(*views, titles=titles)["rows"]]

    assert documents(candidate(1, doc_id="a"), candidate(2, doc_id="b")) == ["a", "b"]
    assert documents(candidate(1, doc_id="a"), candidate(2)) == ["", ""]
    assert documents(candidate(1, doc_id="a"), a="Manual", b="Bulletin") == ["Manual"]
    assert documents(candidate(1, doc_id="c\u202e"), candidate(2), a="Manual", b="Bulletin") == [
        "c\ufffd",
        "",
    ]
    assert documents(candidate(1, doc_id="a"), a="Manual") == [""]


def test_columns_without_a_value_are_left_out() -> None:
    def names(*views: CandidateView) -> list[str]:
        return [column["name"] for column in sent(*views)["columns"]]

    assert names(candidate(1, bare=True)) == ["rank", "chunk"]
    assert names(candidate(1, bare=True), candidate(2, page_idx=0, bare=True)) == ["rank", "chunk", "page"]
    assert names() == ["rank", "chunk"]


def test_a_header_of_names_and_values_does_not_hide_what_a_chunk_is_about() -> None:
    header = "Company: MERIDIAN\nPeriod: 2026\nDocument ID: m-26\n"
    texts = [f"{header}\n22.4\n%\nEngine oil.", "Note: oil\n\nText.", header, "a: b\nc: d\ntext"]
    found = rows(*(candidate(rank, text=text) for rank, text in enumerate(texts, start=1)))
    assert [row["chunk"] for row in found] == [
        "22.4\u00a0% Engine oil.",
        "Note: oil Text.",
        "Company: MERIDIAN Period: 2026 Document ID: m-26",
        "a: b c: d text",
    ]


def test_a_producer_with_a_thousand_features_does_not_hide_the_text() -> None:
    (row,) = rows(candidate(1, text="t", features={f"f{place}": place for place in range(1_000)}))
    assert row["details"].count(" · ") == MAX_SCORES - 1


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, st.floats())
def test_any_candidate_can_be_sent(chunk_id: str, text: str, name: str, value: float) -> None:
    view = candidate(1, chunk_id=chunk_id, text=text, section_id=name, score=value, features={name: value})
    data = sent(view, chosen=chunk_id)
    assert data["chosen"] == data["rows"][0]["key"] == row_key(chunk_id)


def test_what_is_chosen_changes_no_row_so_that_the_focus_stays() -> None:
    views = candidate(1), candidate(2)
    assert sent(*views, chosen="c1")["rows"] == sent(*views, chosen="c2")["rows"] == sent(*views)["rows"]
