"""Labels where the chunks are too many for every worker: a group of records gets the chunks that it names.

Records are grouped, and the texts of the chunks that a group names are joined by id. Everything else that a
label depends on is the same for all groups: the rarity of words, which Spark counts over all chunks, and the
place of every chunk, which each worker has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.records import Chunk, Json, Trace
from proofspan.diagnosis.corpus import ChunkView, Survey, survey_of
from proofspan.spark.labels import FILE, TOGETHER, LabelRecords, inputs_of, lines_of, manifest_at
from proofspan.spark.schemas import WRITTEN, spark_schema
from proofspan.spark.segments import WriteSegments
from proofspan.spark.sources import PLACE
from proofspan.store.index.kernel import trace_lines
from proofspan.store.index.labelling import Labeller, labeller_for, read_side_file
from proofspan.traces.lines.reader import RawLine, UnusableError, parse_line
from proofspan.traces.records.chunks import chunk_from
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import read_redirects
from proofspan.traces.records.traces import trace_of_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: About how many records are labelled together; they and their chunks are in a worker's memory.
GROUP_ROWS = 20_000
#: The chunks without their texts, but for those of gold questions; and the rarity of words.
PLACES, WORDS = "places.jsonl", "survey.json"
#: The document and page of each chunk of a gold question.
GOLD_PLACES = "gold_places.json"
Page = tuple[str | None, int | None]
_CHUNKS = pa.schema(
    [
        ("chunk_id", pa.string()),
        ("doc_id", pa.string()),
        ("page_idx", pa.int64()),
        ("line", pa.binary()),
        *((name, kind) for name, kind in zip(PLACE, (pa.string(), pa.int64(), pa.int64()), strict=True)),
    ]
)
_COUNTED = pa.schema([("word", pa.string()), ("n", pa.int64())])
_NAMED = pa.schema([("record_group", pa.int64()), ("chunk_id", pa.string())])
_DONE = pa.schema([("written", pa.int64())])


def write_joined_segments(given: DataFrame, chunks: DataFrame, write: WriteSegments) -> DataFrame:
    """Label and write all records, and return rows of `WRITTEN`; `chunks` are records with their places."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    label = write.label
    work = label.cache
    named = chunks.mapInArrow(_named_chunks, spark_schema(_CHUNKS))
    latest = Window.partitionBy("chunk_id").orderBy(*(F.desc(name) for name in PLACE))
    # Of several with one id the last counts, at the place of the first, as in a dictionary.
    first = F.min(F.struct(*PLACE)).over(Window.partitionBy("chunk_id"))
    ranked = named.withColumn("rank", F.row_number().over(latest)).withColumn("first", first)
    ranked.filter("rank = 1").drop("rank", *PLACE).write.parquet(str(work / "chunks"))
    known = known_chunks(given.sparkSession, work)
    counted = known.mapInArrow(_counted, spark_schema(_COUNTED)).groupBy("word").agg(F.sum("n").alias("n"))
    one = spark_schema(_DONE)
    counted.coalesce(1).mapInArrow(WriteSurvey(work / WORDS, known.count()), one).collect()
    known.coalesce(1).sortWithinPartitions("first").select("line").mapInArrow(
        WritePlaces(label), one
    ).collect()

    groups = max(1, ceil(given.count() / GROUP_ROWS))
    grouped = given.withColumn("record_group", F.pmod(F.xxhash64("record"), F.lit(groups)))
    wanted = grouped.mapInArrow(NamedIds(label), spark_schema(_NAMED)).distinct()
    texts = wanted.join(known, "chunk_id").select("record_group", "line")
    of_group = WriteGroup(write)

    def written(records: pa.Table, lines: pa.Table) -> pa.Table:  # Spark counts a function's arguments
        return of_group(records, lines)

    by_group = grouped.groupBy("record_group").cogroup(texts.groupBy("record_group"))
    return by_group.applyInArrow(written, spark_schema(WRITTEN))


def known_chunks(spark: SparkSession, work: Path) -> DataFrame:
    """Return the chunks that `write_joined_segments` read: `chunk_id`, `doc_id`, `page_idx` and `line`."""
    return spark.read.parquet(str(work / "chunks"))


def _chunk(line: bytes) -> tuple[Chunk, Json] | None:
    """Return the chunk of a line and its record, None for a line that holds no chunk."""
    try:
        obj = parse_line(RawLine(1, 1, len(line), line))
        return chunk_from(obj), obj
    except UnusableError:
        return None


def _named_chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        lines = batch.column("record").to_pylist()
        found = [_chunk(line or b"null") for line in lines]
        ids, documents, pages = (
            pa.array([each and getattr(each[0], name) for each in found], kind)
            for name, kind in (("chunk_id", pa.string()), ("doc_id", pa.string()), ("page_idx", pa.int64()))
        )
        columns = [
            ids,
            documents,
            pages,
            batch.column("record").cast(pa.binary()),
            *(batch.column(name) for name in PLACE),
        ]
        yield pa.record_batch(columns, schema=_CHUNKS).filter(ids.is_valid())


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    counts: Counter[str] = Counter()
    for batch in batches:
        for line in batch.column("line").to_pylist():
            if (found := _chunk(line)) is not None:
                counts.update(ChunkView(found[0].text).words)
        if len(counts) > 1_000_000:
            yield pa.record_batch([list(counts), pa.array(counts.values(), pa.int64())], schema=_COUNTED)
            counts.clear()
    yield pa.record_batch(
        [pa.array(counts, pa.string()), pa.array(counts.values(), pa.int64())], schema=_COUNTED
    )


