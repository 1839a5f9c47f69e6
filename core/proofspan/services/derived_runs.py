"""Runs computed from a logged run, such as a what-if that was saved: a run like any other, in its own files.

The answers were made from the logged run's prompts. Each record says so in `answer_from`, so that nothing
blames the answerer for a prompt that it never saw.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from proofspan.contracts.records.records import Json, LineIssue, StageName, Trace
from proofspan.errors import InputFault, ManifestFault
from proofspan.fingerprints import sha256_of
from proofspan.manifest.edit import OpenManifest, open_manifest
from proofspan.manifest.paths import artifact_path, is_missing
from proofspan.manifest.put_files import Together, together
from proofspan.manifest.types import Manifest, Run
from proofspan.traces.records.trace_record import listed
from proofspan.traces.records.traces import iter_traces
from proofspan.traces.separate.join_cache import trace_file

#: A run id that is a folder's name on every system.
RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:proofspan:derived-run")
_RECORD_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE


@dataclass(slots=True)
class ParentTraces:
    """The traces of a run in the order of its file; `issues` has the lines without one that were passed."""

    path: Path
    file: str
    run_id: str
    is_final: bool
    issues: list[LineIssue] = field(default_factory=list)

    def __iter__(self) -> Iterator[Trace]:
        for item in iter_traces(self.path, file=self.file, run_id=self.run_id, final=self.is_final):
            if isinstance(item, LineIssue):
                self.issues.append(item)
            else:
                yield item


def parent_traces(manifest: Manifest, run: Run, *, cache_dir: Path) -> ParentTraces:
    """Return the traces of a run, unpacked or joined from its separate records below `cache_dir`.

    Lines of separate records that were not joined are among its issues. Raises InputFault if they cannot be
    read.
    """
    source = trace_file(manifest, run, cache_dir=cache_dir)
    return ParentTraces(source.needed_path, source.file, run.run_id, source.is_final, [*source.issues])


def derived_record(
    trace: Trace,
    *,
    run_id: str,
    stages: Mapping[StageName, Sequence[Json]] | None = None,
    chunks: Sequence[Json] | None = None,
) -> dict[str, Json]:
    """Return the trace as a record of another run, in the key order of its line.

    `stages` replace those of the same name, `chunks` the prompt; None leaves what was logged. `trace_id` is
    made of the logged one and the run. `answer_from` names the run and the prompt that the answer was made
    from: those of the trace, or, where it was derived itself, those that it names.
    """
    record = {**trace.raw, "run_id": run_id}
    if isinstance(logged_id := record.get("trace_id"), str):
        record["trace_id"] = str(uuid.uuid5(_NAMESPACE, f"{logged_id}\n{run_id}"))
    if stages:
        logged = record.get("stages")
        record["stages"] = {**(logged if isinstance(logged, dict) else {}), **stages}
    if not isinstance(record.get("answer_from"), dict):
        prompt = [chunk_id for _, chunk_id, _ in listed(trace, "chunks")]
        record["answer_from"] = {"run_id": trace.run_id, "chunks": prompt}
    if chunks is not None:
        record["chunks"] = chunks
    return record


def write_run(
    manifest: Manifest,
    parent: Run,
    *,
    run_id: str,
    title: str,
    kind: str,
    records: Iterable[Mapping[str, Json]],
    settings: Mapping[str, Json],
    by: str,
    pinned: Mapping[str, str] | None = None,
    record: Mapping[str, Json] | None = None,
    first_sha256: str | None = None,
    issues: Sequence[LineIssue] = (),
) -> Path:
    """Write a run computed from `parent` and add it to the manifest; return its trace file.

    `records` are one for each of the parent's traces, in order, from `derived_record`; they are read once.
    `kind` is the run's class, `by` the command that computed it, `settings` everything that decides the
    outcome. `pinned` is what differs from the parent's pins, `record` from its pinning record: libraries and
    commands are added to the parent's, whose determinism is left out, as it is that of its own files.
    `first_sha256` is that of the trace file as it was computed before; the pinning record then states both as
    its determinism. `issues` are the parent's lines without a trace, counted when the records have been read.

    `runs/RUN_ID/trace.jsonl`, `pinning/RUN_ID.json` and the manifest appear together or not at all. The same
    run again gives the same bytes. Raises InputFault if the run or one of the files exists with other
    content, or cannot be written; ManifestFault for a manifest that cannot be used.
    """
    _refuse_name(run_id)
    if manifest.file is None:
        raise ValueError("the manifest was not read from a file")
    traces, pinning = f"runs/{run_id}/trace.jsonl", f"pinning/{run_id}.json"
    target, record_file = (_inside(manifest, each) for each in (traces, pinning))
    with together(f"the run {run_id}", where=manifest.folder) as files:
        sha256 = files.write(target, _lines(records, parent))
        derived: dict[str, Json] = {
            "by": by,
            "parent": parent.run_id,
            **_hashes_of(manifest, parent),
            "settings": dict(settings),
            **({"parent_lines_without_a_trace": len(issues)} if issues else {}),
        }
        inherited = _parent_record(manifest, parent)
        body = {**_merged(inherited, record or {}), "run_id": run_id, "derived": derived}
        if first_sha256 is not None:
            body["determinism"] = {"file": traces, "of": "bytes", "sha256": [first_sha256, sha256]}
        entry: dict[str, Json] = {
            "run_id": run_id,
            **({"ts": parent.ts} if parent.ts is not None else {}),
            "title": title,
            "class": kind,
            "baseline": parent.run_id,
            "derived_from": parent.run_id,
            "traces": {"path": traces, "sha256": sha256},
            "pinned": {**parent.pinned, **(pinned or {}), "record": pinning},
        }
        with open_manifest(manifest.file) as opened:
            _put(opened, files, entry, target, (record_file, body))
            files.commit()
    return target


def traces_sha256(records: Iterable[Mapping[str, Json]], parent: Run) -> str:
    """Return the sha256 of the trace file that `write_run` makes of the records."""
    digest = hashlib.sha256()
    for line in _lines(records, parent):
        digest.update(line)
    return digest.hexdigest()


def _put(
    opened: OpenManifest,
    files: Together,
    entry: Mapping[str, Json],
    target: Path,
    record: tuple[Path, Mapping[str, Json]],
) -> None:
    """Write record and manifest to `files`. Raises InputFault for what exists with other content."""
    record_file, body = record
    is_known = opened.entry(str(entry["run_id"])) is not None
    data = orjson.dumps(body, option=_RECORD_OPTIONS)
    existing = record_file.read_bytes() if record_file.exists() else None
    if existing is None:
        files.write(record_file, [data])
    elif not (existing == data or (is_known and _json_object(existing).get("derived") == body["derived"])):
        raise _exists(record_file)  # people may have added to the record of a run that they saved
    if not is_known and target.exists() and sha256_of(target) != entry["traces"]["sha256"]:
        raise _exists(target)
    opened.put_run(entry, files)


def _exists(file: Path) -> InputFault:
    fix = "choose another run id, or move that file away"
    return InputFault.of("file_exists", "the file exists with other content", where=str(file), fix=fix)


def _refuse_name(run_id: str) -> None:
    if RUN_ID.fullmatch(run_id) is None:
        message = f"the run id {run_id[:100]!r} cannot name a folder"
        fix = "use 1 to 100 letters of a-z, digits, `.`, `_`, `+` and `-`, a letter or digit first: R007"
        raise InputFault.of("run_id_refused", message, fix=fix)


def _inside(manifest: Manifest, path: str) -> Path:
    """Return the place of a new file of the workspace. Raises InputFault if a link leads it outside."""
    place = manifest.folder / path
    if place.is_symlink() or not place.resolve().is_relative_to(manifest.folder.resolve()):
        fix = "replace the link by a folder of the workspace"
        message = "a link in its path leads to another place"
        raise InputFault.of("path_outside", message, where=str(place), fix=fix)
    return place


def _lines(records: Iterable[Mapping[str, Json]], parent: Run) -> Iterator[bytes]:
    is_empty = True
    for record in records:
        is_empty = False
        yield orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    if is_empty:
        message = f"the run {parent.run_id} has no traces, so none can be made of them"
        raise InputFault.of("no_traces", message, fix="name a run with traces")


def _hashes_of(manifest: Manifest, parent: Run) -> dict[str, Json]:
    """Return the sha256 of the files that the parent's traces were read from."""
    if parent.traces is not None:
        return {"parent_traces_sha256": sha256_of(artifact_path(manifest, parent.traces))}
    hashes = {name: sha256_of(artifact_path(manifest, each)) for name, each in parent.records.items()}
    return {"parent_records_sha256": hashes}


def _parent_record(manifest: Manifest, parent: Run) -> dict[str, Json]:
    """Return the parent's pinning record; {} without one. Raises ManifestFault if its path is refused.

    Of a record in another form than JSON only its place and hash are taken over.
    """
    if parent.record is None:
        return {}
    try:
        file = artifact_path(manifest, parent.record)
    except ManifestFault as fault:
        if is_missing(fault):
            return {}
        raise
    found = _json_object(file.read_bytes())
    return found or {"parent_record": {"path": parent.record.path, "sha256": sha256_of(file)}}


def _merged(parent: Mapping[str, Json], own: Mapping[str, Json]) -> dict[str, Json]:
    """Return the parent's record with what differs in a derived run."""
    merged = {name: value for name, value in parent.items() if name != "determinism"} | dict(own)
    libraries, commands = (parent.get(name) for name in ("libraries", "commands"))
    if isinstance(libraries, dict) and "libraries" in own:
        merged["libraries"] = {**libraries, **own["libraries"]}
    if isinstance(commands, list) and "commands" in own:
        merged["commands"] = [*commands, *own["commands"]]
    return merged


def _json_object(data: bytes) -> dict[str, Json]:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
