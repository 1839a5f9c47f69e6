"""A file of bundles: its lines read against the schema, and written, packed where its name says so."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jsonschema_rs
import pyarrow

from proofspan.contracts.records import Json, LineIssue, SourceLine
from proofspan.contracts.schemas import schema
from proofspan.evidence.bundles import NEW_KEYS, VERSION, Bundle, bundle_from
from proofspan.traces.fields import text_of
from proofspan.traces.reader import RawLine, UnusableError, issue_of, parse_line, read_lines
from proofspan.traces.sniff import foreign_file
from proofspan.traces.traces import line_at

#: How hard `.zst` files are packed, as the demo's traces are.
ZSTD_LEVEL = 19
#: Schema errors that are told of one line.
ERRORS_TOLD = 5

_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_OWN = (1, 3)
#: One of these tells a bundle of whatever version from a trace, or the row of a report.
_MARKS = frozenset({"bundle_version", "bundle_id", "safety_attachments", "media_attachments"})


@dataclass(frozen=True, slots=True)
class BundleLine:
    """One line of the file. `bundle` is None for an older version, and where the schema is not kept.

    `errors` say where it is not: a place in the record, and what is wrong there.
    """

    source: SourceLine
    record: Mapping[str, Json]
    bundle: Bundle | None
    errors: tuple[tuple[str, str], ...] = ()

    @property
    def q_id(self) -> str:
        """The question that it is about, "" where it names none."""
        return text_of(self.record.get("q_id")) or ""

    @property
    def is_older(self) -> bool:
        """Whether it is of a version before this one, so that building it again upgrades it."""
        return _version_of(self.record) < _OWN


def read_bundles(path: Path, *, file: str, checked: bool = True) -> Iterator[BundleLine | LineIssue]:
    """Every line of an unpacked file of bundles, in its order; what is no bundle at all is a line issue.

    `file` is the name that lines and issues carry. Lines that are not `checked` against the schema have no
    bundle: what is wanted to learn which there are costs a twentieth then. InputFault where the file cannot
    be opened.
    """
    if foreign := foreign_file(path, file=file):
        yield foreign
        return
    for raw in read_lines(path, final=True):
        yield _of_line(raw, file, checked=checked)


def read_bundle_at(path: Path, source: SourceLine) -> BundleLine | LineIssue:
    """The line at a place that `read_bundles` told; InputFault where no line begins and ends there now."""
    return _of_line(line_at(path, source), source.file, checked=True)


def _of_line(raw: RawLine, file: str, *, checked: bool) -> BundleLine | LineIssue:
    source = SourceLine(file, raw.line, raw.offset, raw.length)
    try:
        return _bundle_line(parse_line(raw), source, checked=checked)
    except UnusableError as why:
        return issue_of(why, source, raw.data)


def _bundle_line(obj: Json, source: SourceLine, *, checked: bool) -> BundleLine:
    """The line as a bundle. UnusableError for what is none, and for a version after this one."""
    if not isinstance(obj, dict) or text_of(obj.get("q_id")) is None or obj.keys().isdisjoint(_MARKS):
        said = "the line is no bundle: it is no object with a q_id and a bundle_version"
        raise UnusableError("not_a_bundle", said, "write the bundles anew: proofspan bundle build WORKSPACE")
    version = _version_of(obj)
    if version > _OWN:
        said = (
            f"the bundle is of version {str(obj['bundle_version'])[:20]}; {VERSION} is the last that is read"
        )
        raise UnusableError("bundle_newer", said, "read it with a newer Proofspan")
    if version < _OWN or not checked:
        return BundleLine(source, obj, None)
    errors = tuple(_errors(obj))
    return BundleLine(source, obj, None if errors else bundle_from(obj), errors)


def _version_of(record: Mapping[str, Json]) -> tuple[int, int]:
    """The version as numbers; what states none that can be read is older than all."""
    stated = record.get("bundle_version")
    if stated is None and any(name in record for name in NEW_KEYS):
        return _OWN
    found = _VERSION.fullmatch(str(stated)) if isinstance(stated, str | float) else None
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _errors(record: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Where a record is not what the schema says, each place once."""
    told: set[str] = set()
    for error in _validator().iter_errors(record):
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
        if place not in told and len(told) < ERRORS_TOLD:
            told.add(place)
            yield place.removeprefix(".") or "the bundle", error.message[:300]


@cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema("bundle"))


def packed(data: bytes, *, path: Path) -> bytes:
    """A piece of the file as it lies on disk; pieces may follow one another, and the same gives the same."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    if suffix == ".zst":
        codec = pyarrow.Codec("zstd", compression_level=ZSTD_LEVEL)
        whole: bytes = codec.compress(data, asbytes=True)
        return whole
    return data
