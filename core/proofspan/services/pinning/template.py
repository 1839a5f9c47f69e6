"""A pinning record to fill in: placeholders for what a complete record has, and the values that are known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from proofspan.contracts.pinning.requirements import OF_USE, USES, Use, at, is_stated, needed_fields
from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.fingerprints import sha256_of
from proofspan.manifest.types import Manifest, Run
from proofspan.services.determinism import folder_files, listing_sha256
from proofspan.services.pinning.findings import pin_report

#: What to write, by field; every placeholder is a text in angle brackets.
_PLACEHOLDERS: Mapping[str, Json] = {
    "run_id": "<run>",
    "ts": "<time, such as 2026-01-31T09:00:00Z>",
    "libraries": {"<library>": "<version>"},
    "commands": ["<command line>"],
    "tie_break": "<such as score desc, section_id, chunk_id>",
    "runtime.cpu": "<model of the processor>",
    "runtime.os": "<system, version and architecture>",
    "runtime.threads": "<number>",
    "runtime.environment": {"OMP_NUM_THREADS": "<value, or null>"},
    "determinism.sha256": ["<sha256 of the first run's output>", "<sha256 of the second run's output>"],
    "determinism.file": "<path of the output in the workspace>",
    "fusion.method": "<such as rrf>",
    "fusion.k": "<number>",
    "fusion.weights": {"<list>": "<number>"},
    "fusion.top": "<number>",
    "faiss.build": "<version and build>",
    "faiss.index_type": "<such as IndexFlatIP>",
    "faiss.exact": "<true or false>",
    "reader.model": "<name>",
    "reader.revision": "<commit or version>",
}
_OF_MODEL: Mapping[str, Json] = {
    "model": "<name>",
    "revision": "<commit or version>",
    "weights.source": "<where they were taken from>",
    "weights.sha256": "<sha256>",
    "tokenizer.sha256": "<sha256, or none in place of the tokenizer>",
    "truncation": "<how a text is cut, or none>",
}
#: The uses that have a model, the one that weights and a tokenizer belong to first.
MODELS: tuple[Use, ...] = ("reranker", "embedding")


def template(uses: Collection[Use] = USES, known: Mapping[str, Json] | None = None) -> dict[str, Any]:
    """Return a record with the `known` values, and a placeholder for each field that a complete one needs."""
    record: dict[str, Any] = {"$schema": "urn:proofspan:schema:pinning-1.0"}
    _fill(record, known or {})
    for field in ("run_id", "ts", *needed_fields(record, uses), "determinism.file"):
        if not is_stated(at(record, field)):
            _put(record, field, _placeholder(field))
    return record


def known_of_run(manifest: Manifest, run: Run) -> tuple[frozenset[Use], dict[str, Any]]:
    """Return what a run uses, and what its record, the manifest's pins and its files already state."""
    report = pin_report(manifest, run)
    known: dict[str, Any] = {"run_id": run.run_id}
    if run.ts is not None:
        known["ts"] = run.ts
    for pin, field in (
        ("index_hash", "index.index_hash"),
        ("analyzer", "index.analyzer"),
        ("embed_model", "embedding.model"),
        ("reranker", "reranker.model"),
    ):
        if isinstance(value := run.pinned.get(pin), str) and value:
            _put(known, field, value)
    files = (*(each.artifact for each in manifest.documents), manifest.chunks, manifest.gold)
    inputs = {each.path: each.sha256 for each in files if each is not None and each.sha256}
    if inputs:
        known["inputs"] = inputs
    if run.traces is not None:
        _put(known, "determinism.file", run.traces.path)
    if report.record is not None:
        _fill(known, report.record.values)
    return report.uses, known


def weights_of(path: Path) -> dict[str, Any]:
    """Return source and sha256 of a file of weights, or of a folder with those of its files.

    Raises InputFault if there are no weights, or they cannot be read.
    """
    try:
        if path.is_file():
            return {"source": path.name, "sha256": sha256_of(path)}
        files = {name: sha256_of(each) for name, each in folder_files(path).items()} if path.is_dir() else {}
    except OSError as error:
        message = f"the weights cannot be read: {error.strerror}"
        raise InputFault.of("unreadable_file", message, where=str(path), fix="check permissions") from error
    if not files:
        fix = "name the folder of the model, or its file of weights"
        raise InputFault.of("no_weights", "there is no file of weights", where=str(path), fix=fix)
    return {"source": path.resolve().name, "sha256": listing_sha256(files), "files": files}


def tokenizer_of(path: Path) -> dict[str, str]:
    """Return name and sha256 of a tokenizer's file. Raises InputFault if it cannot be read."""
    try:
        return {"name": path.name, "sha256": sha256_of(path)}
    except OSError as error:
        message, fix = (
            f"the tokenizer cannot be read: {error.strerror}",
            "name its file, such as tokenizer.json",
        )
        raise InputFault.of("unreadable_file", message, where=str(path), fix=fix) from error


def model_of(uses: Iterable[Use]) -> Use:
    """Return the model that weights and tokenizer belong to: the reranker if there is one."""
    return next((each for each in MODELS if each in uses), MODELS[0])


def _placeholder(field: str) -> Json:
    role, _, name = field.partition(".")
    return _OF_MODEL[name] if role in OF_USE and name in _OF_MODEL else _PLACEHOLDERS[field]


def _put(record: dict[str, Any], path: str, value: Json) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        inside = record.get(parent)
        if not isinstance(inside, dict):
            inside = record[parent] = {}
        record = inside
    record[name] = value


def _fill(record: dict[str, Any], more: Mapping[str, Json]) -> None:
    """Add the stated values of another record, object by object."""
    for name, value in more.items():
        if isinstance(value, Mapping) and isinstance(record.get(name), dict):
            _fill(record[name], value)
        elif is_stated(value):
            record[name] = dict(value) if isinstance(value, Mapping) else value