@dataclass(frozen=True, slots=True)
class WriteSurvey:
    """Writes the rarity of all words, in one task."""

    path: Path
    chunks: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield how many words there are."""
        counts: dict[str, int] = {}
        for batch in batches:
            counts |= zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True)
        self.path.write_bytes(orjson.dumps(survey_of(counts, self.chunks)._asdict()))
        yield pa.record_batch([pa.array([len(counts)], pa.int64())], schema=_DONE)


@dataclass(frozen=True, slots=True)
class WritePlaces:
    """Writes all chunks without their texts, in one task; those of gold questions keep theirs.

    These are the only ones in the file of `GOLD_PLACES`.
    """

    label: LabelRecords

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield how many chunks there are."""
        inputs = inputs_of(manifest_at(self.label.manifest), "", self.label.cache)
        kept = {each for gold in read_side_file(inputs.gold, read_gold)[0].values() for each in gold.chunks}
        kept = with_successors(kept, redirects_at(self.label.manifest, self.label.cache))
        count, places = 0, {}
        with (self.label.cache / PLACES).open("wb") as file:
            for batch in batches:
                for line in batch.column("line").to_pylist():
                    found = _chunk(line)
                    if found is None:
                        continue
                    chunk, obj = found
                    if chunk.chunk_id in kept:
                        places[chunk.chunk_id] = chunk.doc_id, chunk.page_idx
                    elif isinstance(obj, dict):
                        line = orjson.dumps({**obj, "text": "", "text_normalized": ""})
                    file.write(line.rstrip(b"\r\n") + b"\n")
                    count += 1
        (self.label.cache / GOLD_PLACES).write_bytes(orjson.dumps(places))
        yield pa.record_batch([pa.array([count], pa.int64())], schema=_DONE)


@dataclass(frozen=True, slots=True)
class NamedIds:
    """Finds what may be a chunk id in each record: every text in it, and the ids in its answer."""

    label: LabelRecords

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches of a group and what may be an id."""
        redirects = redirects_at(self.label.manifest, self.label.cache)
        for batch in batches:
            groups = batch.column("record_group").to_pylist()
            found: dict[tuple[int, str], None] = {}
            for raw in trace_lines(lines_of(batch)):
                trace = trace_of_line(raw, file=FILE, run_id=None)
                if isinstance(trace, Trace):
                    for each in with_successors(mentioned(trace), redirects):
                        found[groups[raw.line], each] = None
            columns = zip(*found, strict=True) if found else ((), ())
            arrays = [pa.array(each, field.type) for each, field in zip(columns, _NAMED, strict=True)]
            yield pa.record_batch(arrays, schema=_NAMED)


@lru_cache(maxsize=1)
def redirects_at(path: Path, cache: Path) -> Mapping[str, Redirect]:
    """Return the redirects of earlier chunk ids, read once in a worker."""
    return read_side_file(inputs_of(manifest_at(path), "", cache).redirects, read_redirects)[0]


@lru_cache(maxsize=1)
def gold_places(cache: Path) -> Mapping[str, Page]:
    """Return document and page of the chunks of gold questions, read once in a worker."""
    found: dict[str, list[Any]] = orjson.loads((cache / GOLD_PLACES).read_bytes())
    return {chunk_id: (doc_id, page) for chunk_id, (doc_id, page) in found.items()}


def with_successors(ids: Iterable[str], redirects: Mapping[str, Redirect]) -> set[str]:
    """Return the ids, and those that redirects lead to from them."""
    found, waiting = set[str](), list(ids)
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += redirects[each].new_ids if each in redirects else ()
    return found


def chunks_of(lines: pa.Table) -> list[Chunk]:
    """Return the chunks of lines of the chunk file."""
    found = map(_chunk, lines.column("line").to_pylist())
    return [each[0] for each in found if each is not None]


def mentioned(trace: Trace) -> set[str]:
    """Return every text of a trace that may be a chunk id."""
    found, waiting = set(trace.ids_in_text) | set(trace.chunk_ids), [trace.raw, *trace.payload]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and len(value) <= 1_000:
            found.add(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found.add(str(value))
    return found


@lru_cache(maxsize=1)
def _survey(path: Path) -> Survey:
    return Survey(**orjson.loads(path.read_bytes()))


@dataclass(frozen=True, slots=True)
class WriteGroup:
    """Labels and writes a group of records by the lines of the chunks that it names."""

    write: WriteSegments

    def __call__(self, records: pa.Table, lines: pa.Table) -> pa.Table:
        """Return rows of `WRITTEN`."""
        label, labeller = self.write.label, labeller_by(self.write.label, lines)
        facts: dict[str, dict[str, int]] = {}
        labelled = (
            piece
            for batch in records.to_batches(max_chunksize=TOGETHER)
            for piece in label.labelled(batch, labeller, facts)
        )
        return pa.Table.from_batches(self.write.written(labelled), WRITTEN)


def labeller_by(label: LabelRecords, lines: pa.Table) -> Labeller:
    """Return the labeller that has the texts of these lines of chunks, and the places of all chunks."""
    inputs = inputs_of(manifest_at(label.manifest), "", label.cache)
    with NamedTemporaryFile(suffix=".jsonl") as file:
        file.write((label.cache / PLACES).read_bytes())
        for line in lines.column("line").to_pylist():
            file.write(line.rstrip(b"\r\n") + b"\n")
        file.flush()
        side = replace(inputs.chunks, path=Path(file.name))
        labeller = labeller_for(replace(inputs, chunks=side, cache_dir=None))[0]
    if labeller.corpus is not None:
        labeller.corpus.survey = _survey(label.cache / WORDS)
    return labeller
