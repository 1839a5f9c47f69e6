"""What a manifest says, as values. Paths are as written, relative to the workspace; `Workspace.path_of` resolves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that the manifest names. `key` is its place in the manifest, such as `runs[R004].traces`.

    `path` is relative to the workspace folder, or to the folder that `root` names.
    """

    key: str
    path: str
    root: str | None = None  # a name in the manifest's `roots`; None: the workspace folder
    sha256: str | None = None
    owner: str | None = None
    version: str | None = None


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
    """One pass of a pipeline. `ts` is the manifest's ISO 8601 text. Artifacts that are not named are None."""

    run_id: str
    traces: Artifact | None
    ts: str | None = None
    title: str | None = None
    kind: str | None = None  # the manifest's `class`
    baseline: str | None = None
    report: Artifact | None = None
    bundles: Artifact | None = None
    metrics: Artifact | None = None
    pinned: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The whole manifest. `triage` is the raw profile mapping (`template`, `refusal`)."""

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
    runs: tuple[Run, ...] = ()
    sprint: Artifact | None = None
    annotations: Artifact | None = None

    def run(self, run_id: str) -> Run | None:
        """The run of that id, or None."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    def document(self, doc_id: str) -> Document | None:
        """The document of that id, or None."""
        return next((doc for doc in self.documents if doc.doc_id == doc_id), None)
