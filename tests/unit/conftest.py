"""Fixtures of the tests of the index, of commands that read PDFs, and of bundles."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from proofspan.contracts.records.records import Trace
from proofspan.store.files.columns import Row, index_row
from proofspan.store.index import labelling


@pytest.fixture(scope="session", autouse=True)
def cache_of_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the index of commands that name no cache out of the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Where an index may lie; not made yet."""
    return tmp_path / "cache"


@pytest.fixture
def disk_full_within_a_line(monkeypatch: pytest.MonkeyPatch) -> Callable[[], AbstractContextManager[None]]:
    """In its block half of what is written reaches the disk, then the disk is full."""
    written = os.write

    def write(handle: int, data: bytes) -> int:
        if len(data) < 60:
            raise OSError(errno.ENOSPC, "No space left on device")
        return written(handle, data[: len(data) // 2])

    @contextmanager
    def full() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", write)
            yield

    return full


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The q_ids of the traces that were read from their file, as they are read."""
    seen: list[str] = []

    def recording(trace: Trace, *found: Any) -> Row:
        seen.append(trace.q_id)
        return index_row(trace, *found)

    monkeypatch.setattr(labelling, "index_row", recording)
    return seen


@pytest.fixture(scope="session")
def bundle_workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace to copy, whose run has three traces."""
    from tests.unit.bundles.bundle_command import workspace  # only who asks for it needs what writes PDFs

    folder = tmp_path_factory.mktemp("bundles")
    workspace(folder)
    return folder
