"""Which run another is compared with, and the sentences that say how it ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.statistics import LEVEL, mcnemar
from proofspan.services.compare import (
    FEWEST,
    needs_sentence,
    other_run,
    p_words,
    scope_sentences,
    verdict_sentence,
)
from proofspan.store.query.comparison import Flips
from tests.places import CHECKOUT

MATCH, OK = "section_match_at_1", "answered_ok"


def flips(
    fixed: int = 0,
    regressed: int = 0,
    both: int = 0,
    neither: int = 0,
    only_here: int = 0,
    only_there: int = 0,
    left_out: int = 0,
) -> Flips:
    return Flips(fixed, regressed, both, neither, only_here, only_there, left_out)


@pytest.mark.parametrize(
    ("counted", "outcome", "said"),
    [
        (
            flips(6, 1, 20, 10),
            MATCH,
            "6 fixed, 1 regressed of 37 by SectionMatch@1: p = 0.125, not yet evidence.",
        ),
        (
            flips(6, 0, 21, 10),
            "gt_in_top_20",
            "6 fixed, none regressed of 37 by GT-in-top-20: p = 0.031, evidence that R004 is better.",
        ),
        (
            flips(0, 12, 20, 5),
            "citation_match",
            "None fixed, 12 regressed of 37 by citation match: p < 0.001, evidence that R004 is worse.",
        ),
        (
            flips(3, 3, 20, 11),
            OK,
            "3 fixed, 3 regressed of 37 by answers that do not fail: p = 1, no sign of a difference.",
        ),
        (
            flips(0, 0, 30, 7),
            MATCH,
            "No flip among 37 questions by SectionMatch@1: 30 right in both runs, 7 in neither.",
        ),
        (
            flips(both=1),
            MATCH,
            "No flip among 1 question by SectionMatch@1: 1 right in both runs, 0 in neither.",
        ),
        (
            flips(1_200, 900, 60_000, 37_900),
            OK,
            "1,200 fixed, 900 regressed of 100,000 by answers that do not fail: p < 0.001, "
            "evidence that R004 is better.",
        ),
        (flips(), MATCH, "Neither R004 nor R003 holds a question."),
        (flips(only_there=4), MATCH, "R004 holds no question."),
        (flips(only_here=4), MATCH, "R003 holds no question."),
        (
            flips(only_here=4, only_there=2),
            MATCH,
            "R004 and R003 have no question in common: 4 and 2 questions of their own.",
        ),
        (
            flips(left_out=5),
            MATCH,
            "None of the 5 questions of both runs can be judged by SectionMatch@1 in both.",
        ),
    ],
)
def test_the_sentence_that_decides(counted: Flips, outcome: str, said: str) -> None:
    assert verdict_sentence(counted, run="R004", vs="R003", outcome=outcome) == said


def test_a_run_compared_with_itself_decides_nothing() -> None:
    said = verdict_sentence(flips(both=9), run="R004", vs="R004", outcome=MATCH)
    assert said == "R004 is compared with itself, so nothing can differ."


def test_without_gold_the_reason_is_that_there_is_none() -> None:
    def said(counted: Flips, outcome: str) -> str:
        return verdict_sentence(counted, run="R2", vs="R1", outcome=outcome, has_gold=False)

    assert said(flips(left_out=5), MATCH) == (
        "Nothing can be judged by SectionMatch@1: the workspace names no gold questions."
    )
    assert "no gold" not in said(flips(left_out=5), OK)
    assert said(flips(1, 0, 4), OK).startswith("1 fixed, none regressed of 5")


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (flips(6, 0, 31), ""),
        (flips(left_out=9), ""),
        (flips(0, 0, 30, 7), "Evidence takes 6 flips or more, all one way."),
        (flips(2, 1, 2), "5 questions cannot tell: evidence takes 6 flips or more, all one way."),
        (
            flips(3, 3, 31),
            "As many for the better as for the worse: more questions like these would not tell either.",
        ),
        (
            flips(3, 0, 34),
            "In these shares evidence takes about 6 flips (here 3), "
            "so about 74 questions like these (here 37).",
        ),
        (
            flips(6, 1, 30),
            "In these shares evidence takes about 12 flips (here 7), "
            "so about 64 questions like these (here 37).",
        ),
    ],
)
def test_what_evidence_would_take(counted: Flips, said: str) -> None:
    assert needs_sentence(counted) == said


@settings(max_examples=60)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_more_is_asked_for_only_where_there_is_no_evidence(fixed: int, regressed: int, stay: int) -> None:
    counted = flips(fixed, regressed, stay)
    is_evidence = mcnemar(fixed, regressed) < LEVEL
    assert bool(needs_sentence(counted)) == (not is_evidence and fixed + regressed + stay > 0)
    if fixed + regressed:
        said = verdict_sentence(counted, run="B", vs="A", outcome=MATCH)
        assert ("evidence that" in said) == is_evidence


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (flips(6, 1, 30), ()),
        (
            flips(6, 1, 28, only_here=2, only_there=1),
            ("Compared on the 35 questions of both; 2 only in R004, 1 only in R003.",),
        ),
        (flips(0, 1, only_there=3), ("Compared on the 1 question of both; 3 only in R003.",)),
        (
            flips(6, 1, 26, left_out=4),
            ("4 of 37 cannot be judged by SectionMatch@1 in one of the runs: left out.",),
        ),
        (flips(left_out=4), ()),
        (flips(only_here=4, only_there=2), ()),
    ],
)
def test_which_questions_are_compared(counted: Flips, said: tuple[str, ...]) -> None:
    assert scope_sentences(counted, run="R004", vs="R003", outcome=MATCH) == said


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (1.0, "p = 1"),
        (0.125, "p = 0.125"),
        (0.0004, "p < 0.001"),
        (0.04999, "p = 0.04999"),
        (0.0496, "p = 0.0496"),
        (0.0501, "p = 0.050"),
    ],
)
def test_a_p_never_reads_as_if_it_lay_on_the_other_side(p: float, said: str) -> None:
    assert p_words(p) == said


def manifest(*runs: Run) -> Manifest:
    return Manifest("test", CHECKOUT, runs=runs)


def run(run_id: str, ts: str | None = None, baseline: str | None = None) -> Run:
    return Run(run_id, None, ts=ts, baseline=baseline)


@pytest.mark.parametrize(
    ("runs", "asked", "other"),
    [
        ([run("R1"), run("R2"), run("R3", baseline="R1")], "R3", "R1"),
        ([run("R1"), run("R2"), run("R3")], "R3", "R2"),
        ([run("R1"), run("R2"), run("R3")], "R1", None),
        ([run("R1", "2026-03-01"), run("R2", "2026-02-01")], "R1", "R2"),
        ([run("R1"), run("R2", baseline="R9")], "R2", "R1"),
        ([run("R1"), run("R2", baseline="R2")], "R2", "R1"),
        ([run("R1")], "R1", None),
        ([run("R1")], "R9", None),
    ],
)
def test_a_run_is_compared_with_its_baseline_else_with_the_one_before_it(
    runs: list[Run], asked: str, other: str | None
) -> None:
    assert other_run(manifest(*runs), asked) == other


def test_six_flips_one_way_are_the_least_evidence() -> None:
    assert FEWEST == 6
    assert mcnemar(FEWEST, 0) < LEVEL <= mcnemar(FEWEST - 1, 0)
