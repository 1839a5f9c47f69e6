"""`check_workspace` reports all problems at once, each with its fix."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.errors import Problem
from proofspan.manifest.check import (
    ArtifactCheck,
    CheckReport,
    OnBytes,
    check_workspace,
    sha256_lines,
    sha256_of,
)
from proofspan.manifest.load import MANIFEST_NAME, load_manifest
from proofspan.manifest.sniff import content_problem
from proofspan.manifest.types import Artifact, Kind

HEAD = 'manifest_version: "1.0"\nname: Test\n'
Check = Callable[..., CheckReport]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Write files and a manifest, then check: `check(manifest_text, {path: bytes})`."""
    monkeypatch.setenv("PROOFSPAN_CONFIG_DIR", str(tmp_path / "config"))
    workspace = tmp_path / "ws"
    workspace.mkdir()

    def run(text: str, files: dict[str, bytes], **options: object) -> CheckReport:
        for path, data in files.items():
            (workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (workspace / path).write_bytes(data)
        (workspace / MANIFEST_NAME).write_text(HEAD + text, encoding="utf-8")
        return check_workspace(load_manifest(workspace), **options)  # type: ignore[arg-type]

    return run


def by_key(report: CheckReport) -> dict[str, ArtifactCheck]:
    return {check.artifact.key: check for check in report.artifacts}


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_everything_wrong_is_reported_at_once_sorted_by_key(check: Check, tmp_path: Path) -> None:
    (tmp_path / "ws" / "pipe").parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "ws" / "pipe")
    report = check(
        f"""
documents:
  - {{doc_id: web, path: web.pdf}}
  - {{doc_id: gone, path: gone.pdf}}
  - {{doc_id: pipe, path: pipe}}
  - {{doc_id: good, path: good.pdf, sha256: "{sha(b"%PDF-1.7")}"}}
  - {{doc_id: up, path: ../x.pdf}}
chunks: {{path: chunks.jsonl, sha256: "{"0" * 64}"}}
runs: [{{run_id: R1, traces: {{path: t.jsonl}}}}]
attachments_root: media
""",
        {
            "web.pdf": b"<!DOCTYPE html>",
            "good.pdf": b"%PDF-1.7",
            "chunks.jsonl": b"{}\n",
            "t.jsonl": b"a,b\n",
        },
    )
    assert [(c.artifact.key, c.state, [p.code for p in c.problems]) for c in report.artifacts] == [
        ("chunks", "hash_differs", ["hash_differs"]),
        ("documents[gone]", "missing", ["missing"]),
        ("documents[good]", "ok", []),
        ("documents[pipe]", "unreadable", ["not_a_file"]),
        ("documents[up]", "unreadable", ["path_refused"]),
        ("documents[web]", "wrong_content", ["pdf_is_html"]),
        ("runs[R1].traces", "wrong_content", ["jsonl_is_csv"]),
    ]
    assert [problem.code for problem in report.others] == ["missing"]
    assert not report.ok
    for checked in report.artifacts:
        for problem in checked.problems:
            assert f"`{checked.artifact.key}`" in problem.message
            assert problem.where and problem.fix


def test_a_hash_is_compared_in_either_case_and_with_its_prefix(check: Check) -> None:
    digest = sha(b"{}\n").upper()
    report = check(f'gold: {{path: g, sha256: "sha256:{digest}"}}', {"g": b"{}\n"})
    assert report.ok and by_key(report)["gold"].sha256 == digest.lower()


def test_the_line_to_paste_makes_the_check_pass(check: Check) -> None:
    files = {"g.jsonl": b'{"q_id": 1}\n'}
    wrong = check(f'gold: {{path: g.jsonl, sha256: "{"0" * 64}"}}', files)
    (line,) = sha256_lines(wrong)
    assert "--sha256-lines" in by_key(wrong)["gold"].problems[0].fix
    assert check(f"gold:\n  path: g.jsonl\n  {line}\n", files).ok


