"""Read the pinning record that a run names: a JSON object, or Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from proofspan.contracts.pinning.markdown import UnreadLine, read_markdown
from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.manifest.load import MARKDOWN_SUFFIXES
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest, Run
from proofspan.mojibake import repaired
from proofspan.traces.lines.reader import BOM, MAX_DEPTH, is_deeper, open_source

#: The largest record that is read, and the largest in Markdown, in bytes.
MOST_BYTES = 4 << 20
MOST_MARKDOWN = 256 << 10


@dataclass(frozen=True, slots=True)
class PinRecord:
    """A record's fields as in `data/schemas/pinning-1.0.json`, and the lines of Markdown not understood."""

    values: Mapping[str, Json] = field(default_factory=dict)
    unread: tuple[UnreadLine, ...] = ()


def read_record(manifest: Manifest, run: Run) -> PinRecord:
    """Return the pinning record of a run, empty if it names none. Raises Fault if it cannot be used."""
    if run.record is None:
        return PinRecord()
    with open_source(artifact_path(manifest, run.record)) as file:
        data = file.read(MOST_BYTES + 1)
    return record_from(data, name=run.record.path, of=f"the pinning record of {run.run_id}")


def record_from(data: bytes, *, name: str, of: str = "the pinning record") -> PinRecord:
    """Return the record in the bytes of the file `name`; `of` names it in messages. Raises InputFault."""
    is_markdown = name.lower().endswith(MARKDOWN_SUFFIXES)
    most = MOST_MARKDOWN if is_markdown else MOST_BYTES
    if len(data) > most:
        raise _unusable(of, name, f"it is larger than {most:,} bytes")
    if is_markdown:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise _unusable(of, name, "it is not UTF-8 text") from error
        values, unread = read_markdown(repaired(text).text)
        if not values:
            raise _unusable(of, name, "none of its lines names a field of a record")
        return PinRecord(values, unread)
    try:
        known = orjson.loads(data.removeprefix(BOM))
    except orjson.JSONDecodeError as error:
        raise _unusable(of, name, f"it is not valid JSON: {error}") from error
    if not isinstance(known, dict):
        raise _unusable(of, name, "it is not a JSON object")
    if is_deeper(known, MAX_DEPTH):
        raise _unusable(of, name, f"it is nested more than {MAX_DEPTH} deep")
    return PinRecord(known)


def _unusable(of: str, name: str, reason: str) -> InputFault:
    return InputFault.of(
        "record_unusable",
        f"{of} cannot be used: {reason}",
        where=name,
        fix="write one JSON object there (`proofspan pin --new` makes one), or take `record` out of `pinned`",
    )
