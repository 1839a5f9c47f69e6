"""Triage and Question on a run of separate records: it opens like a run of traces."""

from __future__ import annotations

from pathlib import Path

from tests.pages.conftest import TRACES, MakeWorkspace, Open, shown
from tests.pages.manual import PAGE
from tests.record_files import separate_records, write_lines


def records(make_workspace: MakeWorkspace) -> Path:
    """The small workspace with its traces as records.

    One line that is no answer names Q7, one of the log names a question that nobody has asked.
    """
    apart = [separate_records(trace) for trace in TRACES]
    names = [*apart[0], "log"]
    run = {"run_id": "R1", "records": {name: {"path": f"{name}.jsonl"} for name in names}}
    folder = make_workspace(None, runs=[run])
    for name in apart[0]:
        write_lines(folder / f"{name}.jsonl", [each[name] for each in apart])
    with (folder / "answer.jsonl").open("ab") as file:
        file.write(b'{"q_id": "Q7", "answer_text": null}\n')
    write_lines(folder / "log.jsonl", [b"qid=Q9 seg=1 citations=[c2] scores=[0.5] kpos=[1]"])
    return folder


def test_a_run_of_records_is_listed_and_opened(make_workspace: MakeWorkspace, open_app: Open) -> None:
    folder = records(make_workspace)
    triage = open_app(folder)
    assert "4 questions" in shown(triage)
    links = [link.proto.label for link in triage.main.get("page_link")]
    assert ":red[1 line of this run's files could not be read.]" in links
    words = shown(open_app(folder, page=PAGE, q="Q2"))
    assert "Use grade 5W-40, 12 litres." in words
    assert "Why this label" in words


def test_a_question_that_nobody_asked_says_so(make_workspace: MakeWorkspace, open_app: Open) -> None:
    words = shown(open_app(records(make_workspace), page=PAGE, q="Q9"))
    assert "text is unknown" in words
    assert "Neither the records nor the gold set say what was asked, so there is no label." in words
    assert "usable chunks" not in words
