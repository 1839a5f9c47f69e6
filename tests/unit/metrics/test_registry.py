"""Metrics of other packages: the documented example is registered, counted and shown like our own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from proofspan.metrics import catalogue
from proofspan.metrics.catalogue import METRICS, Metric
from tests.places import CHECKOUT
from tests.unit.store_workspace import trace, write_workspace


def example() -> str:
    """Return the code of the metric in docs/extending.md."""
    section = (CHECKOUT / "docs/extending.md").read_text(encoding="utf-8").partition("## A metric")[2]
    code = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert code is not None
    return code[1]


def registering(metric: Metric) -> Callable[..., list[SimpleNamespace]]:
    return lambda group: [SimpleNamespace(load=lambda: metric)] if group == "proofspan.metrics" else []


def test_an_id_belongs_to_one_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "entry_points", registering(Metric("mrr", "", "ranking", "mean", "", "")))
    with pytest.raises(ValueError, match="mrr"):
        catalogue.catalogue()


@pytest.mark.slow
def test_the_metric_of_another_package_is_counted_like_our_own(tmp_path: Path) -> None:
    package = tmp_path / "package"
    info = package / "other-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "other.py").write_text(example(), encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[proofspan.metrics]\nsupported = other:SUPPORTED_NUMBERS\n")
    traces = [trace("Q1"), trace("Q2", answer="It holds 5 litres.")]
    folder = write_workspace(tmp_path / "workspace", {"R1": traces}).folder
    command = [sys.executable, "-m", "proofspan.cli", "metrics", str(folder), "--json"]
    result = subprocess.run(
        [*command, "--cache-dir", str(tmp_path / "cache")],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        check=False,
    )
    metrics = json.loads(result.stdout)["runs"][0]["metrics"]
    assert metrics.keys() == {*METRICS, "supported_numbers"}
    value = metrics["supported_numbers"]
    assert (value["numerator"], value["denominator"]) == (1, 2)
