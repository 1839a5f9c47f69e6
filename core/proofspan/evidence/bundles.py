"""Evidence bundles 1.3: one answer with the page, the boxes and the attachments that show what it rests on.

Pure. A bundle is made from these records, written as canonical JSON and sealed by its own hash. What is read
back stays beside them as it was written (`Bundle.raw`), so that unknown fields outlive every writer.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

import jsonschema_rs
import orjson
import pyarrow

from proofspan.contracts.records.field_values import text_of
from proofspan.contracts.records.records import (
    AttachmentKind,
    Box,
    BoxSpace,
    Json,
    Label,
    LineIssue,
    Offsets,
    SourceLine,
    TraceKey,
)
from proofspan.contracts.records.schemas import schema
from proofspan.evidence.attachments import By
from proofspan.evidence.types import Difference, FoundSpan, Place, TextRange
from proofspan.traces.lines.reader import RawLine, UnusableError, issue_of, parse_line, read_lines
from proofspan.traces.lines.sniff import foreign_file
from proofspan.traces.records.traces import line_at

VERSION: Final = "1.3"
SCHEMA_ID: Final = f"urn:proofspan:schema:bundle-{VERSION}"
#: What 1.2 lacks.
NEW_KEYS = ("citation", "safety_attachments", "media_attachments")
#: A given value is told with at most so many characters.
GIVEN = 200

Level = Literal["full", "safety_citation", "citation_only", "text_only"]
Origin = Literal["payload", "answer_text", "retrieved", "none"]
SectionFrom = Literal["section_number", "section_id", "page"]
PageFrom = Literal["record", "chunk_id", "label", "found", "text"]

#: Best first.
LEVELS: tuple[Level, ...] = ("full", "safety_citation", "citation_only", "text_only")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BundleProblem:
    """What is wrong with a part of a bundle; `given` is the value that the record has, in brief."""

    code: str
    message: str
    remedy: str = ""
    given: Json = None


@dataclass(frozen=True, slots=True)
class BundleCitation:
    """A citation, or the closest retrieved passage (`number` None, `rank` its rank), with where it stands.

    `page_idx` is the cited page, `shown_page_idx` the one to turn to: where the text was found, else the
    cited one, None where no page can be shown. `found` is None where nothing could be looked for.
    """

    origin: Literal["payload", "answer_text", "retrieved"]
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
    problems: tuple[BundleProblem, ...] = ()

    @property
    def is_shown(self) -> bool:
        """Whether there is a page to turn to, with the three fields that a citation is made of."""
        needed = (self.doc_id, self.section_number, self.page_idx, self.shown_page_idx)
        return all(value is not None for value in needed)

    @property
    def is_placed(self) -> bool:
        """Whether its text stands on the page that is shown (in a text: among its lines)."""
        found = self.found
        if not self.is_shown or found is None or found.status == "not_found":
            return False
        return bool(found.ranges) if found.page_idx is None else found.page_idx == self.shown_page_idx


@dataclass(frozen=True, slots=True)
class BundleAttachment:
    """An attachment that belongs to a citation, and whether it can be drawn; `problem` says why it can't."""

    attachment_id: str
    kind: AttachmentKind
    doc_id: str | None = None
    section_id: str | None = None
    page_idx: int | None = None
    bbox: Box | None = None
    bbox_space: BoxSpace | None = None
    text: str = ""
    caption: str | None = None
    render_ref: str | None = None
    drawable: bool = False
    problem: BundleProblem | None = None
    by: By = "section"
    pages_away: int | None = None
    citation_number: int | None = None


@dataclass(frozen=True, slots=True)
class BundleDocument:
    """A document that a bundle was built from. `sha256` is that of the file which was read."""

    doc_id: str
    title: str | None = None
    path: str | None = None
    paged: bool = True
    page_count: int | None = None
    rev: str | None = None
    sha256: str | None = None
    problem: BundleProblem | None = None


@dataclass(frozen=True, slots=True)
class Bundle:
    """One answer's evidence. `raw` is the record as it was read, empty for one that is being built."""

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
    problems: tuple[BundleProblem, ...] = ()
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
        """The trace that it belongs to."""
        return TraceKey(self.run_id, self.q_id, self.paraphrase, self.seed, self.repeat)

    @property
    def attachments(self) -> tuple[BundleAttachment, ...]:
        """Safety notices, then media."""
        return (*self.safety_attachments, *self.media_attachments)


