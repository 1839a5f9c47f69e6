"""Fixtures of the tests of the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.store import scan
from core.store.columns import Row, index_row
from core.traces.chunks import Places
from core.triage.types import ReportRow


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Where an index may lie; not made yet."""
    return tmp_path / "cache"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The q_ids of the traces that were read from their file, as they are read."""
    seen: list[str] = []

    def recording(item: object, verdict: ReportRow | None, places: Places, gold: object) -> Row:
        seen.append(item.q_id)  # type: ignore[attr-defined]
        return index_row(item, verdict, places, gold)  # type: ignore[arg-type]

    monkeypatch.setattr(scan, "index_row", recording)
    return seen
