"""Large files in the formats that `proofspan open` knows: copies of each format's example, or of a real file.

An example is as short as its format allows, so its copies are the hardest case: nearly every byte is a name
or a number. With `long` each of its texts is followed by a passage of 600 characters, as real files have.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from proofspan.traces.formats.types import Format

PASSAGE = ' Check the level with the "dipstick" when the engine is cold, on level ground — monthly.' * 7
#: The forms of a file of each format; without one here it is a file of JSON lines.
FORMS = {
    "openinference": ("lines", "parquet"),
    "otlp": ("object", "lines"),
    "langfuse": ("array", "lines"),
    "mlflow": ("array", "lines"),
    "deepeval": ("array",),
    "inspectorraget": ("object",),
    "open_rag_eval": ("object",),
    "promptfoo": ("object",),
    "ragchecker": ("object",),
    "ragas": ("lines", "csv"),
    "inspect": ("zip", "object"),
    "beir": ("zip",),
    "trec": ("text",),
    "table": ("csv", "parquet"),
}
#: The keys of the list that is long in a file of one object.
LISTS = {
    "otlp": ("resourceSpans", 0, "scopeSpans", 0, "spans"),
    "inspectorraget": ("results",),
    "open_rag_eval": ("evaluation",),
    "promptfoo": ("results", "results"),
    "ragchecker": ("results",),
    "inspect": ("samples",),
    "ragas": ("helpfulness",),
}
#: The real files of formats, below the folder of real data, and their forms.
REAL = {
    "openinference": ("lines", "openinference/phoenix_spans.jsonl"),
    "langfuse": ("array", "langfuse/*.json"),
    "inspectorraget": ("object", "inspectorraget/clapnq_30_tasks.json"),
    "ragas": ("object", "ragas/annotated_data.json"),
    "ragchecker": ("object", "ragchecker/checking_inputs.json"),
    "financebench": ("lines", "financebench/gold_evidence.jsonl"),
    "trec": ("text", "trec/results.test"),
}
_ENDINGS = {"lines": ".jsonl", "array": ".json", "object": ".json", "text": ".run"}
_NUMBER, _LIST = "@NUMBER@", "@LIST@"
_ROWS = 4_096


def forms(each: Format) -> tuple[str, ...]:
    """Return the forms in which files of a format are made."""
    return FORMS.get(each.name, ("lines",))


def write(each: Format, form: str, folder: Path, size: int, *, long: bool) -> Path:
    """Write a file of a format of at least `size` bytes, of a Parquet file before packing."""
    path = folder / f"{each.name}{_ENDINGS.get(form, '.' + form)}"
    if each.name == "beir":
        _write_beir(path, size, long=long)
    elif form == "zip":
        _write_inspect(path, each, size, long=long)
    elif form == "text":
        _write_run(path, size)
    elif form in ("csv", "parquet"):
        _write_table(path, each, size, long=long)
    else:
        values = _inspect_log(each) if each.name == "inspect" else _values(each.example)
        _write_json(path, values, each.name, form, size, long=long)
    return path


def write_real(each: Format, data: Path, folder: Path, size: int) -> Path | None:
    """Write copies of a format's real files of at least `size` bytes; None for a format without one."""
    form, name = REAL.get(each.name, ("", ""))
    files = sorted(data.glob(name)) if name else []
    if not files:
        return None
    path = folder / f"{each.name}{_ENDINGS[form]}"
    if form == "text":
        lines = files[0].read_bytes().splitlines(keepends=True)
        numbers = range(10, 11 + size // files[0].stat().st_size)
        path.write_bytes(b"".join(b"%d%b" % (number, line) for number in numbers for line in lines))
    else:
        values = [value for file in files for value in _values(file.read_bytes())]
        _write_json(path, values, each.name, form, size, long=False)
    return path


def _values(data: bytes) -> list[Any]:
    """Return the JSON values of a file: one, or one a line."""
    try:
        return [orjson.loads(data)]
    except orjson.JSONDecodeError:
        return [orjson.loads(line) for line in data.splitlines()]


def _marked(value: Any, *, long: bool, ids: bool = True, name: str = "") -> Any:
    """Return a value whose ids hold a place for a number, and whose texts are longer with `long`."""
    if isinstance(value, dict):
        return {key: _marked(inner, long=long, ids=ids, name=key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner, long=long, ids=ids) for inner in value]
    if not isinstance(value, str):
        return value
    if value[:1] in ("[", "{", '"'):
        try:
            inner = orjson.loads(value)
        except orjson.JSONDecodeError:
            pass
        else:
            return orjson.dumps(_marked(inner, long=long, ids=ids)).decode()
    if ids and (name in ("id", "_id") or name.endswith(("_id", "Id"))):
        return f"{value}-{_NUMBER}"
    return value + PASSAGE if long and " " in value and value.endswith(".") else value


def _copies(template: bytes, between: bytes, size: int) -> Iterator[bytes]:
    """Yield copies with numbers as their ids, and what is between them, until they have `size` bytes."""
    for number in count(1):
        copy = template.replace(_NUMBER.encode(), b"%07d" % number)
        size -= len(copy) + len(between)
        if size <= 0:
            yield copy
            return
        yield copy + between


def _write_json(path: Path, values: list[Any], name: str, form: str, size: int, *, long: bool) -> None:
    before, after = (b"[", b"]") if form == "array" else (b"", b"\n")
    if form == "object":
        (whole,) = values
        holder: Any = whole
        *way, last = LISTS[name]
        for step in way:
            holder = holder[step]
        values, holder[last] = holder[last], [_LIST]
        before, after = orjson.dumps(whole).split(orjson.dumps(_LIST))
    if form == "array" and isinstance(values[0], list):
        (values,) = values
    ids = form != "object" or name == "otlp"  # others name what is outside of the list
    between = {"lines": b"\n", "array": b",\n", "object": b","}[form]
    template = between.join(orjson.dumps(_marked(value, long=long, ids=ids)) for value in values)
    with path.open("wb") as out:
        out.write(before)
        out.writelines(_copies(template, between, size))
        out.write(after)


def _inspect_log(each: Format) -> list[Any]:
    with zipfile.ZipFile(io.BytesIO(each.example)) as archive:
        sample, head = (orjson.loads(archive.read(name)) for name in archive.namelist())
    return [{**head, "plan": {}, "samples": [sample]}]


def _write_inspect(path: Path, each: Format, size: int, *, long: bool) -> None:
    ((log),) = _inspect_log(each)
    (sample,) = log.pop("samples")
    turns = [*sample["messages"], *[{"role": "assistant", "content": "I look again."}] * 50]
    template = orjson.dumps(_marked({**sample, "messages": turns}, long=long))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("header.json", orjson.dumps(log))
        for number, copy in enumerate(_copies(template, b"", size), start=1):
            archive.writestr(f"samples/{number}_epoch_1.json", copy)


def _write_beir(path: Path, size: int, *, long: bool) -> None:
    text = "The engine holds 4.5 litres." + PASSAGE * long
    document = orjson.dumps({"_id": f"p{_NUMBER}", "title": "Engine oil", "text": text})
    lines = list(_copies(document, b"\n", size))
    asked = range(1, len(lines), 10)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("manual/corpus.jsonl", b"".join(lines))
        queries = (orjson.dumps({"_id": f"q{number}", "text": "How much oil?"}) for number in asked)
        archive.writestr("manual/queries.jsonl", b"\n".join(queries))
        judged = "".join(f"q{number}\tp{number:07}\t1\n" for number in asked)
        archive.writestr("manual/qrels/test.tsv", "query-id\tcorpus-id\tscore\n" + judged)


def _write_run(path: Path, size: int) -> None:
    lines = count()
    with path.open("wb") as out:
        while out.tell() < size:
            for number in (next(lines) for _ in range(1_000)):
                rank = number % 100
                out.write(b"%d Q0 manual-p%d %d %.4f bm25\n" % (number // 100, rank, rank, 99.5 - rank))


def _write_table(path: Path, each: Format, size: int, *, long: bool) -> None:
    if each.name == "table":
        (row,) = csv.DictReader(io.StringIO(each.example.decode()))
        rows: list[dict[str, Any]] = [{**row, "Contexts": ["It holds 4.5 litres.", "Check it monthly."]}]
    else:
        rows = _values(each.example)
    rows = [_marked(row, long=long) for row in rows]
    if path.suffix == ".csv":
        table = io.StringIO()
        csv.writer(table, lineterminator="\n").writerows(row.values() for row in rows)
        with path.open("wb") as out:
            out.write((",".join(rows[0]) + "\n").encode())
            out.writelines(_copies(table.getvalue().encode(), b"", size))
        return
    copies = _copies(orjson.dumps(rows), b"", size)
    writer: pq.ParquetWriter | None = None
    while group := [row for copy in islice(copies, _ROWS // len(rows)) for row in orjson.loads(copy)]:
        part = pa.Table.from_pylist(group, schema=writer.schema if writer else None)
        writer = writer or pq.ParquetWriter(path, part.schema, compression="none", use_dictionary=False)
        writer.write_table(part)
    if writer is not None:
        writer.close()
