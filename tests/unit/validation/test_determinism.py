"""PASS or FAIL on two outputs: the first difference is named, whatever kind of files they are."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from proofspan.cli import group
from proofspan.errors import InputFault
from proofspan.manifest.load import load_manifest
from proofspan.services import determinism
from proofspan.services.determinism import Determinism, compare_outputs, compare_runs, conclusion
from proofspan.traces.lines.differences import differences
from proofspan.traces.lines.reader import parse_as_written
from tests.places import DEMO
from tests.unit.store_workspace import lines, write_workspace

RECORDS: list[dict[str, Any]] = [
    {"run_id": "R1", "q_id": f"Q{n}", "ts": "2026", "stages": {"reranked": [{"id": "c", "score": n / 8}]}}
    for n in range(1, 6)
]


def compared(folder: Path, a: bytes, b: bytes, *ignore: str, name: str = "out.jsonl") -> Determinism:
    for side, data in (("a", a), ("b", b)):
        (folder / side).mkdir(exist_ok=True)
        (folder / side / name).write_bytes(data)
    return compare_outputs(folder / "a" / name, folder / "b" / name, ignore=ignore)


def changed(number: int, value: float) -> list[dict[str, Any]]:
    """The records with another score in one of them."""
    records = copy.deepcopy(RECORDS)
    records[number]["stages"]["reranked"][0]["score"] = value
    return records


def test_the_same_bytes_pass(tmp_path: Path) -> None:
    found = compared(tmp_path, lines(RECORDS), lines(RECORDS))
    assert found.passes and conclusion(found) == "PASS: the same bytes"
    assert found.sha256 == ("bytes", *[hashlib.sha256(lines(RECORDS)).hexdigest()] * 2)
    assert found.files[0].counts == (5, 5)


def test_records_written_otherwise_pass(tmp_path: Path) -> None:
    other = b"\n".join(json.dumps(dict(reversed(each.items()))).encode() for each in RECORDS)
    found = compared(tmp_path, lines(RECORDS), b"\xef\xbb\xbf" + other)
    assert conclusion(found) == "PASS: the same records, in other bytes"
    of, a, b = found.sha256
    assert of == "records" and a == b == found.files[0].records_sha256[0]
    hashed = CliRunner().invoke(group, ["hash", str(tmp_path / "b/out.jsonl")])
    assert hashed.stdout.split()[0] == a


def test_the_first_difference_is_named_and_the_largest_distance(tmp_path: Path) -> None:
    records = changed(1, 0.2501)
    records[3]["stages"]["reranked"][0]["score"] = 7.5
    found = compared(tmp_path, lines(RECORDS), lines(records))
    assert conclusion(found) == "FAIL: 2 of 5 records differ"
    first, largest = found.files[0].first, found.files[0].largest
    assert first is not None and largest is not None
    assert (first.line, first.record, first.field) == (2, "q_id Q2", "stages.reranked[1].score")
    assert (first.a, first.b) == ("0.25", "0.2501")
    assert (largest.size, largest.line) == (7.0, 4)
    assert found.sha256[0] == "bytes"


def test_another_order_is_reported_as_that(tmp_path: Path) -> None:
    found = compared(tmp_path, lines(RECORDS), lines([RECORDS[1], RECORDS[0], *RECORDS[2:]]))
    assert not found.passes
    assert conclusion(found) == "FAIL: the same records in another order"


def test_a_missing_record_is_counted(tmp_path: Path) -> None:
    found = compared(tmp_path, lines(RECORDS), lines(RECORDS[:4]))
    assert conclusion(found) == "FAIL: 1 of 5 records differs, A has 5 and B 4"
    first = found.files[0].first
    assert first is not None and (first.line, first.line_b, first.b) == (5, 0, "absent")


def test_ignored_fields_do_not_count(tmp_path: Path) -> None:
    other = [each | {"run_id": "R2", "ts": "2027"} for each in RECORDS]
    assert not compared(tmp_path, lines(RECORDS), lines(other), "run_id").passes
    found = compared(tmp_path, lines(RECORDS), lines(other), "run_id", "ts")
    assert conclusion(found) == "PASS: the same records without run_id, ts, in other bytes"
    assert found.sha256[0] == "records" and found.sha256[1] == found.sha256[2]
    assert compared(tmp_path, lines(RECORDS), lines(changed(2, 9)), "stages.reranked.score").passes
    assert not compared(tmp_path, lines(RECORDS), lines(changed(2, 9)), "score").passes


@pytest.mark.parametrize(
    ("a", "b", "field"),
    [
        (b'{"a":1}\n', b'{"a":1.0}\n', "a"),
        (b'{"a":[1,2]}\n', b'{"a":[1]}\n', "a[2]"),
        (b'{"a":1}\n', b'{"b":1}\n', "a"),
        (b'{"a":null}\n', b"{}\n", "a"),
        (b'{"a":{"b":1}}\n', b'{"a":1}\n', "a"),
        (b'{"a":1,"a":1}\n', b'{"a":1}\n', ""),
        (b'{"a":NaN}\n', b'{"a":1}\n', ""),
        (b"{\n", b'{"a":1}\n', ""),
    ],
)
def test_every_kind_of_difference_fails(tmp_path: Path, a: bytes, b: bytes, field: str) -> None:
    found = compared(tmp_path, a, b)
    first = found.files[0].first
    assert not found.passes and first is not None and first.field == field
    assert compared(tmp_path, a, a).passes


def test_lines_that_are_no_json_are_equal_if_their_bytes_are(tmp_path: Path) -> None:
    found = compared(tmp_path, b'{"a": 1}\n{"b":\n', b'{"a":1}\n{"b":\n')
    assert found.passes and found.files[0].records_sha256 == (None, None)
    assert found.sha256[0] == "bytes"


def test_an_overlong_line_never_counts_as_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofspan.traces.lines.reader.MAX_LINE", 5_000)
    long = b'{"a":"' + b"x" * 6_000
    found = compared(tmp_path, long + b'1"}\n', long + b'2"}\n')
    first = found.files[0].first
    assert conclusion(found) == "FAIL: 1 of 1 record differs"
    assert first is not None and first.a.startswith("a line of 6,009 bytes")
    kept = (long + b'1"}')[:800]  # what is kept of the overlong line
    assert not compared(tmp_path, kept + b"\n", long + b'1"}\n').passes


@pytest.mark.parametrize(
    ("name", "a", "b", "words", "first"),
    [
        ("out.json", b'[{"q_id":"Q1","k":1}]', b'[{"q_id":"Q1", "k":2}]', "1 of 1 record differs", "[1].k"),
        ("out.txt", b"one\ntwo\n", b"one\ntwo\n\n", "1 of 3 lines differs, A has 2 and B 3", ""),
        ("out.txt", b"one\ntwo\n", b"two\none\n", "the same lines in another order", ""),
        ("out.txt", b"one\r\n", b"one\n", "1 of 1 line differs", ""),
        ("out.npy", b"\x00\x01\x02", b"\x00\x01\x03", "the bytes differ", ""),
        ("out.npy", b"\x00\x01\x02", b"\x00\x01", "the bytes differ", ""),
        ("out", b'{"q_id":"Q1"}\n', b'{"q_id":"Q2"}\n', "1 of 1 record differs", "q_id"),
    ],
)
def test_other_files(tmp_path: Path, name: str, a: bytes, b: bytes, words: str, first: str) -> None:
    found = compared(tmp_path, a, b, name=name)
    assert conclusion(found) == f"FAIL: {words}"
    assert found.files[0].first is not None and found.files[0].first.field == first


def test_packing_makes_no_difference(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(RECORDS))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines(RECORDS)))
    assert compare_outputs(tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz").passes
    found = compared(
        tmp_path, gzip.compress(b"one\n", mtime=1), gzip.compress(b"one\n", mtime=2), name="o.txt.gz"
    )
    assert found.passes and found.files[0].form == "lines"
    with pytest.raises(InputFault, match="cannot be unpacked"):
        compared(tmp_path, gzip.compress(lines(RECORDS)), b"\x1f\x8b", name="o.jsonl.gz")


def test_folders_are_compared_file_by_file(tmp_path: Path) -> None:
    for side in ("a", "b"):
        (tmp_path / side / "runs").mkdir(parents=True)
        (tmp_path / side / "runs/t.jsonl").write_bytes(lines(RECORDS))
        (tmp_path / side / "x.bin").write_bytes(b"\x00")
    found = compare_outputs(tmp_path / "a", tmp_path / "b")
    assert conclusion(found) == "PASS: the same bytes" and found.sha256[1] == found.sha256[2]
    (tmp_path / "b/new.txt").write_text("new\n")
    (tmp_path / "b/runs/t.jsonl").write_bytes(lines(changed(0, 1)))
    found = compare_outputs(tmp_path / "a", tmp_path / "b")
    assert conclusion(found) == "FAIL: 2 of 3 files differ, 1 file only on one side"
    assert found.sha256[1] != found.sha256[2]


def test_a_file_and_a_folder_or_nothing_at_all_cannot_be_compared(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    for a, b in (("a.txt", "empty"), ("empty", "empty"), ("a.txt", "lost.txt")):
        with pytest.raises(InputFault):
            compare_outputs(tmp_path / a, tmp_path / b)


def test_two_runs_of_a_workspace_are_compared_without_what_always_differs(tmp_path: Path) -> None:
    runs = {
        "R1": [{"q": "x", "trace_id": "a", "ts": "1", "run_id": "R1"}],
        "R2": [{"q": "x", "trace_id": "b"}],
    }
    manifest = write_workspace(tmp_path / "w", runs)
    found = compare_runs(manifest, *manifest.runs)
    assert found.passes and found.ignored == determinism.OF_A_RUN
    demo = load_manifest(DEMO)
    found = compare_runs(demo, demo.runs[2], demo.runs[1])
    assert found.files[0].counts == (41, 41) and not found.passes


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)
_RECORDS = st.lists(st.dictionaries(st.sampled_from("abcd"), _JSON, max_size=3), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outputs")


@settings(max_examples=40)
@given(records=_RECORDS, order=st.randoms(use_true_random=False))
def test_any_other_order_is_seen(room: Path, records: list[dict[str, Any]], order: Any) -> None:
    shuffled = records.copy()
    order.shuffle(shuffled)
    found = compared(room, lines(records), lines(shuffled))
    assert found.files[0].state in ("same_bytes", "same_records", "reordered")
    assert found.passes is ([*map(_canonical, records)] == [*map(_canonical, shuffled)])


@settings(max_examples=40)
@given(records=_RECORDS, number=st.integers(0, 5), field=st.sampled_from("abcd"), data=st.data())
def test_any_changed_field_is_found(
    room: Path, records: list[dict[str, Any]], number: int, field: str, data: st.DataObject
) -> None:
    at = number % len(records)
    other = copy.deepcopy(records)
    other[at][field] = data.draw(_JSON)
    found = compared(room, lines(records), lines(other))
    is_same = _canonical(other[at]) == _canonical(records[at])
    assert found.passes is is_same
    if not is_same:
        first = found.files[0].first
        assert first is not None and first.line == at + 1
        assert first.field.startswith(field)
        assert found.files[0].differing == 1


def _canonical(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


@given(a=_JSON, b=_JSON)
def test_values_differ_in_a_field_or_are_the_same(a: Any, b: Any) -> None:
    one, other = (parse_as_written(json.dumps(each)) for each in (a, b))
    assert (not list(differences(one, other))) is (_canonical(a) == _canonical(b))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(group, ["determinism", *map(str, arguments)])


def test_the_commands_texts(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(RECORDS))
    (tmp_path / "b.jsonl").write_bytes(lines(changed(1, 0.2501)))
    for side in ("a", "b"):
        (tmp_path / side).mkdir()
        shutil.copy(tmp_path / f"{side}.jsonl", tmp_path / side / "trace.jsonl")
    (tmp_path / "b/new.txt").write_text("new\n")
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    results = [run(a, a), run(a, b), run(a, b, "--ignore", "stages"), run(tmp_path / "a", tmp_path / "b")]
    assert [each.exit_code for each in results] == [0, 1, 0, 1]
    golden("determinism/texts", "\n".join(each.stdout for each in results))
    report = json.loads(run(a, b, "--json").stdout)
    assert (report["passes"], report["files"][0]["differing"], report["sha256"]["of"]) == (False, 1, "bytes")


@pytest.mark.parametrize("arguments", [["a"], ["a", "b", "c"], ["a", "b", "--runs", "R1", "R2"]])
def test_it_needs_two_outputs(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


def test_what_cannot_be_read_is_unusable(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(RECORDS))
    for arguments in ((tmp_path / "a.jsonl", tmp_path / "lost.jsonl"), (DEMO, "--runs", "R001", "R9")):
        assert isinstance(run(*arguments).exception, InputFault)


def test_hashes_are_written_into_a_record(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    write_workspace(folder, {"R1": RECORDS})
    again, record = tmp_path / "again.jsonl", folder / "pin.json"
    record.write_text('{"libraries": {"x": "1"}, "determinism": {"sha256": ["old"]}}')
    again.write_bytes(lines([{**each, "run_id": "R2"} for each in RECORDS]))
    output = folder / "runs/R1.jsonl"
    assert run(again, output, "--ignore", "run_id", "--record", record).exit_code == 0
    values = json.loads(record.read_text())
    proof = values["determinism"]
    assert values["libraries"] == {"x": "1"}
    assert (proof["of"], proof["file"], proof["ignored"]) == ("records", "runs/R1.jsonl", ["run_id"])
    assert proof["sha256"][0] == proof["sha256"][1]
    assert run(output, output, "--record", tmp_path / "new.json").exit_code == 0
    assert json.loads((tmp_path / "new.json").read_text())["determinism"]["of"] == "bytes"
    for name, data in (("pin.md", b"# x"), ("bad.json", b"[]")):
        (tmp_path / name).write_bytes(data)
        assert isinstance(run(output, output, "--record", tmp_path / name).exception, InputFault)
        assert (tmp_path / name).read_bytes() == data
