"""The folder that an index by Spark is written to: a workspace whose manifest is written last.

pipeline_manifest.yaml                  the commit marker: without it nothing here can be opened
corpus/                                 chunks and the small files that labels depend on
documents/                              the documents that citations are located in
run=R1/traces.records.json              the run's traces: which files hold its records
run=R1/records/*.parquet                the records, 256 a row group
run=R1/index-…/run.json                 the run's index, as the store reads it
run=R1/index-…/label=ok/*.parquet       its rows, sorted, with zone maps
metrics/*.parquet                       additive partials, one row a run
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import yaml

from proofspan.errors import InputFault
from proofspan.manifest.load import MANIFEST_NAME, load_manifest
from proofspan.manifest.types import Manifest
from proofspan.store.files.cache_dir import LAYOUT
from proofspan.traces.lines.record_list import SUFFIX

UNFINISHED: Final = "unfinished.yaml"
WORK: Final = "_work"
TRACES: Final = f"traces{SUFFIX}"
METRICS: Final = "metrics"
CORPUS: Final = "corpus"
DOCUMENTS: Final = "documents"


def run_name(run_id: str) -> str:
    """Return the folder of a run, which Spark and DuckDB read as a partition."""
    return f"run={quote(run_id, safe=' ') or '__none__'}"


def index_of_run(out: Path, run_id: str) -> Path:
    """Return the folder of a run's index."""
    return out / run_name(run_id) / LAYOUT


def begin(out: Path) -> Path:
    """Make the folder, empty but for what an unfinished attempt left. InputFault for another one."""
    if "://" in str(out) or ":/" in str(out)[:12]:
        raise InputFault.of(
            "out_not_a_folder",
            "the output has to be a folder that all workers and the dashboard see",
            where=str(out),
            fix="name a shared folder, such as an object store that is mounted there",
        )
    out = out.absolute()
    if out.exists() and not out.is_dir():
        raise InputFault.of("out_exists", "this is a file", where=str(out), fix="name a new folder")
    if out.is_dir() and any(out.iterdir()):
        if not (out / UNFINISHED).is_file() or (out / MANIFEST_NAME).exists():
            fix = "name a new folder, or delete this one"
            raise InputFault.of("out_exists", "the folder is not empty", where=str(out), fix=fix)
        for path in out.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (out / CORPUS).mkdir(parents=True)
    (out / WORK).mkdir()
    return out


def write_unfinished(out: Path, entries: Mapping[str, Any]) -> Manifest:
    """Write the manifest under another name, and load it."""
    text: str = yaml.safe_dump(dict(entries), sort_keys=False, allow_unicode=True)
    (out / UNFINISHED).write_text(text, encoding="utf-8")
    return load_manifest(out / UNFINISHED)


def commit(out: Path) -> None:
    """Give the manifest its name, so that the output can be opened, and remove the tables between steps."""
    (out / UNFINISHED).rename(out / MANIFEST_NAME)
    shutil.rmtree(out / WORK, ignore_errors=True)
