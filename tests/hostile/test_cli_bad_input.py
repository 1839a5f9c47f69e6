"""Bad input on the command line: named with file, line and remedy, and nothing else is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from core.cli import main
from core.manifest.load import load_manifest
from core.store.cache import default_cache_dir
from core.store.filters import Filter, Sort
from core.store.queries import Store
from tests.hostile.workspaces import (
    CHUNKS,
    MANIFEST,
    TRACES,
    Line,
    lines,
    trace,
    write_pdf,
    write_workspace,
)
from tests.places import CHECKOUT

CSV = "id,q,answer,text\nQ1,Which oil?,5W-30,a\nQ2,Which fuse?,F12,b\n"
HTML = "<!DOCTYPE html><html><title>Sign in</title><body>Please sign in.</body></html>"
TABBED = 'manifest_version: "1.0"\nname: Small car\nruns:\n\t- run_id: R1\n'
LABELS = {"Q1": "ok", "Q2": "generation_drift", "Q3": "refusal_suspect"}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its status and what it wrote, line breaks of tables and all."""

    status: int
    out: str
    err: str


Proofspan = Callable[..., Ended]


@pytest.fixture
def proofspan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Proofspan:
    """`proofspan("check", folder)`: the real command in this process, with a cache of its own."""
    monkeypatch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))

    def run(*arguments: object) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        written = capsys.readouterr()
        return Ended(int(ended.value.code or 0), written.out, written.err)

    return run


def triage(proofspan: Proofspan, folder: Path) -> Ended:
    """`proofspan triage` over the workspace's bare files, the report in `report.jsonl`."""
    return proofspan("triage", folder / "trace.jsonl", folder / "chunks.jsonl", "-o", folder / "report.jsonl")


def reported(folder: Path) -> dict[str, str]:
    """Question → label in the report."""
    rows = map(orjson.loads, (folder / "report.jsonl").read_bytes().splitlines())
    return {row["q_id"]: row["label"] for row in rows}


def indexed(folder: Path, run: str = "R1") -> dict[str, str | None]:
    """Question → label in the index."""
    rows = Store(load_manifest(folder), default_cache_dir()).page(
        Filter(run=run), Sort(), limit=100, offset=0
    )
    return dict(zip(rows["q_id"], rows["label"], strict=True))


