"""Located citations: files beside a run's index, and whether they are still valid.

One row per citation, in the order of the traces, one file per segment of the index. `placed.json` names those
files and what they were made from; it is replaced as a whole. The locations themselves come from
`proofspan.services.locating`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from proofspan.errors import Fault, Problem
from proofspan.fingerprints import ABSENT, file_state
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Document, Manifest
from proofspan.store.files.evidence_states import EVIDENCE_STATES, FLAGS, STATUSES
from proofspan.store.files.run_file import RunFile, new_file
from proofspan.store.files.segment_files import DamagedError, read_table
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
#: The columns of an index row: see `RowStates`.
ROW_COLUMNS = ("evidence", "agreement", "evidence_severity")

#: The folder in that of the index, and the file in it that names the others.
PLACED_FOLDER, PLACED_FILE = "placed", "placed.json"
#: Seconds after which documents are checked again.
LOOK_AGAIN = 1.0


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
    data = orjson.dumps(asdict(placed), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    with new_file(folder / PLACED_FOLDER, PLACED_FILE) as part:
        part.write_bytes(data)
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
        raise DamagedError(str(error)) from error


@dataclass(frozen=True, slots=True)
class RowStates:
    """The states of each trace's citations, one value per row of the index.

    `evidence` lists the distinct states, worst first, `evidence_severity` is the position of the worst in
    `EVIDENCE_STATES` (null without citations), `agreement` the smallest, 0–1 (null where none was located).
    All are null while the citations are not located.
    """

    evidence: pa.Array
    agreement: pa.Array
    evidence_severity: pa.Array

    @classmethod
    def unknown(cls, rows: int) -> RowStates:
        """Return the states of a run whose citations are not located."""
        return cls(
            pa.nulls(rows, pa.list_(pa.string())), pa.nulls(rows, pa.float64()), pa.nulls(rows, pa.int8())
        )

    @classmethod
    def of(cls, table: pa.Table, rows: int) -> RowStates:
        """Return the states from citations with their trace's `row` in the run (not in its segment)."""
        at = table.column("row").to_numpy()
        bits = _bits_of(table)
        mask = np.zeros(rows, dtype=np.uint8)
        np.bitwise_or.at(mask, at, bits)
        agreement = np.full(rows, np.inf)
        np.minimum.at(agreement, at, pc.fill_null(table.column("agreement"), np.inf).to_numpy())
        every = [[s for n, s in enumerate(EVIDENCE_STATES) if code >> n & 1] for code in range(256)]
        worst = [next((n for n in range(8) if code >> n & 1), None) for code in range(256)]
        codes = pa.array(mask)
        return cls(
            pa.array(every, pa.list_(pa.string())).take(codes),
            pa.array(agreement, mask=np.isinf(agreement)),
            pa.array(worst, pa.int8()).take(codes),
        )


def _bits_of(table: pa.Table) -> np.ndarray:
    """Return each citation's states as bits, the worst state the lowest."""
    place = {state: np.uint8(1 << number) for number, state in enumerate(EVIDENCE_STATES)}
    bits = np.zeros(table.num_rows, dtype=np.uint8)
    status = table.column("status").cast(pa.string())
    for name in STATUSES:
        bits |= np.where(pc.equal(status, name).to_numpy(), place[name], np.uint8(0))
    for name in FLAGS:
        bits |= np.where(table.column(name).to_numpy(), place[name], np.uint8(0))
    return bits


def counts_of(table: pa.Table) -> dict[str, int]:
    """Return how many citations are in each state; states without any are left out."""
    bits = _bits_of(table)
    counted = {state: int((bits >> n & 1).sum()) for n, state in enumerate(EVIDENCE_STATES)}
    return {state: count for state, count in counted.items() if count}


def reasons_of(table: pa.Table) -> dict[str, int]:
    """Return why citations could not be located, with counts, the most frequent first."""
    counted = pc.value_counts(table.column("reason").cast(pa.string()).drop_null().combine_chunks())
    pairs = zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True)
    return dict(sorted(pairs, key=lambda each: (-each[1], each[0])))


class Placements:
    """The `placed.json` of each run while it is valid: the same object as long as nothing changes.

    A changed document is noticed within `LOOK_AGAIN` seconds. Not for several threads at once.
    """

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._known: dict[Path, tuple[tuple[int, int], PlacedFile | None]] = {}
        self._looked: dict[Path, tuple[float, bool]] = {}

    def of(self, folder: Path) -> PlacedFile | None:
        """Return the file of the index in `folder`; None without one or where a document changed."""
        try:
            status = (folder / PLACED_FOLDER / PLACED_FILE).stat()
        except OSError:
            return None
        stamp = status.st_mtime_ns, status.st_ino
        if folder not in self._known or self._known[folder][0] != stamp:
            self._known[folder] = stamp, read_placed_file(folder)
            self._looked.pop(folder, None)
        placed = self._known[folder][1]
        return placed if placed is not None and self._holds(folder, placed) else None

    def _holds(self, folder: Path, placed: PlacedFile) -> bool:
        looked, holds = self._looked.get(folder, (-LOOK_AGAIN, False))
        if time.monotonic() - looked >= LOOK_AGAIN:
            holds = placed.agrees_with(self._manifest)
            self._looked[folder] = time.monotonic(), holds
        return holds
