"""`proofspan hash`: the same data has the same hash, other data another; files without one are reported."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import orjson
import pyarrow
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from proofspan.cli.records.hash_cmd import command
from proofspan.errors import InputFault
from proofspan.traces.lines.canonical_hash import canonical_json
from proofspan.traces.lines.reader import RawLine, UnusableError

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)


def canonical(text: str) -> bytes:
    data = text.encode()
    return canonical_json(RawLine(1, 0, len(data), data))


def written_otherwise(value: Any, chance: random.Random) -> Any:
    """The same value with its keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: written_otherwise(value[key], chance) for key in keys}
    return [written_otherwise(each, chance) for each in value] if isinstance(value, list) else value


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments])


def hash_of(path: Path) -> str:
    result = run(path)
    assert result.exit_code == 0, result.output
    sha256, name = result.stdout.split()
    assert name == str(path)
    return sha256


@given(value=VALUES, chance=st.randoms(use_true_random=False), ascii_only=st.booleans())
def test_order_of_keys_white_space_and_escapes_do_not_count(
    value: Any, chance: random.Random, ascii_only: bool
) -> None:
    otherwise = json.dumps(
        written_otherwise(value, chance), indent=chance.choice([None, 2]), ensure_ascii=ascii_only
    )
    assert canonical(otherwise) == canonical(json.dumps(value))


@given(one=VALUES, other=VALUES)
def test_other_values_are_written_otherwise(one: Any, other: Any) -> None:
    is_same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (canonical(json.dumps(one)) == canonical(json.dumps(other))) is is_same


@given(value=VALUES)
def test_the_canonical_form_is_json_of_the_same_value_and_its_own(value: Any) -> None:
    form = canonical(json.dumps(value))
    assert json.loads(form) == value
    assert canonical(form.decode()) == form


@given(value=st.dictionaries(TEXTS, st.one_of(TEXTS, st.integers(-(2**63), 2**63 - 1)), max_size=4))
def test_it_is_how_other_writers_sort_keys(value: dict[str, Any]) -> None:
    assert canonical(json.dumps(value)) == orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def test_a_number_is_as_it_is_written() -> None:
    spellings = [
        "1",
        "1.0",
        "1.00",
        "1e0",
        "1E0",
        "10e-1",
        "-0",
        "0",
        "123456789012345678901234567890",
        "1e-999",
    ]
    assert [canonical(spelling).decode() for spelling in spellings] == spellings


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 1}}', "duplicate_key"),
        ('{"a": NaN}', "not_json"),
        ("[Infinity]", "not_json"),
        ("1e999", "not_json"),
        ('"\\ud83d"', "not_json"),
        ('{"a": 1,}', "not_json"),
        ("{} {}", "not_json"),
        ("[" * 65 + "]" * 65, "nested_too_deeply"),
    ],
)
def test_what_readers_differ_on_has_no_canonical_form(text: str, code: str) -> None:
    with pytest.raises(UnusableError) as why:
        canonical(text)
    assert why.value.code == code


def test_the_hash_is_that_of_the_canonical_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"b": 1.0, "a": "\\u00e9"}\r\n\n  \n[ 1 ]')
    assert hash_of(path) == hashlib.sha256('{"a":"é","b":1.0}\n[1]\n'.encode()).hexdigest()
    path.write_bytes(b"")
    assert hash_of(path) == hashlib.sha256(b"").hexdigest()


def test_the_order_of_lines_counts(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text('{"a":1}\n{"a":2}\n', encoding="utf-8")
    other.write_text('{"a":2}\n{"a":1}\n', encoding="utf-8")
    assert hash_of(one) != hash_of(other)


def test_packed_files_are_read_through(tmp_path: Path) -> None:
    data = b'{"a":1}\n'
    (tmp_path / "a.jsonl").write_bytes(data)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(data))
    with pyarrow.output_stream(str(tmp_path / "a.json.zst"), compression="zstd") as out:
        out.write(b'{\n "a": 1\n}')
    assert len({hash_of(path) for path in tmp_path.iterdir()}) == 1


def test_a_json_file_is_one_value_and_its_finding_has_a_line(tmp_path: Path) -> None:
    path = tmp_path / "metrics.json"
    path.write_text('{\n  "a": 1\n}\n', encoding="utf-8")
    assert hash_of(path) == hashlib.sha256(b'{"a":1}\n').hexdigest()
    path.write_text('{\n  "a": 1,\n}\n', encoding="utf-8")
    result = run(path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{path}:2: the file is not one JSON value" in result.stderr
    path.write_text('{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    assert "is .jsonl" in run(path).stderr
    path.write_bytes(b'"\xff"')
    assert "not valid UTF-8" in run(path).stderr


def test_a_line_without_a_form_is_named_and_the_file_has_no_hash(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text("{}\n", encoding="utf-8")
    bad.write_text('{}\n{"a":1,"a":2}\nnull\nNaN', encoding="utf-8")
    result = run(bad, good)
    assert result.exit_code == 1
    assert [line.split("  ")[1] for line in result.stdout.splitlines()] == [str(good)]
    assert f"{bad}:2: duplicate key 'a'" in result.stderr
    assert f"{bad}:4: the line is not valid JSON" in result.stderr
    assert f"{bad}: no hash: 2 of 4 lines" in result.stderr
    output = json.loads(run("--json", bad).stdout)
    assert [(each["sha256"], each["lines"], each["findings"]) for each in output] == [(None, 4, 2)]
    assert [(issue["line"], issue["code"]) for issue in output[0]["issues"]] == [
        (2, "duplicate_key"),
        (4, "not_json"),
    ]


def test_files_that_cannot_be_read_are_all_named_after_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n", encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(b"no gzip")
    result = run(tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz", tmp_path / "none.jsonl", tmp_path)
    assert isinstance(result.exception, InputFault)
    assert [problem.code for problem in result.exception.problems] == [
        "damaged_archive",
        "missing_file",
        "not_a_file",
    ]
    assert result.stdout.endswith("a.jsonl\n")


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"b":[1,2.50],"a":{}}\n', encoding="utf-8")
    assert run("--json", path).stdout_bytes == run("--json", path).stdout_bytes
