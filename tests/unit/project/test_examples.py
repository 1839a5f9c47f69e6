"""The examples run as they are, and README and the docs show them as they run."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tests.places import CHECKOUT

pytestmark = pytest.mark.slow

EXAMPLES = sorted((CHECKOUT / "examples").glob("*.py"))
CITATIONS = sorted((CHECKOUT / "examples").glob("*_citations.py"))
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_every_adapter_has_its_example() -> None:
    assert [each.stem.removesuffix("_citations") for each in CITATIONS] == [
        "langchain",
        "llamaindex",
        "semantic_kernel",
    ]


@pytest.mark.parametrize("example", CITATIONS, ids=lambda path: path.stem)
def test_citations_of_an_adapter_follow_the_contract(example: Path) -> None:
    (citation,) = runpy.run_path(str(example))["citations"]
    assert citation["doc_id"] == "manual" and citation["k_pos"] == 1


def test_an_answer_of_langchain_is_a_trace_on_its_page() -> None:
    names = runpy.run_path(str(CHECKOUT / "examples" / "langchain_answer.py"))
    assert names["trace"]["answer"] == "4.5 litres" and len(names["chunks"]) == 1


def test_the_quickstart_finds_the_misquoted_figure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path))
    names = runpy.run_path(str(CHECKOUT / "examples" / "quickstart.py"))
    assert names["row"].signals.numbers_unsupported == ("1.4",)
    (difference,) = names["span"].differences
    assert (difference.quote, difference.page, difference.kind) == ("1.4", "1.0", "number")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_python_in_a_document_is_one_of_the_examples(page: Path) -> None:
    known = {each.read_text("utf-8") for each in EXAMPLES}
    assert set(_BLOCK.findall(page.read_text("utf-8"))) <= known
