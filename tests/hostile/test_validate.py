"""`proofspan validate` on hostile bytes: every bad line a finding with its number, nothing stops the run."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import orjson
import pytest

from proofspan.cli.records import validate_cmd
from proofspan.contracts.rules.catalogue import Finding
from proofspan.services.validation import Tally, validate
from tests.hostile.command_room import Proofspan

QUERY = b'{"schema_version": "1.0.0", "event": "retrieve.run", "ts": "2026-02-23", "agent_id": "scout", '
QUERY += b'"trace_id": "4545fce2-41e9-5781-a1c8-4565bd133a9e", "mem_rev": "r1", "mem_hash": "sha256:'
QUERY += b"aa" * 32 + b'", "text": "How?", "q_id": "%d"'
#: Findings that a field's value may cause besides lines that are no record.
OF_VALUES = frozenset({"duplicate_key", "integer_too_large"})


def line(number: int, more: bytes = b"") -> bytes:
    return QUERY % number + more + b"}\n"


def found(path: Path, data: bytes | None = None) -> list[tuple[int, str]]:
    if data is not None:
        path.write_bytes(data)
    findings = validate([path], "query", cache_dir=path.parent)
    return [(each.line, each.code) for each in findings]


def suite(real_data: Path, prefix: str) -> list[Path]:
    files = sorted((real_data / "hostile" / "json_test_suite").glob(f"{prefix}_*.json"))
    assert files
    return files


@pytest.mark.real_data
def test_every_valid_value_of_the_suite_is_read_as_a_field(real_data: Path, tmp_path: Path) -> None:
    """White space of a value may be a line end, where a line of JSONL ends: it is written as a blank."""
    values = [file.read_bytes().replace(b"\n", b" ") for file in suite(real_data, "y")]
    lines = [line(number, b', "v": ' + value) for number, value in enumerate(values)]
    codes = {code for _, code in found(tmp_path / "t.jsonl", b"".join(lines))}
    assert codes <= OF_VALUES


#: The code of a line that holds no JSON.
LOST = ("not_json", "bad_utf8", "nested_too_deeply")


@pytest.mark.real_data
def test_every_invalid_value_of_the_suite_is_a_finding_and_stops_nothing(
    real_data: Path, tmp_path: Path
) -> None:
    """As it is: where the value holds a line end, the line is cut there, and each part is a line."""
    path = tmp_path / "t.jsonl"
    for file in suite(real_data, "n"):
        bad = line(1, b', "v": ' + file.read_bytes())
        last = bad.count(b"\n") + 2
        reported = found(path, line(0) + bad + line(2, b', "ts": ""'))
        assert {(2, code) for code in LOST} & set(reported), (file.name, reported)
        assert {number for number, _ in reported} <= set(range(2, last + 1)), (file.name, reported)
        assert (last, "duplicate_key") in reported, (file.name, reported)


def test_each_kind_of_hostile_line_is_a_finding_with_its_number(proofspan: Proofspan, tmp_path: Path) -> None:
    """In one file, by the command: what a line does to a reader does not reach the next."""
    lines = [
        b"\xef\xbb\xbf" + line(1),
        line(2, b', "text": "again"'),
        line(3, b', "v": {"a": [{"b": 1, "b": 2}]}'),
        line(4, b', "v": -9223372036854775809'),
        line(5).replace(b"\n", b"\r\n"),
        line(6, b', "v": "\xff\xfe"'),
        line(7, b', "v": ' + b"[" * 1000 + b"]" * 1000),
        line(8, b', "v": ' + b'{"a":' * 1000 + b"1" + b"}" * 1000),
        line(9, b', "v": ' + b"[" * 100_000),
        line(10, b', "v": "\\ud800"'),
        line(11, b', "v": ' + b"1" * 300),
        line(12, b', "v": ' + b"1" * 10_000),
        b"\x00\x00\n",
        line(14)[:-1],
    ]
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join(lines))
    ended = proofspan("validate", path, "--as", "query", "--json")
    *findings, last = map(orjson.loads, ended.out.splitlines())
    assert (ended.status, last["summary"]["records"]) == (1, 14)
    assert [(each["line"], each["code"], each["field"]) for each in findings] == [
        (1, "byte_order_mark", ""),
        (2, "duplicate_key", "text"),
        (3, "duplicate_key", "v.a[1].b"),
        (4, "integer_too_large", "v"),
        (6, "bad_utf8", ""),
        (7, "nested_too_deeply", ""),
        (8, "nested_too_deeply", ""),
        (9, "nested_too_deeply", ""),
        (10, "not_json", ""),
        (11, "integer_too_large", "v"),
        (12, "not_json", ""),
        (13, "not_json", ""),
        (5, "crlf", ""),
    ]


def test_a_line_of_100_mb_is_reported_and_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.write(line(1))
        file.seek(100 << 20, os.SEEK_CUR)  # a hole: no block of the disk
        file.write(b"\n" + line(3, b', "ts": "", "mem_rev": "r1"'))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reported = found(path)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert reported[0] == (2, "line_too_long")
    assert {number for number, _ in reported[1:]} == {3}
    assert grown < 64 << 10  # KiB


def test_a_finding_on_every_line_does_not_pile_up(tmp_path: Path) -> None:
    """Whoever asks for one finding gets it before the file has been read."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"text": 1}\n' * 50_000)
    tally, done = Tally(), []
    findings = validate(
        [path], "query", cache_dir=tmp_path, tally=tally, on_progress=lambda _, at, __: done.append(at)
    )
    next(findings)
    assert (done, tally.read) == ([], 0)


@pytest.mark.parametrize("line_of", [validate_cmd.piped_line, validate_cmd.terminal_line])
def test_text_of_a_record_cannot_act_on_a_terminal_or_break_a_line(line_of: object) -> None:
    assert callable(line_of)
    hostile = "a\x1b[2J\tb\nc\u202e\ud800"
    output = line_of(Finding("bad_rev", hostile, hostile, record_id=hostile, file="f\n.jsonl", line=1))
    assert output.count(b"\n") == 1
    plain = output.replace(b"\x1b[31m", b"").replace(b"\x1b[0m", b"")
    assert not {0x1B, 0x0D} & set(plain)
    assert "\u202e".encode() not in output
