"""A journal: saved lines are on the disk, existing ones stay, unreadable ones are reported."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.errors import InputFault
from proofspan.journal import lines
from proofspan.journal.lines import open_journal, read_journal

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
RECORDS = st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(-(2**53), 2**53), st.lists(TEXTS)), max_size=3)


def append(path: Path, *records: dict[str, Any]) -> None:
    with open_journal(path, file=path.name) as journal:
        for record in records:
            journal.append(record)


def read(path: Path) -> tuple[list[Any], list[tuple[int, str]]]:
    entries, issues = read_journal(path, file=path.name)
    return [entry.record for entry in entries], [(issue.source.line, issue.code) for issue in issues]


def test_a_journal_that_is_not_there_has_no_lines_and_appears_with_the_first(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    assert read(path) == ([], [])
    append(path, {"b": 1, "a": "é"})
    append(path, {"c": []})
    assert path.read_text(encoding="utf-8") == '{"a":"é","b":1}\n{"c":[]}\n'
    assert read(path) == ([{"a": "é", "b": 1}, {"c": []}], [])


@settings(max_examples=20)  # each goes to the disk
@given(records=st.lists(RECORDS, max_size=5))
def test_what_is_appended_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("journal") / "j.jsonl"
    append(path, *records)
    assert read(path) == (records, [])


@settings(max_examples=20)
@given(data=st.binary(max_size=60))
def test_whatever_is_there_stays_and_the_next_line_is_whole(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("journal") / "j.jsonl"
    path.write_bytes(data)
    append(path, {"a": 1})
    assert path.read_bytes().startswith(data)
    assert read(path)[0][-1] == {"a": 1}


def test_lines_that_are_no_objects_are_issues_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a":1}\r\n\n[1]\n{"b":\n\xff\n  \n{"c":NaN}\n{"d":2}\n{"e":')
    records, issues = read(path)
    assert records == [{"a": 1}, {"d": 2}]
    assert issues == [
        (3, "not_an_object"),
        (4, "not_json"),
        (5, "not_json"),
        (7, "not_json"),
        (9, "unfinished_line"),
    ]
    found = read_journal(path, file="j.jsonl")[1][1].source
    assert path.read_bytes()[found.offset : found.offset + found.length] == b'{"b":'


def test_a_last_line_without_its_line_end_is_read_where_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"a":1}')
    assert read(path) == ([{"a": 1}], [])
    append(path, {"b": 2})
    assert path.read_bytes() == b'{"a":1}\n{"b":2}\n'


def test_a_torn_last_line_is_kept_as_an_issue_by_the_next_save(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"a":1}\n{"b":')
    append(path, {"c": 3})
    assert read(path) == ([{"a": 1}, {"c": 3}], [(2, "not_json")])


def test_several_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    writers = [
        threading.Thread(target=lambda n=n: [append(path, {"n": [n, i]}) for i in range(20)])  # type: ignore[misc]
        for n in range(4)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    records, issues = read(path)
    assert sorted(record["n"] for record in records) == [[n, i] for n in range(4) for i in range(20)]
    assert issues == []


def test_a_line_is_on_the_disk_before_success_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "j.jsonl", []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append((os.fstat(handle).st_ino, path.read_bytes()))
    )
    append(path, {"a": 1})
    inodes = [path.stat().st_ino, tmp_path.stat().st_ino]
    assert synced == [(inode, b'{"a":1}\n') for inode in inodes]


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "no folder"])
def test_what_is_no_regular_file_is_not_written(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "j.jsonl"
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path = tmp_path / "none" / "j.jsonl"
    with pytest.raises(InputFault) as fault:
        append(path, {"a": 1})
    assert fault.value.problems[0].code == "journal_not_written"
    assert fault.value.problems[0].where == str(path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_disk_is_reported_and_the_earlier_lines_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "j.jsonl"
    append(path, {"a": 1})

    def refuse(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(InputFault, match="No space left"):
        append(path, {"b": 2})
    assert read(path) == ([{"a": 1}], [])


def test_a_file_too_large_for_a_journal_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_BYTES", 20)
    path = tmp_path / "j.jsonl"
    append(path, {"a": 1})
    with pytest.raises(InputFault, match="larger than"):
        append(path, {"b": "a text that is too long"})
    path.write_bytes(b" " * 21)
    with pytest.raises(InputFault, match="larger than"):
        read(path)
    with pytest.raises(InputFault, match="larger than"), open_journal(path, file="j") as journal:
        journal.read()


def test_a_journal_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match="cannot be read"):
        read_journal(tmp_path, file="j.jsonl")
