"""Evidence bundles 1.3: one answer with the page, boxes and attachments that its evidence consists of.

A bundle is written as canonical JSON with its own hash. Fields that this version does not know survive
reading and rebuilding: the record as it was read stays in `Bundle.raw`.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

import orjson
import pyarrow

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import (
    Attachment,
    Json,
    Label,
    LineIssue,
    Offsets,
    SourceLine,
    TraceKey,
)
from proofspan.contracts.records.schemas import schema, validator
from proofspan.errors import Problem
from proofspan.evidence.attachments import Attached
from proofspan.evidence.types import FoundSpan
from proofspan.traces.lines.reader import RawLine, UnusableError, issue_of, parse_line, read_lines
from proofspan.traces.lines.sniff import foreign_file
from proofspan.traces.records.traces import line_at

VERSION: Final = "1.3"
SCHEMA_ID: Final = f"urn:proofspan:schema:bundle-{VERSION}"
#: Keys that version 1.2 lacks.
NEW_KEYS = ("citation", "safety_attachments", "media_attachments")
#: Characters kept of a value that a problem quotes.
GIVEN = 200

Level = Literal["full", "safety_citation", "citation_only", "text_only"]
Origin = Literal["payload", "answer_text", "retrieved", "none"]
SectionFrom = Literal["section_number", "section_id", "page"]
PageFrom = Literal["record", "chunk_id", "label", "found", "text"]

#: Best first.
LEVELS: tuple[Level, ...] = ("full", "safety_citation", "citation_only", "text_only")


@dataclass(frozen=True, slots=True)
class ValueProblem(Problem):
    """A problem with the value in the record that causes it, shortened by `given`."""

    value: Json = None


@dataclass(frozen=True, slots=True)
class BundleCitation:
    """A citation, or the closest retrieved passage (`number` None, `rank` its rank), and its place.

    `page_idx` is the cited page. `shown_page_idx` is the page to show: where the text was found, else the
    cited page; None if no page can be shown. `found` is None if there was nothing to locate.
    """

    origin: Literal["payload", "answer_text", "retrieved"] = "payload"
    number: int | None = None
    rank: int | None = None
    chunk_id: str | None = None
    doc_id: str | None = None
    section_id: str | None = None
    section_number: str | None = None
    section_number_from: SectionFrom | None = None
    page_idx: int | None = None
    page_idx_from: PageFrom | None = None
    shown_page_idx: int | None = None
    page_label: str | None = None
    quote: str | None = None
    quote_from: Literal["payload", "chunk"] | None = None
    offsets: Offsets | None = None
    found: FoundSpan | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Return whether there is a page to show, with the three fields a citation must have."""
        needed = (self.doc_id, self.section_number, self.page_idx, self.shown_page_idx)
        return all(value is not None for value in needed)

    @property
    def is_placed(self) -> bool:
        """Return whether the text was located on the page shown (in a text document: among its lines)."""
        found = self.found
        if not self.is_shown or found is None or found.status == "not_found":
            return False
        return bool(found.ranges) if found.page_idx is None else found.page_idx == self.shown_page_idx


@dataclass(frozen=True, slots=True)
class BundleAttachment(Attached):
    """An attachment of a citation and whether it can be drawn; `problem` says why not."""

    drawable: bool = False
    problem: Problem | None = None
    citation_number: int | None = None


@dataclass(frozen=True, slots=True)
class BundleDocument:
    """A document that a bundle was built from. `sha256` is the hash of the file that was read."""

    doc_id: str
    title: str | None = None
    path: str | None = None
    paged: bool = True
    page_count: int | None = None
    rev: str | None = None
    sha256: str | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Bundle:
    """One answer's evidence. `raw` is the record that was read, empty for a bundle being built."""

    bundle_id: str
    run_id: str
    q_id: str
    q: str
    answer: str
    level: Level
    level_reason: str
    citation: BundleCitation | None = None
    citation_origin: Origin = "none"
    citations: tuple[BundleCitation, ...] = ()
    safety_attachments: tuple[BundleAttachment, ...] = ()
    media_attachments: tuple[BundleAttachment, ...] = ()
    documents: tuple[BundleDocument, ...] = ()
    problems: tuple[Problem, ...] = ()
    paraphrase: int = 0
    seed: int = 0
    repeat: int = 1
    is_refusal: bool = False
    label: Label | None = None
    why: str | None = None
    profile: Mapping[str, Json] | None = None
    raw: Mapping[str, Json] = field(default_factory=dict)

    @property
    def key(self) -> TraceKey:
        """Return the key of the bundle's trace."""
        return TraceKey(self.run_id, self.q_id, self.paraphrase, self.seed, self.repeat)

    @property
    def attachments(self) -> tuple[BundleAttachment, ...]:
        """Return the safety notices, then the media."""
        return (*self.safety_attachments, *self.media_attachments)


