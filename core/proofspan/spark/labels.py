"""The kernel over batches of records, in Spark's Python workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import LABELS
from proofspan.diagnosis.types import profile_from
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest, Run
from proofspan.spark.schemas import ISSUE_FIELDS, LABELLED, PLAIN_ROWS
from proofspan.spark.sources import PLACE
from proofspan.store.files.columns import issue_table
from proofspan.store.index.kernel import LINE_SCHEMA, Indexed, Kernel
from proofspan.store.index.labelling import Inputs, Labeller, find_inputs, labeller_for

#: The folders of records without a label, and of lines that are no record.
UNLABELLED, UNREADABLE = "none", "unreadable"
#: The most records of a batch, whatever Spark sends: some megabytes.
TOGETHER = 1_024
#: The name that issues have for the file of their line.
FILE = "traces.records.json"
_WORDS = pa.list_(pa.string())


@lru_cache(maxsize=2)
def manifest_at(path: Path) -> Manifest:
    """Return the manifest, loaded once in a worker."""
    return load_manifest(path)


def inputs_of(manifest: Manifest, run_id: str, cache: Path) -> Inputs:
    """Return what the labels of a run depend on; the run need not be in the manifest."""
    run = manifest.run(run_id) or Run(run_id)
    return find_inputs(manifest, profile_from(manifest.triage), None, cache_dir=cache, run=run)


@lru_cache(maxsize=1)
def _labeller(path: Path, cache: Path) -> Labeller:
    """Return the labeller of a worker: chunks and gold are read once, for all its tasks."""
    return labeller_for(inputs_of(manifest_at(path), "", cache))[0]


@lru_cache(maxsize=64)
def _inputs(path: Path, run_id: str, cache: Path) -> Inputs:
    return inputs_of(manifest_at(path), run_id, cache)


@dataclass(frozen=True, slots=True)
class LabelRecords:
    """Labels batches of records. `run_id` is that of all of them, None for each its own.

    `manifest` is read on the worker, so that a task is small.
    """

    manifest: Path
    cache: Path
    run_id: str | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `LABELLED`."""
        facts: dict[str, dict[str, int]] = {}
        for batch in batches:
            for first in range(0, batch.num_rows, TOGETHER):
                yield from self.labelled(
                    batch.slice(first, TOGETHER), _labeller(self.manifest, self.cache), facts
                )

    def labelled(
        self, batch: pa.RecordBatch, labeller: Labeller, facts: dict[str, dict[str, int]]
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some records, a batch a run and folder; `facts` are those of the runs so far."""
        runs = batch.column("run_id").to_pylist()
        wanted = sorted({self.run_id or run or "" for run in runs})
        for run_id in wanted:
            mine = batch
            if len(wanted) > 1:
                mine = batch.filter(pa.array([(self.run_id or run or "") == run_id for run in runs]))
            before = dict(facts.setdefault(run_id, {}))
            context = labeller.context(_inputs(self.manifest, run_id, self.cache))
            kernel = Kernel(FILE, run_id or None, labeller, context)
            found = kernel(lines_of(mine), facts[run_id])
            added = {name: count - before.get(name, 0) for name, count in facts[run_id].items()}
            yield from _batches(mine, found, run_id, {name: n for name, n in added.items() if n})


def lines_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return records as lines, whose numbers are their places in the batch, from 0."""
    records, count = batch.column("record").cast(pa.binary()), batch.num_rows
    places = pa.array(np.arange(count))
    # No record is at the beginning of a file: offset 0 is where a byte order mark is left out.
    offsets = pa.array(np.ones(count, np.int64))
    columns = [pc.fill_null(records, b"null"), places, offsets, pa.nulls(count, pa.int64())]
    return pa.record_batch(columns, schema=LINE_SCHEMA)


def _batches(
    batch: pa.RecordBatch, found: Indexed, run_id: str, facts: dict[str, int]
) -> Iterator[pa.RecordBatch]:
    """Yield a batch for each folder, a copy, so that those of one wait without the others."""
    rows, issues = found.rows.cast(PLAIN_ROWS), issue_table(found.issues)
    if rows.num_rows:
        columns = {name: rows.column(name).combine_chunks() for name in rows.column_names}
        columns["scores"] = pa.array(_scores(found), pa.string())
        folders = pc.fill_null(columns["label"], UNLABELLED).dictionary_encode()
        for number, folder in enumerate(folders.dictionary.to_pylist()):
            here = pa.array(np.flatnonzero(folders.indices.to_numpy() == number))
            some = {name: column.take(here) for name, column in columns.items()}
            yield _completed(batch, some["line"], run_id, folder, some, facts)
            facts = {}
    if issues.num_rows:
        columns = {f"issue_{name}": issues.column(name).combine_chunks() for name in ISSUE_FIELDS}
        places = issues.column("line").combine_chunks()
        yield _completed(batch, places, run_id, UNREADABLE, columns, facts)


def _completed(
    batch: pa.RecordBatch,
    places: pa.Array,
    run_id: str,
    folder: str,
    columns: dict[str, pa.Array],
    facts: dict[str, int],
) -> pa.RecordBatch:
    """Return rows of `LABELLED`; `places` are those of their records in the batch."""
    count, of_record = len(places), batch.take(places)
    columns |= {"run": pa.repeat(run_id, count), "folder": pa.repeat(folder, count)}
    columns |= {name: of_record.column(name) for name in PLACE}
    columns["record"] = of_record.column("record").cast(pa.binary())
    first = orjson.dumps(facts).decode() if facts else None
    columns["facts"] = pa.array([first, *[None] * (count - 1)], pa.string())
    nothing = {field.name: pa.nulls(count, field.type) for field in LABELLED if field.name not in columns}
    return pa.record_batch([(columns | nothing)[name] for name in LABELLED.names], schema=LABELLED)


def _scores(found: Indexed) -> list[str | None]:
    """Return the scores of each row as JSON: lists of name, number and label."""
    if found.scores is None:
        return [None] * found.rows.num_rows
    each: list[list[Any]] = [[] for _ in range(found.rows.num_rows)]
    for score in found.scores.to_pylist():
        each[score["row"]].append([score["name"], score["number"], score["label"]])
    return [orjson.dumps(values).decode() if values else None for values in each]


def severity_of(folder: str) -> int:
    """Return the place of a folder's rows in a run, the worst first."""
    return LABELS.index(folder) if folder in LABELS else len(LABELS) + (folder == UNREADABLE)
