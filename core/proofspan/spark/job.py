"""`index`: traces of a lake in, a workspace with its index out, all by tasks of Spark.

The driver is given sizes and one row a segment. The manifest of the output is written last.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import orjson

from proofspan.diagnosis.suggest import suggest_profile
from proofspan.diagnosis.types import profile_from
from proofspan.errors import Fault, InputFault
from proofspan.manifest.load import load_manifest
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.spark import layout
from proofspan.spark.chunks import CHUNKS, write_chunks
from proofspan.spark.cited import ListCitations
from proofspan.spark.claims import TO_CHECK, CheckSegments, check_segments
from proofspan.spark.joined import known_chunks, write_joined_segments
from proofspan.spark.labels import LabelRecords, inputs_of, severity_of
from proofspan.spark.metrics import TO_MEASURE, write_metrics
from proofspan.spark.places import write_places
from proofspan.spark.run_wide import JOINED, write_joined
from proofspan.spark.schemas import WRITTEN, spark_schema
from proofspan.spark.segments import WriteSegments, record_file
from proofspan.spark.session import problems, session, small_batches
from proofspan.spark.sources import PLACE, records
from proofspan.store.files.checked import (
    CheckedFile,
    CheckedPart,
    claims_version,
    part_name,
    sums_of,
    write_checked_file,
)
from proofspan.store.files.columns import issue_table
from proofspan.store.files.located import index_identity
from proofspan.store.files.run_file import RunFile, Segment, added_facts, write_run_file
from proofspan.store.files.segment_files import write_table
from proofspan.store.index.labelling import NO_FILE, labeller_for
from proofspan.traces.lines.record_list import write_record_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The largest chunk file that each worker is given whole, in bytes.
BROADCAST_LIMIT = 256 << 20
#: The columns that a table has to have, with their other names.
_TRACES, _CHUNKS = (("q", "question"),), (("chunk_id", "id", "snippet_id"), ("text",))
#: Entries of a manifest that the output's has as well, and files that it gets a copy of.
_SETTINGS = ("triage", "goals", "gates", "contract")
_FILES = ("gold", "catalogue", "redirects")
#: The file of lines of chunks and gold that hold no record.
JOINED_ISSUES = "joined.issues.parquet"
_OF_RUNS = ("ts", "title", "class", "baseline", "pinned")


@dataclass(frozen=True, slots=True)
class SparkReport:
    """An index that Spark made: its folder, and by run the traces, the unreadable records and the claims.

    `citations` counts those in each state (one may be in several).
    """

    out: Path
    traces: Mapping[str, int]
    line_issues: Mapping[str, int]
    claims: Mapping[str, Mapping[str, int]]
    citations: Mapping[str, Mapping[str, int]]

    @property
    def has_findings(self) -> bool:
        """Return whether any record could not be read."""
        return any(self.line_issues.values())


def index(
    traces: DataFrame | str | PurePath,
    *,
    out: str | PurePath,
    chunks: DataFrame | str | PurePath | None = None,
    workspace: str | PurePath | None = None,
    run_id: str | None = None,
    spark: SparkSession | None = None,
    master: str | None = None,
    format: str | None = None,
    broadcast_limit: int = BROADCAST_LIMIT,
    claims: bool = True,
    locate: bool = True,
) -> SparkReport:
    """Index traces by Spark, and return what was made. The folder `out` then opens as a workspace.

    `traces` and `chunks` are DataFrames, or paths of Parquet, Delta or JSONL; `format` names that of the
    traces where the path does not. `out` is a new folder that all workers see. `workspace` is a folder with a
    manifest: its documents, gold questions, catalogue, redirects, settings and pins count, and its chunks
    where `chunks` is None. `run_id` is the run of all traces; without it each is in that of its own `run_id`.
    InputFault or StoreFault where something cannot be read, written or done; nothing can be opened then.
    """
    active = session(spark, master=master)
    source = load_manifest(Path(workspace)) if workspace is not None else None
    folder = layout.begin(Path(out))
    where = " and ".join(str(each) for each in (traces, chunks, folder) if isinstance(each, str | PurePath))
    with problems(where), small_batches(active):
        return _Job(active, folder, source, run_id, claims, locate).made(
            traces, chunks, format, broadcast_limit
        )


@dataclass(slots=True)
class _Job:
    spark: SparkSession
    out: Path
    source: Manifest | None
    run_id: str | None
    claims: bool
    locate: bool

    @property
    def work(self) -> Path:
        return self.out / layout.WORK

    def made(
        self,
        traces: DataFrame | str | PurePath,
        chunks: DataFrame | str | PurePath | None,
        format: str | None,
        limit: int,
    ) -> SparkReport:
        known = records(traces, spark=self.spark, name="traces", needed=_TRACES, format=format)
        entries, joined = self._entries(), None
        if chunks is None and self.source is not None and self.source.chunks is not None:
            chunks = artifact_path(self.source, self.source.chunks)
        if chunks is not None:
            of_chunks = records(chunks, spark=self.spark, name="chunks", needed=_CHUNKS, format=None)
            named = "chunks" if not isinstance(chunks, str | PurePath) else str(chunks)
            size = write_chunks(of_chunks, self.out / layout.CORPUS, name=named)
            if size > limit:
                joined = of_chunks
            entries["chunks"] = {"path": f"{layout.CORPUS}/{CHUNKS}"}
        manifest = layout.write_unfinished(self.out, entries)
        if joined is None:  # prepares the corpus, which the workers then share
            labeller_for(inputs_of(manifest, "", self.work))
        segments = self._segments(known, joined)
        runs = self._write_runs(segments, manifest, is_joined=joined is not None)
        known_texts = known_chunks(self.spark, self.work) if joined is not None else None
        claims = {}
        if self.claims and manifest.chunks is not None:
            claims = self._check(runs, manifest, known_texts)
        citations = self._locate(runs, known_texts) if self.locate else {}
        self._measure(runs, is_checked=bool(claims))
        entries["runs"] = [self._run_entry(run_id) for run_id in runs]
        layout.write_unfinished(self.out, entries)
        layout.commit(self.out)
        return SparkReport(
            self.out,
            {run_id: run.rows for run_id, run in runs.items()},
            {run_id: run.line_issues for run_id, run in runs.items()},
            claims,
            citations,
        )

    def _entries(self) -> dict[str, Any]:
        """Return the manifest of the output without chunks and runs; files it names are copied."""
        entries: dict[str, Any] = {"manifest_version": "1.0", "name": self.out.name or "index"}
        source = self.source
        if source is None:
            return entries
        entries["name"] = source.name
        entries |= {name: source.raw[name] for name in _SETTINGS if name in source.raw}
        for name in _FILES:
            artifact: Artifact | None = getattr(source, name)
            if artifact is not None:
                path = artifact_path(source, artifact)
                copy = f"{layout.CORPUS}/{name}{''.join(path.suffixes)}"
                shutil.copyfile(path, self.out / copy)
                entries[name] = {"path": copy} | ({"fix_encoding": True} if artifact.fix_encoding else {})
        listed = source.raw.get("documents") or []
        entries["documents"] = [
            self._document(number, entry, source, document.artifact)
            for number, (entry, document) in enumerate(zip(listed, source.documents, strict=True))
        ]
        entries["runs"] = [self._run_entry(run.run_id) for run in source.runs]
        return entries

    def _document(
        self, number: int, entry: Mapping[str, Any], source: Manifest, artifact: Artifact
    ) -> dict[str, Any]:
        """Return a document's entry, and copy its file; what cannot be read is missing in the output too."""
        kept = {name: value for name, value in entry.items() if name not in ("path", "root", "sha256")}
        (self.out / layout.DOCUMENTS).mkdir(exist_ok=True)
        copy = f"{layout.DOCUMENTS}/{number:06d}-{PurePath(artifact.path).name}"
        with suppress(Fault):
            shutil.copyfile(artifact_path(source, artifact), self.out / copy)
        return kept | {"path": copy}

    def _run_entry(self, run_id: str) -> dict[str, Any]:
        listed = (self.source.raw.get("runs") or []) if self.source is not None else []
        known: Mapping[str, Any] = next((each for each in listed if each.get("run_id") == run_id), {})
        entry = {"run_id": run_id} | {name: known[name] for name in _OF_RUNS if name in known}
        if "pinned" in entry:
            entry["pinned"] = {name: value for name, value in entry["pinned"].items() if name != "record"}
        return entry | {"traces": {"path": f"{layout.run_name(run_id)}/{layout.TRACES}"}}

    def _segments(self, known: DataFrame, chunks: DataFrame | None) -> list[Any]:
        """Label all records and write the segments; return one row of `WRITTEN` a segment."""
        from pyspark.sql import functions as F  # noqa: N812 - its usual name

        label = LabelRecords(self.out / layout.UNFINISHED, self.work, self.run_id)
        run = F.lit(self.run_id).cast("string").alias("run_id") if self.run_id else F.col("run_id")
        given, write = known.select("record", *PLACE, run), WriteSegments(self.out, label)
        if chunks is None:
            written = given.mapInArrow(write, spark_schema(WRITTEN))
        else:
            written = write_joined_segments(given, chunks, write)
        written.write.parquet(str(self.work / "written"))
        found: list[Any] = self._written().filter("row < 0").collect()
        if not found:
            fix = "name a table with records"
            raise InputFault.of("no_traces", "the table of traces is empty", where=str(self.out), fix=fix)
        if any(not each["run"] for each in found):
            fix = "name the run of all traces with --run-id, or give each trace its run_id"
            raise InputFault.of("run_unknown", "traces have no run_id", where=str(self.out), fix=fix)
        return found

    def _written(self) -> DataFrame:
        return self.spark.read.schema(spark_schema(WRITTEN)).parquet(str(self.work / "written"))

    def _write_runs(self, rows: Sequence[Any], manifest: Manifest, *, is_joined: bool) -> dict[str, RunFile]:
        """Write the file of each run that names its segments, once the rules over the run are applied."""
        ordered = sorted(rows, key=lambda row: (row["run"], severity_of(_folder(row)), row["segment"]))
        by_run = {run_id: list(group) for run_id, group in groupby(ordered, key=lambda row: row["run"])}
        first_rows: dict[tuple[str, str], int] = {}
        for run_id, group in by_run.items():
            before = 0
            for row in group:
                first_rows[run_id, row["segment"]] = before
                before += row["rows"]
        joined = write_joined(self._written(), first_rows, self.out)
        made = {}
        inputs = inputs_of(manifest, "", self.work)
        if is_joined:  # too large to be read here
            inputs = replace(inputs, chunks=NO_FILE)
        labeller, problems_of_files = labeller_for(inputs)
        for run_id, group in by_run.items():
            folder = layout.index_of_run(self.out, run_id)
            names = [record_file(row["segment"]) for row in group]
            write_record_list(folder.parent / layout.TRACES, names)
            inputs = inputs_of(manifest, run_id, self.work)
            if labeller.issues:  # lines of chunks and gold that hold no record
                write_table(folder, JOINED_ISSUES, issue_table(labeller.issues))
            made[run_id] = RunFile(
                key=inputs.key,
                file=f"{layout.run_name(run_id)}/{layout.TRACES}",
                source=None,
                segments=tuple(_segment(row) for row in group),
                joined=JOINED if run_id in joined else None,
                joined_issues=JOINED_ISSUES if labeller.issues else None,
                other_issues=len(labeller.issues),
                problems=(*inputs.problems, *problems_of_files),
            )
            write_run_file(folder, made[run_id])
        return made

    def _check(
        self, runs: Mapping[str, RunFile], manifest: Manifest, chunks: DataFrame | None
    ) -> dict[str, dict[str, int]]:
        """Check the claims of all segments, each in a task of its own."""
        profile = profile_from(manifest.triage)
        todo = [
            (run_id, segment.name, suggest_profile(added_facts(run.segments), profile) is None)
            for run_id, run in runs.items()
            for segment in run.segments
        ]
        label = LabelRecords(self.out / layout.UNFINISHED, self.work, None)
        tasks = self.spark.createDataFrame(todo, TO_CHECK).repartition(len(todo))
        checked = check_segments(tasks, chunks, CheckSegments(label, self.out))
        checked.write.parquet(str(self.work / "checked"))
        sums = {}
        for run_id, run in runs.items():
            folder = layout.index_of_run(self.out, run_id)
            parts = tuple(CheckedPart(each.name, part_name(each)) for each in run.segments)
            claims, differing = sums_of(folder, parts, run.segments)
            known = CheckedFile(claims_version(), index_identity(run), parts, claims, differing)
            write_checked_file(folder, known)
            sums[run_id] = claims
        return sums

    def _locate(self, runs: Mapping[str, RunFile], chunks: DataFrame | None) -> dict[str, dict[str, int]]:
        """Locate the citations of all runs."""
        listing = ListCitations(self.out / layout.UNFINISHED, self.work, self.out)
        placed = write_places(self.spark, runs, chunks, listing)
        return {run_id: dict(each.counts) for run_id, each in placed.items()}

    def _measure(self, runs: Mapping[str, RunFile], *, is_checked: bool) -> None:
        todo = []
        for run_id, run in runs.items():
            before = 0
            for segment in run.segments:
                todo.append((run_id, segment.name, segment.rows, before, is_checked))
                before += segment.rows
        tasks = min(len(todo), 4 * self.spark.sparkContext.defaultParallelism)
        write_metrics(self.spark.createDataFrame(todo, TO_MEASURE).repartition(tasks), self.out)


def _folder(row: Any) -> str:
    return str(row["segment"]).partition("/")[0].removeprefix("label=")


def _segment(row: Any) -> Segment:
    lines = row["rows"] + row["issues"]
    facts = orjson.loads(row["facts"] or b"{}")
    return Segment(row["segment"], 0, 0, 1, lines, row["rows"], row["issues"], facts, row["scored"])
