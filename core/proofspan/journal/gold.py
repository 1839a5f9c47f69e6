"""Gold that people correct: a question's record is written again at the end of the file, and the last counts.

The earlier lines stay, so that the file shows who changed what. `revised` in the new line says who did, and
that the repeat is meant.
"""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.records.schemas import validator
from proofspan.contracts.rules.schema_findings import schema_problems
from proofspan.errors import InputFault, Problem
from proofspan.journal.lines import open_journal
from proofspan.journal.named import path_to_write, refusal_to_write
from proofspan.manifest.types import Manifest

#: The line that gives a workspace gold questions.
MANIFEST_LINE = "gold: {path: goldset.jsonl}"

GoldRecord = Mapping[str, Json]


def revise(
    manifest: Manifest, q_id: str, change: GoldRecord, *, author: str, at: str
) -> tuple[GoldRecord | None, GoldRecord]:
    """Add the gold record of a question with some fields changed, and return the one before and the new one.

    Without a record `change` has to hold the question (`q`). None as a value takes a field away. On return
    the line is on the disk. Raises InputFault if the new record is not valid, or the file cannot be added to:
    it is not JSON lines, its hash is stated in the manifest, or the manifest names none; ManifestFault if its
    path is refused.
    """
    return _put(manifest, q_id, change, {"by": author, "at": at})


def restore(manifest: Manifest, q_id: str, record: GoldRecord | None, *, author: str, at: str) -> None:
    """Make an earlier record of a question count again; None takes its gold away. Raises as `revise`."""
    revised: dict[str, Json] = {"by": author, "at": at}
    if record is None:
        _put(manifest, q_id, {}, {**revised, "removed": True})
    else:
        _put(manifest, q_id, record, revised, whole=True)


def refusal(manifest: Manifest) -> Problem | None:
    """Return why nobody can add to the gold of this workspace; None if the manifest allows it."""
    if (problem := refusal_to_write(manifest, manifest.gold, key="gold", line=MANIFEST_LINE)) is not None:
        return problem
    if manifest.gold is not None and not manifest.gold.path.lower().endswith((".jsonl", ".ndjson")):
        message = f"{manifest.gold.path} is not a file of JSON lines (.jsonl), so no line can be added to it"
        fix = "write the gold questions as JSON lines, one a line, and name that file in the manifest"
        return Problem("gold_not_lines", message, manifest.gold.path, fix)
    return None


def _put(
    manifest: Manifest, q_id: str, change: GoldRecord, revised: GoldRecord, *, whole: bool = False
) -> tuple[GoldRecord | None, GoldRecord]:
    if (problem := refusal(manifest)) is not None:
        raise InputFault(problem)
    path = path_to_write(manifest, manifest.gold, key="gold", line=MANIFEST_LINE)
    with open_journal(path, file=path.name) as journal:
        entries, issues = journal.read()
        if any(issue.code == "not_an_object" and issue.source.line == 1 for issue in issues):
            message, fix = "it is one JSON array, so no line can be added", "write one record a line instead"
            raise InputFault.of("gold_not_lines", message, where=str(path), fix=fix)
        earlier = next((each.record for each in reversed(entries) if _id_of(each.record) == q_id), None)
        if earlier is not None and _is_removed(earlier):
            earlier = None
        record = {**({} if whole else earlier or {}), **change, "q_id": q_id, "revised": dict(revised)}
        record = {name: value for name, value in record.items() if value is not None}
        if revised.get("removed") and "q" not in record:
            return None, record  # there was none
        _check(record, q_id)
        journal.append(record)
    return earlier, record


def _check(record: GoldRecord, q_id: str) -> None:
    where, fix = f"gold of {q_id}", "data/schemas/gold-1.0.json describes every field"
    try:
        orjson.dumps(record)
    except TypeError as error:
        message = f"it cannot be written as JSON: {error}"
        raise InputFault.of("entry_not_json", message, where=where, fix=fix) from None
    if not validator("gold").is_valid(record):
        raise InputFault(
            *(
                Problem(found.code, found.message, f"{where}, {found.where}", fix)
                for found in schema_problems("gold", record)
            )
        )


def _id_of(record: GoldRecord) -> str | None:
    q = record.get("q", record.get("question"))
    return (
        text_of(record.get("q_id"))
        or text_of(record.get("qid"))
        or (sha1_8(q) if isinstance(q, str) else None)
    )


def _is_removed(record: GoldRecord) -> bool:
    revised = record.get("revised")
    return isinstance(revised, dict) and revised.get("removed") is True
