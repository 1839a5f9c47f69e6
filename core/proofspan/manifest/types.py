"""The manifest as values. Paths are as written; `proofspan.manifest.paths` resolves them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from proofspan.errors import Problem

#: The expected content of an artifact. A table is JSONL or one JSON array, as are chunks. A journal is JSONL
#: that people append to: it may not exist yet.
Kind = Literal["pdf", "text", "jsonl", "table", "json", "chunks", "journal"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that the manifest names. `key` is its place in the manifest, such as `runs[R004].traces`.

    `path` is relative to the workspace folder, or to the folder of the name `root`.
    """

    key: str
    path: str
    root: str | None = None  # a name in the manifest's `roots`; None: the workspace folder
    sha256: str | None = None  # 64 lower-case hexadecimal digits
    owner: str | None = None
    version: str | None = None
    kind: Kind = "jsonl"
    unreadable_lines: int | None = None  # how many lines are known to hold no record; None: not declared
    fix_encoding: bool = False  # read as UTF-8 with damaged text repaired


@dataclass(frozen=True, slots=True)
class Document:
    """A source document; `paged` False for text, Markdown and HTML."""

    doc_id: str
    artifact: Artifact
    paged: bool = True
    rev: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a pipeline. `ts` is the manifest's ISO 8601 text. Artifacts that are not named are None.

    `derived_from` is the run whose logged lists it was computed from, with that run's answers.
    `records` are files of separate records (`query`, `retrieved`, `rerank`, `prompt`, `answer`, `log`,
    `rag_traces`) that join into traces where the manifest names no trace file.
    """

    run_id: str
    traces: Artifact | None = None
    ts: str | None = None
    title: str | None = None
    kind: str | None = None  # the manifest's `class`
    baseline: str | None = None
    derived_from: str | None = None
    report: Artifact | None = None
    bundles: Artifact | None = None
    metrics: Artifact | None = None
    pinned: Mapping[str, Any] = field(default_factory=dict)
    record: Artifact | None = None  # the file that `pinned.record` names
    records: Mapping[str, Artifact] = field(default_factory=dict)  # separate records by their type

    @property
    def has_traces(self) -> bool:
        """Return whether the run names traces or separate records, not only a report."""
        return bool(self.trace_artifacts)

    @property
    def trace_artifacts(self) -> tuple[Artifact, ...]:
        """Return the files that the traces are read from: the trace file, else the separate records."""
        return (self.traces,) if self.traces is not None else tuple(self.records.values())


@dataclass(frozen=True, slots=True)
class Manifest:
    """A whole manifest. `triage`, `gates` and `contract` are mappings as written.

    `raw` is the whole file, including unknown keys; `warnings` are problems that do not prevent its use.
    `file` is the manifest itself, `folder` the workspace.
    """

    name: str
    folder: Path
    roots: Mapping[str, str] = field(default_factory=dict)
    documents: tuple[Document, ...] = ()
    chunks: Artifact | None = None
    gold: Artifact | None = None
    catalogue: Artifact | None = None
    attachments_root: str | None = None
    triage: Mapping[str, Any] = field(default_factory=dict)
    goals: Mapping[str, str] = field(default_factory=dict)
    gates: Mapping[str, Any] = field(default_factory=dict)
    contract: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[Run, ...] = ()
    sprint: Artifact | None = None
    annotations: Artifact | None = None
    cohorts: Artifact | None = None
    redirects: Artifact | None = None
    file: Path | None = None
    warnings: tuple[Problem, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)

    def run(self, run_id: str) -> Run | None:
        """Return the run of that id, or None."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    def document(self, doc_id: str) -> Document | None:
        """Return the document of that id, or None."""
        return next((doc for doc in self.documents if doc.doc_id == doc_id), None)

    def paged_document(self, doc_id: str | None) -> Document | None:
        """Return the document with pages of that id, without an id the only one there is, else None."""
        named = [doc for doc in self.documents if doc.paged and doc_id in (None, doc.doc_id)]
        return named[0] if len(named) == 1 or (named and doc_id is not None) else None

    @property
    def unpaged(self) -> frozenset[str]:
        """Return the ids of the documents without pages."""
        return frozenset(document.doc_id for document in self.documents if not document.paged)

    def artifacts(self, *, of_run: str | None = None) -> Iterator[Artifact]:
        """Yield every file that the manifest names, in its order; of the runs' only one's, if it is given."""
        yield from (document.artifact for document in self.documents)
        named = [self.chunks, self.redirects, self.gold, self.catalogue]
        for run in self.runs:
            if of_run not in (None, run.run_id):
                continue
            named += [run.traces, *run.records.values(), run.report, run.bundles, run.metrics, run.record]
        named += [self.sprint, self.annotations, self.cohorts]
        yield from (artifact for artifact in named if artifact is not None)