def test_every_hash_is_computed_on_request_but_compared_only_where_given(check: Check) -> None:
    report = check("gold: {path: g}\ncatalogue: {path: c}", {"g": b"{}"}, every_hash=True)
    assert by_key(report)["gold"].sha256 == sha(b"{}")
    assert by_key(report)["gold"].state == "ok"
    assert list(sha256_lines(report)) == [f'sha256: "{sha(b"{}")}"  # gold, g']


def test_without_hashes_no_file_is_read_to_its_end(check: Check) -> None:
    report = check(f'gold: {{path: g, sha256: "{"0" * 64}"}}', {"g": b"{}"}, hashes=False)
    assert report.ok and not report.hashed and by_key(report)["gold"].sha256 is None


def test_progress_counts_the_bytes_of_all_files(check: Check) -> None:
    heard: list[tuple[str, int, int]] = []
    big, small = b"{" * 2_500_000, b"{}"
    check(
        f'gold: {{path: a, sha256: "{sha(big)}"}}\nchunks: {{path: b, sha256: "{sha(small)}"}}',
        {"a": big, "b": small},
        on_progress=lambda *step: heard.append(step),
    )
    total = len(big) + len(small)
    assert [key for key, _, _ in heard] == ["chunks", "gold", "gold", "gold"]
    assert [done for _, done, _ in heard] == [2, 2 + 1_048_576, 2 + 2_097_152, total]
    assert {of for _, _, of in heard} == {total}


def test_a_journal_may_not_exist_yet_but_a_pinned_one_may_not_vanish(check: Check) -> None:
    report = check("annotations: {path: a.jsonl}", {})
    assert report.ok and [problem.code for problem in report.problems] == ["not_written_yet"]
    report = check(f'sprint: {{path: s.jsonl, sha256: "{"0" * 64}"}}', {})
    assert by_key(report)["sprint"].state == "missing"


def test_an_empty_journal_is_a_journal(check: Check) -> None:
    assert check("annotations: {path: a.jsonl}", {"a.jsonl": b""}).problems == ()


def test_what_is_odd_in_the_manifest_is_part_of_the_report(check: Check) -> None:
    report = check("colour: red\n", {})
    assert report.ok and [problem.code for problem in report.problems] == ["unknown_key"]


def test_an_unconfirmed_root_is_named_with_the_command_that_confirms_it(check: Check, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "g").write_bytes(b"{}")
    report = check("roots: {lib: ../lib}\ngold: {path: g, root: lib}", {})
    (problem,) = by_key(report)["gold"].problems
    assert problem.code == "root_not_trusted" and "--trust-roots" in problem.fix


def test_a_reader_of_records_may_look_into_what_is_there(check: Check) -> None:
    seen: list[str] = []

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> list[Problem]:
        seen.append(artifact.key)
        on_bytes(1)
        return [Problem("bad_record", f"{file.name}: line 3", severity="error")]

    heard: list[tuple[str, int, int]] = []
    text = "gold: {path: g}\nchunks: {path: gone}\n"
    report = check(text, {"g": b"{}"}, examine=examine, on_progress=lambda *step: heard.append(step))
    assert seen == ["gold"]
    assert heard == [("gold", 1, 2), ("gold", 2, 2)]
    assert by_key(report)["gold"].state == "wrong_content"
    assert by_key(report)["chunks"].state == "missing"


