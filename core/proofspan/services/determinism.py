"""Decide whether two outputs are the same: of two runs of one command, bytes or records have to agree.

Files are compared by their bytes, then by their canonical records as `proofspan hash` has them, so that
packing, white space and the order of keys make no difference. The order of records does. Memory does not grow
with the files.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from proofspan.contracts.records.records import Json
from proofspan.errors import InputFault
from proofspan.fingerprints import sha256_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest, Run
from proofspan.traces.lines.canonical_hash import raw_values, written
from proofspan.traces.lines.differences import FieldPath, differences, field_path, shown, without
from proofspan.traces.lines.reader import (
    MAX_LINE,
    Pairs,
    RawLine,
    UnusableError,
    open_source,
    parse_as_written,
    parse_line,
)
from proofspan.traces.lines.unpack import PACKED, plain_source, temporary_folder
from proofspan.wording import counted

#: What two outputs are to each other; the first two are deterministic.
State = Literal["same_bytes", "same_records", "reordered", "different"]
#: How a file is compared: JSON values, one a line or one in all; lines of text; bytes.
Form = Literal["records", "value", "lines", "bytes"]
#: The fields of traces that always differ between two runs.
OF_A_RUN = ("run_id", "ts", "trace_id")
#: The names of a record's id, the first one present counts.
_IDS = ("q_id", "qid", "chunk_id", "id", "snippet_id", "attachment_id", "old_id", "name", "trace_id")
_BLOCK = 1 << 20
_HEAD = 64 << 10
_MODULUS = 1 << 256


class Pair(NamedTuple):
    """Two files to compare under one name; None for one that the other side does not have."""

    name: str
    a: Path | None
    b: Path | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two files differ: `line` in each of them, 0 past its end.

    `record` is the record's id with its name, `field` a path in it; `a` and `b` are the values, shortened.
    """

    line: int
    line_b: int
    record: str
    field: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The largest distance of two numbers of one field."""

    size: float
    line: int
    field: str


@dataclass(frozen=True, slots=True)
class Compared:
    """Two files compared. `sha256` are those of their bytes, `records_sha256` of their canonical records.

    The latter are None where they are not needed (the bytes agree, or records differ of which no field is
    ignored), and if a line has no canonical form. `counts` are their records or lines, and `differing` of
    them differ, those of the longer file included.
    """

    name: str
    form: Form
    state: State
    sha256: tuple[str, str]
    records_sha256: tuple[str | None, str | None] = (None, None)
    counts: tuple[int, int] = (0, 0)
    differing: int = 0
    first: Difference | None = None
    largest: Gap | None = None

    @property
    def passes(self) -> bool:
        """Return whether the files are the same."""
        return self.state in ("same_bytes", "same_records")

    def stated(self, *, with_ignored: bool) -> tuple[str, str, str]:
        """Return which hashes to state, and those: of bytes, or of records if only those can agree."""
        a, b = self.records_sha256
        is_about_records = self.state == "same_records" or (with_ignored and self.state != "same_bytes")
        return ("records", a, b) if is_about_records and a and b else ("bytes", *self.sha256)


@dataclass(frozen=True, slots=True)
class Determinism:
    """The verdict on two outputs, `ignored` fields left out; `alone` are the files that only one side has.

    `paths` are the compared files.
    """

    a: str
    b: str
    files: tuple[Compared, ...]
    ignored: tuple[str, ...] = ()
    alone: tuple[Pair, ...] = ()
    paths: tuple[Path, ...] = ()

    @property
    def passes(self) -> bool:
        """Return whether every file of one side is the same on the other."""
        return not self.alone and all(each.passes for each in self.files)

    @property
    def sha256(self) -> tuple[Literal["bytes", "records"], str, str]:
        """Return what to state in a pinning record: hashes of bytes, or of records if only those agree.

        Of several files the hash is that of the listing by `sha256sum`, sorted by name.
        """
        hashes = {each.name: each.stated(with_ignored=bool(self.ignored)) for each in self.files}
        of: Literal["bytes", "records"] = (
            "bytes" if all(each[0] == "bytes" for each in hashes.values()) else "records"
        )
        if len(hashes) == 1 and not self.alone:
            ((_, a, b),) = hashes.values()
            return of, a, b
        listings = [{name: each[side] for name, each in hashes.items()} for side in (1, 2)]
        a, b = (listing_sha256(each | self._alone(side)) for side, each in enumerate(listings))
        return of, a, b

    def _alone(self, side: int) -> dict[str, str]:
        files = {each.name: (each.a, each.b)[side] for each in self.alone}
        return {name: sha256_of(path) for name, path in files.items() if path is not None}


def compare_outputs(a: Path, b: Path, *, ignore: Sequence[str] = ()) -> Determinism:
    """Compare two files, or the files of two folders by their paths. Raises InputFault."""
    if a.is_dir() != b.is_dir():
        raise InputFault.of(
            "not_alike",
            "one is a folder and the other is not",
            where=f"{a}, {b}",
            fix="name two files or two folders",
        )
    pairs = [Pair(b.name, a, b)] if not a.is_dir() else _in_folders(a, b)
    return _compared(pairs, a=str(a), b=str(b), ignore=ignore)


def compare_runs(manifest: Manifest, a: Run, b: Run, *, ignore: Sequence[str] = ()) -> Determinism:
    """Compare the traces of two runs, without the fields that always differ. Raises Fault."""
    mine, theirs = ({_name_of(each): each for each in run.trace_artifacts} for run in (a, b))
    if mine.keys() != theirs.keys() or not mine:
        raise InputFault.of(
            "not_alike",
            f"{a.run_id} and {b.run_id} do not name the same kinds of files",
            where=str(manifest.file or manifest.folder),
            fix="name two runs with traces, or two with the same separate records",
        )
    pairs = [
        Pair(theirs[name].path, artifact_path(manifest, mine[name]), artifact_path(manifest, theirs[name]))
        for name in mine
    ]
    return _compared(pairs, a=a.run_id, b=b.run_id, ignore=(*OF_A_RUN, *ignore))


def output_sha256(path: Path, *, of: str, ignore: Sequence[str] = ()) -> str | None:
    """Return the hash of an output as a pinning record states it; None without a canonical form.

    `of` is bytes or records. Raises InputFault if it cannot be read.
    """
    open_source(path).close()
    if of != "records":
        return sha256_of(path)
    with temporary_folder() as folder:
        plain = plain_source(path, cache_dir=Path(folder))
        fields, whole = tuple(map(field_path, ignore)), _form_of(path, plain) == "value"
        return _records_sha256(plain, whole=whole, ignore=fields)


def listing_sha256(files: dict[str, str]) -> str:
    """Return the sha256 of a listing as `sha256sum` prints it, sorted by path."""
    lines = "".join(f"{sha256}  {path}\n" for path, sha256 in sorted(files.items()))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def folder_files(folder: Path) -> dict[str, Path]:
    """Return the files below a folder by their paths in it."""
    return {each.relative_to(folder).as_posix(): each for each in sorted(folder.rglob("*")) if each.is_file()}


def _name_of(artifact: Artifact) -> str:
    return artifact.key.rsplit("].", 1)[-1]


def _in_folders(a: Path, b: Path) -> list[Pair]:
    """Pair the files of two folders by path; a packed one also with its unpacked one."""

    def named(folder: Path) -> dict[str, Path]:
        files = folder_files(folder)
        bare = {name: _bare(name) for name in files}
        twice = {each for each, count in Counter(bare.values()).items() if count > 1}
        return {name if bare[name] in twice else bare[name]: path for name, path in files.items()}

    mine, theirs = named(a), named(b)
    if not mine and not theirs:
        fix = "name folders with files"
        raise InputFault.of("no_files", "neither folder has a file", where=f"{a}, {b}", fix=fix)
    return [Pair(name, mine.get(name), theirs.get(name)) for name in sorted({*mine, *theirs})]


def _bare(name: str) -> str:
    return name.rsplit(".", 1)[0] if name.lower().endswith(PACKED) else name


def _compared(pairs: Sequence[Pair], *, a: str, b: str, ignore: Sequence[str]) -> Determinism:
    fields = tuple(dict.fromkeys(ignore))
    paths = tuple(map(field_path, fields))
    files, alone = [], []
    for pair in pairs:
        if pair.a is None or pair.b is None:
            alone.append(pair)
        else:
            files.append(_compare_files(pair.name, pair.a, pair.b, paths))
    read = tuple(path for pair in pairs for path in (pair.a, pair.b) if path is not None)
    return Determinism(a, b, tuple(files), fields, tuple(alone), read)


def _compare_files(name: str, a: Path, b: Path, ignore: Collection[FieldPath]) -> Compared:
    with ExitStack() as stack:
        for path in (a, b):
            open_source(path).close()  # a clear reason, where it cannot be read
        hashes = sha256_of(a), sha256_of(b)
        plain = [
            plain_source(path, cache_dir=Path(stack.enter_context(temporary_folder()))) for path in (a, b)
        ]
        forms = {_form_of(path, each) for path, each in zip((a, b), plain, strict=True)}
        form: Form = forms.pop() if len(forms) == 1 else "bytes"
        if hashes[0] == hashes[1]:
            return Compared(name, form, "same_bytes", hashes, counts=_counts(plain[0], form))
        if form in ("records", "value"):
            return _compare_records(name, plain, form, hashes, ignore)
        return _compare_bytes(name, plain, form, hashes)


def _counts(plain: Path, form: Form) -> tuple[int, int]:
    """Return how many records or lines two equal files have."""
    count = 0
    if form != "bytes":
        count = sum(
            1 for _ in (_lines(plain) if form == "lines" else raw_values(plain, whole=form == "value"))
        )
    return count, count


def _form_of(path: Path, plain: Path) -> Form:
    """Return how a file is read: by its name, else by its beginning."""
    name = _bare(path.name).lower()
    if name.endswith(".json"):
        return "value"
    if name.endswith((".jsonl", ".ndjson")):
        return "records"
    with open_source(plain) as source:
        head = source.read(_HEAD)
    if b"\0" in head:
        return "bytes"
    line = head.lstrip().split(b"\n", 1)[0]
    try:
        is_record = line[:1] in (b"{", b"[") and parse_line(RawLine(1, 0, len(line), line)) is not None
    except UnusableError:
        is_record = False
    return "records" if is_record else "lines"


@dataclass(slots=True)
class _Records:
    """The canonical records of a file: how many there are, their hash in order, and that of the odd ones.

    The latter does not depend on the order; it is over the records that differ from those beside them.
    """

    ignore: Collection[FieldPath]
    count: int = 0
    unordered: int = 0
    is_canonical: bool = True
    _digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    @property
    def sha256(self) -> str | None:
        """Return the hash over the canonical lines; None if a line has no canonical form."""
        return self._digest.hexdigest() if self.is_canonical else None

    def read(self, raw: RawLine | None) -> tuple[bytes, Json] | None:
        """Return a line's canonical form and value; of a line that has none its bytes and None."""
        if raw is None:
            return None
        self.count += 1
        try:
            parse_line(raw)
            value = without(parse_as_written(raw.data.decode("utf-8")), self.ignore)
            read = written(value).encode("utf-8"), value
        except UnusableError:
            # Of an overlong line only the beginning is known, so it equals no other.
            self.is_canonical = False
            is_whole = len(raw.data) == raw.length
            read = raw.data if is_whole else b"%d %d" % (id(raw), raw.length), None
        self._digest.update(read[0] + b"\n")
        return read

    def add_odd(self, read: tuple[bytes, Json] | None) -> None:
        """Count in a record that differs from the one beside it."""
        if read is not None:
            digest = hashlib.sha256(read[0]).digest()
            self.unordered = (self.unordered + int.from_bytes(digest, "big")) % _MODULUS


