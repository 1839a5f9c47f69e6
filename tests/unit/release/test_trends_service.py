"""Which runs Trends shows, in which order, and with which it compares."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.manifest.types import Manifest, Run
from proofspan.services.metrics.run_metrics import in_order, trends
from tests.trend_runs import run_of

RUNS = (
    Run("R3", None, ts="2026-02-26T10:00:00Z", baseline="R1"),
    Run("R1", None, ts="2026-02-24T10:00:00Z"),
    Run("R2", None, ts="2026-02-25T10:00:00Z"),
)
MANIFEST = Manifest("w", Path("/nowhere"), runs=RUNS)


def names(indexed: list[str], *, shown: str, vs: str | None = None) -> tuple[list[str], str, str | None]:
    """The runs in order, the shown one, and what it is compared with."""
    found = trends(MANIFEST, indexed, shown=shown, vs=vs, trend=lambda run: run_of(run.run_id))
    other = found.other.run_id if found.other else None
    return [run.run_id for run in found.runs], found.current.run_id, other


def test_runs_are_in_the_order_of_their_times() -> None:
    assert [run.run_id for run in in_order(MANIFEST)] == ["R1", "R2", "R3"]


@pytest.mark.parametrize(
    ("shown", "vs", "other"),
    [
        ("R3", None, "R1"),
        ("R2", None, "R1"),
        ("R1", None, None),
        ("R3", "R2", "R2"),
        ("R3", "R3", "R1"),
        ("R3", "R9", "R1"),
    ],
)
def test_a_run_is_compared_with_the_named_one_else_its_baseline_else_the_one_before(
    shown: str, vs: str | None, other: str | None
) -> None:
    assert names(["R1", "R2", "R3"], shown=shown, vs=vs) == (["R1", "R2", "R3"], shown, other)


def test_a_run_without_an_index_is_missing_and_not_compared_with() -> None:
    assert names(["R2", "R3"], shown="R3") == (["R2", "R3"], "R3", None)
    found = trends(MANIFEST, ["R3"], shown="R3", vs=None, trend=lambda run: run_of(run.run_id))
    assert found.missing == ("R1", "R2")
