"""Which run another is compared with, and the sentences that say how it ends."""

from __future__ import annotations

from collections.abc import Callable

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
from proofspan.store.files.types import Flips
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


#: Flips with the outcome that they are counted by.
COMPARISONS = [
    (flips(6, 1, 20, 10), MATCH),
    (flips(6, 0, 21, 10), "gt_in_top_20"),
    (flips(0, 12, 20, 5), "citation_match"),
    (flips(3, 3, 20, 11), OK),
    (flips(3, 0, 34), MATCH),
    (flips(2, 1, 2), MATCH),
    (flips(0, 0, 30, 7), MATCH),
    (flips(both=1), MATCH),
    (flips(1_200, 900, 60_000, 37_900), OK),
    (flips(6, 1, 28, only_here=2, only_there=1), MATCH),
    (flips(0, 1, only_there=3), MATCH),
    (flips(6, 1, 26, left_out=4), MATCH),
    (flips(), MATCH),
    (flips(only_there=4), MATCH),
    (flips(only_here=4), MATCH),
    (flips(only_here=4, only_there=2), MATCH),
    (flips(left_out=5), MATCH),
]


def test_the_sentences_of_a_comparison(golden: Callable[[str, str], None]) -> None:
    text = ""
    for counts, outcome in COMPARISONS:
        sentences = [
            verdict_sentence(counts, run="R004", vs="R003", outcome=outcome),
            needs_sentence(counts),
            *scope_sentences(counts, run="R004", vs="R003", outcome=outcome),
        ]
        text += "\n".join([str(counts), *filter(None, sentences), "\n"])
    text += verdict_sentence(flips(both=9), run="R004", vs="R004", outcome=MATCH) + "\n"
    text += verdict_sentence(flips(left_out=5), run="R2", vs="R1", outcome=MATCH, has_gold=False)
    golden("compare/sentences", text)


def test_without_gold_an_outcome_that_needs_none_is_judged() -> None:
    sentence = verdict_sentence(flips(1, 0, 4), run="R2", vs="R1", outcome=OK, has_gold=False)
    assert sentence.startswith("Answers: 1 fixed, none regressed of 5")


@settings(max_examples=60)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_more_is_asked_for_only_where_there_is_no_evidence(fixed: int, regressed: int, stay: int) -> None:
    counted = flips(fixed, regressed, stay)
    is_evidence = mcnemar(fixed, regressed) < LEVEL
    assert bool(needs_sentence(counted)) == (not is_evidence and fixed + regressed + stay > 0)
    if fixed + regressed:
        reported = verdict_sentence(counted, run="B", vs="A", outcome=MATCH)
        assert ("not statistically significant" not in reported) == is_evidence


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (1.0, "p = 1"),
        (0.125, "p = 0.125"),
        (0.0004, "p < 0.001"),
        (0.04999, "p = 0.04999"),
        (0.0496, "p = 0.0496"),
        (0.0501, "p = 0.050"),
    ],
)
def test_a_p_never_reads_as_if_it_lay_on_the_other_side(p: float, expected: str) -> None:
    assert p_words(p) == expected


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
