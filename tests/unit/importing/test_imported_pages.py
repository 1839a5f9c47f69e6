"""The page check of an import: a wrong base in the mapping is reported with the key to change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proofspan.cli import group
from proofspan.services import imported_pages
from tests.pdf_files import write_pages

pytestmark = pytest.mark.slow

COLOURS = ("red", "blue", "green", "grey", "white", "brown", "black", "amber")
SENTENCES = [f"The {colour} cover opens with the second key." for colour in COLOURS]
MAPPING = """
mapping_version: "1.0"
name: Covers
run: {run_id: R001}
traces:
  q: question
  answer: answer
  stages:
    retrieved: {each: "found[]", text: text, doc_id: doc, page: {path: page, base: %d}}
  seen: retrieved
gold:
  q: question
  answer: answer
  spans: {each: "found[]", doc_id: doc, quote: text, page: {path: page, base: 0}}
documents: {pattern: "{doc_id}.pdf"}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Eight questions, each with one passage; pages count from 0, the PDF has the passages in their order."""
    write_pages(tmp_path / "manual.pdf", [["Cover"], *([sentence] for sentence in SENTENCES)])
    lines = [
        {"question": f"{n}?", "answer": "so", "found": [{"text": text, "doc": "manual", "page": n}]}
        for n, text in enumerate(SENTENCES, start=1)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    return tmp_path


def import_with(source: Path, *options: str, base: int) -> Result:
    (source / "mapping.yaml").write_text(MAPPING % base)
    arguments = ["import", "mapped", str(source / "rows.jsonl"), "--mapping", str(source / "mapping.yaml")]
    return CliRunner().invoke(group, [*arguments, "--to", str(source / "workspace"), *options])


def test_a_wrong_base_is_reported_with_the_key_to_change(source: Path) -> None:
    result = import_with(source, base=1)
    assert result.exit_code == 1
    (message,) = [line for line in result.output.splitlines() if line.startswith("pages of")]
    assert message.startswith("pages of chunks: manual: 8 of 8 quotes, 100 % (68–100 %), ")
    assert "`base: 0` at `traces.stages.retrieved.page` in mapping.yaml" in message


def test_a_right_base_is_not_worth_a_word(source: Path) -> None:
    result = import_with(source, base=0)
    assert (result.exit_code, "pages of" in result.output) == (0, False)


def test_the_look_can_be_left_out_and_is_in_the_json(source: Path) -> None:
    assert "pages of" not in import_with(source, "--no-pages", base=1).output
    report: dict[str, Any] = json.loads(import_with(source, "--json", "--force", base=1).output)
    assert [line.split(":")[0] for line in report["pages"]] == ["pages of chunks"]


def test_a_sample_is_spread_over_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imported_pages, "PER_DOCUMENT", 4)
    passages = [imported_pages._Passage(doc, page, "text") for doc in "ab" for page in range(10)]
    chosen = imported_pages._sample(reversed(passages))
    assert [(each.doc_id, each.page_idx) for each in chosen] == [
        (doc, page) for doc in "ab" for page in (0, 2, 5, 7)
    ]
