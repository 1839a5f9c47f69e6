"""The citations of whole runs, located in the words of their documents and stored beside the index.

What is looked for is looked for once, however often it is cited. Quotes of a document are grouped by a window
of pages; of a window with many, each group has some.
"""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.errors import EvidenceFault, Problem
from proofspan.evidence.locate_bulk import MAX_FAULTS, OF_THE_DOCUMENT, TEMPORARY
from proofspan.evidence.pdf.locate_quote import located
from proofspan.evidence.pdf.protocol import record_from
from proofspan.evidence.text.text_document import TextDocument, locate_in_text
from proofspan.evidence.text.word_file import WordFile
from proofspan.evidence.text_file import read_text
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.manifest.types import Manifest
from proofspan.services.passes.placed_rows import answer_of
from proofspan.spark.cited import CITED, SEGMENTS, ListCitations, document_at, list_citations
from proofspan.spark.documents import READ, TIMEOUT_S, ReadDocuments, words_file
from proofspan.spark.labels import manifest_at
from proofspan.spark.layout import index_of_run
from proofspan.spark.schemas import plain, spark_schema
from proofspan.store.files import located as stored
from proofspan.store.files.run_file import RunFile
from proofspan.store.files.segment_files import write_table

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: About how many quotes of a document and page window are located by one task.
QUOTES_A_GROUP = 2_000
_ASKED = ("doc_id", "page_window", "asked", "query")
#: What was found for a quote; of one that could not be looked for `code`, and `problem` as JSON.
ANSWERED = pa.schema(
    [
        ("doc_id", pa.string()),
        ("asked", pa.binary()),
        *plain(pa.schema([stored.PLACED_SCHEMA.field(name) for name in stored.Answer._fields])),
        ("code", pa.string()),
        ("problem", pa.string()),
    ]
)
#: The file of a segment's citations. `counts` and `reasons` are those of `PlacedFile` as JSON, `stamps` and
#: `problems` by document.
PLACED = pa.schema(
    [
        ("run", pa.string()),
        ("segment", pa.string()),
        ("name", pa.string()),
        ("citations", pa.int64()),
        *((name, pa.string()) for name in ("counts", "reasons", "stamps", "problems")),
    ]
)


def write_places(
    spark: SparkSession, runs: Mapping[str, RunFile], chunks: DataFrame | None, listing: ListCitations
) -> dict[str, stored.PlacedFile]:
    """Locate the citations of all runs, write what lists and pages read of them, and return it by run."""
    work, out = listing.cache, listing.out
    for run_id in runs:
        (index_of_run(out, run_id) / stored.PLACED_FOLDER).mkdir(exist_ok=True)
    segments = [(run_id, each.name) for run_id, run in runs.items() for each in run.segments]
    todo = spark.createDataFrame(segments, SEGMENTS).repartition(len(segments))
    list_citations(todo, chunks, listing).write.parquet(str(work / "cited"))
    cited = spark.read.schema(spark_schema(CITED)).parquet(str(work / "cited"))
    wanted = cited.filter("asked IS NOT NULL").select(*_ASKED).dropDuplicates(["doc_id", "asked"])
    wanted.write.parquet(str(work / "asked"))
    asked = spark.read.parquet(str(work / "asked"))
    documents = asked.select("doc_id").distinct()
    documents.repartition(4 * spark.sparkContext.defaultParallelism, "doc_id").mapInArrow(
        ReadDocuments(listing.manifest, out), spark_schema(READ)
    ).write.parquet(str(work / "read"))

    find = LocateQuotes(listing.manifest, out)

    def answered(quotes: pa.Table) -> pa.Table:  # Spark counts the arguments of a function, not of an object
        return find(quotes)

    _grouped(asked).applyInArrow(answered, spark_schema(ANSWERED)).write.parquet(str(work / "answers"))
    answers = spark.read.schema(spark_schema(ANSWERED)).parquet(str(work / "answers"))
    rest = [name for name in CITED.names if name not in (*stored.Answer._fields, "query", "page_window")]
    known = cited.select(*rest).join(answers, ["doc_id", "asked"], "left")
    write = WritePlaces(listing.manifest, out)

    def written(rows: pa.Table) -> pa.Table:
        return write(rows)

    done = known.groupBy("run", "segment").applyInArrow(written, spark_schema(PLACED))
    done.write.parquet(str(work / "placed"))
    rows = spark.read.schema(spark_schema(PLACED)).parquet(str(work / "placed")).collect()
    by_segment = {(row["run"], row["segment"]): row for row in rows}
    manifest = manifest_at(listing.manifest)
    return {
        run_id: _write_file(
            out, run_id, run, [by_segment[run_id, each.name] for each in run.segments], manifest
        )
        for run_id, run in runs.items()
    }


