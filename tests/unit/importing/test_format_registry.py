"""Formats of other packages: the examples, registered and opened like our own."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from proofspan.services.opening.open import open_source
from proofspan.traces import registry
from proofspan.traces.formats.records import sample_of
from proofspan.traces.formats.types import Format, Reading
from tests.places import CHECKOUT


def example(name: str) -> Format:
    """Return the format of an example, which docs/extending.md shows."""
    names = runpy.run_path(str(CHECKOUT / "examples" / f"{name}.py"))
    (found,) = (each for each in names.values() if isinstance(each, Format))
    return found


@pytest.fixture(params=["format", "response"])
def registered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Format:
    """Register the format of an example."""
    found = example(request.param)
    entry_point = SimpleNamespace(load=lambda: found)
    monkeypatch.setattr(
        registry, "entry_points", lambda *, group: [entry_point] if group == "proofspan.formats" else []
    )
    return found


def test_a_registered_format_is_opened_like_our_own(registered: Format, tmp_path: Path) -> None:
    source = tmp_path / f"example{registered.suffix}"
    source.write_bytes(registered.example)
    found = registry.recognized(sample_of(source))
    assert found is not None and found.format is registered and found.why
    opened = open_source(source, workspace=tmp_path / "workspace")
    assert opened.reading.understood and not opened.reading.left
    assert (opened.report.traces, opened.reading.lost) == (1, 0)


def test_what_a_registered_format_cannot_use_is_a_problem(tmp_path: Path) -> None:
    asks = example("format")
    (tmp_path / "asks.jsonl").write_bytes(asks.example + b'{"ask": null, "reply": "", "pages": [], "x": 1}\n')
    reading = Reading("asks.jsonl")
    (asked,) = asks.read(tmp_path / "asks.jsonl", reading)
    assert asked.q == "How much oil?" and asked.scores == {"rating": 5}
    assert (reading.records, reading.lost, dict(reading.left)) == (2, 1, {"x": 1})
