"""Three bundles to be read: one that cites, a refusal with its closest passage, and text alone.

`python -m tests.unit.bundles.test_golden` rewrites them; look at them before you commit.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import orjson
import pytest

from proofspan.contracts.records.records import LineIssue
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.services.bundles.build import build_bundles, load_sources
from proofspan.store.index.build import build_index
from tests.places import CHECKOUT, HANDBOOK

pytestmark = pytest.mark.slow

GOLDEN = CHECKOUT / "tests/golden/bundles/handbook.json"
CHOSEN = ("Q03", "Q05", "Q13")
READABLE = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


def made() -> bytes:
    """The chosen bundles of the handbook's first run, in a form for people."""
    manifest = load_manifest(HANDBOOK)
    with PdfPool(workers=1) as pool, tempfile.TemporaryDirectory() as folder:
        build_index(manifest, runs=["R001"], cache_dir=Path(folder))
        sources, _ = load_sources(manifest, pool)
        built = build_bundles(manifest, "R001", sources=sources, cache_dir=Path(folder))
        records = {item[0].q_id: orjson.loads(item[1]) for item in built if not isinstance(item, LineIssue)}
    return orjson.dumps([records[q_id] for q_id in CHOSEN], option=READABLE)


def test_the_handbooks_bundles_are_the_golden_ones() -> None:
    assert made().decode() == GOLDEN.read_text(encoding="utf-8")


def write(path: Path = GOLDEN) -> None:
    """Puts what is built now in the golden's place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made())


if __name__ == "__main__":
    write()
