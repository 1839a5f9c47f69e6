"""The rows of an index as values that can be compared, in an order that does not depend on files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from proofspan.manifest.types import Manifest
from proofspan.store.files.checked import CLAIM_COLUMNS
from proofspan.store.files.columns import ROW_SCHEMA
from proofspan.store.query.store import Store

#: Where a record lies differs between a file of lines and one of Parquet.
_PLACES = ("line", "offset", "length")


def rows_of(manifest: Manifest, run_id: str, cache: Path, more: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return all rows of a run with every column but those of places, with `more` and the claims as JSON."""
    run = Store(manifest, cache)._kept.loaded(run_id)
    names = [name for name in ROW_SCHEMA.names if name not in _PLACES]
    names += ["repeat", "stored_label", *CLAIM_COLUMNS.names, *more]
    rows: list[dict[str, Any]] = run.table(names).select(names).to_pylist()
    for row, claims in zip(rows, run.claims()(np.arange(len(rows))), strict=True):
        row["claims"] = claims
    return sorted(rows, key=lambda row: (row["q_id"], row["paraphrase"], row["seed"], row["repeat"]))
