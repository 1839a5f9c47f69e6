"""The content of a file is recognized by its beginning, and named with the remedy."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofspan.manifest.contents import HEAD, content_of
from tests.unit.validation.test_fix_encoding import run

RECORD = {"q": "a, b", "v": [1, -2.5e3, True, None, 'x\\"{[\n'], "o": {}}
LINE = json.dumps(RECORD).encode() + b"\n"
RUN = b"301\tQ0\tFR940202-2-00150\t104\t  2.129133\tSTANDARD\n301\tQ0\tFR9\t5\t-1e-3\tSTANDARD\n"
LOG = b"ts=2025-08-28 qid=Q001 seg=1 deltaS=0.37 lambda=convergent\n"
PRETTY_LOG = b"ts=2025-08-28 qid=Q001 seg=1\ndeltaS=0.37 lambda=convergent\nk=10 store=faiss\n"


CASES: list[tuple[bytes, str, str]] = [
    (LINE * 2, "lines", ""),
    (b'{"q": "cut\n' + LINE * 2, "lines", ""),
    (b'{"q": 1,\n' + LINE * 3, "lines", ""),
    (b'{"items": [\n' + LINE * 3, "lines", ""),  # a line that broke off, and whole ones
    (b'{"q": 1}}\n{"q": 2\n{"q": 3\n', "lines", ""),
    (b"{", "lines", ""),
    (b"plain words\nand more of them\n", "lines", ""),
    (b"a, b\n" + LINE, "lines", ""),
    (b'{\n"items": [\n{"a": 1},\n{"b": 2}\n]\n}\n', "json_over_lines", "'.items[]'"),
    (b'{"n": 1, "items": [\n' + b",\n".join([LINE[:-1]] * 9) + b"]}", "json_over_lines", "'.items[]'"),
    (b'{"q": {\n"a": 1},\n"b": [{"c": 2}]}', "json_over_lines", "jq -c ."),
    (b'{\n  "q": "x",\n  "a": tru\n}\n', "json_over_lines", "jq -c ."),
    (b'\xef\xbb\xbf{\r\n"q": 1\r\n}\r\n', "json_over_lines", "jq -c ."),
    (b'{\n"q": 1\n}\n{\n"q": 2\n}\n', "json_values_over_lines", "jq -c ."),
    (b'[{"a": 1},\n{"b": 2}]\n', "json_array", "jq -c '.[]'"),
    (b'[{"a": 1,\n"b": 2}]', "json_array", "jq -c '.[]'"),
    (b'[]\n{"a": 1}\n', "lines", ""),
    (b'[\n{"a": 1},\n{"b": 2\n', "json_array", "jq -c '.[]'"),
    (b"[2025-08-28 10:00:01] INFO qid=Q1 seg=1 deltaS=0.37\n", "is_log", "validate"),
    (b"[2025-08-28 10:00:01] INFO began, well\n", "lines", ""),
    (b"[1,, 2]\n", "json_array", "jq"),
    (b'[ false, {"a" 1}\n', "json_array", "jq"),
    (RUN, "is_trec", "stages"),
    (b"301 0 CR93E-10279 0\n301 0 CR93E-1282 1\n", "is_trec", "chunks"),
    (b"runid                 \tall\tSTANDARD\nnum_q  \tall\t3\n", "is_trec", "metrics"),
    (LOG, "is_log", "validate"),
    (PRETTY_LOG, "is_log", "validate"),
    (b"question,answer\na,b\nc,d\n", "is_csv", "read_csv(FILE)"),
    (b"question\tanswer\na, x\tb\nc, y\td\n", "is_csv", "sep='\\t'"),
    (b"question;answer\na, x;b\n", "is_csv", "sep=';'"),
    (b"PAR1\x15\x04", "not_jsonl", "read_parquet"),
    (gzip.compress(LINE, mtime=0), "not_jsonl", ".gz"),
    (b"PK\x03\x04..", "not_jsonl", "Unpack"),
    (b"%PDF-1.7\n", "not_jsonl", "documents"),
    (b"<!DOCTYPE html>\n", "not_jsonl", "Download"),
    (b"<?xml version='1.0'?>\n", "not_jsonl", "right file"),
    (LINE.decode().encode("utf-16-le"), "not_utf8", "fix_encoding"),
    (LINE.decode().encode("utf-16"), "not_utf8", "fix_encoding"),
    (LINE.decode().encode("utf-32"), "not_utf8", "fix_encoding"),
]
EXAMPLES = [data for data, _, _ in CASES]


@pytest.mark.parametrize(("data", "code", "says"), CASES)
def test_the_content_is_named_with_the_remedy(data: bytes, code: str, says: str) -> None:
    found = content_of(data)
    assert found.code == code
    assert says in found.fix and bool(found.what) == (code != "lines")


def test_the_sentences_are_these(golden: Callable[[str, str], None], tmp_path: Path) -> None:
    found = {content_of(data)[1:]: None for data in EXAMPLES if content_of(data).code != "lines"}
    golden("contents", "".join(f"The file is {what}.\n    {fix}\n" for what, fix in found))


records = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), records), st.integers(1, 4))
def test_lines_and_written_out_values_are_distinguished(record: dict[str, object], count: int) -> None:
    line = orjson.dumps(record) + b"\n"
    assert content_of(line * count).code == "lines"
    pretty = orjson.dumps(record, option=orjson.OPT_INDENT_2)
    assert content_of(pretty).code == ("json_over_lines" if record else "lines")
    mixed = b'{"items": [\n' + b",\n".join([line.strip()] * count) + b"\n]}"
    assert content_of(mixed).code == "json_over_lines"
    assert content_of(b"[\n" + line + b"]").code == "json_array"


@given(st.binary(max_size=200) | st.text(alphabet='{}[]",:0ab\\ \n\t').map(str.encode))
def test_any_beginning_gets_an_answer(data: bytes) -> None:
    found = content_of(data)
    assert found.code == "lines" or (found.what and found.fix)


@pytest.mark.parametrize("text", [b"x" * HEAD, b"\xc3\xa9\\n" * HEAD, b'\\"{[' * HEAD])
def test_a_long_head_is_judged_by_what_is_seen_of_it(text: bytes) -> None:
    assert content_of((b'{"text": "' + text + b'"}')[:HEAD]).code == "lines"
    pretty = b'{\n"text": "' + text + b'"}'
    assert content_of(pretty[:HEAD]).code == "json_over_lines"
    entries = b'{"items": [\n' + b'{"a": 1},\n' * HEAD
    assert content_of(entries[:HEAD]).code == "json_over_lines"


def test_validate_reads_a_written_out_file_with_whole_objects_on_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "pack.json"
    path.write_bytes(b'{"run_id": "R1", "values": [\n{"a": 1},\n{"b": 2}\n]}\n')
    lines = run("validate", path, "--as", "metrics", "--json").stdout.splitlines()
    assert orjson.loads(lines[-1])["summary"]["records"] == 1
    assert not any(b"not_json" in line.encode() for line in lines)


@pytest.mark.real_data
def test_real_trec_files_are_called_what_they_are(real_data: Path) -> None:
    for name in ("results.test", "qrels.test", "out.test", "out.test.aq"):
        assert content_of((real_data / "trec" / name).read_bytes()[:HEAD]).code == "is_trec", name
