"""Where the index lies, and that versions with other columns keep out of each other's way."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from proofspan.store.files import cache_dir, columns


@pytest.fixture
def restored() -> Iterator[None]:
    yield
    importlib.reload(cache_dir)


def folder() -> Path:
    return cache_dir.run_folder(Path("cache"), Path("workspace"), "R001", "seed")


def test_the_same_columns_share_a_folder() -> None:
    before = folder()
    importlib.reload(cache_dir)
    assert folder() == before


def test_an_index_with_other_columns_is_never_opened(monkeypatch: pytest.MonkeyPatch, restored: None) -> None:
    before = folder()
    with monkeypatch.context() as older:
        older.setattr(columns, "ROW_SCHEMA", columns.ROW_SCHEMA.append(pa.field("more", pa.int64())))
        importlib.reload(cache_dir)
        assert folder() != before
