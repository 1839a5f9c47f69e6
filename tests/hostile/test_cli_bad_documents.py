"""Documents, caches and outputs that cannot be used: named on the command line with the way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.hostile.command_room import LABELS, Proofspan, holds, indexed
from tests.hostile.workspaces import (
    Line,
    lines,
    write_pdf,
    write_workspace,
)

pytestmark = pytest.mark.slow

HTML = "<!DOCTYPE html><html><title>Sign in</title><body>Please sign in.</body></html>"


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
    holds(checked.out, f"`documents[manual]`: {in_check}", f"where  {pdf}", "fix    ", "2 of 3 artifacts")
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
        (message,) = (
            t for t in ended.err.splitlines() if t.startswith(f"error: {folder}/spans.jsonl:{line}: ")
        )
        holds(message, reason, " — ")
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