def _are_equal(a: RawLine, b: RawLine) -> bool:
    """Return whether two lines are known as a whole and have the same bytes."""
    return a.length == b.length == len(a.data) and a.data == b.data


def _records_sha256(plain: Path, *, whole: bool, ignore: Collection[FieldPath]) -> str | None:
    """Return the hash over a file's canonical records; None if a line has no canonical form."""
    records = _Records(ignore)
    for raw in raw_values(plain, whole=whole):
        records.read(raw)
    return records.sha256


def _compare_records(
    name: str, plain: Sequence[Path], form: Form, hashes: tuple[str, str], ignore: Collection[FieldPath]
) -> Compared:
    mine, theirs, whole = _Records(ignore), _Records(ignore), form == "value"
    differing, first, largest = 0, None, None
    for a, b in zip_longest(*(raw_values(path, whole=whole) for path in plain)):
        if not ignore and a is not None and b is not None and _are_equal(a, b):
            mine.count += 1  # as most lines are equal, they are not parsed
            theirs.count += 1
            continue
        one, other = mine.read(a), theirs.read(b)
        if one is not None and other is not None and one[0] == other[0]:
            continue
        differing += 1
        mine.add_odd(one)
        theirs.add_odd(other)
        found, gap = _difference(a, b, one, other)
        first = first or found
        if gap is not None and (largest is None or gap.size > largest.size):
            largest = gap
    is_reordered = mine.count == theirs.count and mine.unordered == theirs.unordered
    state: State = "reordered" if is_reordered else "different"
    records: tuple[str | None, str | None] = (mine.sha256, theirs.sha256) if ignore else (None, None)
    if not differing:
        state = "same_records"
        records = records if ignore else (_records_sha256(plain[0], whole=whole, ignore=ignore),) * 2
    counts = mine.count, theirs.count
    gap = largest if state == "different" else None
    return Compared(name, form, state, hashes, records, counts, differing, first, gap)