def bundle_id(key: TraceKey) -> str:
    """Return the id of a trace's bundle, a uuid5 of the trace's key."""
    name = orjson.dumps([key.run_id, key.q_id, key.paraphrase, key.seed, key.repeat]).decode()
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:proofspan:bundle:{name}"))


def given(value: Json) -> Json:
    """Return a value as a problem quotes it: numbers unchanged, the beginning of everything else."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    return text if len(text) <= GIVEN else text[:GIVEN] + "…"


def record_of(bundle: Bundle) -> dict[str, Json]:
    """Return the JSON record of a bundle with its hash, and with the unknown fields of its `raw`.

    Fields of a citation, an attachment or a document are kept as long as it is the same one.
    """
    own = {"$schema": SCHEMA_ID, "bundle_version": VERSION, **cast(dict[str, Json], _plain(bundle))}
    earlier = own.pop("raw")
    before = {_identity(name, item): item for name, item in _parts(earlier)}
    for name, item in _parts(own):
        for field_name, value in before.get(_identity(name, item), {}).items():
            item.setdefault(field_name, value)
    return sealed({name: value for name, value in earlier.items() if name != "sha256"} | own)


def sealed(record: Mapping[str, Json]) -> dict[str, Json]:
    """Return the record with its hash."""
    return {**record, "sha256": sha256_of(record)}


def sha256_of(record: Mapping[str, Json]) -> str:
    """Return the hash of a record's canonical JSON without its `sha256`, in hexadecimal."""
    body = {name: value for name, value in record.items() if name != "sha256"}
    return hashlib.sha256(canonical(body)).hexdigest()


