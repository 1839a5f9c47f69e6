"""Indexes written by hand: rows of chosen columns, as a build would have left them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from proofspan.store.files.checked import (
    CHECKED_SCHEMA,
    CLAIMS_FOLDER,
    CheckedFile,
    CheckedPart,
    claims_batch,
    claims_version,
    write_checked_file,
    write_part,
)
from proofspan.store.files.columns import ROW_SCHEMA, SEVERITY
from proofspan.store.files.located import index_identity
from proofspan.store.files.run_file import RunFile, Segment, write_run_file
from proofspan.store.files.segment_files import write_segment, write_table
from proofspan.store.index.build import index_folder
from proofspan.store.index.run_rules import JOINED_SCHEMA
from proofspan.store.query.store import Store
from tests.unit.store_workspace import manifest_of

Row = Mapping[str, object]
#: What a row holds that does not say otherwise; what is not here is null.
DEFAULTS: Row = {"paraphrase": 0, "seed": 0, "answer": "", "offset": 0, "length": 1, "label": "ok"}
LISTS = ("docs", "numbers_unsupported", "suspicions", "about", "codes")


def store_of(folder: Path, runs: Mapping[str, Iterable[Row]], **manifest: object) -> Store:
    """A store on such indexes, one a run."""
    folder.mkdir(exist_ok=True)
    listed = [{"run_id": run, "traces": {"path": f"{run}.jsonl"}} for run in runs]
    loaded = manifest_of(folder, runs=listed, **manifest)
    for run, rows in runs.items():
        write_index(index_folder(loaded, run, folder / "cache"), list(rows))
    return Store(loaded, folder / "cache")


def write_index(folder: Path, rows: list[Row], *, name: str = "s.parquet") -> None:
    """The files of one run's index; a `repeat` of a row goes where a build puts it."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = [_whole(row, line) for line, row in enumerate(rows, start=1)]
    columns = [pa.array([row.get(field.name) for row in whole], field.type) for field in ROW_SCHEMA]
    write_segment(folder, name, pa.table(columns, schema=ROW_SCHEMA))
    repeats = [
        {
            "row": place,
            "repeat": row["repeat"],
            "stored_label": None,
            "stored_summary": None,
            "late": [],
            "late_codes": [],
        }
        for place, row in enumerate(rows)
        if "repeat" in row
    ]
    write_table(folder, "joined.parquet", pa.Table.from_pylist(repeats, JOINED_SCHEMA))
    segment = Segment(name, 0, len(rows), 1, len(rows), len(rows), 0)
    run_file = RunFile("key", "traces.jsonl", None, (segment,), joined="joined.parquet")
    write_run_file(folder, run_file)
    if any(name in row for row in rows for name in CHECKED_SCHEMA.names):  # claims are checked
        (folder / CLAIMS_FOLDER).mkdir(exist_ok=True)
        checked = [{field.name: row.get(field.name) for field in CHECKED_SCHEMA} for row in rows]
        write_part(folder, "claims.arrow", [claims_batch(checked)])
        parts = (CheckedPart(name, "claims.arrow"),)
        write_checked_file(folder, CheckedFile(claims_version(), index_identity(run_file), parts))


def _whole(row: Row, line: int) -> dict[str, object]:
    q = str(row.get("q", row["q_id"]))
    found = {
        **DEFAULTS,
        **dict.fromkeys(LISTS, ()),
        "q": q,
        "q_folded": q.lower(),
        "answer_folded": "",
        **row,
    }
    label = found["label"]
    return found | {"severity": SEVERITY[None if label is None else str(label)], "line": line}