def _difference(
    a: RawLine | None, b: RawLine | None, one: tuple[bytes, Json] | None, other: tuple[bytes, Json] | None
) -> tuple[Difference, Gap | None]:
    """Return where two records differ, and the largest distance of their numbers."""
    line, line_b = (0 if raw is None else raw.line for raw in (a, b))
    values = [None if each is None else each[1] for each in (one, other)]
    record = next(filter(None, map(_id_of, values)), "")
    gap: Gap | None = None
    first = None
    if None not in values:
        for each in differences(values[0], values[1]):
            first = first or each
            if each.gap is not None and (gap is None or each.gap > gap.size):
                gap = Gap(each.gap, line, each.field)
    if first is not None:
        return Difference(line, line_b, record, first.field, first.a, first.b), gap
    texts = ["absent" if each is None else shown(each[0].decode("utf-8", "replace")) for each in (one, other)]
    for number, raw in enumerate((a, b)):
        if raw is not None and len(raw.data) < raw.length:
            texts[number] = f"a line of {raw.length:,} bytes, of which at most {MAX_LINE:,} are compared"
    return Difference(line, line_b, record, "", *texts), gap


def _id_of(value: Json) -> str:
    """Return the id of a record with its name: `q_id Q80`, with paraphrase and seed if it has them."""
    if type(value) is not Pairs:
        return ""
    known = dict(value)
    name = next((name for name in _IDS if isinstance(known.get(name), str) and known[name]), "")
    variant = [f"{key} {known[key]}" for key in ("paraphrase", "seed") if str(known.get(key, "0")) != "0"]
    return ", ".join([f"{name} {shown(known[name])}", *variant]) if name else ""


