"""The canonical sha256 of JSON and JSONL: the same for the same data, however it is written.

Two files are equal if they have the same values on the same lines in the same order. The order of an object's
keys, white space, blank lines, escapes in strings (`\\u00e9` or `é`), line ends, a byte order mark, and
packing do not matter. The order of lines and array items does, and numbers are compared as written: `1`,
`1.0` and `1e0` differ. Duplicate keys, `NaN` and lone surrogates mean different things to different readers:
such a line has no canonical form.

The hash is that of the canonical lines, each with a line feed: keys sorted by code point, no white space,
UTF-8, in strings only `"`, `\\` and control characters escaped. A `.json` file is one value.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from json.encoder import encode_basestring
from pathlib import Path

import orjson

from proofspan.contracts.records.records import Json, LineIssue, SourceLine
from proofspan.errors import InputFault
from proofspan.traces.lines.reader import (
    BOM,
    Number,
    Pairs,
    RawLine,
    UnusableError,
    issue_of,
    open_source,
    parse_as_written,
    parse_line,
    read_lines,
)

#: The most bytes of a `.json` file, which is read as a whole, once it is unpacked.
MAX_WHOLE = 256 * 1024 * 1024
#: How many issues of a file are kept; all are counted.
KEPT = 1_000


@dataclass(frozen=True, slots=True)
class Hashed:
    """A file's hash in hexadecimal over its `lines`; None if some line has no canonical form.

    `findings` is the number of those lines, `issues` are the first of them.
    """

    sha256: str | None
    lines: int
    findings: int
    issues: tuple[LineIssue, ...]


def canonical_json(raw: RawLine) -> bytes:
    """Return the canonical form of the line's value. Raises UnusableError if it has none."""
    parse_line(raw)  # the strict reader checks grammar, UTF-8 and depth
    text = raw.data.decode("utf-8")
    return written(parse_as_written(text)).encode("utf-8")


def hash_file(path: Path, *, file: str, whole: bool) -> Hashed:
    """Return the canonical hash of an unpacked file; with `whole` it is one JSON value, not one a line.

    `file` is its name in issues. Raises InputFault if it cannot be read.
    """
    digest = hashlib.sha256()
    lines = findings = 0
    issues: list[LineIssue] = []
    for raw in raw_values(path, whole=whole):
        try:
            digest.update(canonical_json(raw) + b"\n")
        except UnusableError as why:
            findings += 1
            if len(issues) < KEPT:
                line = raw.line
                if whole and why.code == "not_json":  # the line where reading ended
                    message, fix = (
                        why.message,
                        "Write one JSON value; a file with one value a line is .jsonl.",
                    )
                    try:
                        orjson.loads(raw.data)
                    except orjson.JSONDecodeError as error:
                        line = error.lineno
                        message = f"the file is not one JSON value: {error.msg} (column {error.colno})"
                    why = UnusableError(why.code, message, fix)
                issues.append(issue_of(why, SourceLine(file, line, raw.offset, raw.length), raw.data))
        lines += 1
    return Hashed(None if findings else digest.hexdigest(), lines, findings, tuple(issues))


def raw_values(path: Path, *, whole: bool) -> Iterator[RawLine]:
    """Yield the lines of an unpacked file, or with `whole` its one value. Raises InputFault."""
    return _whole(path) if whole else read_lines(path, final=True)


def _whole(path: Path) -> Iterator[RawLine]:
    with open_source(path) as source:
        data = source.read(MAX_WHOLE + 1)
    if len(data) > MAX_WHOLE:
        message = f"a .json file is read at once, and this one has more than {MAX_WHOLE >> 20} MiB"
        fix = "Write one record a line, as .jsonl."
        raise InputFault.of("file_too_large", message, where=str(path), fix=fix)
    text = data.removeprefix(BOM)
    if text.strip():
        yield RawLine(1, len(data) - len(text), len(text), text)


def written(value: Json) -> str:
    """Return the canonical form of a value as `parse_as_written` returns it. Raises UnusableError."""
    if type(value) is Pairs:
        members = {key: written(each) for key, each in value}
        if len(members) < len(value):
            twice = next(key for key, times in Counter(key for key, _ in value).items() if times > 1)
            message = f"duplicate key {twice[:80]!r} in an object"
            fix = "Keep the one that is meant; readers differ on which of them counts."
            raise UnusableError("duplicate_key", message, fix)
        return "{" + ",".join(f"{encode_basestring(key)}:{members[key]}" for key in sorted(members)) + "}"
    if type(value) is Number:
        return str(value)
    if type(value) is str:
        return encode_basestring(value)
    if type(value) is list:
        return "[" + ",".join(map(written, value)) + "]"
    return {True: "true", False: "false", None: "null"}[value]
