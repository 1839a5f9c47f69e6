"""The page-base doctor on quotes of real documents, cited rightly, one page off, and off here and there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proofspan.cli import main

#: The findings of `locate` about pages when a function of each record gives the cited page.
Locate = Callable[[Callable[[Any], int]], list[str]]
#: One of this many quotes is searched for. Annual reports are left out: they have most of the pages.
STEP = 4


@pytest.fixture
def locate(real_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Locate:
    records = [
        json.loads(line) for line in (real_data / "spans" / "spans_dev.jsonl").read_text().splitlines()
    ]
    short = [record for record in records if "10K" not in record["pdf"]]
    present = [record for record in short if record["page_idx"] is not None][::STEP]

    def locate(cite: Callable[[Any], int]) -> list[str]:
        spans = tmp_path / "spans.jsonl"
        spans.write_text("\n".join(json.dumps(each | {"cited_page_idx": cite(each)}) for each in present))
        with pytest.raises(SystemExit) as ended:
            main(["locate", str(spans), "--root", str(real_data), "-o", str(tmp_path / "found.jsonl")])
        assert ended.value.code == 0
        output = capsys.readouterr().err.splitlines()
        return [line.removeprefix("pages: ") for line in output if line.startswith("pages: ")]

    return locate


def test_a_producer_that_counts_from_one_is_reported_over_all_documents(locate: Locate) -> None:
    (message,) = locate(lambda record: record["page_idx"] + 1)
    assert "one page earlier than cited: " in message


def test_quotes_that_are_off_here_and_there_are_no_page_base(locate: Locate) -> None:
    (message,) = locate(lambda record: record["cited_page_idx"])
    assert message.endswith(": no page base explains them")


def test_rightly_cited_quotes_are_not_worth_a_word(locate: Locate) -> None:
    assert locate(lambda record: record["page_idx"]) == []
