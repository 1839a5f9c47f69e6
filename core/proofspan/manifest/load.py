"""Load `pipeline_manifest.yaml`: parse the YAML, validate it against its JSON Schema, check the rest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from proofspan.errors import ManifestFault, Problem
from proofspan.manifest.types import Artifact, Document, Kind, Manifest, Run
from proofspan.manifest.yaml_text import YamlText, read_yaml
from proofspan.resources import SCHEMAS

MANIFEST_NAME = "pipeline_manifest.yaml"
#: A manifest may be named in place of its folder.
MANIFEST_SUFFIXES = (".yaml", ".yml")
#: A pinning record may be written in Markdown.
MARKDOWN_SUFFIXES = (".md", ".markdown", ".txt")
SCHEMA_FILE = SCHEMAS / "manifest-1.0.json"

#: The artifacts that the manifest and its runs name, and the content of their files.
_ARTIFACTS: Mapping[str, Kind] = {
    "chunks": "chunks",
    "gold": "table",
    "catalogue": "table",
    "sprint": "journal",
    "annotations": "journal",
    "cohorts": "journal",
    "redirects": "table",
}
_RUN_ARTIFACTS: Mapping[str, Kind] = {
    "traces": "jsonl",
    "report": "table",
    "bundles": "jsonl",
    "metrics": "json",
}
#: The types of separate records, and the content of their files.
RECORD_KINDS: Mapping[str, Kind] = {
    "query": "jsonl",
    "retrieved": "jsonl",
    "rerank": "jsonl",
    "prompt": "jsonl",
    "answer": "jsonl",
    "log": "text",
    "rag_traces": "jsonl",
}


def load_manifest(path: Path) -> Manifest:
    """Load the manifest of a workspace; `path` is its folder or the file itself.

    Raises ManifestFault with all its problems, each with line and column. What does not prevent its use (an
    unknown key, an unknown baseline) is in `Manifest.warnings`.
    """
    file = path / MANIFEST_NAME if path.is_dir() else path
    if not file.is_file():
        message = f"has no {MANIFEST_NAME}" if path.is_dir() else "does not exist"
        fix = f"name a folder with a {MANIFEST_NAME}, or make one with `proofspan import`"
        raise ManifestFault.of("no_manifest", message, where=str(path), fix=fix)
    return manifest_of(read_yaml(file.absolute()))


def manifest_of(text: YamlText) -> Manifest:
    """Return the manifest of a parsed file. Raises ManifestFault as `load_manifest` does."""
    if not isinstance(text.value, dict):
        message = "is empty or not a mapping of keys to values"
        fix = 'begin with `manifest_version: "1.0"` and `name: …`'
        raise ManifestFault.of("not_a_mapping", message, where=str(text.file), fix=fix)
    if errors := list(_errors(text)):
        raise ManifestFault(*errors)
    return _manifest_from(text)


@lru_cache(maxsize=1)
def manifest_schema() -> dict[str, Any]:
    """Return the published JSON Schema of the manifest."""
    schema: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return schema


@lru_cache(maxsize=2)
def _validator(*, strict: bool) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(_closed(manifest_schema()) if strict else manifest_schema())


def _closed(schema: Any) -> Any:
    """Return the schema without additional properties anywhere, so that it refuses unknown keys."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items() if key != "$id"}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        closed.setdefault("additionalProperties", False)
    return closed


def _errors(text: YamlText) -> Iterable[Problem]:
    """Find what breaks the schema, then ids that occur twice and roots that are not defined."""
    for error in _validator(strict=False).iter_errors(text.value):
        path = list(error.instance_path)
        if len(path) == 2 and path[0] == "goals":
            continue  # one goal: reported where the metrics are known; the rest can be used
        yield Problem(
            "schema",
            f"`{key_of(path, text.value)}`: {error.message}" if path else error.message,
            where=text.place(path),
            fix=_fix(error),
        )
    for section, id_name in (("documents", "doc_id"), ("runs", "run_id")):
        seen: dict[str, str] = {}
        entries = text.value.get(section)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            identity = entry.get(id_name) if isinstance(entry, dict) else None
            if not isinstance(identity, str):
                continue
            where = text.place([section, index, id_name])
            if identity in seen:
                message = f"duplicate {id_name} `{identity}`; the first is at {seen[identity]}"
                yield Problem(f"duplicate_{id_name}", message, where, "give each its own id")
            seen.setdefault(identity, where)
    roots = text.value.get("roots")
    known = roots if isinstance(roots, dict) else {}
    for path, entry in _mappings(text.value, []):
        name = entry.get("root")
        if "path" in entry and isinstance(name, str) and name not in known:
            message = f"`{key_of(path, text.value)}` names the root `{name}`, which is not in `roots`"
            fix = f"add `{name}: FOLDER` under `roots`"
            yield Problem("unknown_root", message, text.place([*path, "root"]), fix)


def _fix(error: jsonschema_rs.ValidationError) -> str:
    """Return what to write instead, from the part of the schema that the error is about."""
    part: Any = manifest_schema()
    for step in list(error.schema_path)[:-1]:
        part = manifest_schema()["$defs"][part["$ref"].rsplit("/", 1)[-1]] if step == "$ref" else part[step]
    if not isinstance(part, dict):
        part = {}
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
        missing = part.get("properties", {}).get(error.kind.property, {})
        value = missing.get("const") or next(iter(missing.get("examples", ())), None)
        written = "…" if value is None else json.dumps(value, ensure_ascii=False)
        return f"add {error.kind.property}: {written}"
    example = part.get("examples", [None])[0]
    if part.get("type") == "boolean":
        return "write true or false"
    if "const" in part:
        return f'write "{part["const"]}"'
    if "enum" in part:
        return "write one of " + ", ".join(part["enum"])
    description = part.get("description", "see data/schemas/manifest-1.0.json")
    return f"{description} For example: {json.dumps(example, ensure_ascii=False)}" if example else description


