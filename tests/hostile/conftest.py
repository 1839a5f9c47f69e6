"""Fixtures of the tests with hostile input."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofspan.cli import main
from tests.hostile.command_room import Ended, Proofspan


@pytest.fixture
def proofspan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], one_pool: None
) -> Proofspan:
    """`proofspan("check", folder)`: the real command in this process, with a cache of its own."""
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))

    def run(*arguments: object) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        written = capsys.readouterr()
        return Ended(int(ended.value.code or 0), written.out, written.err)

    return run
