"""How claims of real answers are judged, against people: support, best sentences, and accusations."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.bench_claims import measures

#: One pair of answers in three: enough to notice a loss. `bench/bench_claims.py` measures all.
EVERY = 3


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("wice", {"auc": 0.80, "best_sentence": 0.80}, {"accused_good": 0.01}),
        ("bump", {"pairs": 0.80}, {"accused_good": 0.015}),
        ("attribution", {"auc": 0.71}, {"accused_good": 0.01}),
        ("summedits", {"accused_balanced": 0.62}, {"accused_good": 0.01}),
    ],
)
def test_support_and_differences(
    real_data: Path, name: str, least: dict[str, float], most: dict[str, float]
) -> None:
    found = measures(real_data / "claims", name, every=EVERY)
    found["accused_balanced"] = (found["accused_bad"] + 1 - found["accused_good"]) / 2
    assert {key: found[key] for key in least if found[key] < least[key]} == {}
    assert {key: found[key] for key in most if found[key] > most[key]} == {}
