"""The proof of determinism in a pinning record: write it, and check it against the output that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from proofspan.contracts.pinning.hashes import is_hash, same_hash
from proofspan.contracts.pinning.requirements import at
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.context import shown
from proofspan.errors import Fault, InputFault
from proofspan.manifest.load import MANIFEST_NAME
from proofspan.manifest.paths import resolve_reference
from proofspan.manifest.types import Manifest, Run
from proofspan.services.determinism import Determinism, output_sha256
from proofspan.services.pinning.findings import others_output, stated_hashes
from proofspan.services.pinning.read import MOST_BYTES, record_from
from proofspan.traces.lines.reader import open_source


def with_proof(file: Path, found: Determinism) -> bytes:
    """Return the pinning record in `file` with the hashes of two outputs; a new one if there is no file.

    It names the output that is inside the record's workspace. Raises InputFault for a file that is no record.
    """
    values: dict[str, Any] = {"$schema": "urn:proofspan:schema:pinning-1.0"}
    if file.suffix.lower() != ".json":
        fix = "name a .json file; `proofspan pin --new` makes one"
        raise InputFault.of("not_json", "hashes are written to JSON records only", where=str(file), fix=fix)
    if file.exists():
        with open_source(file) as source:
            values = dict(record_from(source.read(MOST_BYTES + 1), name=str(file)).values)
    earlier = values.get("determinism")
    kept = earlier.get("file") if isinstance(earlier, dict) else None
    of, a, b = found.sha256
    proof: dict[str, Json] = {"of": of, "sha256": [a, b]}
    if of == "records" and found.ignored:
        proof["ignored"] = list(found.ignored)
    named = _in_workspace(file, found.paths) if len(found.files) == 1 and not found.alone else None
    if (output := named or kept) is not None:
        proof["file"] = output
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(values | {"determinism": proof}, option=options)


def _in_workspace(file: Path, outputs: Iterable[Path]) -> str | None:
    """Return the path of the first output that is in the workspace of the record."""
    folder = next((each for each in file.resolve().parents if (each / MANIFEST_NAME).is_file()), None)
    for output in outputs if folder is not None else ():
        with suppress(ValueError):
            return output.resolve().relative_to(folder).as_posix()  # type: ignore[arg-type]  # see the loop
    return None


def proof_problem(manifest: Manifest, run: Run, record: Mapping[str, Json]) -> str | None:
    """Return why a record does not prove that its run is deterministic; None if it does.

    It has to state at least two equal hashes, and the output that it names has to have that hash.
    """
    hashes = stated_hashes(record)
    if len(hashes) < 2:
        return "the record does not state the sha256 of two runs"
    if not all(map(is_hash, hashes)):
        odd = next(each for each in hashes if not is_hash(each))
        return f"{shown(odd)} is not a hash of at least 7 hexadecimal digits"
    if any(same_hash(hashes[0], each) is not True for each in hashes[1:]):
        return f"the hashes of its runs differ: {', '.join(map(shown, hashes))}"
    if (other := others_output(manifest, run, record)) is not None:
        return f"the record is about {other}, which is no output of {run.run_id}"
    output = at(record, "determinism.file")
    if not isinstance(output, str):
        return None
    of, ignored = at(record, "determinism.of"), at(record, "determinism.ignored")
    fields = [each for each in ignored if isinstance(each, str)] if isinstance(ignored, list) else []
    try:
        path = resolve_reference(manifest.folder, output)
        now = output_sha256(path, of=str(of or "bytes"), ignore=fields)
    except Fault as fault:
        return f"its output {output} cannot be read: it {fault.problems[0].message}"
    if now is None or same_hash(hashes[0], now) is not True:
        return f"{output} has another sha256 now: {now or 'none, as a line has no canonical form'}"
    return None