def canonical(record: Mapping[str, Json]) -> bytes:
    """Return the canonical bytes of a record: UTF-8, keys sorted, no white space."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


_SCHEMA, _TYPES = cache(schema), cache(get_type_hints)
_CITED = ("doc_id", "chunk_id", "page_idx")
#: The parts of a bundle: their definition in the schema, and the fields that identify one.
_PARTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "citation": ("citation", _CITED),
    "citations": ("citation", ("number", *_CITED)),
    "safety_attachments": ("attachment", ("attachment_id",)),
    "media_attachments": ("attachment", ("attachment_id",)),
    "documents": ("document", ("doc_id",)),
}


def _parts(record: Mapping[str, Json]) -> Iterator[tuple[str, dict[str, Json]]]:
    for name in _PARTS:
        value = record.get(name)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield name, item


def _identity(name: str, item: Mapping[str, Json]) -> bytes:
    return orjson.dumps([name, *(item.get(each) for each in _PARTS[name][1])])


def has_unknown(record: Mapping[str, Json]) -> bool:
    """Return whether a record has a field that this version does not know, which a rebuild must keep."""
    whole = _SCHEMA("bundle")
    if not record.keys() <= whole["properties"].keys():
        return True
    parts = ((item, whole["$defs"][_PARTS[name][0]]["properties"]) for name, item in _parts(record))
    return any(not item.keys() <= known.keys() for item, known in parts)


def bundle_from(record: Mapping[str, Json]) -> Bundle:
    """Return the bundle of a record that follows the schema; omitted fields take their defaults."""
    return cast(Bundle, _decoded(Bundle, {**record, "raw": record}))


def _plain(value: Any) -> Json:
    """Return a record as JSON objects and lists all the way down: orjson sorts the keys of objects only."""
    if value is None or isinstance(value, str | int | float):  # most of them
        return value
    if isinstance(value, Problem):
        quoted = value.value if isinstance(value, ValueProblem) else None
        return {"code": value.code, "message": value.message, "remedy": value.fix, "given": quoted}
    if isinstance(value, Attachment):
        own = {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.name != "raw"}
        return own | {"bbox": own.pop("box"), "bbox_space": own.pop("box_space") if value.box else None}
    if is_dataclass(value) and not isinstance(value, type):
        own = {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
        return {**cast(dict[str, Json], own.pop("attachment", {})), **own}
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _decoded(kind: Any, value: Json) -> Any:
    """Return a JSON value as the annotated type `kind`, recursively; keys that it lacks are ignored."""
    if get_origin(kind) in (Union, UnionType):
        return None if value is None else _decoded(get_args(kind)[0], value)
    if get_origin(kind) is tuple:
        return tuple(_decoded(get_args(kind)[0], each) for each in value)
    if kind is Problem:
        own = Problem(value["code"], value["message"], fix=value.get("remedy", ""))
        quoted = value.get("given")
        return own if quoted is None else ValueProblem(own.code, own.message, fix=own.fix, value=quoted)
    if kind is BundleAttachment:
        box = {"box": value.get("bbox"), "box_space": value.get("bbox_space") or "points"}
        value = {**value, "attachment": {**value, **box, "raw": {}}}
    if kind is BundleCitation:
        value = {"shown_page_idx": value.get("page_idx"), **value}
    if isinstance(kind, type) and is_dataclass(kind):
        types = _TYPES(kind)
        return kind(**{name: _decoded(types[name], each) for name, each in value.items() if name in types})
    return kind(value) if kind in (int, float) else value  # JSON Schema accepts 41.0 as an integer


# A file of bundles: its lines validated against the schema, and compressed where its name says so.

#: The compression level of `.zst` files, the same as for traces.
ZSTD_LEVEL = 19
#: Schema errors reported for one line.
MAX_ERRORS = 5

_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_OWN = (1, 3)
#: Any of these keys distinguishes a bundle of whatever version from a trace or a report row.
_MARKS = frozenset({"bundle_version", "bundle_id", "safety_attachments", "media_attachments"})


@dataclass(frozen=True, slots=True)
class BundleLine:
    """One line of the file. `bundle` is None for an older version and for a record that violates the schema.

    `errors` are pairs of a place in the record and what is wrong there.
    """

    source: SourceLine
    record: Mapping[str, Json]
    bundle: Bundle | None
    errors: tuple[tuple[str, str], ...] = ()

    @property
    def q_id(self) -> str:
        """Return the id of the question, "" if the record has none."""
        return text_of(self.record.get("q_id")) or ""

    @property
    def is_older(self) -> bool:
        """Return whether the bundle is of an earlier version, which a rebuild upgrades."""
        return _version_of(self.record) < _OWN


def read_bundles(path: Path, *, file: str, checked: bool = True) -> Iterator[BundleLine | LineIssue]:
    """Read every line of an uncompressed file of bundles; a line that is no bundle gives an issue.

    `file` is the name in lines and issues. Without `checked` the schema is not applied and `bundle` is None:
    listing a file's bundles then costs a twentieth. Raises InputFault if the file cannot be opened.
    """
    if foreign := foreign_file(path, file=file):
        yield foreign
        return
    for raw in read_lines(path, final=True):
        yield _of_line(raw, file, checked=checked)


def read_bundle_at(path: Path, source: SourceLine) -> BundleLine | LineIssue:
    """Read one line that `read_bundles` listed; InputFault if no line begins and ends there any more."""
    return _of_line(line_at(path, source), source.file, checked=True)


def _of_line(raw: RawLine, file: str, *, checked: bool) -> BundleLine | LineIssue:
    source = SourceLine(file, raw.line, raw.offset, raw.length)
    try:
        obj = parse_line(raw)
        if not isinstance(obj, dict) or text_of(obj.get("q_id")) is None or obj.keys().isdisjoint(_MARKS):
            message = "the line is no bundle: it is no object with a q_id and a bundle_version"
            fix = "rebuild the bundles: proofspan bundle build WORKSPACE"
            raise UnusableError("not_a_bundle", message, fix)
        if (version := _version_of(obj)) > _OWN:
            stated = str(obj["bundle_version"])[:20]
            message = f"the bundle has version {stated}, and this Proofspan reads versions up to {VERSION}"
            raise UnusableError("bundle_newer", message, "read it with a newer Proofspan")
    except UnusableError as why:
        return issue_of(why, source, raw.data)
    if version < _OWN or not checked:
        return BundleLine(source, obj, None)
    errors: dict[str, str] = {}  # the first at each place
    for error in validator("bundle").iter_errors(obj):
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
        place = "".join(steps).removeprefix(".") or "the bundle"
        if len(errors) < MAX_ERRORS:
            errors.setdefault(place, error.message[:300])
    return BundleLine(source, obj, None if errors else bundle_from(obj), tuple(errors.items()))


def _version_of(record: Mapping[str, Json]) -> tuple[int, int]:
    """Return the version as numbers; a record without a readable version is older than all."""
    stated = record.get("bundle_version")
    if stated is None and any(name in record for name in NEW_KEYS):
        return _OWN
    match = _VERSION.fullmatch(str(stated)) if isinstance(stated, str | float) else None
    return (int(match[1]), int(match[2])) if match else (0, 0)


def packed(data: bytes, *, path: Path) -> bytes:
    """Return a piece of the file, compressed as its name says; pieces may follow one another."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    if suffix == ".zst":
        return cast(bytes, pyarrow.Codec("zstd", compression_level=ZSTD_LEVEL).compress(data, asbytes=True))
    return data
