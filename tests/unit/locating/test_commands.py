"""`proofspan locate` and `render` from the outside: files in, files out, exit status, messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from proofspan.cli import main
from proofspan.evidence.pdf.png import decode_rgb
from tests.pdf_files import write_pages

pytestmark = pytest.mark.usefixtures("one_pool")

OIL = "Change the engine oil every 15,000 km."
TYRES = "Check the pressure of all tyres while cold."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pages(tmp_path / "manual.pdf", [[OIL], [TYRES]])
    write_pages(tmp_path / "other.pdf", [[TYRES]])
    (tmp_path / "page.pdf").write_text("<html>Sign in</html>")
    return tmp_path


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def locate(folder: Path, *lines: str, root: Path | None = None) -> tuple[int, list[dict[str, Any]]]:
    spans, found = folder / "spans.jsonl", folder / "found.jsonl"
    spans.write_text("\n".join(lines), encoding="utf-8")
    status = run("locate", spans, "-o", found, *(("--root", root) if root else ()))
    return status, [json.loads(line) for line in found.read_text().splitlines()]


def line(span_id: str, pdf: str, cited: object, quote: str, **more: object) -> str:
    return json.dumps({"id": span_id, "pdf": pdf, "cited_page_idx": cited, "quote": quote, **more})


def test_quotes_are_placed_in_the_order_of_the_lines(folder: Path) -> None:
    status, found = locate(
        folder,
        line("b", "other.pdf", 0, TYRES),
        line("a", "manual.pdf", 1, OIL.replace("15,000", "10,000")),
        line("c", "other.pdf", 0, "Nothing of the kind stands there."),
        line("d", "manual.pdf", None, TYRES.upper()),
    )
    assert status == 0
    assert [(row["id"], row["status"], row["page_idx"]) for row in found] == [
        ("b", "exact", 0),
        ("a", "fuzzy", 0),
        ("c", "not_found", None),
        ("d", "normalized", 1),
    ]
    assert found[1]["page_mismatch"] is True
    assert found[1]["differences"] == [{"kind": "number", "page": "15,000", "quote": "10,000"}]
    assert sorted(found[0]) == [
        "agreement", "alternatives", "differences", "id", "page_idx", "page_mismatch", "rects", "status",
    ]  # fmt: skip


def test_a_printed_label_leads_to_its_page(folder: Path) -> None:
    document = pymupdf.open(folder / "manual.pdf")
    document.set_page_labels([{"startpage": 0, "prefix": "", "style": "D", "firstpagenum": 41}])
    document.save(folder / "labelled.pdf")
    _, found = locate(
        folder,
        line("a", "labelled.pdf", None, TYRES, cited_page_label="42"),
        line("b", "labelled.pdf", None, TYRES, cited_page_label="41"),
        line("c", "labelled.pdf", None, TYRES, cited_page_label="1"),
        line("d", "manual.pdf", None, TYRES, cited_page_label="42"),
    )
    assert [(row["page_idx"], row["page_mismatch"]) for row in found] == [
        (1, False),
        (1, True),
        (1, False),
        (1, False),
    ]
    assert [row.get("note", "").split(" ")[:2] for row in found] == [
        [""],
        ["“41”", "is"],
        ["no", "page"],
        ["the", "document"],
    ]


def test_a_box_is_answered_for(folder: Path) -> None:
    _, found = locate(
        folder,
        line("a", "manual.pdf", 0, OIL, bbox=[40, 40, 390, 90]),
        line("b", "manual.pdf", 0, OIL, bbox=[0, 500, 1000, 1000], bbox_space="per_mille"),
    )
    assert [row["box_agrees"] for row in found] == [True, False]


def test_quotes_are_placed_in_texts_as_well(folder: Path) -> None:
    (folder / "notes.md").write_text(f"# Oil\n\n{OIL}\n{TYRES}\n{OIL}\n")
    (folder / "bad.txt").write_bytes(b"caf\xe9")
    status, found = locate(
        folder,
        line("a", "notes.md", None, TYRES),
        json.dumps({"id": "b", "path": "notes.md", "quote": OIL}),
        line("c", "bad.txt", None, OIL),
        line("d", "manual.pdf", 1, TYRES),
        json.dumps({"id": "e", "path": "../notes.md", "quote": OIL}),
        line("f", "notes.md", None, "Nothing of the kind stands there."),
    )
    assert status == 1
    assert [(row["id"], row["status"], row["page_idx"]) for row in found] == [
        ("a", "exact", None),
        ("b", "exact", None),
        ("c", "not_found", None),
        ("d", "exact", 1),
        ("e", "not_found", None),
        ("f", "not_found", None),
    ]
    start = len("# Oil\n\n")
    assert found[1]["ranges"] == [{"start": start, "end": start + len(OIL), "first_line": 3, "last_line": 3}]
    assert [place["ranges"][0]["first_line"] for place in found[1]["alternatives"]] == [5]
    assert found[2]["error"]["code"] == "not_utf8"
    assert found[4]["error"]["code"] == "path_refused"
    assert "ranges" not in found[3] and "ranges" not in found[5]


@pytest.mark.parametrize(("start", "unit"), [(4, "line"), (len(f"# Notes\n\n{OIL}\n"), "char")])
def test_offsets_may_name_their_unit(folder: Path, start: int, unit: str) -> None:
    (folder / "notes.md").write_text(f"# Notes\n\n{OIL}\n{OIL}\n")
    offsets = {"start": start, "end": start + 1, "unit": unit}
    _, (found,) = locate(folder, json.dumps({"id": 1, "path": "notes.md", "quote": OIL, "offsets": offsets}))
    assert (found["ranges"][0]["first_line"], found["alternatives"]) == (4, [])


def test_a_path_beside_the_pdf_is_another_tools_field(folder: Path) -> None:
    both = {**json.loads(line("a", "manual.pdf", 1, TYRES)), "path": ["2", "Tyres"]}
    status, found = locate(folder, json.dumps(both))
    assert (status, found[0]["status"], found[0]["page_idx"]) == (0, "exact", 1)


def test_the_same_input_gives_the_same_bytes(folder: Path) -> None:
    lines = [line(str(n), ("manual.pdf", "other.pdf")[n % 2], 0, TYRES) for n in range(6)]
    locate(folder, *lines)
    first = (folder / "found.jsonl").read_bytes()
    locate(folder, *lines)
    assert (folder / "found.jsonl").read_bytes() == first


BAD_LINES = (
    ("{not json", "not_json"),
    ("[1]", "not_json"),
    (line("x", "../manual.pdf", 0, OIL), "path_refused"),
    (line("x", "/etc/passwd", 0, OIL), "path_refused"),
    (line("x", "link.pdf", 0, OIL), "path_outside"),
    (line("x", "none.pdf", 0, OIL), "missing"),
    (line("x", "page.pdf", 0, OIL), "not_a_pdf"),
    (line("x", "manual.pdf", "0", OIL), "bad_field"),
    (line("x", "manual.pdf", True, OIL), "bad_field"),
    (line("x", "manual.pdf", -5, OIL), "bad_field"),
    (line("x", "manual.pdf", 2**53 + 1, OIL), "bad_field"),
    (line("x", "manual.pdf", 10**23, OIL), "bad_field"),
    (line("x", "manual.pdf", 0, OIL, offsets=[1e30, 2e30]), "bad_field"),
    (line("x", "manual.pdf", 0, OIL, offsets=[-1, 5]), "bad_field"),
    (line("x", "manual.pdf", 0, OIL, offsets=[0.5, 5]), "bad_field"),
    (line("x", "manual.pdf", 0, "\ud800 " + OIL), "not_json"),
    (json.dumps({"id": "x", "pdf": "manual.pdf"}), "bad_field"),
    (line("x", "manual.pdf", 0, OIL, bbox=[1, 2, 3]), "bad_field"),
    (line("x", "manual.pdf", 0, OIL, bbox_space="inches"), "bad_field"),
)


def test_bad_lines_are_answered_each_and_lose_no_other(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = write_pages(tmp_path_factory.mktemp("outside") / "secret.pdf", [[OIL]])
    (folder / "link.pdf").symlink_to(outside)
    good = line("a", "manual.pdf", 0, OIL)
    status, found = locate(folder, good, *(bad for bad, _ in BAD_LINES), good)
    messages = capsys.readouterr().err
    assert status == 1
    assert [found[0]["status"], found[-1]["status"]] == ["exact", "exact"]
    assert "error" not in found[0]
    for number, ((_, code), row) in enumerate(zip(BAD_LINES, found[1:-1], strict=True), start=2):
        assert (row["status"], row["error"]["code"]) == ("not_found", code)
        assert row["error"]["fix"]
        assert f"{folder / 'spans.jsonl'}:{number}: " in messages


def test_paths_are_relative_to_the_root(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    status, found = locate(tmp_path_factory.mktemp("spans"), line("a", "manual.pdf", 0, OIL), root=folder)
    assert (status, found[0]["status"]) == (0, "exact")


@pytest.mark.parametrize("content", [None, "", "id,pdf,quote\n1,a.pdf,b\n"])
def test_a_file_without_spans_is_unusable(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str | None
) -> None:
    spans = folder / "spans.jsonl"
    if content is not None:
        spans.write_text(content)
    assert run("locate", spans, "-o", folder / "found.jsonl") == 2
    assert str(spans) in capsys.readouterr().err
    assert not (folder / "found.jsonl").exists()


def test_an_output_that_cannot_be_written_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "spans.jsonl").write_text(line("a", "manual.pdf", 0, OIL))
    assert run("locate", folder / "spans.jsonl", "-o", folder / "no" / "found.jsonl") == 2
    assert "its folder does not exist" in capsys.readouterr().err
    for command in (["locate", folder / "spans.jsonl"], ["render", folder / "manual.pdf", "--page-idx", 0]):
        assert run(*command, "-o", command[1]) == 2
        assert "this is an input" in capsys.readouterr().err


def test_a_page_is_drawn_with_its_quote(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, marked = folder / "plain.png", folder / "marked.png"
    assert run("render", folder / "manual.pdf", "--page-idx", 0, "-o", plain) == 0
    assert run("render", folder / "manual.pdf", "--page-idx", 0, "--quote", OIL, "-o", marked) == 0
    assert decode_rgb(plain.read_bytes()) != decode_rgb(marked.read_bytes())
    assert "page_idx 0 · PDF page 1" in capsys.readouterr().err


def test_a_quote_of_another_page_is_not_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, other = folder / "plain.png", folder / "other.png"
    run("render", folder / "manual.pdf", "--page-idx", 0, "-o", plain)
    assert run("render", folder / "manual.pdf", "--page-idx", 0, "--quote", TYRES, "-o", other) == 1
    assert other.read_bytes() == plain.read_bytes()
    assert "page_idx 1;" in capsys.readouterr().err


def test_a_page_beyond_all_numbers_is_reported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("render", folder / "manual.pdf", "--page-idx", 10**23, "-o", folder / "x.png") == 2
    assert "whole number below 2**53" in capsys.readouterr().err
    assert not (folder / "x.png").exists()


@pytest.mark.parametrize(
    ("name", "page_idx"), [("manual.pdf", 2), ("manual.pdf", -1), ("page.pdf", 0), ("no.pdf", 0)]
)
def test_what_cannot_be_drawn_is_reported(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, page_idx: int
) -> None:
    assert run("render", folder / name, "--page-idx", page_idx, "-o", folder / "x.png") == 2
    assert "error: " in capsys.readouterr().err
    assert not (folder / "x.png").exists()
