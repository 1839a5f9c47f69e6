"""The kernel gives the rows that a file's lines give one by one, and the same for any cut into batches."""

from __future__ import annotations

from pathlib import Path

import orjson
import pyarrow as pa
import pytest

from proofspan.contracts.records.records import LineIssue
from proofspan.contracts.rules.context import NO_CONTEXT
from proofspan.diagnosis.types import Profile
from proofspan.store.index import kernel as kernels
from proofspan.store.index.kernel import LINE_SCHEMA, Kernel, joined, line_batches, trace_lines
from proofspan.store.index.labelling import Labeller
from proofspan.traces.lines import reader
from proofspan.traces.lines.reader import BOM, read_lines

LINES = {
    "plain": b'{"q": "a"}\n{"q": "b"}\n',
    "byte order mark": BOM + b'{"q": "a"}\n{"q": "b"}\n',
    "only a byte order mark": BOM,
    "a byte order mark and a line end": BOM + b"\n\n" + BOM + b'{"q": "a"}\n',
    "CRLF": b'{"q": "a"}\r\n\r\n{"q": "b"}\r\r\n',
    "blank lines": b'\n  \n{"q": "a"}\n\t\x0b\x0c\n\r\n{"q": "b"}\n\n',
    "unfinished": b'{"q": "a"}\n{"q": "b"}',
    "unfinished, ends with CR": b'{"q": "a"}\n{"q": "b"}\r',
    "nothing": b"",
    "one byte": b"x",
    "line ends alone": b"\n\n\n",
    "too long": b'{"q": "a"}\n' + b"x" * 100 + b'\r\n{"q": "b"}\n' + b"y" * 64 + b"\n" + b"z" * 65 + b"\n",
    "too long, unfinished": b'{"q": "a"}\n' + b"x" * 300,
    "too long, ends with CR": b'{"q": "a"}\n' + b"x" * 300 + b"\r",
    "at the longest": b"x" * 64 + b"\r\r" + b"\n" + b"y" * 64 + b"\r\r",
}


@pytest.mark.parametrize("block", [1, 7, 16, 60])
@pytest.mark.parametrize("final", [False, True])
@pytest.mark.parametrize("name", LINES)
def test_the_lines_of_batches_are_those_of_the_file(
    name: str, final: bool, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (reader, kernels):
        monkeypatch.setattr(module, "MAX_LINE", 64)
    monkeypatch.setattr(reader, "_KEPT_OF_LONG", 8)
    monkeypatch.setattr(kernels, "BLOCK", block)
    path = tmp_path / "traces.jsonl"
    path.write_bytes(LINES[name])
    for end in (None, len(LINES[name]), len(LINES[name]) // 2):
        found = [raw for batch in line_batches(path, end=end, final=final) for raw in trace_lines(batch)]
        assert found == list(read_lines(path, end=end, final=final))


def test_a_batch_may_be_cut_anywhere() -> None:
    lines = [orjson.dumps({"q": f"question {n}", "answer": "a", "scores": {"s": n}}) for n in range(100)]
    lines[40] = b"{"
    columns = [lines, range(1, 101), range(0, 10_000, 100), [None] * 100]
    whole = pa.record_batch(
        [pa.array(values, kind) for values, kind in zip(columns, LINE_SCHEMA.types, strict=True)],
        schema=LINE_SCHEMA,
    )
    kernel = Kernel("traces.jsonl", "R1", Labeller(Profile()), NO_CONTEXT)
    once: dict[str, int] = {}
    again: dict[str, int] = {}
    expected = kernel(whole, once)
    found = joined([kernel(whole.slice(first, 33), again) for first in range(0, 100, 33)])
    assert found.rows.to_pylist() == expected.rows.to_pylist()
    assert found.rows.num_rows == 99
    assert found.issues == expected.issues
    assert isinstance(found.issues[0], LineIssue)
    assert found.issues[0].source.line == 41
    assert found.scores is not None
    assert expected.scores is not None
    assert found.scores.to_pylist() == expected.scores.to_pylist()
    assert again == once
