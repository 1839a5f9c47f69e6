"""The workspace that an import makes: chunks, gold, traces, documents, manifest, and a report."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import yaml

from proofspan.contracts.records.records import Json, LineIssue
from proofspan.errors import Fault, InputFault, Problem
from proofspan.fingerprints import sha256_of
from proofspan.manifest.load import MANIFEST_NAME
from proofspan.manifest.paths import refusal_of, resolve_reference
from proofspan.traces.importers.counts import FieldCount
from proofspan.traces.importers.staging import RECORD, staged
from proofspan.write_errors import write_refusal

CHUNKS = "corpus/chunks.jsonl"
GOLD = "gold/goldset.jsonl"
#: The workspace folder that documents are put into.
FOLDER = "corpus"
MAX_ID = 300

#: A native record, in the formats of docs/formats.md.
Record = dict[str, Json]


_FIXES = {
    "missing": "Name its folder with --documents, or put it at its path in the manifest.",
    "path_outside": "Name the folder that the link leads to with --documents.",
}


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document by its id. `source` is its file, and `path` its place in the workspace.

    Without a `source`, `problem` says why; `path` is None too if the id makes no acceptable path.
    """

    doc_id: str
    path: str | None
    source: Path | None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """The native records of another tool's file, and the report on its fields.

    `chunks`, `traces` and `gold` are None where the source has none. They are read once, in the order chunks,
    gold, traces. `run` and `triage` are copied into the manifest; `more_runs` are further runs with their
    traces. The documents of `doc_ids` are taken from where `found` has them, else looked for beside the
    source under `pattern`, such as `{doc_id}.pdf`; None: nowhere else. Unless it `lists_documents`, those
    that are nowhere are not named. `page_keys` are the keys of the mapping that give page numbers; the page
    check names them. `unit` is what `fields` count by, "line" or "row".
    """

    name: str
    chunks: Iterable[Record] | None
    traces: Iterable[Record] | None = None
    gold: Iterable[Record] | None = None
    run: Mapping[str, Json] = field(default_factory=lambda: {"run_id": "R001"})
    more_runs: tuple[tuple[Mapping[str, Json], Iterable[Record]], ...] = ()
    triage: Mapping[str, Json] = field(default_factory=dict)
    doc_ids: Iterable[str] = ()
    found: Mapping[str, Path] = field(default_factory=dict)
    lists_documents: bool = True
    pattern: str | None = "{doc_id}.pdf"
    paged: bool = True
    fields: tuple[FieldCount, ...] = ()
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()
    page_keys: tuple[str, ...] = ()
    unit: str = "line"


@dataclass(frozen=True, slots=True, kw_only=True)
class Importer:
    """A source format that can be imported.

    `name` is KIND on the command line and `description` its help. `files` are further input files that it
    needs, option name → help: `{"mapping": "…"}` becomes `--mapping FILE`. `convert` takes the source and
    those files, and raises a Fault where one of them cannot be used; where it `fixes` encodings, it takes
    `fix_encoding` too.
    """

    name: str
    description: str
    convert: Callable[..., Converted]
    files: Mapping[str, str] = field(default_factory=dict)
    fixes: bool = False


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
    unit: str = "line"

    @property
    def missing(self) -> tuple[FoundDocument, ...]:
        """Return the documents that were named and not taken."""
        return tuple(document for document in self.documents if document.source is None)

    @property
    def has_findings(self) -> bool:
        """Return whether anything was missing or unusable: exit status 1."""
        incomplete = any(count.unusable or not count.found for count in self.fields)
        has_problems = any(each.severity != "note" for each in self.problems)
        return bool(incomplete or self.missing or self.issues or has_problems)

    def as_json(self) -> dict[str, Any]:
        """Return the report as `--json` prints it."""
        missing = [(each, each.problem) for each in self.missing if each.problem is not None]
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
                    "null": count.null,
                    "unusable": count.unusable,
                    "first_unusable_line": count.first_unusable,
                }
                for count in self.fields
            ],
            "documents": {
                "present": [document.doc_id for document in self.documents if document.source is not None],
                "missing": [
                    {"doc_id": each.doc_id, "path": each.path, "reason": why.message, "fix": why.fix}
                    for each, why in missing
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
                {"code": each.code, "message": each.message, "where": each.where, "fix": each.fix}
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
    fix_encoding: bool = False,
    find: Callable[[Collection[str]], Mapping[str, Path]] | None = None,
) -> ImportReport:
    """Make a workspace of `source` and return the report.

    `find` returns the files of documents by their ids, before they are looked for beside the source.
    Documents are copied, or with `link` hard-linked. A document that is missing stays in the manifest without
    a hash, so that `proofspan check` reports it until it is there. Raises a Fault, and leaves no folder
    behind, if the input cannot be used or `workspace` holds anything that must not be replaced.
    """
    files = files or {}
    converted = importer.convert(source.absolute(), files, **({"fix_encoding": True} if fix_encoding else {}))
    folder = source.absolute().parent
    doc_ids = sorted(converted.doc_ids)
    found = {**converted.found, **(find(doc_ids) if find is not None else {})}
    if not converted.lists_documents and find is None:
        doc_ids = []
    documents = [_find(each, converted.pattern, folder, found.get(each)) for each in doc_ids]
    hashes: dict[str, str] = {}
    manifest: dict[str, Any] = {"manifest_version": "1.0", "name": converted.name}
    gold_keys: list[str] = []
    trace_keys: list[str] = []
    with staged(workspace, force=force) as stage:
        for document in documents:
            if document.source is not None and document.path is not None:
                _take(document.source, stage / document.path, link=link)
                hashes[document.path] = sha256_of(stage / document.path)
        if entries := [
            {"doc_id": each.doc_id, "path": each.path}
            | ({"sha256": hashes[each.path]} if each.path in hashes else {})
            | ({} if converted.paged else {"paged": False})
            for each in documents
            if each.path is not None
        ]:
            manifest["documents"] = entries
        chunks = 0
        if converted.chunks is not None:
            chunks = len(_write_lines(stage, CHUNKS, converted.chunks, hashes))
            manifest["chunks"] = {"path": CHUNKS, "sha256": hashes[CHUNKS]}
        if converted.gold is not None:
            gold_keys = _write_lines(stage, GOLD, converted.gold, hashes)
            manifest["gold"] = {"path": GOLD, "sha256": hashes[GOLD]}
        if converted.triage:
            manifest["triage"] = dict(converted.triage)
        runs = [] if converted.traces is None else [(converted.run, converted.traces), *converted.more_runs]
        for run, traces in runs:
            path = f"runs/{run['run_id']}/trace.jsonl"
            trace_keys += _write_lines(stage, path, traces, hashes)
            entry = {**run, "traces": {"path": path, "sha256": hashes[path]}}
            manifest.setdefault("runs", []).append(entry)
        text = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=110)
        (stage / MANIFEST_NAME).write_text(text, encoding="utf-8")
        hashes[MANIFEST_NAME] = sha256_of(stage / MANIFEST_NAME)
        inputs = {"source": source, **files}
        # Neither folder names nor a time: the same input makes the same bytes.
        record = {
            **{name: {"file": path.name, "sha256": _hash_of(path)} for name, path in inputs.items()},
            "files": dict(sorted(hashes.items())),
        }
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        (stage / RECORD).write_bytes(orjson.dumps(record, option=options))
    known = set(gold_keys)
    return ImportReport(
        traces=len(trace_keys),
        chunks=chunks,
        gold=len(gold_keys),
        joined=sum(key in known for key in trace_keys),
        fields=converted.fields,
        documents=tuple(documents),
        issues=converted.issues,
        problems=converted.problems,
        page_keys=converted.page_keys,
        unit=converted.unit,
    )


