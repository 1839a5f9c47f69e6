"""The citations of an indexed run, and their locations: files beside its index, and whether they are valid.

Citations are read from the index; the trace file is not needed again. Of located ones there is one row per
citation, in the order of the traces, one file per segment of the index. `placed.json` names those files and
what they were made from; it is replaced as a whole. The locations come from
`proofspan.services.passes.locating`.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.contracts.records.records import Citation
from proofspan.errors import Fault, Problem
from proofspan.fingerprints import ABSENT, Fingerprint, file_state
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Document, Manifest
from proofspan.store.files.cache_dir import turn, writing_to
from proofspan.store.files.columns import table_of
from proofspan.store.files.evidence_states import EVIDENCE_STATES, FLAGS
from proofspan.store.files.run_file import RunFile, Segment, write_json
from proofspan.store.files.segment_files import DamagedError, read_table, read_traces, write_table
from proofspan.traces.records.citations import recorded_citations
from proofspan.version import LOCATOR_VERSION

_WORD = pa.dictionary(pa.int32(), pa.string())
#: One row per citation. `row` is its trace's row in the segment, from 0, `number` counts from 1; pages are
#: 0-based. `agreement` is 0–1, null where the citation was not located; `reason` is then a problem's code.
#: `page_idx` is null where nothing was found, and in a document without pages. `tells_page` says whether the
#: location shows which page was meant (see `proofspan.evidence.page_base`).
PLACED_SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("q_id", pa.string()),
        ("paraphrase", pa.int32()),
        ("seed", pa.int32()),
        ("repeat", pa.int32()),
        ("number", pa.int32()),
        ("chunk_id", pa.string()),
        ("doc_id", _WORD),
        ("section_id", _WORD),
        ("cited_page_idx", pa.int64()),
        ("status", _WORD),
        ("page_idx", pa.int64()),
        ("page_mismatch", pa.bool_()),
        ("agreement", pa.float64()),
        ("numbers_differ", pa.bool_()),
        ("tells_page", pa.bool_()),
        ("reason", _WORD),
    ]
)
#: The states of a trace's citations, all null while they are not located: the distinct ones, worst first; the
#: smallest agreement, 0–1 (null where none was located); and the position of the worst in `EVIDENCE_STATES`
#: (null without citations).
ROW_STATES = pa.schema(
    [("evidence", pa.list_(pa.string())), ("agreement", pa.float64()), ("evidence_severity", pa.int8())]
)

#: The folder in that of the index, and the file in it that names the others.
PLACED_FOLDER, PLACED_FILE = "placed", "placed.json"


@cache
def locator_version() -> str:
    """Return a hash of all that may change a location: `LOCATOR_VERSION`, PyMuPDF's version, the columns."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and seldom asked for

    try:
        reader = version("pymupdf")
    except PackageNotFoundError:
        reader = ""
    known = repr((LOCATOR_VERSION, reader, PLACED_SCHEMA.to_string()))
    return hashlib.sha256(known.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Part:
    """The citations of one segment of the index, in the file `name`."""

    segment: str
    name: str
    citations: int


@dataclass(frozen=True, slots=True)
class PlacedFile:
    """The contents of `placed.json`.

    `version` is the locator's, `index` the identity of the index, `listed` a hash of the manifest's
    documents, and `documents` the state of each cited file. `counts` has the citations in each state,
    `reasons` why some could not be located, `problems` those of single documents. `again`: some citations
    were given up and are worth another try. `digest` is the file's hash (empty before it is written).
    """

    version: str
    index: str
    listed: str
    documents: Mapping[str, str]
    parts: tuple[Part, ...]
    counts: Mapping[str, int]
    reasons: Mapping[str, int] = field(default_factory=dict)
    problems: Mapping[str, Problem] = field(default_factory=dict)
    again: bool = False
    digest: str = ""

    @property
    def citations(self) -> int:
        """Return how many citations the run has."""
        return sum(part.citations for part in self.parts)

    @property
    def located(self) -> int:
        """Return how many of them could be located."""
        return self.citations - self.counts.get("not_placed", 0)

    def is_of(self, run_file: RunFile) -> bool:
        """Return whether it was made from this state of the index, by this version of the locator."""
        return self.version == locator_version() and self.index == index_identity(run_file)

    def agrees_with(self, manifest: Manifest) -> bool:
        """Return whether every document is as it was when its citations were located."""
        return self.listed == listed_documents(manifest) and all(
            stamp == document_stamp(manifest, manifest.document(doc_id))
            for doc_id, stamp in self.documents.items()
        )


def index_identity(run_file: RunFile) -> str:
    """Return a hash of the state of an index: its inputs, its segments and their repeats."""
    known = (run_file.key, [segment.name for segment in run_file.segments], run_file.joined)
    return hashlib.sha256(repr(known).encode()).hexdigest()[:16]


def listed_documents(manifest: Manifest) -> str:
    """Return a hash of the manifest's documents: their files, and whether they have pages."""
    known = [(d.doc_id, d.artifact.root, d.artifact.path, d.paged) for d in manifest.documents]
    return hashlib.sha256(repr(known).encode()).hexdigest()[:16]


def document_stamp(manifest: Manifest, document: Document | None) -> str:
    """Return the state of a document's file, or the code of the problem that keeps it from being read."""
    if document is None:
        return "document_not_listed"
    try:
        state = file_state(artifact_path(manifest, document.artifact))
    except Fault as fault:
        return fault.problems[0].code
    return "missing" if state == ABSENT else state


def read_placed_file(folder: Path) -> PlacedFile | None:
    """Return `placed.json` of the index in `folder`; None without one of this format."""
    try:
        written = (folder / PLACED_FOLDER / PLACED_FILE).read_bytes()
        data = orjson.loads(written)
        parts = tuple(Part(**part) for part in data["parts"])
        problems = {doc_id: Problem(**problem) for doc_id, problem in data["problems"].items()}
        digest = hashlib.sha256(written).hexdigest()
        return PlacedFile(**(data | {"parts": parts, "problems": problems, "digest": digest}))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None


def write_placed_file(folder: Path, placed: PlacedFile) -> None:
    """Replace `placed.json` in one step, then remove the files that it does not name."""
    write_json(folder / PLACED_FOLDER, PLACED_FILE, asdict(placed))
    wanted = {PLACED_FILE, "lock", *(part.name for part in placed.parts)}
    for path in (folder / PLACED_FOLDER).iterdir():
        if path.name not in wanted:
            path.unlink(missing_ok=True)


def read_placed(folder: Path, parts: Iterable[Part], columns: Sequence[str]) -> pa.Table:
    """Return columns of all citations, in the order of the traces. DamagedError for damaged files."""
    tables = [read_table(folder / PLACED_FOLDER / part.name, columns) for part in parts]
    empty = PLACED_SCHEMA.empty_table().select(list(columns))
    try:
        return pa.concat_tables([empty, *tables]).unify_dictionaries()
    except pa.ArrowException as error:
        raise DamagedError(folder, str(error)) from error


def row_states(table: pa.Table, rows: int) -> pa.Table:
    """Return the `ROW_STATES` of an index with `rows` rows, from citations with their trace's `row` in it."""
    at = table.column("row").to_numpy()
    mask = np.zeros(rows, dtype=np.uint8)
    np.bitwise_or.at(mask, at, _bits_of(table))
    agreement = np.full(rows, np.inf)
    np.minimum.at(agreement, at, pc.fill_null(table.column("agreement"), np.inf).to_numpy())
    every = [[s for n, s in enumerate(EVIDENCE_STATES) if code >> n & 1] for code in range(256)]
    worst = [next((n for n in range(8) if code >> n & 1), None) for code in range(256)]
    codes = pa.array(mask)
    columns = [
        pa.array(every, pa.list_(pa.string())).take(codes),
        pa.array(agreement, mask=np.isinf(agreement)),
        pa.array(worst, pa.int8()).take(codes),
    ]
    return pa.table(columns, schema=ROW_STATES)


def _bits_of(table: pa.Table) -> np.ndarray:
    """Return each citation's states as bits, the worst state the lowest."""
    bits = np.zeros(table.num_rows, dtype=np.uint8)
    status = table.column("status").cast(pa.string())
    for number, name in enumerate(EVIDENCE_STATES):
        is_in = table.column(name) if name in FLAGS else pc.equal(status, name)
        bits |= is_in.to_numpy().astype(np.uint8) << number
    return bits


class Cited(NamedTuple):
    """A citation with its trace's row in the segment (from 0) and identity."""

    row: int
    q_id: str
    paraphrase: int
    seed: int
    repeat: int
    citation: Citation


def read_citations(folder: Path, run_file: RunFile, segment: Segment) -> Iterator[Cited]:
    """Yield the citations of a segment's traces, in the order of the file.

    They are those of `proofspan.traces.records.citations.citations`. DamagedError where the index cannot be
    read.
    """
    traces = read_traces(folder, run_file, segment, ("citations",))
    for row, q_id, paraphrase, seed, repeat, record in traces:
        for citation in recorded_citations(record):
            yield Cited(row, q_id, paraphrase, seed, repeat, citation)


def counts_of(folder: Path, parts: Iterable[Part]) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many citations are in each state that any is in, and why others could not be located.

    The most frequent reason comes first.
    """
    table = read_placed(folder, parts, ("status", "page_mismatch", "numbers_differ", "reason"))
    bits = _bits_of(table)
    counted = {state: int((bits >> n & 1).sum()) for n, state in enumerate(EVIDENCE_STATES)}
    reasons = Counter(table.column("reason").cast(pa.string()).drop_null().to_pylist())
    in_order = sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
    return {state: count for state, count in counted.items() if count}, dict(in_order)


# Cached answers: what was found in a document for a quote, for all runs and workspaces. One file per state of
# a document, named by its fingerprint and the locator's version. The folder may be deleted at any time, a
# damaged file counts as empty, and several processes may add to it at once.

#: How many answers are kept per document, the latest; how many bytes of all, those used last.
MOST_ANSWERS = 200_000
MOST_BYTES = 256 << 20
ANSWERS_FOLDER = "answers"


class Answer(NamedTuple):
    """The result for one quote; fields as in `PLACED_SCHEMA`."""

    status: str
    page_idx: int | None
    page_mismatch: bool
    agreement: float
    numbers_differ: bool
    tells_page: bool


ANSWER_SCHEMA = pa.schema(
    [
        ("asked", pa.binary()),
        ("status", pa.string()),
        *(PLACED_SCHEMA.field(name) for name in Answer._fields[1:]),
    ]
)


def known_answers(cache_dir: Path, document: Fingerprint, *, is_text: bool) -> dict[bytes, Answer]:
    """Return the cached answers on a document in this state by the hash of their query, oldest first."""
    path = _answers_file(cache_dir, document, is_text)
    with suppress(OSError):
        os.utime(path)  # the files that are not used make room first
    try:
        table = read_table(path)
    except DamagedError:
        return {}
    if table.schema != ANSWER_SCHEMA:
        return {}
    columns = (column.to_pylist() for column in table.columns)
    return {asked: Answer(*answer) for asked, *answer in zip(*columns, strict=True)}


def keep_answers(
    cache_dir: Path, document: Fingerprint, answers: Mapping[bytes, Answer], *, is_text: bool
) -> None:
    """Add answers to the cached ones. StoreFault where the cache cannot be written."""
    path, room = _answers_file(cache_dir, document, is_text), MOST_BYTES
    with writing_to(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        with turn(path.parent):
            stored = known_answers(cache_dir, document, is_text=is_text) | dict(answers)
            latest = list(stored.items())[-MOST_ANSWERS:]
            rows = [{"asked": asked, **answer._asdict()} for asked, answer in latest]
            write_table(path.parent, path.name, table_of(rows, ANSWER_SCHEMA))
            files = [(each.stat(), each) for each in path.parent.iterdir() if each.name != "lock"]
            for status, each in sorted(files, key=lambda file: -file[0].st_mtime_ns):
                room -= status.st_size
                if room < 0 or each.suffix != ".parquet":  # or unfinished, of a process that died
                    each.unlink(missing_ok=True)


def _answers_file(cache_dir: Path, document: Fingerprint, is_text: bool) -> Path:
    identity = repr((locator_version(), document, is_text))
    name = f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.parquet"
    return cache_dir / ANSWERS_FOLDER / name
