"""The benchmark of verdicts: its measures, and how it reads people's ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.bench_verdicts import Agreement, Ranked, agreement, auc, clearly_good, write_rated
from proofspan.api import open_workspace
from proofspan.diagnosis.types import Profile


def test_auc_is_the_share_of_pairs_in_order_and_a_tie_is_half_a_pair() -> None:
    assert auc([0.9, 0.8], [0.1, 0.2]) == 1.0
    assert auc([0.1, 0.2], [0.9, 0.8]) == 0.0
    assert auc([0.5], [0.5]) == 0.5
    assert auc([0.9, 0.4, 0.4], [0.4, 0.5]) == pytest.approx((1 + 1 + 0.5 + 0.5) / 6)


def test_harm_comes_before_support_in_the_order() -> None:
    harmful, harmless = Ranked(1, 0.9), Ranked(10, 0.1)
    assert auc([harmless.order], [harmful.order]) == 1.0
    assert auc([harmless.own_support], [harmful.own_support]) == 0.0
    assert auc([Ranked(10, 0.4).order], [Ranked(10, 0.3).order]) == 1.0


def test_an_answer_that_claims_nothing_is_fully_supported() -> None:
    assert Ranked(3, None).order == Ranked(3, 1.0).order


def test_what_the_rules_leave_out_disagrees_with_the_reader() -> None:
    truth = {("R1", "Q1"): "correct", ("R1", "Q2"): "wrong", ("R2", "Q1"): "partly"}
    judged = {("R1", "Q1"): "correct", ("R1", "Q2"): "unknown", ("R3", "Q1"): "partly"}
    assert agreement(judged, truth) == Agreement(
        3, 1, ((("R1", "Q2"), "unknown", "wrong"), (("R2", "Q1"), None, "partly"))
    )


@pytest.mark.parametrize(("ratings", "is_good"), [((4, 4, 4), True), ((4, 4, 3), True), ((4, 3, 3), False)])
def test_people_agree_where_at_most_one_of_three_hesitates(ratings: tuple[int, ...], is_good: bool) -> None:
    assert clearly_good(sum(ratings) / len(ratings)) == is_good


def test_rated_answers_become_a_workspace(tmp_path: Path) -> None:
    data = {
        "name": "Rated",
        "tasks": [
            {
                "task_id": "t1",
                "input": [{"speaker": "user", "text": "How much oil?"}],
                "contexts": [{"document_id": "d1", "text": "The engine takes 4 litres of oil."}],
                "answerability": "ANSWERABLE",
                "targets": [{"type": "text", "value": "4 litres."}],
            }
        ],
        "results": [
            _result("a", "The engine takes 4 litres of oil.", "344"),
            _result("b", "I do not know.", "112"),
        ],
    }
    ratings = write_rated(data, tmp_path, Profile(template="none", refusal=("do not know",)), with_gold=True)
    assert ratings == {"t1 a": pytest.approx(11 / 3), "t1 b": pytest.approx(4 / 3)}
    report = open_workspace(tmp_path).triage()
    assert [(row.q_id, row.label, row.chunks) for row in report.rows] == [
        ("t1 a", "ok", ("d1",)),
        ("t1 b", "refusal_suspect", ("d1",)),
    ]
    assert (tmp_path / "gold.jsonl").read_text(encoding="utf-8").count('"answer":"4 litres."') == 2


def _result(model: str, answer: str, ratings: str) -> dict[str, object]:
    scores = {str(place): {"value": rating} for place, rating in enumerate(ratings)}
    return {
        "task_id": "t1",
        "model_id": model,
        "output": [{"role": "assistant", "content": answer}],
        "scores": {"faithfulness": scores},
    }
