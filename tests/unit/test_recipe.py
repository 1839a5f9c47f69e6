"""The evaluation recipe: what of it is done, what is missing, and what has to come first."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.contracts.records.records import GoldQuestion
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.goals import DEFAULT_GOALS, Verdict, judge
from proofspan.metrics.values import MetricValue, Tally, metric_value
from proofspan.services.health.recipe import (
    Findings,
    Step,
    findings_step,
    gold_step,
    knobs_step,
    measured_step,
    run_recipe,
    variants_step,
)
from proofspan.services.metrics.run_metrics import run_metrics
from proofspan.services.question.variants import ASPECTS, Stability, Steadiness, run_stability
from proofspan.traces.records.chunks import Place
from tests.unit.store_workspace import RUN, built, trace, write_workspace

FAILS, PASSES = Verdict("fail", "0.40 is less than 0.95"), Verdict("pass", "")
DONE = Step("", "done", "")


def gold(*sections: str, chunks: tuple[str, ...] = ()) -> dict[str, GoldQuestion]:
    """A gold question for each of these sections, and one for the chunks."""
    asked = [GoldQuestion(f"Q{n}", "?", sections=(section,)) for n, section in enumerate(sections)]
    asked += [GoldQuestion("C", "?", chunks=chunks)] if chunks else []
    return {question.q_id: question for question in asked}


def test_sections_with_three_to_five_gold_questions_are_enough() -> None:
    step = gold_step(gold(*["4.2"] * 3, *["§ 4.3"] * 5), {}, ["4.2", "4.3"])
    assert (step.done, step.said) == ("done", "All 2 sections that are asked about have 3 to 5.")


def test_sections_below_and_above_are_named_and_those_without_any_are_counted() -> None:
    step = gold_step(gold("5.1", "5.1", *["7"] * 6, *["4.2"] * 3), {}, ["5.1", "7", "4.2", "8", "9.1"])
    assert step.done == "missing"
    assert step.said == (
        "1 of the 3 sections that are asked about have 3 to 5; fewer: 5.1 (2); more: 7 (6); "
        "2 of the 5 sections with chunks have none."
    )


def test_of_many_sections_the_first_are_named_and_chapters_are_counted_too() -> None:
    said = gold_step(gold(*(f"{chapter}.{n}" for chapter in (1, 2) for n in range(1, 6))), {}, []).said
    assert "fewer: 1.1 (1), 1.2 (1), 1.3 (1), 1.4 (1), 1.5 (1), 2.1 (1) and 4 more" in said
    assert said.endswith("; of the 2 chapters 2 have 3 or more.")


def test_a_gold_question_of_chunks_asks_about_their_sections() -> None:
    places = {"c1": Place("d", "4.2", 0), "c2": Place("d", "4.2", 1)}
    step = gold_step(gold("4.2.", "Section 4.2", chunks=("c1", "c2", "lost")), places, ["4.2"])
    assert step.done == "done"


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, "The workspace names no gold questions."),
        (gold(chunks=("lost",)), "None of the 1 gold questions names a section or a chunk."),
        ({"Q": GoldQuestion("Q", "?", answerable=False)}, "None of the 1 gold questions"),
    ],
)
def test_without_sections_nothing_is_counted(known: dict[str, GoldQuestion], said: str) -> None:
    step = gold_step(known, {}, ["1"])
    assert step.done == "missing"
    assert step.said.startswith(said)


def asked(*variants: tuple[int, int], once: int = 0) -> Stability:
    stays = dict.fromkeys(ASPECTS, True)
    questions = [Steadiness(f"Q{n}", "?", p * s, p, s, stays) for n, (p, s) in enumerate(variants)]
    return Stability(tuple(questions), once)


@pytest.mark.parametrize(
    ("found", "done", "said"),
    [
        (asked((3, 2), (4, 3)), "done", "All 2 questions were asked so often."),
        (asked((3, 2), (3, 1)), "missing", "1 of the 2 questions were asked so often."),
        (asked((3, 2), once=4), "missing", "1 of the 5 questions were asked so often, 4 only once."),
        (asked(once=4), "missing", "Each of the 4 questions was asked once."),
        (asked(), "missing", "The run holds no question."),
    ],
)
def test_paraphrases_and_seeds_are_held_against_three_by_two(found: Stability, done: str, said: str) -> None:
    step = variants_step(found)
    assert (step.done, step.said) == (done, said)


def measured(match: tuple[int, int], coverage: float = 0.8) -> dict[str, MetricValue]:
    tallies = {
        "citation_match": Tally(match[1], match[0]),
        "section_coverage": Tally(10, 10 * coverage, 10 * coverage * coverage),
    }
    return {name: metric_value(METRICS[name], tally) for name, tally in tallies.items()}


def test_match_and_coverage_are_told_with_what_they_are_to_reach() -> None:
    values = measured((9, 10))
    verdicts = {"citation_match": judge(DEFAULT_GOALS["citation_match"], values["citation_match"])}
    step = measured_step(values, DEFAULT_GOALS, verdicts)
    assert step.done == "done"
    assert step.said == (
        "Citation match 9 of 10, 90 % (60–98 %), misses its goal (at least 0.95); "
        "Section coverage 0.800 (0.800–0.800) over 10 questions, reaches its target (at least 0.70)."
    )
    assert "misses its target" in measured_step(measured((9, 10), 0.6), {}, {}).said


def test_without_a_cited_answer_there_is_nothing_to_check() -> None:
    assert measured_step(measured((0, 0)), DEFAULT_GOALS, {}).done == "missing"
    assert measured_step({}, {}, {}).done == "missing"


def test_where_match_falls_short_the_findings_come_before_the_knobs() -> None:
    findings = Findings(
        suspicions={"citation_outside_retrieved": 2, "refusal_not_exact": 5},
        placed={"not_found": 1, "page_mismatch": 3, "exact": 30, "numbers_differ": 0},
        buckets={"hit": 21, "score_policy": 10, "retrieval_gap": 6, None: 4},
    )
    first = findings_step(findings, FAILS)
    assert first.done == "missing"
    assert [(way.words, dict(way.shows)) for way in first.ways] == [
        ("2 cite an id that was never retrieved", {"suspicion": ("citation_outside_retrieved",)}),
        ("1 cited text not found", {"evidence": ("not_found",)}),
        ("3 on another page than cited", {"evidence": ("page_mismatch",)}),
    ]
    then = knobs_step(findings, FAILS, first)
    assert (then.done, then.said) == ("waiting", "After the findings above.")
    assert [way.words for way in then.ways] == ["10 score_policy: rerank", "6 retrieval_gap: hybrid recall"]
    assert knobs_step(findings, FAILS, DONE).done == "missing"


def test_no_finding_is_only_known_when_citations_were_looked_for() -> None:
    assert findings_step(Findings(placed={"exact": 3}), FAILS).done == "done"
    unlocated = findings_step(Findings(), FAILS)
    assert unlocated.done == "waiting"
    assert "not located yet" in unlocated.said


def test_a_match_that_is_reached_or_not_known_asks_for_nothing() -> None:
    findings = Findings(suspicions={"citations_empty": 1}, buckets={"score_policy": 1})
    for match, done in ((PASSES, "done"), (Verdict("unknown", ""), "waiting")):
        for step in (findings_step(findings, match), knobs_step(findings, match, DONE)):
            assert (step.done, step.ways) == (done, ())
    assert knobs_step(Findings(buckets={"hit": 3}), FAILS, DONE).done == "done"


def test_a_run_is_taken_through_all_five_steps(tmp_path: Path) -> None:
    made_up = trace("Q1", answer="The oil filter holds 4 litres.\ncitations: [c3]")
    workspace = write_workspace(tmp_path / "w", {RUN: [made_up]}, gold={"path": "gold.jsonl"})
    (workspace.folder / "gold.jsonl").write_text('{"q_id": "Q1", "q": "?", "sections": ["4.2"]}\n')
    store = built(workspace, tmp_path / "cache")
    steps = run_recipe(
        store,
        run_metrics(store, workspace, RUN),
        run_stability(store, RUN),
        gold=gold("4.2"),
        places={},
        corpus=["4.2", "4.3"],
    )
    assert [step.done for step in steps] == ["missing", "missing", "done", "missing", "waiting"]
    assert steps[3].ways[0].shows == {"suspicion": ("citation_outside_retrieved",)}