def _compare_bytes(name: str, plain: Sequence[Path], form: Form, hashes: tuple[str, str]) -> Compared:
    """Compare lines of text, or bytes; packed ones by what they unpack to."""
    at, sizes = _first_byte(*plain), tuple(path.stat().st_size for path in plain)
    if at is None:
        return Compared(name, form, "same_records", hashes)
    if form == "bytes":
        texts = [
            f"byte {at + 1:,} of {size:,}" if at < size else f"ends after {size:,} bytes" for size in sizes
        ]
        return Compared(name, form, "different", hashes, differing=1, first=Difference(0, 0, "", "", *texts))
    counts, differing, first = [0, 0], 0, None
    for a, b in zip_longest(*map(_lines, plain)):
        for side, line in enumerate((a, b)):
            counts[side] += line is not None
        if a == b:
            continue
        differing += 1
        if first is None:
            texts = [
                "absent" if each is None else shown(repr(each.decode("utf-8", "replace"))) for each in (a, b)
            ]
            numbers = (counts[0] if a is not None else 0, counts[1] if b is not None else 0)
            first = Difference(*numbers, "", "", *texts)
    is_reordered = counts[0] == counts[1] and _unordered(plain[0]) == _unordered(plain[1])
    state: State = "reordered" if is_reordered else "different"
    return Compared(
        name, form, state, hashes, counts=(counts[0], counts[1]), differing=differing, first=first
    )


