"""The catalogue: its records are read, and what could not be drawn later is a finding now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proofspan.cli.workspace.check_cmd import command
from proofspan.errors import EvidenceFault, InputFault
from proofspan.evidence.types import DocumentInfo, PageInfo
from proofspan.manifest.load import load_manifest
from proofspan.services.workspace.contents_check import attachment_problems
from proofspan.traces.records.catalogue import attachment_from, read_catalogue
from tests.pdf_files import write_pages

pytestmark = pytest.mark.usefixtures("one_pool")

WARNING = {
    "attachment_id": "w-001",
    "kind": "warning",
    "doc_id": "manual",
    "section_id": "4.2",
    "page_idx": 1,
    "bbox": [40, 50, 200, 90],
    "text": "Never reach under the car.",
    "caption": "WARNING",
    "render_ref": "pdf:manual#page_idx=1&bbox=40,50,200,90",
    "symbol": "kept",
}


def write(path: Path, *records: Any) -> Path:
    lines = (each if isinstance(each, str) else json.dumps(each) for each in records)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_record_is_read_with_all_its_fields(tmp_path: Path) -> None:
    attachments, issues = read_catalogue(write(tmp_path / "c.jsonl", WARNING), file="c.jsonl")
    found = attachments["w-001"]
    assert issues == []
    assert (found.kind, found.doc_id, found.section_id, found.page_idx) == ("warning", "manual", "4.2", 1)
    assert (found.box, found.box_space) == ((40.0, 50.0, 200.0, 90.0), "points")
    assert (found.text, found.caption, found.render_ref) == (
        "Never reach under the car.",
        "WARNING",
        "pdf:manual#page_idx=1&bbox=40,50,200,90",
    )
    assert found.raw["symbol"] == "kept"


def test_lines_that_are_no_attachment_are_issues_with_their_place(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.jsonl",
        WARNING,
        "{torn",
        {"attachment_id": "x", "kind": "danger"},
        {"kind": "note"},
        {"attachment_id": "y", "kind": "note", "page_idx": -1},
        {"attachment_id": "y", "kind": "note", "bbox": [0, 0, "1", 1]},
        '{"attachment_id": "y", "kind": "note", "bbox": [0, 0, 1, NaN]}',
        {"attachment_id": "y", "kind": "note", "render_ref": 3},
        {**WARNING, "text": "again"},
        [],
    )
    attachments, issues = read_catalogue(path, file="c.jsonl")
    assert list(attachments) == ["w-001"]
    assert attachments["w-001"].text == "again"
    assert [(issue.source.line, issue.code) for issue in issues] == [
        (2, "not_json"),
        (3, "kind_unknown"),
        (4, "attachment_without_id"),
        (5, "page_unreadable"),
        (6, "bbox_malformed"),
        (7, "not_json"),
        (8, "render_ref_wrong_type"),
        (9, "duplicate_attachment_id"),
        (10, "not_an_object"),
    ]
    assert all(issue.fix for issue in issues)


@pytest.mark.parametrize("name", ["doc_id", "section_id"])
@pytest.mark.parametrize("value", [["manual"], True, {"id": "manual"}])
def test_an_id_of_the_wrong_type_is_an_issue(tmp_path: Path, name: str, value: Any) -> None:
    path = write(tmp_path / "c.jsonl", {**WARNING, name: value})
    attachments, issues = read_catalogue(path, file="c.jsonl")
    assert (attachments, [issue.code for issue in issues]) == ({}, [f"{name}_wrong_type"])


def test_a_missing_catalogue_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match="does not exist"):
        read_catalogue(tmp_path / "gone.jsonl", file="gone.jsonl")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two pages of 400 × 300 points upright, one document turned by 90 degrees, one text, a picture."""
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "ws"
    (folder / "media").mkdir(parents=True)
    (folder / "media" / "engine.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "media" / "plan.png").write_bytes(b'<?xml version="1.0"?><svg></svg>')
    (folder / "media" / "page.png").write_bytes(b"<!DOCTYPE html><html></html>")
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "media" / "link.png").symlink_to(tmp_path / "secret.png")
    write_pages(folder / "manual.pdf", [["one"], ["two"]])
    write_pages(folder / "turned.pdf", [["one"]], rotation=90)
    (folder / "notes.md").write_text("# Notes\n")
    (folder / "pipeline_manifest.yaml").write_text(
        'manifest_version: "1.0"\nname: Test\n'
        "documents:\n- {doc_id: manual, path: manual.pdf}\n- {doc_id: turned, path: turned.pdf}\n"
        "- {doc_id: notes, path: notes.md, paged: false}\n"
        "catalogue: {path: c.jsonl}\nattachments_root: media\n"
    )
    return folder


def check(folder: Path, *records: Any) -> Result:
    write(folder / "c.jsonl", *records)
    return CliRunner().invoke(command, [str(folder)])


