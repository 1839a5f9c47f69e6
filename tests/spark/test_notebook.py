"""The notebook of the examples runs, and the dashboard shows the page that it ends with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.resources import DEMO
from proofspan.services.passes.locating import place_runs
from proofspan.store.files.located import ROW_STATES
from proofspan.store.index.build import build_index
from tests.pages.conftest import (  # fixtures
    Open,
    built,
    nothing_remembered,
    open_app,
    packages_scanned_once,
    patience,
    pdf_pool,
    runs_are_joined,
    shown,
)
from tests.places import CHECKOUT
from tests.spark.same_index import rows_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "built",
    "nothing_remembered",
    "open_app",
    "packages_scanned_once",
    "patience",
    "pdf_pool",
    "runs_are_joined",
]

pytestmark = pytest.mark.slow


def places_of(manifest: Manifest, cache: Path, pool: PdfPool) -> list[tuple[Any, ...]]:
    """Return the state of the citations of each trace, once they are located from the index alone."""
    build_index(manifest, runs=["R002"], cache_dir=cache)
    list(place_runs(manifest, ["R002"], cache_dir=cache, pool=pool))
    rows = rows_of(manifest, "R002", cache, ROW_STATES.names)
    return [(row["q_id"], *(row[name] for name in ROW_STATES.names)) for row in rows]


def test_the_notebook_goes_from_parquet_to_the_highlighted_page(
    spark: SparkSession, open_app: Open, pool: PdfPool, tmp_path: Path
) -> None:
    notebook = orjson.loads((CHECKOUT / "examples" / "spark_to_page.ipynb").read_bytes())
    names: dict[str, Any] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "spark_to_page.ipynb", "exec"), names)  # noqa: S102
    assert names["report"].traces == {"R002": 41}
    assert sum(traces for *_, traces in names["counts"]) == 41
    assert names["found"].status != "not_found" and names["found"].rects
    assert (names["folder"] / "page.png").read_bytes().startswith(b"\x89PNG")
    assert places_of(load_manifest(names["report"].out), tmp_path, pool) == places_of(
        load_manifest(DEMO), tmp_path, pool
    )
    app = open_app(names["report"].out, page="pages/question.py", run="R002", q=names["answer"].key.q_id)
    assert not app.exception
    assert f"page_idx {names['found'].page_idx} · PDF page {names['found'].page_idx + 1}" in shown(app)
