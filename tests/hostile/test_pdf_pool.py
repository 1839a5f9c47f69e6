"""Hostile PDFs cost the request that asked for them, and nothing else: clear fault, fresh worker, go on."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from proofspan.contracts.records.records import Offsets
from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.pdf.pool import PdfPool, Worker
from proofspan.evidence.types import PageImage, SpanQuery
from tests.hostile.command_room import NEVER_S
from tests.pdf_files import form_bomb, one_page, text_bomb, write_pages

pytestmark = pytest.mark.slow

TEXT = "The brake fluid is to be changed every two years."


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(tmp_path_factory.mktemp("pdf") / "good.pdf", [[TEXT], ["Second page."]])


def code_of(error: pytest.ExceptionInfo[EvidenceFault]) -> str:
    (problem,) = error.value.problems
    assert problem.message
    assert problem.fix
    assert problem.where
    return problem.code


def refused(pool: PdfPool, path: Path) -> str:
    """The code with which a document is refused, the same for every question about it."""
    codes = set()
    for ask in (pool.document, lambda p: pool.render(p, 0), lambda p: pool.locate(p, SpanQuery(TEXT, 0))):
        with pytest.raises(EvidenceFault) as error:
            ask(path)
        codes.add(code_of(error))
    (code,) = codes
    return code


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("page.pdf", b"<!DOCTYPE html><html><body>Sign in</body></html>", "not_a_pdf"),
        ("empty.pdf", b"", "not_a_pdf"),
        ("noise.pdf", bytes(range(256)) * 40, "not_a_pdf"),
        ("cut.pdf", one_page(b"")[:120], "no_pages"),
        ("header.pdf", b"%PDF-1.7\n", "not_a_pdf"),
    ],
)
def test_what_is_no_pdf_is_reported(pool: PdfPool, tmp_path: Path, name: str, data: bytes, code: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert refused(pool, path) in {code, "not_a_pdf"}


def test_an_html_page_named_pdf_is_named_for_what_it_is(pool: PdfPool, tmp_path: Path) -> None:
    path = tmp_path / "manual.pdf"
    path.write_bytes(b"<html><head><title>Log in</title></head></html>")
    with pytest.raises(EvidenceFault, match="a web page"):
        pool.document(path)


def test_a_missing_file_a_folder_and_a_pipe(pool: PdfPool, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.pdf"
    os.mkfifo(pipe)
    for path in (tmp_path / "none.pdf", tmp_path, pipe):
        assert refused(pool, path) == "missing"


def test_a_locked_document(pool: PdfPool, tmp_path: Path) -> None:
    pymupdf = pytest.importorskip("pymupdf")
    document = pymupdf.open()
    document.new_page()
    path = tmp_path / "locked.pdf"
    document.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    assert refused(pool, path) == "locked"


@pytest.mark.parametrize("page_idx", [-1, 2, 10**9])
def test_a_page_that_is_not_there(pool: PdfPool, good: Path, page_idx: int) -> None:
    with pytest.raises(EvidenceFault, match="page_idx 0 to 1") as error:
        pool.render(good, page_idx)
    assert code_of(error) == "page_out_of_range"
    with pytest.raises(EvidenceFault) as error:
        pool.page(good, page_idx)
    assert code_of(error) == "page_out_of_range"


def test_a_page_too_large_to_draw_is_reported(pool: PdfPool, tmp_path: Path) -> None:
    path = tmp_path / "huge.pdf"
    path.write_bytes(one_page(b"", box=b"0 0 20000 20000"))
    assert pool.document(path).page_count == 1
    with pytest.raises(EvidenceFault) as error:
        pool.render(path, 0)
    assert code_of(error) == "too_large"


def test_a_large_page_is_drawn_with_fewer_dots(pool: PdfPool, tmp_path: Path) -> None:
    path = tmp_path / "large.pdf"
    path.write_bytes(one_page(b"", box=b"0 0 14000 9000"))
    image = pool.render(path, 0, max_pixels=1_000_000)
    assert 0.95e6 < image.width * image.height <= 1e6
    assert image.to_pixels[0] == pytest.approx(image.width / 14_000, rel=1e-3)


@pytest.mark.parametrize(
    "query",
    [
        SpanQuery("half of a character: \ud800", 0),
        SpanQuery(TEXT, 10**23),
        SpanQuery(TEXT, 0, Offsets(10**30, 10**31)),
    ],
)
def test_what_cannot_be_sent_costs_no_worker(good: Path, query: SpanQuery) -> None:
    with PdfPool(workers=1) as pool:
        pool.document(good)
        workers = pool.process_ids()
        with pytest.raises(EvidenceFault) as error:
            pool.locate(good, query)
        assert code_of(error) == "not_sendable"
        assert pool.locate(good, SpanQuery(TEXT, 0)).status == "exact"
        assert pool.process_ids() == workers


@pytest.mark.usefixtures("soon_given_up")
def test_an_endless_page_costs_its_time_limit_and_no_more(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "endless.pdf"
    path.write_bytes(form_bomb())
    with PdfPool(timeout_s=NEVER_S) as pool:
        pool.document(good)
        with pytest.raises(EvidenceFault) as error:
            pool.render(path, 0)
        assert code_of(error) == "timed_out"
        assert pool.locate(good, SpanQuery(TEXT, 0)).status == "exact"


def test_a_page_that_eats_all_memory_costs_one_request(tmp_path: Path, good: Path) -> None:
    """Depending on who asks for the last byte, the worker says so itself or dies of it."""
    path = tmp_path / "greedy.pdf"
    path.write_bytes(text_bomb(60))
    with PdfPool(timeout_s=NEVER_S, memory_bytes=512 * 1024**2) as pool:
        assert pool.locate(good, SpanQuery(TEXT, 0)).status == "exact"
        with pytest.raises(EvidenceFault) as error:
            pool.locate(path, SpanQuery(TEXT, 0))
        assert code_of(error) in {"too_large", "crashed"}
        assert "memory" in str(error.value)
        assert pool.locate(good, SpanQuery(TEXT, 0)).status == "exact"


def test_a_killed_worker_costs_one_request(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "endless.pdf"
    path.write_bytes(form_bomb())
    with PdfPool(timeout_s=NEVER_S) as pool:
        pool.document(good)
        receive = Worker.receive

        def killed(worker: Worker, limit_s: float) -> tuple[dict[str, Any], bytes]:
            """It has been asked, and dies before it answers."""
            _kill_all(pool)
            return receive(worker, limit_s)

        with monkeypatch.context() as dying, pytest.raises(EvidenceFault) as error:
            dying.setattr(Worker, "receive", killed)
            pool.render(path, 0)
        assert code_of(error) == "crashed"
        assert pool.document(good).page_count == 2


def _kill_all(pool: PdfPool) -> None:
    """The workers' ends, the idle ones' too, are there to be seen when it returns."""
    pids = pool.process_ids()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    _wait_for_end(pids)


def _wait_for_end(pids: Iterable[int]) -> None:
    deadline = time.monotonic() + NEVER_S
    while any(_runs(pid) for pid in pids):
        assert time.monotonic() < deadline, "a worker goes on"
        time.sleep(0.01)


def test_workers_that_died_while_idle_are_not_noticed(good: Path) -> None:
    with PdfPool() as pool:
        pool.document(good)
        _kill_all(pool)
        assert pool.document(good).page_count == 2


def test_many_threads_share_a_pool(good: Path, tmp_path: Path) -> None:
    other = write_pages(tmp_path / "other.pdf", [["Quite another document."]])
    results: list[tuple[Path, PageImage]] = []
    with PdfPool(workers=2) as pool:
        expected = {path: pool.render(path, 0).data for path in (good, other)}

        def work(path: Path) -> None:
            for _ in range(10):
                results.append((path, pool.render(path, 0)))

        threads = [threading.Thread(target=work, args=(path,)) for path in (good, other) * 3]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(results) == 60
    assert all(image.data == expected[path] for path, image in results)


def test_a_worker_is_replaced_after_its_share_of_requests(good: Path) -> None:
    with PdfPool(workers=1, recycle_after=2) as pool:
        seen = set()
        for _ in range(6):
            pool.document(good)
            seen.update(pool.process_ids())
        assert len(seen) >= 4


def test_a_changed_file_is_read_again(pool: PdfPool, tmp_path: Path) -> None:
    path = write_pages(tmp_path / "grows.pdf", [["one"]])
    assert pool.document(path).page_count == 1
    write_pages(path, [["one"], ["two"]])
    assert pool.document(path).page_count == 2


def test_a_closed_pool_leaves_no_process_and_says_so(good: Path) -> None:
    pool = PdfPool()
    pool.document(good)
    pool.document(good)
    processes = pool.process_ids()
    pool.close()
    pool.close()
    assert len(processes) == 2, "the one at work, and one to spare"
    assert not any(Path(f"/proc/{pid}").exists() for pid in processes)
    with pytest.raises(EvidenceFault, match="shut down"):
        pool.document(good)


def test_a_worker_ends_with_its_client(good: Path) -> None:
    with PdfPool() as pool:
        pool.document(good)
        pids = pool.process_ids()
        for worker in list(pool._idle):
            worker.connection.close()
        _wait_for_end(pids)


def _runs(pid: int) -> bool:
    """Whether a process still runs; a zombie waits for its parent and does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"retire": False},
        {"found": {"status": "exact"}, "retire": False},
        {"found": None, "document": [], "page": "1", "texts": 7, "width": 1, "retire": False},
        {"fault": "the document is broken", "retire": True},
        {"fault": {"code": "missing", "reason": "none"}, "retire": True},
    ],
)
def test_a_worker_that_a_document_took_over_counts_as_crashed(
    good: Path, monkeypatch: pytest.MonkeyPatch, header: dict[str, Any]
) -> None:
    asks: list[Callable[[PdfPool], object]] = [
        lambda pool: pool.document(good),
        lambda pool: pool.page(good, 0),
        lambda pool: pool.page_texts(good, range(2)),
        lambda pool: pool.locate(good, SpanQuery(TEXT, 0)),
        lambda pool: pool.look(good, [SpanQuery(TEXT, 0)], 0),
        lambda pool: pool.show(good, 0),
        lambda pool: pool.picture(good),
    ]
    with PdfPool(workers=1, timeout_s=NEVER_S) as pool:
        for ask in asks:
            with monkeypatch.context() as taken_over, pytest.raises(EvidenceFault) as error:
                # The worker behind the false answer is not waited for: it is killed before it has loaded.
                taken_over.setattr(Worker, "warm_up", lambda worker: None)
                taken_over.setattr(Worker, "receive", lambda worker, limit_s: (dict(header), b""))
                ask(pool)
            assert code_of(error) == "crashed"
        with monkeypatch.context() as taken_over:
            taken_over.setattr(Worker, "warm_up", lambda worker: None)
            taken_over.setattr(Worker, "receive", lambda worker, limit_s: (dict(header), b""))
            (problem,) = pool.locate_each(good, [SpanQuery(TEXT, 0)])
        assert isinstance(problem, Problem)
        assert problem.code == "crashed"
        assert pool.document(good).page_count == 2