def bundle_id(key: TraceKey) -> str:
    """The id of a trace's bundle: the same in every build, another for every other trace."""
    name = orjson.dumps([key.run_id, key.q_id, key.paraphrase, key.seed, key.repeat]).decode()
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:proofspan:bundle:{name}"))


def given(value: Json) -> Json:
    """A value as a problem tells it: plain ones as they are, of others and of long texts the beginning."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    return text if len(text) <= GIVEN else text[:GIVEN] + "…"


def record_of(bundle: Bundle) -> dict[str, Json]:
    """The sealed JSON record of a bundle that was built, with the unknown fields of its `raw`."""
    own = {"$schema": SCHEMA_ID, "bundle_version": VERSION, **cast(dict[str, Json], _plain(bundle))}
    earlier = own.pop("raw")
    return sealed(with_unknown(own, earlier))


def sealed(record: Mapping[str, Json]) -> dict[str, Json]:
    """The record with its hash."""
    return {**record, "sha256": sha256_of(record)}


def sha256_of(record: Mapping[str, Json]) -> str:
    """The hash of a record's canonical JSON without its `sha256`, in hexadecimal."""
    body = {name: value for name, value in record.items() if name != "sha256"}
    return hashlib.sha256(canonical(body)).hexdigest()


def canonical(record: Mapping[str, Json]) -> bytes:
    """The bytes of a record: UTF-8, keys sorted, no white space; the same for the same record, once read."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def with_unknown(record: Mapping[str, Json], earlier: Mapping[str, Json]) -> dict[str, Json]:
    """The record with the fields of an earlier one that this version does not know.

    Fields of a citation, an attachment or a document are carried over while it is the same one.
    """
    kept = {**{name: value for name, value in earlier.items() if name != "sha256"}, **record}
    if _names_of(earlier.get("citation"), _CITED) == _names_of(record.get("citation"), _CITED):
        kept["citation"] = _filled(record.get("citation"), earlier.get("citation"))
    for name, (_, names) in _LISTS.items():
        before = {_names_of(item, names): item for item in _list(earlier.get(name))}
        kept[name] = [_filled(item, before.get(_names_of(item, names))) for item in _list(record[name])]
    return kept


#: What tells one citation from another; and of each list the records in it and what tells those apart.
_CITED = ("doc_id", "chunk_id", "page_idx")
_LISTS: Mapping[str, tuple[type[Any], Sequence[str]]] = {
    "citations": (BundleCitation, ("number", *_CITED)),
    "safety_attachments": (BundleAttachment, ("attachment_id",)),
    "media_attachments": (BundleAttachment, ("attachment_id",)),
    "documents": (BundleDocument, ("doc_id",)),
}


def _names_of(item: Json, names: Sequence[str]) -> str | None:
    """The values under these names in a form that can be compared; None for what is no object."""
    if not isinstance(item, dict):
        return None
    return orjson.dumps([item.get(name) for name in names]).decode()


def _filled(item: Json, earlier: Json) -> Json:
    """An object with the fields that only the earlier one has."""
    return {**earlier, **item} if isinstance(item, dict) and isinstance(earlier, dict) else item


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def bundle_from(record: Mapping[str, Json]) -> Bundle:
    """The bundle of a record that follows the schema; what other producers leave out takes its default."""
    cited = record["citation"]
    own = _known(Bundle, record) | {
        "citation": None if cited is None else _citation(cited),
        "citations": tuple(map(_citation, record.get("citations", ()))),
        "safety_attachments": tuple(map(_attachment, record["safety_attachments"])),
        "media_attachments": tuple(map(_attachment, record["media_attachments"])),
        "documents": tuple(map(_document, record.get("documents", ()))),
        "problems": _problems(record),
        "raw": record,
    }
    return Bundle(**own)


def _citation(obj: Mapping[str, Json]) -> BundleCitation:
    found, offsets = obj.get("found"), obj.get("offsets")
    own: dict[str, Json] = {"origin": "payload", **_known(BundleCitation, obj)}
    own |= {
        "found": None if found is None else _found(found),
        "offsets": None if offsets is None else Offsets(**_known(Offsets, offsets)),
        "problems": _problems(obj),
        "shown_page_idx": own.get("shown_page_idx", own.get("page_idx")),
    }
    return BundleCitation(**own)


def _found(obj: Mapping[str, Json]) -> FoundSpan:
    own = _known(FoundSpan, obj) | {
        "rects": _boxes(obj["rects"]),
        "differences": tuple(Difference(**_known(Difference, each)) for each in obj["differences"]),
        "alternatives": tuple(map(_place, obj.get("alternatives", ()))),
        "continues": tuple(map(_place, obj.get("continues", ()))),
        "ranges": _ranges(obj.get("ranges", ())),
        "unverified": _boxes(obj.get("unverified", ())),
        "unverified_ranges": _ranges(obj.get("unverified_ranges", ())),
    }
    return FoundSpan(**{name: own[name] for name in own.keys() & _FIELDS[FoundSpan]})


def _place(obj: Mapping[str, Json]) -> Place:
    return Place(int(obj["page_idx"]), _boxes(obj["rects"]), _ranges(obj.get("ranges", ())))


def _attachment(obj: Mapping[str, Json]) -> BundleAttachment:
    box = obj.get("bbox")
    own = _known(BundleAttachment, obj) | {
        "bbox": None if box is None else _boxes([box])[0],
        "problem": _problem(obj.get("problem")),
    }
    return BundleAttachment(**own)


def _document(obj: Mapping[str, Json]) -> BundleDocument:
    return BundleDocument(**(_known(BundleDocument, obj) | {"problem": _problem(obj.get("problem"))}))


def _problems(obj: Mapping[str, Json]) -> tuple[BundleProblem, ...]:
    return tuple(BundleProblem(**_known(BundleProblem, each)) for each in obj.get("problems", ()))


def _problem(obj: Mapping[str, Json] | None) -> BundleProblem | None:
    return None if obj is None else BundleProblem(**_known(BundleProblem, obj))


def _boxes(boxes: Sequence[Sequence[float]]) -> tuple[Box, ...]:
    return tuple((float(x0), float(y0), float(x1), float(y1)) for x0, y0, x1, y1 in boxes)


def _ranges(ranges: Sequence[Mapping[str, int]]) -> tuple[TextRange, ...]:
    return tuple(TextRange(**_known(TextRange, each)) for each in ranges)


def _known(record: type[Any], obj: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of an object that a record has; a count that was written as `41.0` is 41."""
    return {
        name: int(value) if name in _COUNTS and isinstance(value, float) else value
        for name, value in obj.items()
        if name in _FIELDS[record]
    }


