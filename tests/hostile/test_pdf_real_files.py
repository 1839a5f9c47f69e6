"""Awkward PDFs from the wild: each gives a result or a clear fault, and the kind that is known of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofspan.errors import EvidenceFault
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import SpanQuery

pytestmark = pytest.mark.real_data
FAULTS = {
    "zero_pages": "no_pages",
    "needs_pass": "locked",
    "pagecount_fail": "not_a_pdf",
    "open_fail": "not_a_pdf",
}


def test_every_file_gives_a_result_or_a_clear_fault(real_data: Path, pool: PdfPool) -> None:
    folder = real_data / "hostile" / "pdf"
    kinds = json.loads((folder / "kinds.json").read_text())
    assert len(kinds) == len(list(folder.glob("*.pdf")))
    for entry in kinds:
        path, expected = folder / entry["file"], FAULTS.get(entry["kind"])
        codes = [_code(pool, path, question) for question in ("document", "render", "locate")]
        assert codes == [expected] * 3, entry


def _code(pool: PdfPool, path: Path, question: str) -> str | None:
    """The code of the fault, None for a result."""
    try:
        if question == "document":
            assert pool.document(path).page_count > 0
        elif question == "render":
            assert pool.render(path, 0).data.startswith(b"\x89PNG")
        else:
            assert (
                pool.locate(path, SpanQuery("no such sentence stands in this file", 0)).status == "not_found"
            )
    except EvidenceFault as fault:
        assert fault.problems[0].message
        return fault.problems[0].code
    return None


def test_a_page_tree_that_runs_in_a_circle_loses_one_page(real_data: Path, pool: PdfPool) -> None:
    path = real_data / "hostile" / "pdf" / "Pages-tree-refs.pdf"
    assert pool.render(path, 0).width > 0
    with pytest.raises(EvidenceFault) as error:
        pool.render(path, 1)
    assert error.value.problems[0].code == "page_unreadable"