def holds(text: str, *parts: str) -> None:
    """Every part stands in the text, which is no traceback."""
    assert "Traceback" not in text
    for part in parts:
        assert part in text


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
    (told,) = (line for line in ended.err.splitlines() if line.startswith("trace.jsonl:2: "))
    holds(told, reason, " — ")
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
def test_a_csv_named_jsonl_is_said_once_with_how_to_convert_it(
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


def html(folder: Path) -> None:
    (folder / "manual.pdf").write_text(HTML)


def locked(folder: Path) -> None:
    write_pdf(folder / "manual.pdf", password="secret")  # noqa: S106


def torn(folder: Path) -> None:
    whole = (folder / "manual.pdf").read_bytes()
    (folder / "manual.pdf").write_bytes(whole[:40])


@pytest.mark.parametrize(
    ("spoil", "in_check", "in_render"),
    [
        (html, "is a web page, not a PDF", "the document is a web page"),
        (locked, "the document is locked with a password", "the document is locked with a password"),
        (torn, "the PDF is broken", "the PDF is broken"),
    ],
)
def test_a_document_that_does_not_open_is_named_everywhere(
    tmp_path: Path, proofspan: Proofspan, spoil: Callable[[Path], None], in_check: str, in_render: str
) -> None:
    folder = write_workspace(tmp_path / "w")
    spoil(folder)
    pdf = folder / "manual.pdf"
    checked = proofspan("check", folder)
    assert checked.status == 1
    holds(checked.out, f"`documents[manual]`: {in_check}", f"where  {pdf}", "remedy", "2 of 3 artifacts")
    rendered = proofspan("render", pdf, "--page-idx", 0, "-o", folder / "page.png")
    assert rendered.status == 2
    holds(rendered.err, f"error: {pdf}: {in_render}", " — ")
    assert not (folder / "page.png").exists()
    assert proofspan("index", folder).status == 0, "labels need no PDF"
    assert indexed(folder) == LABELS


@pytest.mark.parametrize("page_idx", [2, -1])
def test_a_page_beyond_the_end_says_which_pages_there_are(
    tmp_path: Path, proofspan: Proofspan, page_idx: int
) -> None:
    write_pdf(tmp_path / "manual.pdf")
    ended = proofspan("render", tmp_path / "manual.pdf", "--page-idx", page_idx, "-o", tmp_path / "page.png")
    assert ended.status == 2
    holds(ended.err, f"page_idx {page_idx} is not in the document", "2 pages, page_idx 0 to 1", "from 0")
    assert not (tmp_path / "page.png").exists()


def test_locate_answers_every_line_whatever_is_wrong_with_the_others(
    tmp_path: Path, proofspan: Proofspan
) -> None:
    folder = write_workspace(tmp_path / "w")
    (folder / "page.pdf").write_text(HTML)
    write_pdf(folder / "locked.pdf", password="secret")  # noqa: S106
    quote = "Use grade 5W-30."

    def span(name: str, pdf: str, page_idx: int = 0) -> dict[str, Any]:
        return {"id": name, "pdf": pdf, "cited_page_idx": page_idx, "quote": quote}

    asked: list[Line] = [
        span("html", "page.pdf"),
        span("good", "manual.pdf"),
        span("locked", "locked.pdf"),
        span("beyond", "manual.pdf", 41),
        b"{not json",
        span("lost", "none.pdf"),
        span("outside", "../../etc/passwd"),
        span("last", "manual.pdf"),
    ]
    (folder / "spans.jsonl").write_bytes(lines(asked))
    ended = proofspan("locate", folder / "spans.jsonl", "-o", folder / "found.jsonl")
    assert ended.status == 1
    for line, reason in ((1, "web page"), (3, "locked with a password"), (5, "JSON"), (6, "does not exist")):
        (told,) = (t for t in ended.err.splitlines() if t.startswith(f"error: {folder}/spans.jsonl:{line}: "))
        holds(told, reason, " — ")
    found = [orjson.loads(line) for line in (folder / "found.jsonl").read_bytes().splitlines()]
    assert len(found) == len(asked)
    by_id = {row["id"]: row for row in found}
    assert (by_id["good"]["status"], by_id["last"]["status"]) == ("exact", "exact")
    assert (by_id["beyond"]["page_idx"], by_id["beyond"]["page_mismatch"]) == (0, True)
    holds(by_id["beyond"]["note"], "page_idx 41 is not in the document, which has 2 pages")
    assert {name for name, row in by_id.items() if row.get("error")} == {
        "html",
        "locked",
        "lost",
        "outside",
        None,
    }
    assert not any(row["rects"] for row in found if row.get("error")), "no box without a place"


@pytest.mark.parametrize("command", ["check", "index", "open"])
def test_a_tab_in_the_manifest_is_named_with_line_and_column(
    tmp_path: Path, proofspan: Proofspan, command: str
) -> None:
    (tmp_path / MANIFEST).write_text(TABBED)
    ended = proofspan(command, tmp_path)
    assert ended.status == 2
    holds(ended.err, f"{tmp_path / MANIFEST}:4:1: a tab stands", "replace the tab by spaces")


def test_a_read_only_cache_is_named_with_the_way_out(
    tmp_path: Path, read_only_folder: Path, proofspan: Proofspan
) -> None:
    folder = write_workspace(tmp_path / "w")
    refused = proofspan("index", folder, "--cache-dir", read_only_folder)
    assert refused.status == 2
    holds(
        refused.err,
        f"error: {read_only_folder}",
        "the cache folder cannot be written",
        "--cache-dir",
        "CACHE_DIR",
    )
    assert proofspan("index", folder, "--cache-dir", tmp_path / "cache").status == 0
    assert indexed(folder) == LABELS


@pytest.mark.parametrize("command", ["render", "triage"])
def test_an_output_on_a_read_only_file_system_is_named(
    tmp_path: Path, read_only_folder: Path, proofspan: Proofspan, command: str
) -> None:
    folder = write_workspace(tmp_path / "w")
    target = read_only_folder / "out"
    arguments = {
        "render": [folder / "manual.pdf", "--page-idx", 0, "-o", target],
        "triage": [folder / "trace.jsonl", folder / "chunks.jsonl", "-o", target],
    }
    ended = proofspan(command, *arguments[command])
    assert ended.status == 2
    holds(ended.err, f"error: {target}", "be written", "Read-only file system")


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
    holds(checked.out, "`runs[R1].traces`: holds no line yet", str(folder / "trace.jsonl"))
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
        [sys.executable, "-m", "core.cli", "check", str(tmp_path)],
        cwd=CHECKOUT,
        env={**os.environ, "PROOFSPAN_CACHE_DIR": str(tmp_path / "cache")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    holds(ended.stderr, f"error: {tmp_path / MANIFEST}:4:1: a tab stands")