def _grouped(asked: DataFrame) -> Any:
    """Group quotes by document and page window, and those of a window with many at random."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    window = ["doc_id", "page_window"]
    counts = asked.groupBy(*window).agg(F.ceil(F.count("*") / QUOTES_A_GROUP).alias("salts"))
    groups = counts.agg(F.sum("salts")).first()
    tasks = 4 * asked.sparkSession.sparkContext.defaultParallelism
    salt: Column = F.pmod(F.xxhash64("asked"), F.coalesce("salts", F.lit(1)))
    salted = asked.join(F.broadcast(counts.filter("salts > 1")), window, "left").withColumn("salt", salt)
    keys = [*window, "salt"]
    # A number given here is left as it is by adaptive execution, which would join small tasks.
    return salted.repartition(max(1, min(tasks, (groups and groups[0]) or 1)), *keys).groupBy(*keys)


@lru_cache(maxsize=2)
def _words(path: Path) -> WordFile:
    return WordFile(path)


@lru_cache(maxsize=1)
def _text(path: Path) -> TextDocument:
    return read_text(path)


@dataclass(frozen=True, slots=True)
class LocateQuotes:
    """Locates quotes of one document, each within the time that it has locally."""

    manifest: Path
    out: Path

    def __call__(self, quotes: pa.Table) -> pa.Table:
        """Return rows of `ANSWERED` for rows of a document, the hash of a query, and the query."""
        doc_id = quotes.column("doc_id")[0].as_py()
        rows, given_up, faults = [], None, 0
        pairs = zip(quotes.column("asked").to_pylist(), quotes.column("query").to_pylist(), strict=True)
        for asked, text in sorted(pairs):
            query = record_from(SpanQuery, orjson.loads(text))
            row: dict[str, Any] = {"doc_id": doc_id, "asked": asked}
            try:
                if given_up is not None:
                    raise EvidenceFault(given_up)
                row |= answer_of(self._found(doc_id, query), query)._asdict()
            except EvidenceFault as fault:
                problem, faults = fault.problems[0], faults + 1
                if problem.code in OF_THE_DOCUMENT or faults >= MAX_FAULTS:
                    given_up = problem
                row |= {"code": problem.code, "problem": orjson.dumps(problem).decode()}
            rows.append(row)
        return pa.Table.from_pylist(rows, ANSWERED)

    def _found(self, doc_id: str, query: SpanQuery) -> FoundSpan:
        document = document_at(self.manifest, doc_id)
        if document.path is None:
            raise EvidenceFault.of(document.stamp, "the document is gone", where=doc_id)
        if document.is_text:
            return locate_in_text(query, _text(document.path))
        with _limited(document.path):
            return located(query, _words(words_file(self.out, document)))


@contextmanager
def _limited(path: Path) -> Iterator[None]:
    """Turn a quote that takes too long or too much into a fault, where the system has alarms."""
    fix = "try again; if that does not help, replace the document: it is broken or hostile"

    def late(*_: object) -> None:
        message = f"the quote was not found within {TIMEOUT_S:g} s"
        raise EvidenceFault.of("timed_out", message, where=str(path), fix=fix)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, TIMEOUT_S)
    try:
        yield
    except (MemoryError, RecursionError) as error:
        message = "the document needs more memory than it may take"
        raise EvidenceFault.of("too_large", message, where=str(path), fix=fix) from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@dataclass(frozen=True, slots=True)
class WritePlaces:
    """Writes the file of a segment's citations in one step."""

    manifest: Path
    out: Path

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return a row of `PLACED` for the citations of a segment, each with what was found for it."""
        run_id, segment = (rows.column(name)[0].as_py() for name in ("run", "segment"))
        rows = rows.filter(pc.greater_equal(rows.column("at"), 0)).sort_by("at")
        columns = {name: rows.column(name) for name in stored.PLACED_SCHEMA.names}
        columns["status"] = pc.fill_null(columns["status"], "not_placed")
        columns["reason"] = pc.coalesce(columns["reason"], rows.column("code"))
        for name in ("page_mismatch", "numbers_differ", "tells_page"):
            columns[name] = pc.fill_null(columns[name], False)
        folder, name = index_of_run(self.out, run_id), segment.replace("/", "-")
        table = pa.table(columns).cast(stored.PLACED_SCHEMA)
        write_table(folder / stored.PLACED_FOLDER, name, table)
        problems, stamps = {}, {}
        for doc_id in pc.unique(rows.column("doc_id")).drop_null().to_pylist():
            document = document_at(self.manifest, doc_id)
            if self._lists(doc_id):
                stamps[doc_id] = document.stamp
            if document.problem is not None:
                problems[doc_id] = document.problem
        failed = rows.filter(rows.column("problem").is_valid()).group_by(["doc_id", "problem"]).aggregate([])
        for row in sorted(failed.to_pylist(), key=lambda each: str(each["problem"])):
            problems.setdefault(row["doc_id"], Problem(**orjson.loads(row["problem"])))
        counts, reasons = stored.counts_of(folder, [stored.Part(segment, name, rows.num_rows)])
        made = {"counts": counts, "reasons": reasons, "stamps": stamps, "problems": problems}
        texts = {key: orjson.dumps(value).decode() for key, value in made.items()}
        done = {"run": run_id, "segment": segment, "name": name, "citations": rows.num_rows}
        return pa.Table.from_pylist([done | texts], PLACED)

    def _lists(self, doc_id: str) -> bool:
        return manifest_at(self.manifest).document(doc_id) is not None


def _write_file(
    out: Path, run_id: str, run: RunFile, rows: Sequence[Any], manifest: Manifest
) -> stored.PlacedFile:
    """Write the file that names a run's files of citations, given in its order, and return it."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    stamps: dict[str, str] = {}
    problems: dict[str, Problem] = {}
    for row in rows:
        counts.update(orjson.loads(row["counts"]))
        reasons.update(orjson.loads(row["reasons"]))
        stamps |= orjson.loads(row["stamps"])
        for doc_id, problem in orjson.loads(row["problems"]).items():
            problems.setdefault(doc_id, Problem(**problem))
    placed = stored.PlacedFile(
        version=stored.locator_version(),
        index=stored.index_identity(run),
        listed=stored.listed_documents(manifest),
        documents=stamps,
        parts=tuple(stored.Part(row["segment"], row["name"], row["citations"]) for row in rows),
        counts=dict(counts),
        reasons=dict(sorted(reasons.items(), key=lambda each: (-each[1], each[0]))),
        problems=problems,
        again=any(code in TEMPORARY for code in reasons),
    )
    stored.write_placed_file(index_of_run(out, run_id), placed)
    return placed