def _hash_of(path: Path) -> str:
    """Return the sha256 of a file; of a folder that of its files' names and hashes."""
    if path.is_file():
        return sha256_of(path)
    digest = hashlib.sha256()
    for each in sorted(path.rglob("*")):
        if each.is_file():
            digest.update(os.fsencode(each.relative_to(path)) + b"\0" + sha256_of(each).encode() + b"\n")
    return digest.hexdigest()


def _find(doc_id: str, pattern: str | None, folder: Path, source: Path | None) -> FoundDocument:
    """Locate a document's file, at `source` or by `pattern` below `folder`. Ids are not trusted."""
    ref = f"{doc_id}{source.suffix if source else '.pdf'}"
    if pattern is not None and (source is None or pattern.endswith(source.suffix)):
        ref = pattern.replace("{doc_id}", doc_id)
    path = f"{FOLDER}/{ref}"
    refused = refusal_of(ref) or refusal_of(path)
    if refused is None and len(doc_id) > MAX_ID:
        refused = f"the id is longer than {MAX_ID} characters"
    if refused is not None:
        message = f"its id makes no path: {refused}"
        fix = "Give the document another id in the source, or write another `documents.pattern`."
        return FoundDocument(doc_id, None, None, Problem("path_refused", message, doc_id, fix))
    if source is None and pattern is None:
        problem = Problem("missing", "no file was found", doc_id, _FIXES["missing"])
        return FoundDocument(doc_id, path, None, problem)
    try:
        return FoundDocument(doc_id, path, source or resolve_reference(folder, ref))
    except Fault as fault:
        problem = fault.problems[0]
        problem = replace(problem, fix=_FIXES.get(problem.code, problem.fix))
        return FoundDocument(doc_id, path, None, problem)


def _take(source: Path, place: Path, *, link: bool) -> None:
    """Copy or hard-link a document into the new workspace. Raises InputFault.

    Symbolic links are no choice: they would lead out of the workspace.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        if link:
            os.link(source, place)
        else:
            shutil.copyfile(source, place)
    except OSError as error:
        message = f"cannot be {'linked' if link else 'copied'}: {error.strerror or error}"
        fix = f"Make it readable: chmod u+r {shlex.quote(str(source))}"
        if link:
            fix = "Use --copy: a link needs both folders on one file system."
        elif error.filename != str(source):
            fix = f"{place.parent}: {write_refusal(error, place).fix}"
        raise InputFault.of("document_not_taken", message, where=str(source), fix=fix) from error


def _write_lines(stage: Path, path: str, records: Iterable[Record], hashes: dict[str, str]) -> list[str]:
    """Write records and return what joins a trace and its gold question."""
    target = stage / path
    target.parent.mkdir(parents=True, exist_ok=True)
    keys = []
    with target.open("wb") as file:
        for record in records:
            keys.append(key_of(record))
            file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    hashes[path] = sha256_of(target)
    return keys


def key_of(record: Record) -> str:
    """Return what joins a trace and its gold question: `q_id`, else `q`, else ""."""
    return str(record.get("q_id", record.get("q", "")))
