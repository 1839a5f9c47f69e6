"""The checked claims and verdicts of an indexed run: files beside its index, and whether they are valid.

There is one row per trace, in the order of the index, one file per segment. `claims.json` names those files
and what they were made from; it is replaced as a whole. A file that it does not name is one of a pass that
was interrupted, and is used by the next. The claims come from `proofspan.services.passes.checking`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import get_args

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

from proofspan.diagnosis.claims.types import DIGITS, CheckedAnswer, ClaimStatus, DifferenceKind, claim_records
from proofspan.diagnosis.verdicts.types import Verdict, verdict_record
from proofspan.store.files.columns import BATCH_ROWS
from proofspan.store.files.located import index_identity
from proofspan.store.files.run_file import RunFile, Segment, new_file, write_json
from proofspan.store.files.segment_files import DamagedError, reading, sound
from proofspan.version import CLAIMS_VERSION

CLAIM_STATUSES: tuple[ClaimStatus, ...] = get_args(ClaimStatus)
DIFFERENCE_KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)
_WORDS = pa.list_(pa.string())
#: What lists filter, sort and count by; all null for a trace whose claims cannot be checked, and in a run
#: whose claims are not checked yet. `support` lies in 0–1 and is null without claims. `contradictions` counts
#: the claims with a difference, `claim_count` all, `claims_…` those of a status. `claim_statuses` and
#: `difference_kinds` hold each once, in the order of their types. `grounded` to `harm` are of the `Verdict`;
#: pages that its sentence names are of the document `cause_doc`, null where that is not known.
CLAIM_COLUMNS = pa.schema(
    [
        ("support", pa.float64()),
        ("contradictions", pa.int32()),
        ("claim_count", pa.int32()),
        *((f"claims_{status}", pa.int32()) for status in CLAIM_STATUSES),
        ("claim_statuses", _WORDS),
        ("difference_kinds", _WORDS),
        *((name, pa.string()) for name in ("grounded", "correct", "cause", "cause_sentence", "certainty")),
        ("cause_doc", pa.string()),
        ("harm", pa.int8()),
    ]
)
#: The columns of a file: those above, and the claims as JSON.
CHECKED_SCHEMA = pa.schema([*CLAIM_COLUMNS, ("claims", pa.string())])

#: The folder in that of the index, and the file in it that names the others.
CLAIMS_FOLDER, CLAIMS_FILE = "claims", "claims.json"


@cache
def claims_version() -> str:
    """Return a hash of all of ours that may change a checked claim: `CLAIMS_VERSION` and the columns."""
    known = repr((CLAIMS_VERSION, CHECKED_SCHEMA.to_string(), BATCH_ROWS))
    return hashlib.sha256(known.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class CheckedPart:
    """The claims of one segment of the index, in the file `name`, which has as many rows."""

    segment: str
    name: str


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The contents of `claims.json`.

    `version` is that of the claims, `index` the identity of the index, which changes with the traces, the
    chunks, the gold questions and the rules. `claims` counts the run's claims by status, `differing` its
    answers by the kinds of their differences.
    """

    version: str
    index: str
    parts: tuple[CheckedPart, ...]
    claims: Mapping[str, int] = field(default_factory=dict)
    differing: Mapping[str, int] = field(default_factory=dict)

    def is_of(self, run_file: RunFile) -> bool:
        """Return whether it was made from this state of the index, by these rules."""
        return self.version == claims_version() and self.index == index_identity(run_file)


def part_name(segment: Segment) -> str:
    """Return the name of the file with a segment's claims; another version has another."""
    known = repr((segment.name, claims_version()))
    digest = hashlib.sha256(known.encode()).hexdigest()[:8]
    stem = segment.name.removesuffix(".parquet").replace("/", "-")
    return f"{stem}-{digest}.arrow"


def read_checked_file(folder: Path) -> CheckedFile | None:
    """Return `claims.json` of the index in `folder`; None without one of this format."""
    try:
        data = orjson.loads((folder / CLAIMS_FOLDER / CLAIMS_FILE).read_bytes())
        parts = tuple(CheckedPart(**part) for part in data["parts"])
        return CheckedFile(**(data | {"parts": parts}))
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return None


def write_checked_file(folder: Path, checked: CheckedFile) -> None:
    """Replace `claims.json` in one step, then remove the files that it does not name."""
    write_json(folder / CLAIMS_FOLDER, CLAIMS_FILE, asdict(checked))
    wanted = {CLAIMS_FILE, "lock", *(part.name for part in checked.parts)}
    for path in (folder / CLAIMS_FOLDER).iterdir():
        if path.name not in wanted:
            path.unlink(missing_ok=True)


#: A row of `CHECKED_SCHEMA`.
_Row = Mapping[str, object]
_UNCHECKED: _Row = dict.fromkeys(CHECKED_SCHEMA.names)


