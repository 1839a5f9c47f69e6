"""The panels on stability and on the rank of the gold section."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pandas as pd
import pytest

from proofspan.contracts.records.records import GoldQuestion, GoldSpan
from proofspan.diagnosis.types import Profile
from proofspan.services.question.variants import Steadiness
from proofspan.services.question.view import QuestionView, load_question
from proofspan.store.query.filters import Filter
from proofspan.ui.question.panels import stability_words, variants_grid
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.wording.question import gold_rows, ranking_rows
from tests.made_traces import made_trace
from tests.pages.conftest import MakeWorkspace, Open, grids, shown, trace, unfold

pytestmark = pytest.mark.slow

OIL = "How often is the oil changed?"
GROUNDED = "Change the oil every 15,000 km. citations: [c1]"


@pytest.fixture
def asked_often(make_workspace: MakeWorkspace) -> Path:
    """Q1 in three paraphrases with two seeds, of which the last is refused; Q2 once. Both have gold."""
    variants = [
        trace("Q1", OIL if not p else f"Oil change, {p}?", GROUNDED, paraphrase=p, seed=s, λ="convergent")
        for p in range(3)
        for s in range(2)
    ]
    variants[-1]["answer"] = "not in context"
    folder = make_workspace([*variants, trace("Q2", "Which oil?", GROUNDED)], gold={"path": "gold.jsonl"})
    gold = [{"q_id": q_id, "q": "?", "sections": ["5.1"]} for q_id in ("Q1", "Q2")]
    (folder / "gold.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in gold))
    return folder


def test_trends_shows_what_stays(asked_often: Path, open_app: Open) -> None:
    app = unfold(open_app(asked_often, page="pages/trends.py"), "stability")
    assert not app.exception
    text, tables = html.unescape(shown(app)), grids(app)
    assert "Over 1 question with several traces; 1 asked once" in text
    shares = {row["head"]["text"]: row["cells"][0]["text"] for row in tables["Stability of this run"]["rows"]}
    assert shares["Same top section"] == "1 of 1, 100 % (21–100 %)"
    assert shares["Same label"] == "0 of 1, 0 % (0–79 %)"
    assert shares["λ logged convergent"] == "1 of 1, 100 % (21–100 %)"
    assert "1 of 1 that log convergent throughout do change." in text
    (least,) = tables["Least steady questions"]["rows"]
    assert [cell["text"] for cell in least["cells"]] == ["stays", "changes", "changes", "convergent"]
    assert least["head"]["href"].startswith("./question?")


def test_trends_of_a_run_without_variants_says_so(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = unfold(open_app(make_workspace(), page="pages/trends.py"), "stability")
    text = html.unescape(shown(app))
    assert not app.exception
    assert "Each question was asked once, so stability cannot be measured" in text


def test_question_lists_its_traces_with_the_way_to_each(asked_often: Path, open_app: Open) -> None:
    app = open_app(asked_often, page="pages/question.py", q="Q1", p="2", s="1")
    (line,) = (each.label for each in app.expander if "paraphrase" in each.label)
    assert line.replace("\\", "") == (
        "3 paraphrases × 2 seeds · changes: cited chunks, label · stays: top section · λ convergent"
    )
    rows = grids(app)["This question in other words and with other seeds"]["rows"]
    assert [row["head"]["text"] for row in rows] == [f"p{p} · s{s}" for p in range(3) for s in range(2)]
    assert [row["head"].get("note", "") for row in rows][-2:] == ["Oil change, 2?", "shown here"]
    assert [("href" in row["head"]) for row in rows] == [True] * 5 + [False]
    assert rows[5]["cells"][0]["text"] == "Possible over-refusal"
    assert [row["cells"][2]["text"] for row in rows] == ["1"] * 6
    assert "Hit" in shown(app)
    assert "gold section at rank 1 of the prompt" in shown(app)


def test_a_question_that_was_asked_once_has_no_such_list(asked_often: Path, open_app: Open) -> None:
    app = open_app(asked_often, page="pages/question.py", q="Q2")
    assert not [each.label for each in app.expander if "paraphrase" in each.label]


def test_steadiness_in_words_has_only_what_is_known() -> None:
    stays = {"rank1": None, "cited": None, "label": None}
    assert stability_words(Steadiness("Q", "?", 2, 1, 2, stays)) == "1 paraphrase × 2 seeds"  # type: ignore[arg-type]


def test_foreign_words_of_a_trace_stay_short_in_its_row() -> None:
    record = {"q_id": "Q", "paraphrase": 0, "seed": 1, "repeat": 2, "q": "x" * 900, "label": None}
    more = {
        "lambda_state": "y" * 900,
        "rank1_section": "§" * 900,
        "unranked": "no_gold",
        "section_rank": None,
    }
    (row,) = variants_grid(pd.DataFrame([record | more]), ViewState(Filter("R1"), q="Q")).rows
    assert row.head.text == "p0 · s1 · #2"
    assert len(row.head.note) == 200
    assert max(len(cell.text) + len(cell.note) for cell in row.cells) <= 80
    assert row.cells[2].text == "–"


def viewed(gold: GoldQuestion, **record: object) -> QuestionView:
    line = {"q_id": "Q1", "q": "?", "answer": "a", "chunks": [{"id": "c1"}]} | record
    made = made_trace(line)
    return load_question(made, chunks={}, gold={"Q1": gold}, corpus=None, profile=Profile())


def indexed(bucket: str | None, section_rank: int | None, top_rank: int | None) -> dict[str, object]:
    return {"bucket": bucket, "section_rank": section_rank, "top_rank": top_rank}


STAGES = {"stages": {"retrieved": [{"id": "a"}], "fused": [{"id": "a"}], "reranked": [{"id": "a"}]}}


@pytest.mark.parametrize(
    ("record", "ranking", "expected"),
    [
        (
            STAGES,
            indexed("score_policy", 3, 2),
            "Ranking miss · gold section at rank 3 of reranked, at rank 2 of fused · next: rerank",
        ),
        (
            STAGES,
            indexed("retrieval_gap", None, 1_204),
            "Recall miss · gold section not in reranked, at rank 1,204 of fused · next: hybrid recall",
        ),
        ({}, indexed("hit", 1, 1), "Hit · gold section at rank 1 of the prompt"),
        (STAGES, indexed(None, None, None), None),
        ({"chunks": []}, indexed("hit", 1, 1), None),
    ],
)
def test_ranking_is_reported_by_its_lists_with_what_to_do(
    record: dict[str, object], ranking: dict[str, object], expected: str | None
) -> None:
    rows = ranking_rows(viewed(GoldQuestion("Q1", "?", sections=("4.2",)), **record), ranking)
    assert ["".join(piece.text for piece in pieces) for _, pieces in rows] == ([expected] if expected else [])


def test_a_rank_by_another_chunk_than_the_gold_one_says_so() -> None:
    """The row above says that the gold chunk is not in that list."""
    fused = [{"id": "d|r=00000000|s=4.2|p=008|b=002", "section_id": "4.2", "score": 0.9}]
    gold_id = "d|r=00000000|s=4.2|p=008|b=001"
    known = GoldQuestion("Q1", "?", chunks=(gold_id,))
    view = viewed(known, stages={"fused": fused})
    (_, gold), (_, ranking) = *gold_rows(view), *ranking_rows(view, indexed("hit", 1, 1))
    assert "".join(piece.text for piece in gold) == "chunk of section 4.2, p. 8 · not among the 1 fused"
    words = "".join(piece.text for piece in ranking)
    assert words == "Hit · gold section at rank 1 of fused (another chunk of it)"
    # Where scores are equal, the rank may be the gold chunk's; where it is, there is nothing to explain.
    for score in (0.9, 0.8):
        own = {"id": gold_id, "section_id": "4.2", "score": score}
        for listed in ([own, *fused], [*fused, own])[: 2 if score == 0.9 else 1]:
            view = viewed(known, stages={"fused": listed})
            ((_, ranking),) = ranking_rows(view, indexed("hit", 1, 1))
            assert "another" not in "".join(piece.text for piece in ranking)


def test_a_gold_chunk_without_a_section_is_called_a_chunk() -> None:
    view = viewed(GoldQuestion("Q1", "?", chunks=("c1",)))
    ((_, pieces),) = ranking_rows(view, indexed("hit", 1, 1))
    assert "gold chunk at rank 1 of the prompt" in "".join(piece.text for piece in pieces)


def test_gold_that_is_only_a_page_is_called_one() -> None:
    view = viewed(GoldQuestion("Q1", "?", spans=(GoldSpan("d", 4, "wire"),)))
    ((_, pieces),) = ranking_rows(view, indexed("score_policy", 2, 2))
    assert "gold page at rank 2" in "".join(piece.text for piece in pieces)
