"""The examples of the README run as they stand, and the README shows them as they run."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "tests" / "examples").glob("*_citations.py"))
_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


def test_every_adapter_has_its_example() -> None:
    assert [each.stem.removesuffix("_citations") for each in EXAMPLES] == [
        "langchain",
        "llamaindex",
        "semantic_kernel",
    ]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_gives_citations_that_hold(example: Path) -> None:
    (citation,) = runpy.run_path(str(example))["citations"]
    assert citation["doc_id"] == "manual" and citation["k_pos"] == 1


def test_the_readme_shows_no_other_code_of_adapters_than_the_examples() -> None:
    shown = [
        code for code in _BLOCK.findall((ROOT / "README.md").read_text("utf-8")) if "proofspan.traces" in code
    ]
    assert set(shown) <= {each.read_text("utf-8") for each in EXAMPLES}