@pytest.mark.parametrize(
    ("kind", "data", "code"),
    [
        ("pdf", b"%PDF-1.4\n", None),
        ("pdf", b"\r\njunk before\r\n%PDF-1.4\n", None),
        ("pdf", b"  <HTML><body>", "pdf_is_html"),
        ("pdf", b"\xef\xbb\xbf<!doctype html>", "pdf_is_html"),
        ("pdf", b"PK\x03\x04", "not_a_pdf"),
        ("pdf", b" " * 2_000 + b"%PDF-1.4", "not_a_pdf"),
        ("pdf", b"", "empty_file"),
        ("text", b"# Bulletin\n", None),
        ("text", b"<html>", None),
        ("text", b"%PDF-1.4", "text_is_pdf"),
        ("text", b"a\0b", "not_text"),
        ("jsonl", b'\n  {"q": "a, b"}\n', None),
        ("jsonl", b"\xef\xbb\xbf{}", None),
        ("jsonl", b"[]", "not_json"),
        ("jsonl", b"q_id,question\n1,x", "jsonl_is_csv"),
        ("jsonl", b"q_id;question\n1;x", "jsonl_is_csv"),
        ("jsonl", b"q_id\tquestion\n", "jsonl_is_csv"),
        ("jsonl", b'"a, b"\n', "not_json"),
        ("jsonl", b'"a","b"\n', "jsonl_is_csv"),
        ("jsonl", b"hello\n", "not_json"),
        ("jsonl", b"[" * 60_000, "not_json"),
        ("jsonl", b"7" * 60_000, "not_json"),
        ("jsonl", b"<!DOCTYPE html>", "json_is_html"),
        ("jsonl", '{"a": 1}'.encode("utf-16"), "not_utf8"),
        ("jsonl", b"\x1f\x8b\x08", "compressed"),
        ("jsonl", b"", "no_line_yet"),
        ("jsonl", b"\n\n", "no_line_yet"),
        ("chunks", b"", "empty_file"),
        ("chunks", b"\n\n", "not_json"),
        ("chunks", b"[{}]", None),
        ("chunks", b'{"chunk_id": 1}', None),
        ("json", b"[1]", None),
        ("json", b"{", None),
    ],
)
def test_the_first_bytes_show_what_a_file_is(
    tmp_path: Path, kind: Kind, data: bytes, code: str | None
) -> None:
    (tmp_path / "file").write_bytes(data)
    problem = content_problem(tmp_path / "file", kind)
    assert (problem.code if problem else None) == code
    assert problem is None or problem.fix


@given(st.binary(max_size=80), st.sampled_from(["pdf", "text", "jsonl", "json", "chunks", "journal"]))
def test_any_first_bytes_get_an_answer(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, kind: Kind
) -> None:
    file = tmp_path_factory.mktemp("any") / "file"
    file.write_bytes(data)
    problem = content_problem(file, kind)
    assert problem is None or (problem.message and problem.fix)


def refuse(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_file_that_may_not_be_opened_is_unreadable(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofspan.manifest.check.content_problem", refuse)
    checked = by_key(check("gold: {path: it's}", {"it's": b"{}"}))["gold"]
    (problem,) = checked.problems
    assert checked.state == "unreadable" and "Permission denied" in problem.message
    assert problem.fix.startswith("chmod u+r '/")


def test_a_file_that_breaks_off_while_hashing_is_unreadable(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proofspan.manifest.check.sha256_of", refuse)
    report = check(f'gold: {{path: g, sha256: "{"0" * 64}"}}\nchunks: {{path: g}}', {"g": b"{}"})
    assert by_key(report)["gold"].state == "unreadable"
    assert by_key(report)["chunks"].state == "ok"


@pytest.mark.parametrize("name", ["t.jsonl.gz", "t.gz"])
def test_a_packed_file_with_its_ending_is_left_to_its_reader(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x1f\x8b" + zlib.compress(b"{}"))
    assert content_problem(tmp_path / name, "jsonl") is None


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    data = os.urandom(3_000_000)
    (tmp_path / "f").write_bytes(data)
    assert sha256_of(tmp_path / "f") == sha(data)


@pytest.mark.real_data
def test_a_real_csv_named_jsonl_is_called_what_it_is(real_data: Path) -> None:
    (file,) = (real_data / "hostile" / "jsonl").glob("*.jsonl")
    problem = content_problem(file, "jsonl")
    assert problem is not None and problem.code == "jsonl_is_csv"
