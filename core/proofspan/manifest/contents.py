"""Recognize the content of a file of records by its beginning: lines of JSON, or what else it is.

One JSON value differs from JSON lines by its grammar: the first value is followed token by token. If it goes
on over a line end, the file is one value, unless it breaks off and most lines are objects by themselves.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Final, Literal, NamedTuple

import orjson

#: Bytes read from the start of a file, and how many of its first lines are examined.
HEAD: Final = 64 * 1024
LINES: Final = 20

Code = Literal[
    "lines",
    "json_array",
    "json_over_lines",
    "json_values_over_lines",
    "not_utf8",
    "not_jsonl",
    "is_csv",
    "is_trec",
    "is_log",
]


class Content(NamedTuple):
    """The content of a file. The code "lines" is for lines of JSON, and for what is not known.

    `what` completes "the file is …".
    """

    code: Code
    what: str = ""
    fix: str = ""


_LINES = Content("lines")
_WRITE = "Write one JSON object a line, or name the right file."
_MAGIC = {
    b"\x1f\x8b": ("gzip", "Name it FILE.gz: packed files are unpacked by their ending."),
    b"\x28\xb5\x2f\xfd": ("Zstandard", "Name it FILE.zst: packed files are unpacked by their ending."),
    b"PK\x03\x04": ("a ZIP archive", "Unpack it and name the file in it."),
    b"BZh": ("bzip2", "Unpack it with bunzip2, or pack it with gzip as FILE.gz."),
    b"\xfd7zXZ\x00": ("xz", "Unpack it with unxz, or pack it with gzip as FILE.gz."),
    b"7z\xbc\xaf": ("a 7z archive", "Unpack it and name the file in it."),
    b"PAR1": ("Parquet", "With pandas: read_parquet(FILE).to_json(OUT, orient='records', lines=True)."),
    b"ARROW1": ("Arrow", "With pandas: read_feather(FILE).to_json(OUT, orient='records', lines=True)."),
    b"%PDF": ("a PDF", "A PDF is a document: name it under `documents` in the manifest."),
    b"SQLite format 3\x00": ("an SQLite database", "Export its table: sqlite3 -json FILE 'select …'."),
    b"\x93NUMPY": ("a NumPy array", _WRITE),
    b"\x89PNG": ("a picture", _WRITE),
    b"\xff\xd8\xff": ("a picture", _WRITE),
}
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: Which of the first four bytes are zero where the first two characters are ASCII, as in RFC 4627, section 3.
_ZEROS = {
    (True, True, True, False): "utf-32-be",
    (True, False, True, False): "utf-16-be",
    (False, True, True, True): "utf-32-le",
    (False, True, False, True): "utf-16-le",
}
#: A line of a run and of judgments in the formats of trec_eval, and of its output.
TREC_RUN = re.compile(rb"\S+\s+(?:Q0|q0|0)\s+\S+\s+-?\d+\s+[-+]?[\d.]+(?:[eE][-+]?\d+)?\s+\S+\s*")
QRELS = re.compile(rb"\S+\s+(?:Q0|\d)\s+\S+\s+-?\d{1,2}\s*")
_TREC_EVAL = re.compile(rb"(?:runid|num_q|num_ret|num_rel|num_rel_ret|map)\s+\S+\s+\S+\s*")
#: An entry of the log line of the traceability contract, and the one that each record has.
_LOG_ENTRY = re.compile(rb"(?:^|(?<=\s))[A-Za-z_][\w.-]*=\S")
_QID = re.compile(rb"(?:^|(?<=\s))qid=\S")
_TOKEN = re.compile(
    rb'[ \t\r\n]*(?:(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<sign>[][{},:])'
    rb"|(?P<scalar>-?[0-9][0-9.eE+-]*|true|false|null|NaN|-?Infinity))"
)
#: A line of signs, numbers, words and texts of JSON, however they are put together.
_LIKE_JSON = re.compile(rb'(?:[\s\d\[\]{},:.+-]|"[^"]*+"?+|true|false|null|[eE](?=[-+\d]))*')
#: An object's plain values up to its first list, and the name of that.
_FIRST_LIST = re.compile(
    rb'\{\s*(?:"[^"\\\x00-\x1f]*"\s*:\s*(?:"[^"\\\x00-\x1f]*"|[\w.+-]+)\s*,\s*)*"([A-Za-z_]\w*)"\s*:\s*\['
)


@lru_cache(4)  # one file's is asked for by several that read it
def content_of(head: bytes) -> Content:
    """Return the content of a file by its first `HEAD` bytes; a file with fewer is seen as a whole."""
    if (wide := wide_encoding(head)) is not None:
        fix = "Write the file as UTF-8, or let it be read repaired: --fix-encoding, in a manifest "
        return Content("not_utf8", f"{wide[:6].upper()} text, not UTF-8", f"{fix}`fix_encoding: true`.")
    for magic, (kind, fix) in _MAGIC.items():
        if head.startswith(magic):
            return Content("not_jsonl", f"{kind}, not JSONL", fix)
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    is_whole = len(head) < HEAD
    lines = [line for line in text.splitlines() if line.strip()][: LINES + 1]
    if not is_whole and len(lines) <= LINES:
        lines = lines[:-1]  # it may go on
    if not lines:
        return _LINES  # one line longer than the head may be an object
    lines = lines[:LINES]
    if text.startswith((b"{", b"[")):
        return _json(text, lines, is_whole=is_whole)
    return _LINES if any(map(_is_object, lines)) else _text(text, lines)


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of a file by its first bytes if it is UTF-16 or UTF-32, else None."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    first = [byte == 0 for byte in head[:4]]
    return _ZEROS.get((first[0], first[1], first[2], first[3])) if len(first) == 4 else None


def csv_rows(lines: Sequence[bytes]) -> tuple[str, list[str]] | None:
    """Return the delimiter and the header of a table with separated values; None for anything else.

    Nine of ten rows have as many cells as the header, which has names.
    """
    texts = [line.decode("utf-8", "replace") for line in lines]
    for delimiter in ",;\t|":
        rows = [row for row in csv.reader(texts, delimiter=delimiter) if row]
        header = [cell.strip() for cell in rows[0]] if rows else []
        alike = sum(len(row) == len(header) for row in rows)
        has_names = all(0 < len(cell) <= 60 and not _is_number(cell) for cell in header)
        is_table = len(rows) > 1 or all(len(cell.split()) <= 3 for cell in header)
        if len(header) > 1 and has_names and is_table and 10 * alike >= 9 * (len(rows) - 1):
            return delimiter, header
    return None


def _json(text: bytes, lines: Sequence[bytes], *, is_whole: bool) -> Content:
    """Return whether text that begins with a bracket is lines of JSON or one value."""
    opened = text[0:1]
    state, end = _first_value(text, is_whole=is_whole)
    first_line = len(text.partition(b"\n")[0])
    if opened == b"[":
        if state == "broken" and end <= first_line and not _LIKE_JSON.fullmatch(lines[0]):
            return _log(lines) or _LINES  # such as a time in brackets
        if state == "ended" and end <= first_line and any(map(_is_object, lines[1:])):
            return _LINES  # a list in the place of the first record
        return Content("json_array", "one JSON array, not JSONL", "Write one entry a line: jq -c '.[]' FILE.")
    if end <= first_line or not text[first_line:end].strip() or _is_object(lines[0]):
        return _LINES
    if state == "ended" and text[end:].strip():
        what = "several JSON values over several lines each, not JSONL"
        return Content("json_values_over_lines", what, "Write one object a line: jq -c . FILE.")
    if state == "broken" and 2 * sum(map(_is_object, lines)) >= len(lines):
        return _LINES
    fix = "Write one JSON object a line: jq -c . FILE."
    if (name := _list_name(text)) is not None:
        fix = f"Write one entry of its list a line: jq -c '.{name}[]' FILE."
    return Content("json_over_lines", "JSON over several lines, not JSONL", fix)


def _first_value(text: bytes, *, is_whole: bool) -> tuple[Literal["ended", "open", "broken"], int]:
    """Follow the first JSON value: it ends, is cut off by the end of the head, or breaks off; and where."""
    closers: list[bytes] = []
    wanted, place = "value", 0
    while True:
        token = _TOKEN.match(text, place)
        if token is None:
            rest = text[place:].lstrip(b" \t\r\n")
            return ("open" if not is_whole and b"\n" not in rest else "broken"), place
        sign = token["sign"]
        if sign is not None and closers and sign == closers[-1] and wanted in ("after", "first"):
            closers.pop()
            wanted = "after"
        elif sign in (b"{", b"[") and (wanted == "value" or (wanted == "first" and closers[-1] == b"]")):
            closers.append(b"}" if sign == b"{" else b"]")
            wanted = "first"
        elif sign == b"," and wanted == "after":
            wanted = "key" if closers[-1] == b"}" else "value"
        elif sign == b":" and wanted == "colon":
            wanted = "value"
        elif sign is None and (wanted == "value" or (wanted == "first" and closers[-1] == b"]")):
            wanted = "after"
        elif token["text"] is not None and wanted in ("key", "first"):
            wanted = "colon"
        else:
            return "broken", place
        place = token.end()
        if not closers:
            return "ended", place


def _list_name(text: bytes) -> str | None:
    """Return the first key of an object whose value is a list, if it needs no quotes."""
    found = _FIRST_LIST.match(text)
    return found[1].decode() if found else None


def _text(text: bytes, lines: Sequence[bytes]) -> Content:
    """Recognize text that is not JSON."""
    start = text[:1024].lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<script", b"<body")):
        return Content("not_jsonl", "a web page (HTML), not JSONL", "Download the file again.")
    if start.startswith(b"<"):
        return Content("not_jsonl", "HTML or XML, not JSONL", _WRITE)
    if all(map(TREC_RUN.fullmatch, lines)):
        what = "a TREC run (question, Q0, document, rank, score, tag), not JSONL"
        fix = (
            "Write a trace a question, its documents in the order of their scores under `stages`: "
            '{"q_id": …, "q": …, "stages": {"retrieved": [{"id": DOCUMENT, "score": SCORE}, …]}}.'
        )
        return Content("is_trec", what, fix)
    if all(map(QRELS.fullmatch, lines)):
        what = "TREC judgments (qrels: question, 0, document, relevance), not JSONL"
        fix = 'Write a gold question a line: {"q_id": …, "q": …, "chunks": [the relevant documents]}.'
        return Content("is_trec", what, fix)
    if all(map(_TREC_EVAL.fullmatch, lines[:2])):
        fix = "Its numbers are not read; write the run itself as traces: proofspan metrics computes them."
        return Content("is_trec", "the output of trec_eval, not JSONL", fix)
    if (log := _log(lines)) is not None:
        return log
    if (table := csv_rows(lines)) is not None:
        delimiter, columns = table
        kind = "TSV" if delimiter == "\t" else "CSV"
        what = f"{kind} with {len(columns)} columns ({', '.join(columns)[:80]}), not JSONL"
        tab = ", sep='\\t'" if delimiter == "\t" else f", sep={delimiter!r}" * (delimiter != ",")
        fix = (
            f"Convert it to one JSON object a row; with pandas: read_csv(FILE{tab}).to_json(OUT, "
            "orient='records', lines=True)."
        )
        return Content("is_csv", what, fix)
    return _LINES


def _log(lines: Sequence[bytes]) -> Content | None:
    if not any(map(_QID.search, lines)) or sum(len(_LOG_ENTRY.findall(line)) for line in lines) < 3:
        return None
    fix = "Check it with `proofspan validate`; in a manifest it is a run's records: {log: {path: …}}."
    return Content("is_log", "a log of key=value entries, not JSONL", fix)


def _is_object(line: bytes) -> bool:
    with suppress(orjson.JSONDecodeError):
        return line.lstrip().startswith(b"{") and isinstance(orjson.loads(line), dict)
    return False


def _is_number(cell: str) -> bool:
    with suppress(ValueError):
        float(cell)
        return True
    return False