def claims_row(judged: tuple[CheckedAnswer, Verdict] | None) -> _Row:
    """Return a row of `CHECKED_SCHEMA`; None is an answer that cannot be checked, or judged."""
    if judged is None:
        return _UNCHECKED
    answer, verdict = judged
    statuses = Counter(checked.status for checked in answer.claims)
    kinds = {difference.kind for checked in answer.claims for difference in checked.differences}
    records = orjson.dumps(claim_records(answer.claims), option=orjson.OPT_SORT_KEYS)
    return {
        "support": None if answer.support is None else round(answer.support, DIGITS),
        "contradictions": answer.contradictions,
        "claim_count": len(answer.claims),
        **{f"claims_{status}": statuses[status] for status in CLAIM_STATUSES},
        "claim_statuses": [status for status in CLAIM_STATUSES if statuses[status]],
        "difference_kinds": [kind for kind in DIFFERENCE_KINDS if kind in kinds],
        **verdict_record(verdict),
        "cause_doc": verdict.doc_id,
        "harm": verdict.harm,
        "claims": records.decode(),
    }


def claims_batch(rows: Sequence[_Row]) -> pa.RecordBatch:
    """Return rows as a batch of `CHECKED_SCHEMA`."""
    values = zip(*(row.values() for row in rows), strict=True) if rows else repeat(())
    columns = zip(values, CHECKED_SCHEMA, strict=False)
    return pa.record_batch([pa.array(each, field.type) for each, field in columns], schema=CHECKED_SCHEMA)


def write_part(folder: Path, name: str, batches: Iterable[pa.RecordBatch]) -> int:
    """Write a segment's batches of `CHECKED_SCHEMA`, and return how many rows there are.

    The file appears whole or not at all, in batches of `BATCH_ROWS`.
    """
    options, count = ipc.IpcWriteOptions(compression="lz4", use_threads=False), 0
    waiting: list[pa.RecordBatch] = []
    with (
        new_file(folder / CLAIMS_FOLDER, name) as part,
        ipc.new_file(str(part), CHECKED_SCHEMA, options=options) as file,
    ):

        def write(*, everything: bool) -> None:
            table = pa.Table.from_batches(waiting, CHECKED_SCHEMA).combine_chunks()
            ready = table.num_rows if everything else table.num_rows // BATCH_ROWS * BATCH_ROWS
            file.write_table(table.slice(0, ready), max_chunksize=BATCH_ROWS)
            waiting[:] = table.slice(ready).to_batches()

        for batch in batches:
            waiting.append(batch)
            count += batch.num_rows
            if sum(each.num_rows for each in waiting) >= BATCH_ROWS:
                write(everything=False)
        write(everything=True)
    return count


class CheckedParts:
    """The open files of a run's claims, which can be read on where they are replaced meanwhile.

    DamagedError where a file is missing or damaged, or has other rows than its segment.
    """

    def __init__(self, folder: Path, parts: Sequence[CheckedPart], segments: Sequence[Segment]) -> None:
        self._folder = folder
        self._sources = [self._mapped(part) for part in parts]
        self._ends = np.cumsum([segment.rows for segment in segments])
        if [part.segment for part in parts] != [segment.name for segment in segments]:
            raise DamagedError(folder, "claims of other segments than the index has")

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Return columns of all rows, in the order of the index."""
        empty = CHECKED_SCHEMA.empty_table().select(list(names))
        with reading(self._folder):
            tables = [self._file(source, names).read_all().select(list(names)) for source in self._sources]
            table = sound(pa.concat_tables([empty, *tables]))
        if table.num_rows != (self._ends[-1] if len(self._ends) else 0):
            raise DamagedError(self._folder, "claims of other rows than the index has")
        return table.combine_chunks()

    def texts(self, rows: np.ndarray) -> list[str | None]:
        """Return the claims of some rows as JSON, in the order given; None of a row that is not checked."""
        found: list[str | None] = [None] * len(rows)
        places = np.searchsorted(self._ends, rows, side="right")
        with reading(self._folder):
            for place in np.unique(places):
                file = self._file(self._sources[place], ("claims",))
                chosen = np.flatnonzero(places == place)
                first = self._ends[place - 1] if place else 0
                batches, inside = np.divmod(rows[chosen] - first, BATCH_ROWS)
                for batch in np.unique(batches):
                    read = file.get_batch(int(batch))
                    read.validate(full=True)
                    here = batches == batch
                    texts = read.column("claims").take(pa.array(inside[here])).to_pylist()
                    for at, text in zip(chosen[here], texts, strict=True):
                        found[at] = text
        return found

    def _mapped(self, part: CheckedPart) -> pa.MemoryMappedFile:
        with reading(self._folder):
            return pa.memory_map(str(self._folder / CLAIMS_FOLDER / part.name))

    def _file(self, source: pa.MemoryMappedFile, names: Iterable[str]) -> ipc.RecordBatchFileReader:
        fields = [CHECKED_SCHEMA.get_field_index(name) for name in names]
        options = ipc.IpcReadOptions(included_fields=fields, use_threads=False)
        return ipc.open_file(source, options=options)


def sums_of(
    folder: Path, parts: Sequence[CheckedPart], segments: Sequence[Segment]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many claims have each status that any has, and how many answers each kind of difference."""
    names = {status: f"claims_{status}" for status in CLAIM_STATUSES}
    table = CheckedParts(folder, parts, segments).columns([*names.values(), "difference_kinds"])
    claims = {status: int(pc.sum(table.column(name)).as_py() or 0) for status, name in names.items()}
    differing = Counter(pc.list_flatten(table.column("difference_kinds")).to_pylist())
    kinds: dict[str, int] = {kind: differing[kind] for kind in DIFFERENCE_KINDS if differing[kind]}
    return {status: count for status, count in claims.items() if count}, kinds
