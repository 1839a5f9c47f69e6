"""Bad input on the command line: named with file, line and remedy, and nothing else is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.command_room import LABELS, Proofspan, holds, indexed, reported, triage
from tests.hostile.workspaces import (
    CHUNKS,
    MANIFEST,
    TRACES,
    Line,
    trace,
    write_workspace,
)
from tests.places import CHECKOUT

pytestmark = pytest.mark.slow

CSV = "id,q,answer,text\nQ1,Which oil?,5W-30,a\nQ2,Which fuse?,F12,b\n"
TABBED = 'manifest_version: "1.0"\nname: Small car\nruns:\n\t- run_id: R1\n'


BAD_LINES: dict[str, tuple[Line, str]] = {
    "not JSON": (b'{"q": "Why?"', "not valid JSON"),
    "CSV in between": (b"Q7,Why?,because", "not valid JSON"),
    "answer null": (trace("Q7", "Why?", None), "answer is null, not text"),
    "answer a number": (trace("Q7", "Why?", 42), "answer is a number, not text"),
    "answer a list": (trace("Q7", "Why?", ["a"]), "answer is a list, not text"),
    "question null": (trace("Q7", None, "a"), "q is null"),  # type: ignore[arg-type]
    "chunks null": (trace("Q7", "Why?", "a") | {"chunks": None}, "chunks is null"),
    "no object": (b'["Q7"]', "object"),
    "lone surrogate": (b'{"q_id": "Q7", "q": "\\ud800", "answer": "a", "chunks": []}', "surrogate"),
    "raw NUL": (b'{"q_id": "Q7", "q": "a\x00b", "answer": "a", "chunks": []}', "control character"),
    "no UTF-8": (b'{"q_id": "Q7", "q": "\xff", "answer": "a", "chunks": []}', "UTF-8"),
    "another run's": (trace("Q7", "Why?", "a", run_id="R9"), "R9"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_trace_line_costs_itself_alone(tmp_path: Path, proofspan: Proofspan, name: str) -> None:
    bad, reason = BAD_LINES[name]
    folder = write_workspace(tmp_path / "w", [TRACES[0], bad, *TRACES[1:]])
    ended = proofspan("index", folder)
    assert ended.status == 1
    (message,) = (line for line in ended.err.splitlines() if line.startswith("trace.jsonl:2: "))
    holds(message, reason, " — ")
    assert indexed(folder) == LABELS


@pytest.mark.parametrize("name", [name for name in BAD_LINES if name != "another run's"])
def test_triage_of_bare_files_names_the_line_and_reports_the_others(
    tmp_path: Path, proofspan: Proofspan, name: str
) -> None:
    bad, reason = BAD_LINES[name]
    folder = write_workspace(tmp_path / "w", [TRACES[0], bad, *TRACES[1:]])
    ended = triage(proofspan, folder)
    assert ended.status == 1
    holds(ended.err, f"{folder / 'trace.jsonl'}:2: ", reason, "3 questions")
    assert reported(folder) == LABELS


def test_a_missing_chunk_file_is_named_and_the_rows_stay_without_labels(
    tmp_path: Path, proofspan: Proofspan
) -> None:
    folder = write_workspace(tmp_path / "w")
    missing = folder / "chunks.jsonl"
    missing.unlink()
    checked = proofspan("check", folder)
    assert checked.status == 1
    holds(checked.out, "`chunks`: does not exist", str(missing), f"cp FILE {missing}", "2 of 3 artifacts")
    built = proofspan("index", folder)
    assert built.status == 1
    holds(built.err, str(missing), "does not exist", "have no label", f"cp FILE {missing}")
    assert indexed(folder) == dict.fromkeys(LABELS)
    bare = triage(proofspan, folder)
    assert bare.status == 2
    holds(bare.err, str(missing), "does not exist", " — ")
    assert not (folder / "report.jsonl").exists()


def test_a_chunk_file_put_back_gives_the_labels_back(tmp_path: Path, proofspan: Proofspan) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "chunks.jsonl").rename(folder / "aside")
    assert proofspan("index", folder).status == 1
    (folder / "aside").rename(folder / "chunks.jsonl")
    assert proofspan("index", folder).status == 0
    assert indexed(folder) == LABELS


@pytest.mark.parametrize("file", ["trace.jsonl", "chunks.jsonl"])
def test_a_csv_named_jsonl_is_reported_once_with_how_to_convert_it(
    tmp_path: Path, proofspan: Proofspan, file: str
) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / file).write_text(CSV)
    checked = proofspan("check", folder)
    assert checked.status == 1
    holds(checked.out, str(folder / file), "is CSV", "read_csv(FILE).to_json", "2 of 3 artifacts")
    built = proofspan("index", folder)
    assert built.status == 1
    holds(built.err, file, "the file is CSV with 4 columns (id, q, answer, text)", "one JSON object a row")
    assert built.err.count("CSV") == 1
    bare = triage(proofspan, folder)
    assert bare.status == 2
    holds(bare.err, str(folder / file), "the file is CSV with 4 columns")


def test_one_run_that_cannot_be_read_leaves_the_other_whole(tmp_path: Path, proofspan: Proofspan) -> None:
    folder = write_workspace(
        tmp_path / "w",
        runs=[
            {"run_id": "R0", "traces": {"path": "csv.jsonl"}},
            {"run_id": "R1", "traces": {"path": "trace.jsonl"}},
            {"run_id": "R2", "traces": {"path": "lost.jsonl"}},
        ],
    )
    (folder / "csv.jsonl").write_text(CSV)
    ended = proofspan("index", folder)
    assert ended.status == 1
    holds(ended.err, "csv.jsonl:1: ", "lost.jsonl", "does not exist")
    assert indexed(folder) == LABELS


def test_a_chunk_without_an_id_is_left_out_and_the_others_serve(tmp_path: Path, proofspan: Proofspan) -> None:
    folder = write_workspace(tmp_path / "w", chunks=[CHUNKS[0], {"text": "Whose is this?"}, CHUNKS[1]])
    built = proofspan("index", folder)
    assert built.status == 1
    holds(built.err, "chunks.jsonl:2: the chunk has no id", 'Give every chunk its "id"')
    assert indexed(folder) == LABELS
    bare = triage(proofspan, folder)
    assert bare.status == 1
    holds(bare.err, f"{folder / 'chunks.jsonl'}:2: the chunk has no id")
    assert reported(folder) == LABELS


def test_a_candidate_without_an_id_is_a_suspicion_and_no_loss(tmp_path: Path, proofspan: Proofspan) -> None:
    nameless = TRACES[0] | {"chunks": [{"doc_id": "manual"}, *TRACES[0]["chunks"]]}
    folder = write_workspace(tmp_path / "w", [nameless, *TRACES[1:]])
    ended = triage(proofspan, folder)
    assert ended.status == 0
    holds(ended.err, "chunk_without_id 1")
    assert reported(folder) == LABELS


@pytest.mark.parametrize("command", ["check", "index", "open"])
def test_a_tab_in_the_manifest_is_named_with_line_and_column(
    tmp_path: Path, proofspan: Proofspan, command: str
) -> None:
    (tmp_path / MANIFEST).write_text(TABBED)
    ended = proofspan(command, tmp_path)
    assert ended.status == 2
    holds(ended.err, f"{tmp_path / MANIFEST}:4:1: a tab where", "replace the tab with spaces")


def test_a_workspace_without_runs_says_that_there_is_nothing_to_index(
    tmp_path: Path, proofspan: Proofspan
) -> None:
    folder = write_workspace(tmp_path / "w", runs=[])
    assert proofspan("check", folder).status == 0
    ended = proofspan("index", folder)
    assert (ended.status, ended.out) == (0, "")
    holds(ended.err, "lists no run yet")


def test_a_run_without_lines_is_an_empty_run(tmp_path: Path, proofspan: Proofspan) -> None:
    folder = write_workspace(tmp_path / "w", [])
    assert proofspan("index", folder).out.startswith("R1: 0 traces (0 lines read")
    checked = proofspan("check", folder)
    assert checked.status == 0
    holds(checked.out, "`runs[R1].traces`: has no line yet", str(folder / "trace.jsonl"))
    assert triage(proofspan, folder).status == 0
    assert reported(folder) == {}


def test_a_run_with_a_report_alone_is_indexed_from_it(tmp_path: Path, proofspan: Proofspan) -> None:
    folder = write_workspace(tmp_path / "w", runs=[{"run_id": "R1", "report": {"path": "report.jsonl"}}])
    triage(proofspan, folder)
    assert proofspan("index", folder).status == 0
    assert indexed(folder) == LABELS


def test_text_of_any_length_and_kind_is_a_row_and_never_acts_on_the_terminal(
    tmp_path: Path, proofspan: Proofspan
) -> None:
    escape = "\x1b]0;owned\x07\x1b[31m"
    awkward = [
        trace("long", "oil " * 50_000, "not in context"),
        trace("nul", "a\x00b\x7f", "x\x00"),
        trace(f"id {escape}", f"Which oil{escape}?", escape, chunks=(escape,)),
        trace("'; DROP TABLE rows; --", '"quoted" / \\ %00', "=1+1", chunks=("c1", "../../etc/passwd")),
    ]
    bad = trace("Q7", "Why?", "a", run_id=escape)
    folder = write_workspace(tmp_path / "w", [*TRACES, *awkward, bad])
    built = proofspan("index", folder)
    assert built.status == 1
    assert "\x1b" not in built.out + built.err
    assert set(indexed(folder)) == {*LABELS, *(str(row["q_id"]) for row in awkward)}
    bare = triage(proofspan, folder)
    assert "\x1b" not in bare.out + bare.err
    assert len(reported(folder)) == 8, "bare files have no run to disagree with"


def test_the_installed_command_ends_with_status_and_message_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(TABBED)
    ended = subprocess.run(
        [sys.executable, "-m", "proofspan.cli", "check", str(tmp_path)],
        cwd=CHECKOUT,
        env={**os.environ, "PROOFSPAN_CACHE_DIR": str(tmp_path / "cache")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    holds(ended.stderr, f"error: {tmp_path / MANIFEST}:4:1: a tab where")
