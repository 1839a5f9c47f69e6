"""The workspace that an import makes: chunks, gold, traces, documents, manifest, and a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson
import yaml

from proofspan.contracts.records.records import Json, LineIssue
from proofspan.errors import Problem
from proofspan.fingerprints import sha256_of
from proofspan.manifest.load import MANIFEST_NAME
from proofspan.traces.importers.documents import FoundDocument, find_documents, take
from proofspan.traces.importers.staging import RECORD, staged

CHUNKS = "corpus/chunks.jsonl"
GOLD = "gold/goldset.jsonl"

#: A native record, in the formats of docs/formats.md.
Record = dict[str, Json]


@dataclass(frozen=True, slots=True)
class FieldCount:
    """How often a field was found, was absent, or had an unusable value, first on line `first_unusable`."""

    key: str
    found: int
    absent: int
    unusable: int
    first_unusable: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """The native records of another tool's file, and the report on its fields.

    `traces` and `gold` are None where the source has none. The iterables are read once, in the order chunks,
    gold, traces. `run` and `triage` are copied into the manifest. The documents of `doc_ids` are looked for
    beside the source under `pattern`, such as `{doc_id}.pdf`. `page_keys` are the keys of the mapping that
    give page numbers; the page check names them.
    """

    name: str
    chunks: Iterable[Record]
    traces: Iterable[Record] | None = None
    gold: Iterable[Record] | None = None
    run: Mapping[str, Json] = field(default_factory=lambda: {"run_id": "R001"})
    triage: Mapping[str, Json] = field(default_factory=dict)
    doc_ids: Iterable[str] = ()
    pattern: str = "{doc_id}.pdf"
    paged: bool = True
    fields: tuple[FieldCount, ...] = ()
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()
    page_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """A source format that can be imported.

    `name` is KIND on the command line and `description` its help. `files` are further input files that it
    needs, option name → help: `{"mapping": "…"}` becomes `--mapping FILE`. `convert` takes the source and
    those files, and raises a Fault where one of them cannot be used.
    """

    name: str
    description: str
    convert: Callable[[Path, Mapping[str, Path]], Converted]
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The outcome of an import. `joined` counts the traces that have a gold question."""

    traces: int
    chunks: int
    gold: int
    joined: int
    fields: tuple[FieldCount, ...]
    documents: tuple[FoundDocument, ...]
    issues: tuple[LineIssue, ...]
    problems: tuple[Problem, ...]
    page_keys: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[FoundDocument, ...]:
        """Return the documents that were named and not taken."""
        return tuple(document for document in self.documents if document.source is None)

    @property
    def has_findings(self) -> bool:
        """Return whether anything was missing or unusable: exit status 1."""
        incomplete = any(count.unusable or not count.found for count in self.fields)
        return bool(incomplete or self.missing or self.issues or self.problems)

    def as_json(self) -> dict[str, Any]:
        """Return the report as `--json` prints it."""
        return {
            "traces": self.traces,
            "chunks": self.chunks,
            "gold": self.gold,
            "traces_with_gold": self.joined,
            "fields": [
                {
                    "field": count.key,
                    "found": count.found,
                    "absent": count.absent,
                    "unusable": count.unusable,
                    "first_unusable_line": count.first_unusable,
                }
                for count in self.fields
            ],
            "documents": {
                "present": [document.doc_id for document in self.documents if document.source is not None],
                "missing": [
                    {
                        "doc_id": document.doc_id,
                        "path": document.path,
                        "reason": document.problem.message,
                        "fix": document.problem.fix,
                    }
                    for document in self.missing
                    if document.problem is not None
                ],
            },
            "issues": [
                {
                    "file": each.source.file,
                    "line": each.source.line,
                    "code": each.code,
                    "reason": each.message,
                }
                for each in self.issues
            ],
            "problems": [
                {key: value for key, value in asdict(each).items() if key != "severity"}
                for each in self.problems
            ],
        }