def _lines(path: Path) -> Iterator[bytes]:
    """Yield lines with their ends; one that is longer than `MAX_LINE` in pieces."""
    with open_source(path) as source:
        while line := source.readline(MAX_LINE):
            yield line


def _unordered(path: Path) -> int:
    """Return a hash of a file's lines that does not depend on their order."""
    digests = (hashlib.sha256(line).digest() for line in _lines(path))
    return sum(int.from_bytes(each, "big") for each in digests) % _MODULUS


def _first_byte(a: Path, b: Path) -> int | None:
    """Return the offset of the first byte that differs; None if all are the same."""
    offset = 0
    with open_source(a) as one, open_source(b) as other:
        while True:
            mine, theirs = one.read(_BLOCK), other.read(_BLOCK)
            if mine != theirs:
                shared = zip(mine, theirs, strict=False)
                same = next((at for at, (x, y) in enumerate(shared) if x != y), min(len(mine), len(theirs)))
                return offset + same
            if not mine:
                return None
            offset += len(mine)


def conclusion(found: Determinism) -> str:
    """Return the verdict in a sentence, `PASS: the same bytes`, `FAIL: 1 of 41 records differs`."""
    besides = f" without {', '.join(found.ignored)}" if found.ignored else ""
    if found.passes:
        if all(each.state == "same_bytes" for each in found.files):
            return "PASS: the same bytes"
        return f"PASS: the same records{besides}, in other bytes"
    wrong = [each for each in found.files if not each.passes]
    if len(found.files) == 1 and not found.alone:
        return f"FAIL: {_in_words(wrong[0])}{besides}"
    total = len(found.files) + len(found.alone)
    parts = [f"{len(wrong) + len(found.alone):,} of {counted(total, 'file')} differ{besides}"]
    parts += [f"{counted(len(found.alone), 'file')} only on one side"] if found.alone else []
    return f"FAIL: {', '.join(parts)}"


def _in_words(file: Compared) -> str:
    noun = "line" if file.form == "lines" else "record"
    if file.state == "reordered":
        return f"the same {noun}s in another order"
    if file.form == "bytes":
        return "the bytes differ"
    count = f"{file.differing:,} of {counted(max(file.counts), noun)} differ{'s' * (file.differing == 1)}"
    a, b = file.counts
    return count if a == b else f"{count}, A has {a:,} and B {b:,}"
