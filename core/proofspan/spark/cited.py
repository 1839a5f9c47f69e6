"""The citations of indexed segments as a table: what is looked for of each, and in which document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from proofspan.contracts.records.records import Chunk
from proofspan.services.passes.placed_rows import CitedDocument, cited_document, placed_row, wanted_of
from proofspan.services.question.view import citation_view
from proofspan.spark.joined import chunks_of, redirects_at, with_successors
from proofspan.spark.labels import manifest_at
from proofspan.spark.layout import index_of_run
from proofspan.spark.schemas import plain, spark_schema
from proofspan.store.files.located import PLACED_SCHEMA, Cited, read_citations
from proofspan.store.files.run_file import RunFile, read_run_file
from proofspan.store.index.labelling import read_led_chunks
from proofspan.traces.records.redirects import with_redirects

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The segments of runs.
SEGMENTS = "run string, segment string"
#: Pages whose citations are located together.
PAGES_A_WINDOW = 64
#: A citation: `at` is its place among those of its segment, −1 in a row that each segment has; `asked` is the
#: hash of the `query`, which is JSON. Both are null where nothing is looked for; `reason` then says why.
CITED = pa.schema(
    [
        ("run", pa.string()),
        ("segment", pa.string()),
        ("at", pa.int64()),
        *plain(PLACED_SCHEMA),
        ("asked", pa.binary()),
        ("query", pa.string()),
        ("page_window", pa.int64()),
    ]
)
#: Citations of a batch.
_TOGETHER = 1_000


@lru_cache(maxsize=1)
def _all_chunks(path: Path, cache: Path) -> Mapping[str, Chunk]:
    manifest = manifest_at(path)
    return read_led_chunks(manifest, manifest.chunks, cache_dir=cache)[0] if manifest.chunks else {}


@lru_cache(maxsize=4)
def _run_file(folder: Path) -> RunFile:
    known = read_run_file(folder)
    if known is None:
        raise FileNotFoundError(folder)
    return known


@lru_cache(maxsize=10_000)
def document_at(path: Path, doc_id: str) -> CitedDocument:
    """Return the file of a document, looked up once in a worker."""
    return cited_document(manifest_at(path), doc_id)


@dataclass(frozen=True, slots=True)
class ListCitations:
    """Lists the citations of segments, with quotes and places from their chunks, as the local pass does."""

    manifest: Path
    cache: Path
    out: Path

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `CITED` for batches of `SEGMENTS`, by the whole chunk file."""
        for batch in batches:
            for row in batch.to_pylist():
                yield from self.listed(**row, chunks=_all_chunks(self.manifest, self.cache))

    def listed(self, *, run: str, segment: str, chunks: Mapping[str, Chunk]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `CITED` for a segment."""
        yield _batch([{"run": run, "segment": segment, "at": -1}])
        numbered = enumerate(self.citations(run, segment))
        while some := list(islice(numbered, _TOGETHER)):
            yield _batch([self._row(run, segment, at, item, chunks) for at, item in some])

    def citations(self, run: str, segment: str) -> Iterator[Cited]:
        """Return the citations of a segment as they are recorded."""
        folder = index_of_run(self.out, run)
        run_file = _run_file(folder)
        return read_citations(folder, run_file, next(x for x in run_file.segments if x.name == segment))

    def _row(
        self, run: str, segment: str, at: int, item: Cited, chunks: Mapping[str, Chunk]
    ) -> dict[str, Any]:
        item = item._replace(citation=citation_view(item.citation, chunks).citation)
        wanted = wanted_of(item.citation, lambda doc_id: document_at(self.manifest, doc_id))
        row = {"run": run, "segment": segment, "at": at}
        if isinstance(wanted, str):
            return row | placed_row(item, wanted)
        (_, digest), query = wanted
        try:
            asked = orjson.dumps(query).decode()
        except orjson.JSONEncodeError:  # a number beyond 64 bits: it cannot be sent to a PDF worker either
            return row | placed_row(item, "not_sendable")
        window = -1 if query.cited_page_idx is None else query.cited_page_idx // PAGES_A_WINDOW
        found: dict[str, Any] = {"asked": digest, "query": asked, "page_window": window}
        return row | placed_row(item, "") | {"status": None, "reason": None} | found


def _batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, CITED)


def list_citations(segments: DataFrame, chunks: DataFrame | None, listing: ListCitations) -> DataFrame:
    """Return the citations (`CITED`) of segments (`SEGMENTS`).

    `chunks` are those of `proofspan.spark.joined`, of which each segment gets those that it cites; None where
    each worker reads the chunk file.
    """
    if chunks is None:
        return segments.mapInArrow(listing, spark_schema(CITED))
    wanted = segments.mapInArrow(CitedIds(listing), spark_schema(CITED_IDS)).distinct()
    texts = wanted.join(chunks, "chunk_id").select("run", "segment", "line")

    def of_segment(known: pa.Table, lines: pa.Table) -> pa.Table:  # Spark counts a function's arguments
        own = {chunk.chunk_id: chunk for chunk in chunks_of(lines)}
        found = with_redirects(own, redirects_at(listing.manifest, listing.cache))
        rows = (batch for row in known.to_pylist() for batch in listing.listed(**row, chunks=found))
        return pa.Table.from_batches(rows, CITED)

    by_segment = segments.groupBy("run", "segment").cogroup(texts.groupBy("run", "segment"))
    return by_segment.applyInArrow(of_segment, spark_schema(CITED))


CITED_IDS = pa.schema([("run", pa.string()), ("segment", pa.string()), ("chunk_id", pa.string())])


@dataclass(frozen=True, slots=True)
class CitedIds:
    """Finds the ids that the citations of segments name, and those that they lead to."""

    listing: ListCitations

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of `CITED_IDS`."""
        redirects = redirects_at(self.listing.manifest, self.listing.cache)
        for batch in batches:
            for row in batch.to_pylist():
                cited = self.listing.citations(**row)
                named = {item.citation.chunk_id for item in cited if item.citation.chunk_id is not None}
                ids = sorted(with_successors(named, redirects))
                keys = ([row[name]] * len(ids) for name in ("run", "segment"))
                yield pa.record_batch([*keys, pa.array(ids, pa.string())], schema=CITED_IDS)
