"""The cache of faults: those that cost a worker are cached until cleared, others are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from proofspan.errors import EvidenceFault
from proofspan.evidence.types import DocumentInfo, PageImage, PageInfo, SpanQuery
from proofspan.services.documents.document_cache import Placer

QUOTE = SpanQuery("Change the oil.", 0)


class Source:
    """Documents whose third page, or whose words, end the worker; every call is noted."""

    def __init__(self, *, code: str) -> None:
        self.code = code
        self.calls: list[object] = []
        self.is_mended = False

    def document(self, path: Path) -> DocumentInfo:
        return DocumentInfo(9)

    def show(self, path: Path, page_idx: int, *, with_words: bool) -> PageImage:
        self.calls.append(page_idx)
        self._break(path, page_idx == 2)
        page = PageInfo(page_idx, 100.0, 200.0, 0, None)
        return PageImage(b"", 100, 200, page, (1.0, 0.0, 0.0, 1.0, 0.0, 0.0))

    def locate_many(self, path: Path, queries: object) -> list[object]:
        self.calls.append("words")
        self._break(path, True)
        return []

    def _break(self, path: Path, does_break: bool) -> None:
        if does_break and not self.is_mended:
            raise EvidenceFault.of(self.code, "no answer", where=str(path), fix="try again")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7")
    return path


def refused(ask: Callable[[], object]) -> None:
    with pytest.raises(EvidenceFault, match="no answer"):
        ask()


@pytest.mark.parametrize("code", ["timed_out", "crashed"])
def test_a_page_and_the_words_are_given_up_apart(path: Path, code: str) -> None:
    source = Source(code=code)
    placer = Placer(source)  # type: ignore[arg-type]
    for _ in range(3):
        refused(lambda: placer.page(path, 2))
        refused(lambda: placer.locate(path, [QUOTE]))
        refused(lambda: placer.locate(path, [SpanQuery("another quote", 1)]))
    assert source.calls == [2, "words"]
    assert placer.page(path, 3).page.page_idx == 3


def test_it_is_asked_again_when_somebody_says_so_or_the_file_changed(path: Path) -> None:
    source = Source(code="crashed")
    placer = Placer(source)  # type: ignore[arg-type]
    refused(lambda: placer.page(path, 2))
    placer.forget(path)
    refused(lambda: placer.page(path, 2))
    assert source.calls == [2, 2]
    source.is_mended = True
    refused(lambda: placer.page(path, 2))
    path.write_bytes(b"%PDF-1.7, saved anew")
    assert placer.page(path, 2).page.page_idx == 2


def test_a_fault_that_cost_nothing_is_asked_again(path: Path) -> None:
    source = Source(code="page_unreadable")
    placer = Placer(source)  # type: ignore[arg-type]
    refused(lambda: placer.page(path, 2))
    refused(lambda: placer.page(path, 2))
    assert source.calls == [2, 2]