def _plain(value: Any) -> Json:
    """Records as objects, tuples as lists, all the way down: orjson sorts the keys of objects only."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


#: Whole numbers, which JSON Schema accepts in either spelling.
_COUNTS = frozenset(
    {"paraphrase", "seed", "repeat", "number", "rank", "page_idx", "shown_page_idx", "page_count"}
    | {"pages_away", "citation_number", "start", "end", "first_line", "last_line"}
)
_RECORDS: tuple[type[Any], ...] = (
    *(Bundle, BundleCitation, BundleAttachment, BundleDocument, BundleProblem),
    *(FoundSpan, Difference, TextRange, Offsets),
)
_FIELDS: dict[type[Any], frozenset[str]] = {
    record: frozenset(each.name for each in fields(record)) for record in _RECORDS
}


def has_unknown(record: Mapping[str, Json]) -> bool:
    """Whether a record holds a field that this version does not know: what building anew carries over."""
    if not record.keys() <= _OWN_KEYS:
        return True
    cited = record.get("citation")
    if isinstance(cited, dict) and not cited.keys() <= _FIELDS[BundleCitation]:
        return True
    return any(
        isinstance(item, dict) and not item.keys() <= _FIELDS[kind]
        for name, (kind, _) in _LISTS.items()
        for item in _list(record.get(name))
    )


_OWN_KEYS = (_FIELDS[Bundle] - {"raw"}) | {"$schema", "bundle_version", "sha256"}


# A file of bundles: its lines read against the schema, and written, packed where its name says so.

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
