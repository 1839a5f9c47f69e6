"""Fixtures of the tests with hostile input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proofspan.cli import main
from proofspan.evidence.pdf.pool import Worker
from tests.hostile.command_room import Ended, Proofspan


@pytest.fixture
def soon_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that hangs has a second for an answer, and every other one what its pool allows.

    So none of the others is late on a busy machine.
    """
    receive = Worker.receive

    def in_time(worker: Worker, limit_s: float) -> tuple[dict[str, Any], bytes]:
        hangs = Path(worker.documents[-1]).name in ("bomb.pdf", "endless.pdf")
        return receive(worker, 1.0 if hangs else limit_s)

    monkeypatch.setattr(Worker, "receive", in_time)


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