def import_source(
    importer: Importer,
    source: Path,
    *,
    workspace: Path,
    files: Mapping[str, Path] | None = None,
    link: bool = False,
    force: bool = False,
) -> ImportReport:
    """Make a workspace of `source` and return the report.

    Documents are copied, or with `link` hard-linked. A document that is missing stays in the manifest without
    a hash, so that `proofspan check` reports it until it is there. Raises a Fault, and leaves no folder
    behind, if the input cannot be used or `workspace` holds anything that must not be replaced.
    """
    files = files or {}
    converted = importer.convert(source.absolute(), files)
    documents = find_documents(converted.doc_ids, pattern=converted.pattern, folder=source.absolute().parent)
    with staged(workspace, force=force) as stage:
        writer = _Writer(stage, converted, documents)
        writer.write(link=link)
        inputs = {name: {"file": path.name, "sha256": sha256_of(path)} for name, path in files.items()}
        # Neither folder names nor a time: the same input makes the same bytes.
        record = {
            "source": {"file": source.name, "sha256": sha256_of(source)},
            **inputs,
            "files": dict(sorted(writer.hashes.items())),
        }
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        (stage / RECORD).write_bytes(orjson.dumps(record, option=options))
    gold_keys = set(writer.gold_keys)
    return ImportReport(
        traces=len(writer.trace_keys),
        chunks=writer.chunk_count,
        gold=len(writer.gold_keys),
        joined=sum(key in gold_keys for key in writer.trace_keys),
        fields=converted.fields,
        documents=tuple(documents),
        issues=converted.issues,
        problems=converted.problems,
        page_keys=converted.page_keys,
    )


class _Writer:
    def __init__(self, stage: Path, converted: Converted, documents: list[FoundDocument]) -> None:
        self._stage, self._converted, self._documents = stage, converted, documents
        self.hashes: dict[str, str] = {}
        self.chunk_count = 0
        self.trace_keys: list[str] = []
        self.gold_keys: list[str] = []

    def write(self, *, link: bool) -> None:
        converted = self._converted
        self.chunk_count = self._write_lines(CHUNKS, converted.chunks)
        manifest: dict[str, Any] = {"chunks": self._artifact(CHUNKS)}
        if converted.gold is not None:
            self._write_lines(GOLD, _noting_keys(converted.gold, self.gold_keys))
            manifest["gold"] = self._artifact(GOLD)
        if converted.triage:
            manifest["triage"] = dict(converted.triage)
        if converted.traces is not None:
            path = f"runs/{converted.run['run_id']}/trace.jsonl"
            self._write_lines(path, _noting_keys(converted.traces, self.trace_keys))
            manifest["runs"] = [{**converted.run, "traces": self._artifact(path)}]
        for document in self._documents:
            take(document, self._stage, link=link)
            if document.source is not None and document.path is not None:
                self.hashes[document.path] = sha256_of(self._stage / document.path)
        head: dict[str, Any] = {"manifest_version": "1.0", "name": converted.name}
        if listed := [self._document(each) for each in self._documents if each.path is not None]:
            head["documents"] = listed
        text = yaml.safe_dump(head | manifest, sort_keys=False, allow_unicode=True, width=110)
        (self._stage / MANIFEST_NAME).write_text(text, encoding="utf-8")
        self.hashes[MANIFEST_NAME] = sha256_of(self._stage / MANIFEST_NAME)

    def _document(self, document: FoundDocument) -> dict[str, Any]:
        entry = {"doc_id": document.doc_id, **self._artifact(document.path or "")}
        return entry if self._converted.paged else {**entry, "paged": False}

    def _artifact(self, path: str) -> dict[str, str]:
        digest = self.hashes.get(path)
        return {"path": path, "sha256": digest} if digest else {"path": path}

    def _write_lines(self, path: str, records: Iterable[Record]) -> int:
        target = self._stage / path
        target.parent.mkdir(parents=True, exist_ok=True)
        count = 0
        with target.open("wb") as file:
            for count, record in enumerate(records, start=1):  # noqa: B007 - the count after the last
                file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        self.hashes[path] = sha256_of(target)
        return count


def _noting_keys(records: Iterable[Record], keys: list[str]) -> Iterator[Record]:
    """Yield the records and add to `keys` what joins a trace and its gold question: `q_id`, else `q`."""
    for record in records:
        keys.append(str(record["q_id"] if "q_id" in record else record["q"]))
        yield record
