"""Words that were read once: what is located in them is what the PDF worker locates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.pdf.locate_quote import located
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.text.page_record import page_of, record_of
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.word_file import PAGES_A_GROUP, WordFile, write_words
from proofspan.evidence.types import DocumentInfo, SpanQuery
from tests import span_goldens
from tests.pdf_files import page_text
from tests.places import DEMO
from tests.span_cases import CASES, Case

MANUAL = DEMO / "corpus" / "meridian-2026.pdf"


def words_of(pool: PdfPool, path: Path, count: int) -> Iterator[PageText]:
    done = 0
    while done < count:
        for page in pool.words_each(path, range(done, count)):
            assert isinstance(page, PageText)
            yield page
            done += 1


def written(pool: PdfPool, path: Path, folder: Path) -> WordFile:
    document = pool.document(path)
    write_words(folder / "words.parquet", document, words_of(pool, path, document.page_count))
    return WordFile(folder / "words.parquet")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_spans_are_those_of_the_worker(case: Case, pool: PdfPool, tmp_path: Path) -> None:
    path, found = span_goldens.locate(case, pool, tmp_path)
    assert located(case.query, written(pool, path, tmp_path)) == found


def test_pages_are_read_in_groups_and_those_used_last_stay(
    pool: PdfPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = written(pool, MANUAL, tmp_path)
    pages = list(words_of(pool, MANUAL, words.page_count))
    assert [words.page_text(n) for n in range(words.page_count)] == pages
    monkeypatch.setattr("proofspan.evidence.text.word_file.MOST_WORDS", 1)
    for page_idx in chain(range(words.page_count), (0, words.page_count - 1)):
        assert words.page_text(page_idx) == pages[page_idx]
        assert len(words._groups) == 1
    assert words.labels == pool.document(MANUAL).labels


def test_a_page_that_could_not_be_read_is_a_fault_for_the_quotes_that_reach_it(tmp_path: Path) -> None:
    pages = [page_text("Let the engine cool down before you open the cap.")] * PAGES_A_GROUP
    crashed = Problem("crashed", "the PDF worker crashed", "manual.pdf", "replace it")
    document = DocumentInfo(len(pages) + 3)
    write_words(tmp_path / "words.parquet", document, [*pages, crashed])
    words = WordFile(tmp_path / "words.parquet")
    assert located(SpanQuery("Let the engine cool down", 3), words).status == "exact"
    for page_idx, code in ((len(pages), "crashed"), (len(pages) + 1, "too_large")):
        with pytest.raises(EvidenceFault) as caught:
            words.page_text(page_idx)
        assert caught.value.problems[0].code == code
    with pytest.raises(EvidenceFault):
        located(SpanQuery("Nobody wrote these words anywhere in it", 3), words)


def test_a_record_that_is_no_page_is_refused() -> None:
    record = record_of(page_text("Two words"))
    assert page_of(record) == page_text("Two words")
    for change in ({"boxes": [1.0]}, {"words": ["one"]}, {"characters": [1]}, {"touching": None}):
        with pytest.raises((ValueError, TypeError)):
            page_of({**record, **change})
