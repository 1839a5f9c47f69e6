"""Fixtures of the tests of the index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.contracts.records import Trace
from core.store import scan
from core.store.columns import Row, index_row


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Where an index may lie; not made yet."""
    return tmp_path / "cache"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The q_ids of the traces that were read from their file, as they are read."""
    seen: list[str] = []

    def recording(trace: Trace, *found: Any) -> Row:
        seen.append(trace.q_id)
        return index_row(trace, *found)

    monkeypatch.setattr(scan, "index_row", recording)
    return seen
