"""Files of evaluation tools as these tools' own projects have them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from proofspan.services.opening.open import Opened, open_source
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.types import Reading
from proofspan.traces.registry import FORMATS

pytestmark = pytest.mark.real_data


def opened(source: Path, workspace: Path) -> Opened:
    assert [each.name for each in FORMATS if each.detect(sample_of(source))] == [source.parent.name]
    return open_source(source, workspace=workspace / "workspace")


def test_annotated_ragas_metric(real_data: Path, tmp_path: Path) -> None:
    found = opened(real_data / "ragas" / "annotated_data.json", tmp_path)
    assert (found.report.traces, found.reading.records, found.reading.lost) == (21, 21, 0)
    assert not found.reading.left and not found.reading.problems


def test_ragchecker_inputs(real_data: Path, tmp_path: Path) -> None:
    found = opened(real_data / "ragchecker" / "checking_inputs.json", tmp_path)
    assert (found.report.traces, found.report.chunks, found.report.gold) == (2, 7, 2)
    assert found.reading.lost == 0 and not found.reading.left


def test_inspectorraget_experiment(real_data: Path, tmp_path: Path) -> None:
    source = real_data / "inspectorraget" / "clapnq_30_tasks.json"
    found = opened(source, tmp_path)
    assert (found.report.traces, found.report.chunks, found.report.gold) == (120, 30, 30)
    assert found.reading.lost == 0 and set(found.reading.left) == {
        *("example_id", "name", "filters"),
        *("scores.timestamp", "scores.duration"),
    }
    asked = list(found.found.format.read(source, Reading(source.name)))
    assert Counter(each.run for each in asked) == {
        "GPT-3.5 (Turbo)": 30,
        "Llama (13b-chat)": 30,
        "Mistral": 30,
        "Reference": 30,
    }
    fluency = asked[0].scores["fluency"]
    assert [(each["score"], each["label"]) for each in fluency] == [(4, "4"), (3, "3"), (4, "4")]
    assert len({each["by"] for each in fluency}) == 3
    assert asked[0].scores["RougeL"] == pytest.approx(0.24) and asked[0].answerable is True