def key_of(path: Sequence[str | int], value: Any) -> str:
    """Return a path in readable form, `runs[R004].traces.path`, with ids instead of positions."""
    key = ""
    for step in path:
        value = value[step] if isinstance(value, (dict, list)) else None  # type: ignore[index]
        if isinstance(step, int):
            entry = value if isinstance(value, dict) else {}
            key += f"[{entry.get('run_id') or entry.get('doc_id') or step}]"
        else:
            key += f".{step}" if key else step
    return key


def _mappings(value: Any, path: list[str | int]) -> Iterable[tuple[list[str | int], dict[str, Any]]]:
    if isinstance(value, dict):
        yield path, value
    if isinstance(value, (dict, list)):
        for step, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _mappings(inside, [*path, step])


def _manifest_from(text: YamlText) -> Manifest:
    value: dict[str, Any] = text.value
    fixes = value.get("fix_encoding", False)
    runs = tuple(_run(entry, fixes) for entry in value.get("runs", []))
    copied = ("attachments_root", "roots", "triage", "goals", "gates", "contract")
    named: dict[str, Any] = {name: value[name] for name in copied if name in value}
    named |= {
        name: _artifact(value[name], name, kind, None if kind == "journal" else fixes)
        for name, kind in _ARTIFACTS.items()
        if name in value
    }
    documents = [
        Document(
            doc_id=entry["doc_id"],
            artifact=_artifact(
                entry, f"documents[{entry['doc_id']}]", "pdf" if entry.get("paged", True) else "text"
            ),
            paged=entry.get("paged", True),
            rev=entry.get("rev"),
            title=entry.get("title"),
        )
        for entry in value.get("documents", [])
    ]
    return Manifest(
        name=value["name"],
        folder=text.file.parent,
        documents=tuple(documents),
        runs=runs,
        file=text.file,
        warnings=tuple(_warnings(text, runs)),
        raw=value,
        **named,
    )


def _artifact(entry: Mapping[str, Any], key: str, kind: Kind, fixes: bool | None = None) -> Artifact:
    """Return an artifact; `fixes` is the manifest's `fix_encoding`, None for a file that cannot have one."""
    sha256 = entry.get("sha256")
    return Artifact(
        key=key,
        path=entry["path"],
        root=entry.get("root"),
        sha256=sha256.removeprefix("sha256:").lower() if sha256 else None,
        owner=entry.get("owner"),
        version=entry.get("version"),
        kind=kind,
        unreadable_lines=None if "unreadable_lines" not in entry else int(entry["unreadable_lines"]),
        fix_encoding=fixes is not None and entry.get("fix_encoding", fixes),
    )


def _record(path: str, key: str) -> Artifact:
    """Return a pinning record, which is JSON unless its name says Markdown."""
    return Artifact(key, path, kind="text" if path.lower().endswith(MARKDOWN_SUFFIXES) else "json")


def _run(entry: Mapping[str, Any], fixes: bool) -> Run:
    key = f"runs[{entry['run_id']}]"
    pinned, records = entry.get("pinned", {}), entry.get("records", {})
    return Run(
        run_id=entry["run_id"],
        ts=entry.get("ts"),
        title=entry.get("title"),
        kind=entry.get("class"),
        baseline=entry.get("baseline"),
        derived_from=entry.get("derived_from"),
        pinned=pinned,
        record=_record(pinned["record"], f"{key}.pinned.record") if "record" in pinned else None,
        records={
            name: _artifact(part, f"{key}.records.{name}", RECORD_KINDS[name], fixes)
            for name, part in records.items()
            if name in RECORD_KINDS
        },
        **{
            name: _artifact(entry[name], f"{key}.{name}", kind, None if name == "bundles" else fixes)
            for name, kind in _RUN_ARTIFACTS.items()
            if name in entry
        },
    )


def _warnings(text: YamlText, runs: tuple[Run, ...]) -> Iterable[Problem]:
    """Find what does not prevent the manifest's use: unknown keys and odd runs."""

    def warning(code: str, message: str, where: str, fix: str) -> Problem:
        return Problem(code, message, where, fix, severity="warning")

    for error in _validator(strict=True).iter_errors(text.value):
        path = list(error.instance_path)
        if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
            for name in sorted(error.kind.unexpected):
                message = f"`{key_of([*path, name], text.value)}` is an unknown key; it is ignored"
                yield warning("unknown_key", message, text.place(path, key=name), "check its spelling")
    known = {run.run_id for run in runs}
    for index, run in enumerate(runs):
        key = f"runs[{run.run_id}]"
        if run.baseline is not None and run.baseline not in known:
            message = f"`{key}.baseline` is `{run.baseline}`, which is not a run of this manifest"
            fix = "name a run_id of this manifest, or leave `baseline` out"
            yield warning("unknown_baseline", message, text.place(["runs", index, "baseline"]), fix)
        if run.ts is not None and not _is_time(run.ts):
            message = f"`{key}.ts` is `{run.ts}`, which is not a date and time"
            fix = "write it as 2026-01-31T09:00:00Z; the latest run is shown first"
            yield warning("ts_not_a_time", message, text.place(["runs", index, "ts"]), fix)
        if not run.trace_artifacts and run.report is None:
            message = f"`{key}` has no traces, records or report: there is nothing to show"
            yield warning("empty_run", message, text.place(["runs", index]), "add `traces: {path: …}`")


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
