"""Bad documents among many quotes: a hang or a crash costs its own quotes, and the rest is answered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from proofspan.errors import Problem
from proofspan.evidence.locate_bulk import Answer, Ask, locate_bulk
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan, SpanQuery
from tests.hostile.command_room import NEVER_S
from tests.pdf_files import form_bomb, write_pages

pytestmark = pytest.mark.slow

OIL = "Change the engine oil every 15,000 km or once a year."
TYRES = "Check the pressure of all tyres while they are cold."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two good documents, one that never answers, and a web page."""
    write_pages(tmp_path / "a.pdf", [[OIL], [TYRES]])
    write_pages(tmp_path / "b.pdf", [[TYRES]])
    (tmp_path / "bomb.pdf").write_bytes(form_bomb())
    (tmp_path / "page.pdf").write_text("<html>Sign in</html>")
    return tmp_path


def codes(answers: Sequence[Answer]) -> list[str]:
    return [answer.code if isinstance(answer, Problem) else answer.status for answer in answers]


def test_one_by_one_and_in_bulk_the_answers_are_the_same(folder: Path) -> None:
    quotes = [OIL, TYRES, OIL.replace("15", "16"), TYRES[:20], "Nothing of the kind.", OIL.upper(), "…", ""]
    asks = [
        Ask(folder / name, SpanQuery(quote, page))
        for name in ("a.pdf", "b.pdf")
        for quote in quotes
        for page in (0, 1, None)
    ]
    with PdfPool() as pool:
        alone = [pool.locate(ask.path, ask.query) for ask in asks]
        assert locate_bulk(asks, pool, workers=2) == alone
        assert pool.locate_many(folder / "a.pdf", [ask.query for ask in asks[:24]]) == alone[:24]


@pytest.mark.usefixtures("soon_given_up")
def test_a_document_that_hangs_does_not_keep_the_others_from_being_answered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proofspan.evidence.locate_bulk.MAX_FAULTS", 2)  # each is a worker's whole time limit
    names = ["a.pdf", "bomb.pdf", "b.pdf", "page.pdf"]
    asks = [Ask(folder / names[n % 4], SpanQuery(f"{TYRES} {n}"[: 52 + n % 3], 0)) for n in range(40)]
    asked: Counter[str] = Counter()

    class Counting(PdfPool):
        def locate_each(self, path: Path, queries: Sequence[SpanQuery]) -> Iterator[FoundSpan | Problem]:
            asked[path.name] += 1
            return super().locate_each(path, queries)

    with Counting(timeout_s=NEVER_S) as pool:
        answers = locate_bulk(asks, pool, workers=2)
    assert set(codes(answers[1::4])) <= {"timed_out", "crashed"}
    assert set(codes(answers[3::4])) == {"not_a_pdf"}
    assert not any(isinstance(answer, Problem) for answer in (*answers[0::4], *answers[2::4]))
    assert asked["bomb.pdf"] <= 2, "a document that hangs is given up"


def test_a_worker_that_is_killed_costs_one_quote(folder: Path) -> None:
    asks = [Ask(folder / "a.pdf", SpanQuery(OIL, 0, before=f"{n}")) for n in range(30)]
    killed: list[int] = []

    def kill(done: int, total: int) -> None:
        if done == 10 and not killed:
            killed.extend(pool.process_ids())
            for process in killed:
                os.kill(process, signal.SIGKILL)

    with PdfPool(workers=1) as pool:
        found = codes(locate_bulk(asks, pool, workers=1, on_done=kill))
    assert killed
    assert found.count("crashed") <= 1
    assert set(found) <= {"exact", "crashed"}


def test_half_a_character_in_one_quote_leaves_the_others_alone(folder: Path) -> None:
    asks = [
        Ask(folder / "b.pdf", SpanQuery(quote, 0))
        for quote in (TYRES, "\ud800", "the pressure of all tyres", "\udfff")
    ]
    with PdfPool(workers=1) as pool:
        assert codes(locate_bulk(asks, pool, workers=1)) == ["exact", "not_sendable", "exact", "not_sendable"]


def test_a_caller_that_stops_listening_gets_a_worker_that_talks_of_the_next_thing(folder: Path) -> None:
    with PdfPool(workers=1) as pool:
        answers = pool.locate_each(folder / "a.pdf", [SpanQuery(OIL), SpanQuery(TYRES), SpanQuery(OIL)])
        first = next(answers)
        answers.close()  # type: ignore[attr-defined]
        assert not isinstance(first, Problem) and first.page_idx == 0
        assert pool.document(folder / "b.pdf").page_count == 1


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_command_leaves_neither_output_nor_workers(folder: Path) -> None:
    spans, found = folder / "spans.jsonl", folder / "found.jsonl"
    rows = [{"id": n, "pdf": "bomb.pdf", "cited_page_idx": 0, "quote": f"{OIL} {n}"} for n in range(3)]
    spans.write_text("\n".join(map(json.dumps, rows)))
    command = [sys.executable, "-m", "proofspan.cli", "locate", str(spans), "-o", str(found)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not (workers := _children(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=60)
        process.kill()
    assert process.returncode == 130, "1 would mean findings"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("a.pdf", "b.pdf", "bomb.pdf", "page.pdf", "spans.jsonl"),
    ]
    deadline = time.monotonic() + 60
    while any(map(_is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert workers and not any(map(_is_running, workers))


def _children(process: int) -> list[int]:
    """The processes that its threads have started."""
    found = [path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children")]
    return [int(child) for children in found for child in children.split()]


def _is_running(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
