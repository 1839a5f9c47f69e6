"""The sprint's record on the disk: what is acknowledged is there, and nothing that is there is changed."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings

from proofspan.contracts.records.records import Json
from proofspan.errors import Fault, InputFault
from proofspan.journal.sprint import (
    SprintEntry,
    append,
    append_all,
    entries_of,
    entry_id_of,
    entry_problems,
    line_of,
    read_sprint,
)
from proofspan.manifest.check import check_workspace
from proofspan.manifest.types import Artifact, Manifest
from proofspan.services.workspace.readable import reading
from tests.places import CHECKOUT
from tests.sprint_records import RECORDS
from tests.sprint_writer import manifest_in
from tests.unit.store_workspace import manifest_of

D2 = SprintEntry("decision", "D2", "2026-02-23T10:00:00Z", "Ada", {"state": "PROPOSED"})


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    return manifest_in(tmp_path)


def log(manifest: Manifest) -> Path:
    return manifest.folder / "log.jsonl"


def codes(manifest: Manifest) -> list[tuple[int, str]]:
    return [(issue.source.line, issue.code) for issue in read_sprint(manifest)[1]]


def refused(manifest: Manifest, entry: SprintEntry = D2) -> str:
    with pytest.raises(Fault) as fault:
        append(manifest, entry)
    return fault.value.problems[0].code


def test_what_is_added_is_read_again_with_its_id_and_place(manifest: Manifest) -> None:
    assert read_sprint(manifest) == ((), ())
    first = append(manifest, D2)
    second = append(manifest, replace(D2, fields={"state": "LOCKED"}, corrects=first.entry_id))
    (one, two), issues = read_sprint(manifest)
    assert (one.entry_id, two.corrects, issues) == (first.entry_id, first.entry_id, ())
    assert (one.fields, two.entry_id) == ({"state": "PROPOSED"}, second.entry_id)
    assert one.source is not None and (one.source.file, one.source.line) == ("log.jsonl", 1)


def test_a_save_that_is_repeated_adds_nothing(manifest: Manifest) -> None:
    assert append(manifest, D2) == append(manifest, D2)
    assert append_all(manifest, [D2, replace(D2, key="D3")])[1] == 1
    assert [entry.key for entry in read_sprint(manifest)[0]] == ["D2", "D3"]


@settings(max_examples=20)
@given(entries=RECORDS)
def test_entries_of_every_kind_come_back(entries: list[SprintEntry]) -> None:
    from proofspan.journal.lines import entries_in

    lines = ((number, orjson.dumps(line_of(entry))) for number, entry in enumerate(entries, 1))
    found, issues = entries_of(entries_in(lines, "s"))
    assert [replace(entry, source=None) for entry in found] == entries
    assert issues == ()


BAD: list[tuple[dict[str, Any], str]] = [
    ({"author": ""}, "empty_author"),
    ({"author": "x" * 101}, "bad_author"),
    ({"at": "2026-02-23 10:00"}, "bad_at"),
    ({"at": "2026-02-31"}, "bad_at"),
    ({"at": "2026-02-23T10:00:00+01:00"}, "bad_at"),
    ({"key": ""}, "empty_key"),
    ({"key": "D 2"}, "bad_key"),
    ({"kind": "wish"}, "bad_kind"),
    ({"fields": {"state": "MAYBE"}}, "bad_state"),
    ({"fields": {"title": "two\nlines"}}, "bad_title"),
    ({"fields": {"title": "a\x1b[2J"}}, "bad_title"),
    ({"fields": {"pros": ["a\x00"]}}, "bad_pros"),
    ({"fields": {"pros": "one"}}, "wrong_type_pros"),
    ({"fields": {"text": "x" * 100_001}}, "bad_text"),
    ({"fields": {"text": " indented"}}, "bad_text"),
    ({"fields": {"other": {"deep": 1}}}, "wrong_type_other"),
    ({"fields": {"other": ["x" * 100_000] * 11}}, "entry_too_large"),
    ({"fields": {"title": "\ud800"}}, "entry_not_json"),
    ({"kind": "package", "fields": {"status": "odd"}}, "bad_status"),
    ({"kind": "checkpoint"}, "missing_date"),
    ({"corrects": "0" * 16}, "corrects_nothing"),
]


@pytest.mark.parametrize(("change", "code"), BAD, ids=[code for _, code in BAD])
def test_an_entry_that_is_not_valid_is_refused_and_an_issue_where_it_is_written(
    manifest: Manifest, change: dict[str, Any], code: str
) -> None:
    entry = replace(D2, **change)
    assert refused(manifest, entry) in (code, code.replace("empty", "bad"))
    assert not log(manifest).exists() or not log(manifest).read_bytes()
    if code not in ("entry_too_large", "entry_not_json"):
        log(manifest).write_bytes(orjson.dumps(line_of(entry)) + b"\n")
        entries, (issue,) = read_sprint(manifest)
        wanted = "unknown_kind" if code == "bad_kind" else code
        assert issue.code in (wanted, wanted.replace("empty", "bad"))
        assert (issue.where, bool(issue.fix)) == ("log.jsonl:1", True)
        assert len(entries) == (code == "corrects_nothing")


def test_a_correction_is_of_the_same_item(manifest: Manifest) -> None:
    first = append(manifest, D2)
    assert refused(manifest, replace(D2, key="D3", corrects=first.entry_id)) == "corrects_nothing"


def test_a_line_that_was_edited_or_comes_again_is_named(manifest: Manifest) -> None:
    append(manifest, D2)
    data = log(manifest).read_bytes()
    log(manifest).write_bytes(data + data + data.replace(b"PROPOSED", b"LOCKED"))
    entries, _ = read_sprint(manifest)
    assert [entry.fields["state"] for entry in entries] == ["PROPOSED", "LOCKED"]
    assert codes(manifest) == [(2, "duplicate_entry"), (3, "edited_entry")]


def test_a_broken_line_stays_and_is_named(tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path, sprint={"path": "log.jsonl"})
    append(manifest, D2)
    with log(manifest).open("ab") as file:
        file.write(b'{"kind":"deci\n[]\n')
    append(manifest, replace(D2, key="D3"))
    assert codes(manifest) == [(2, "not_json"), (3, "not_an_object")]
    (problem,) = check_workspace(manifest, examine=reading).findings
    assert (problem.code, "2 lines of 4" in problem.message) == ("lines_unreadable", True)


def test_a_workspace_without_a_record_names_the_line_to_add(tmp_path: Path) -> None:
    manifest = manifest_of(tmp_path)
    assert read_sprint(manifest) == ((), ())
    with pytest.raises(InputFault, match=r"add the line: sprint: \{path: sprint/log.jsonl\}"):
        append(manifest, D2)


def test_a_pinned_record_is_read_and_not_written(tmp_path: Path) -> None:
    artifact = Artifact("sprint", "log.jsonl", sha256="0" * 64, kind="journal")
    assert refused(replace(manifest_in(tmp_path), sprint=artifact)) == "journal_pinned"


def test_a_link_is_not_followed(manifest: Manifest, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.jsonl"
    log(manifest).symlink_to(outside)
    assert refused(manifest) == "journal_not_written"
    assert not outside.exists()


def test_a_record_that_may_not_be_written_says_so(read_only_folder: Path) -> None:
    assert refused(manifest_in(read_only_folder)) == "journal_not_written"


def test_two_writers_at_once_lose_nothing(manifest: Manifest) -> None:
    def write(name: str) -> None:
        for number in range(15):
            append(manifest, replace(D2, author=name, fields={"title": str(number)}))

    writers = [threading.Thread(target=write, args=(name,)) for name in ("Ada", "Ben")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    entries, issues = read_sprint(manifest)
    assert sorted((entry.author, int(entry.fields["title"])) for entry in entries) == [
        (name, number) for name in ("Ada", "Ben") for number in range(15)
    ]
    assert issues == ()


def test_a_disk_that_is_full_within_an_entry_loses_nothing(
    manifest: Manifest, disk_full_within_a_line: Callable[[], AbstractContextManager[None]]
) -> None:
    append(manifest, D2)
    with disk_full_within_a_line(), pytest.raises(InputFault, match="No space left"):
        append(manifest, replace(D2, key="D3"))
    assert [entry.key for entry in read_sprint(manifest)[0]] == ["D2"]
    assert codes(manifest) == [(2, "unfinished_line")]
    append(manifest, replace(D2, key="D3"))
    assert [entry.key for entry in read_sprint(manifest)[0]] == ["D2", "D3"]
    assert codes(manifest) == [(2, "not_json")]


def test_a_file_that_may_not_grow_loses_nothing(manifest: Manifest) -> None:
    append(manifest, D2)
    size = log(manifest).stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 30, hard))  # Python ignores SIGXFSZ
    try:
        with pytest.raises(InputFault, match="File too large"):
            append(manifest, replace(D2, key="D3"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert log(manifest).stat().st_size == size + 30
    assert codes(manifest) == [(2, "unfinished_line")]
    append(manifest, replace(D2, key="D3"))
    assert [entry.key for entry in read_sprint(manifest)[0]] == ["D2", "D3"]


@pytest.mark.parametrize("kills", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_what_is_acknowledged_is_there_after_a_kill(
    manifest: Manifest, kills: int, request: pytest.FixtureRequest
) -> None:
    if kills > 20 and "slow" not in request.config.getoption("markexpr"):
        pytest.skip(f"{kills} kills take a while: choose them with -m slow")
    command = [sys.executable, "-m", "tests.sprint_writer", str(manifest.folder), str(kills), "7"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=CHECKOUT)
    acknowledged = run.stdout.split()
    entries, issues = read_sprint(manifest)
    assert len(acknowledged) >= kills
    assert {*acknowledged} <= {entry.entry_id for entry in entries}
    assert {issue.code for issue in issues} <= {"not_json", "unfinished_line"}
    assert len({entry.author for entry in entries}) == kills


def test_an_id_follows_from_the_content_alone() -> None:
    ordered: dict[str, Json] = {"title": "a", "state": "LOCKED"}
    one = replace(D2, fields=ordered)
    other = replace(D2, fields=dict(reversed(ordered.items())), entry_id="0" * 16)
    assert entry_id_of(one) == entry_id_of(other) != entry_id_of(D2)
    assert entry_problems(one) == ()