def test_a_sound_catalogue_is_good(workspace: Path) -> None:
    result = check(
        workspace,
        WARNING,
        {"attachment_id": "i-1", "kind": "image", "render_ref": "file:engine.png"},
        {"attachment_id": "n-1", "kind": "note", "doc_id": "notes", "text": "as text"},
        {
            "attachment_id": "t-1",
            "kind": "table",
            "doc_id": "turned",
            "page_idx": 0,
            "bbox": [0, 0, 1, 1],
            "bbox_space": "unit",
            "render_ref": "pdf:turned#page_idx=0&bbox=0,0,400,300",
        },
        {**WARNING, "attachment_id": "edge", "bbox": [-0.4, 0, 400.4, 300]},
    )
    assert result.exit_code == 0, result.stdout
    assert "4 of 4 artifacts are good" in result.stdout


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"doc_id": "other", "render_ref": None}, "in a document that the manifest does not list"),
        (
            {"doc_id": "other", "page_idx": None, "render_ref": None},
            "does not list; the first is w-001: other",
        ),
        ({"page_idx": 2}, "beyond the end of the document; the first is w-001: page_idx 2 of manual"),
        ({"page_idx": 2**53}, "beyond the end of the document"),
        ({"bbox": [40, 50, 401, 90]}, "not on the page; the first is w-001: bbox 40, 50, 401, 90"),
        ({"bbox": [-1, 0, 9, 9]}, "not on the page"),
        ({"bbox": [90, 50, 40, 90]}, "not on the page"),
        ({"bbox": [0, 0, 1e300, 1e300]}, "not on the page"),
        ({"bbox": [0, 0, 1000, 1200], "bbox_space": "per_mille"}, "not on the page"),
        ({"render_ref": "engine.png"}, "render ref cannot be read; the first is w-001: 'engine.png'"),
        ({"render_ref": "file:../secret.png"}, "render ref cannot be read"),
        ({"render_ref": "file:link.png"}, "file that is missing; the first is w-001: link.png: leads"),
        ({"render_ref": "file:gone.png"}, "file that is missing"),
        (
            {"render_ref": "file:plan.png"},
            "file that cannot be drawn; the first is w-001: plan.png: the picture",
        ),
        ({"render_ref": "file:page.png"}, "the file is a web page, not a picture"),
        ({"render_ref": "pdf:manual#page_idx=1&bbox=0,0,nan,1"}, "cannot be read"),
        ({"render_ref": "pdf:manual#page_idx=1&bbox=-1,0,1,1"}, "cannot be read"),
        ({"render_ref": "pdf:manual#page_idx=7&bbox=0,0,1,1"}, "beyond the end of the document"),
        ({"render_ref": "pdf:manual#page_idx=1&bbox=0,0,1,999999"}, "not on the page"),
        ({"render_ref": "pdf:other#page_idx=1&bbox=0,0,1,1"}, "does not list"),
        ({"render_ref": "pdf:notes#page_idx=0&bbox=0,0,1,1"}, "from a document without pages"),
        ({"render_ref": "pdf:turned#page_idx=0&bbox=0,0,300,400"}, "not on the page"),
        ({"doc_id": "notes", "page_idx": 3, "bbox": None, "render_ref": None}, "notes, which has 1 page"),
    ],
)
def test_what_cannot_be_drawn_is_a_finding(workspace: Path, change: dict[str, Any], expected: str) -> None:
    good = {"attachment_id": "good", "kind": "note"}
    result = check(workspace, good, {**WARNING, **change})
    assert result.exit_code == 1, result.stdout
    assert "warning  `catalogue`: 1 attachment of 2: " in result.stdout
    assert expected in result.stdout
    assert "some attachments wrong" in result.stdout
    assert "fix " in result.stdout


def test_flaws_of_a_kind_are_counted_and_lines_that_do_not_parse_named(workspace: Path) -> None:
    wrong = [{**WARNING, "attachment_id": f"w-{n}", "page_idx": 9} for n in range(3)]
    result = check(workspace, WARNING, *wrong, "{torn")
    assert result.exit_code == 1
    assert "3 attachments of 4: beyond the end of the document; the first is w-0" in result.stdout
    assert "`catalogue`: 1 line of 5 could not be read, first: line 5" in result.stdout


def test_a_document_that_does_not_open_is_reported_once(workspace: Path) -> None:
    (workspace / "manual.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    result = check(workspace, WARNING)
    assert result.exit_code == 1
    assert "`documents[manual]`" in result.stdout
    assert "warning" not in result.stdout


def test_without_an_attachments_folder_a_file_cannot_be_found(workspace: Path) -> None:
    manifest = workspace / "pipeline_manifest.yaml"
    manifest.write_text(manifest.read_text().replace("attachments_root: media\n", ""))
    result = check(workspace, {"attachment_id": "i-1", "kind": "image", "render_ref": "file:engine.png"})
    assert result.exit_code == 1
    assert "without an attachments root" in result.stdout


def test_a_repeated_id_is_a_record_and_no_unreadable_line(workspace: Path) -> None:
    assert check(workspace, WARNING, WARNING).exit_code == 0


def test_a_page_that_cannot_be_read_is_a_finding(workspace: Path) -> None:
    class Opener:
        def document(self, path: Path) -> DocumentInfo:
            return DocumentInfo(9, ())

        def page(self, path: Path, page_idx: int) -> PageInfo:
            raise EvidenceFault.of("worker_died", "the page could not be read", where=str(path), fix="")

    write(workspace / "c.jsonl", WARNING)
    manifest = load_manifest(workspace)
    found = attachment_problems(
        {"a": attachment_from(WARNING)}, manifest=manifest, opener=Opener(), key="catalogue", where="c.jsonl"
    )
    assert ["on a page that cannot be read" in problem.message for problem in found] == [True]
