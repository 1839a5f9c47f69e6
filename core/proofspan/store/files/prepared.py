"""The corpus prepared for its readers and kept in the cache: texts, places and words without any parsing.

There is one file for each state of a chunk file and its redirects, mapped into memory by all processes. The
folder may be deleted at any time, and a damaged file counts as missing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice, repeat
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.ipc as ipc

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.records import Chunk, LineIssue, Offsets
from proofspan.diagnosis.corpus import Corpus, Survey, WordsOf
from proofspan.diagnosis.labelling import RULES_VERSION
from proofspan.metrics.gold_eval import ChunkFile
from proofspan.store.files.columns import INDEX_VERSION, issue_from, issue_table
from proofspan.store.files.signed import signed_body, write_signed
from proofspan.traces.records.chunks import Place, place_of
from proofspan.traces.records.redirects import Redirected, redirects_of

V = TypeVar("V")

PREPARED_FOLDER = "corpora"
#: How many bytes of prepared files are kept, those used last.
MOST_BYTES = 2 << 30
_WORDS, _ISSUES, _SURVEY = "words", b"issues", b"survey"
#: The current chunks in order, then those of earlier ids, which alone have the columns of a redirect. `words`
#: are the places of the distinct tokens in the survey.
CHUNK_SCHEMA = pa.schema(
    [
        ("chunk_id", pa.string()),
        ("text", pa.large_string()),
        (_WORDS, pa.large_list(pa.int32())),
        ("doc_id", pa.string()),
        ("section_id", pa.string()),
        ("page_idx", pa.int64()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("unit", pa.string()),
        ("kind", pa.string()),
        ("new_ids", pa.list_(pa.string())),
        ("confidence", pa.float64()),
    ]
)


class Column(Mapping[str, V]):
    """A value for each chunk id, made when it is asked for."""

    __slots__ = ("_rows", "_value")

    def __init__(self, rows: Mapping[str, int], value: Callable[[int], V]) -> None:
        self._rows, self._value = rows, value

    def __getitem__(self, chunk_id: str) -> V:
        return self._value(self._rows[chunk_id])

    def __contains__(self, chunk_id: object) -> bool:
        return chunk_id in self._rows

    def get(self, chunk_id: str, default: Any = None) -> Any:
        """Return the value of a chunk, `default` without one; quicker than that of `Mapping`."""
        row = self._rows.get(chunk_id)
        return default if row is None else self._value(row)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class Prepared(NamedTuple):
    """The chunks of a workspace, by earlier ids too, and the bad lines of chunk file and redirects."""

    known: ChunkFile
    corpus: Corpus
    issues: tuple[LineIssue, ...]


def prepared_file(cache_dir: Path, *state: object) -> Path:
    """Return the file, which need not exist, of chunks in a state: versions of files, how they are read."""
    state = (INDEX_VERSION, RULES_VERSION, CHUNK_SCHEMA.to_string(), *state)
    digest = hashlib.sha256(repr(state).encode()).hexdigest()
    return cache_dir / PREPARED_FOLDER / f"{digest[:32]}.chunks"


def read_prepared(path: Path) -> Prepared | None:
    """Return the chunks in a file of `prepared_file`; None where it is missing or damaged."""
    try:
        with ipc.open_file(signed_body(path)) as file:
            batch, stored = file.get_batch(0), file.schema.metadata
        batch.validate(full=True)
        with suppress(OSError):
            os.utime(path)  # those that are not used make room first
        survey = Survey(**orjson.loads(stored[_SURVEY]))
        issues = tuple(map(issue_from, orjson.loads(stored[_ISSUES])))
        rows = dict(zip(batch.column("chunk_id").to_pylist(), range(batch.num_rows), strict=True))
        known = _known(batch, rows)
        return Prepared(
            known, Corpus(known.texts, survey=survey, words=_words_of(batch, rows, survey)), issues
        )
    except (OSError, ValueError, TypeError, LookupError, pa.ArrowException):
        return None


def _words_of(batch: pa.RecordBatch, rows: Mapping[str, int], survey: Survey) -> WordsOf:
    column, words = batch.column(_WORDS), list(survey.rarity)
    ends, places = column.offsets.to_numpy(), column.values.to_numpy()

    def words_of(chunk_id: str) -> list[str]:
        row = rows[chunk_id]
        return [words[place] for place in places[ends[row] : ends[row + 1]].tolist()]

    return words_of


def _known(batch: pa.RecordBatch, rows: Mapping[str, int]) -> ChunkFile:
    placed = (batch.column(name).to_pylist() for name in Place._fields)
    texts, *spans = (batch.column(name) for name in ("text", "start", "end", "unit"))
    spanned = spans[0].is_valid().to_pylist() if spans[0].null_count < len(rows) else []
    places, current = list(map(Place, *placed)), batch.column("kind").null_count

    ends, letters = texts.buffers()[1:]
    bounds, read = np.frombuffer(ends, np.int64).tolist(), memoryview(letters or b"")

    def text(row: int) -> str:  # several times as fast as a scalar of Arrow
        return str(read[bounds[row] : bounds[row + 1]], "utf-8")

    def offsets(row: int) -> Offsets:
        return Offsets(*(each[row].as_py() for each in spans))

    def part(rows: Mapping[str, int]) -> ChunkFile:
        placed = {chunk_id: places[row] for chunk_id, row in rows.items()}
        with_span = {each: row for each, row in rows.items() if spanned[row]} if spanned else {}
        return ChunkFile(placed, Column(rows, text), Column(with_span, offsets))

    if current == len(rows):
        return part(rows)
    own, former = (part(dict(islice(rows.items(), *ends))) for ends in ((current,), (current, None)))
    columns = ("chunk_id", "kind", "new_ids", "confidence")
    redirects = zip(*(batch.column(name).slice(current).to_pylist() for name in columns), strict=True)
    led = {each: Redirect(each, kind, tuple(new), sure) for each, kind, new, sure in redirects}
    return ChunkFile(
        Redirected(own.places, former.places, led),
        Redirected(own.texts, former.texts, led),
        Redirected(own.offsets, former.offsets, led),
    )


def write_prepared(
    path: Path, chunks: Mapping[str, Chunk], corpus: Corpus, issues: Iterable[LineIssue]
) -> None:
    """Write chunks into a file of `prepared_file`, or nothing where the cache or Arrow does not take them."""
    with suppress(OSError, ValueError, LookupError, pa.ArrowException):
        batch = _batch(chunks, corpus, issues)
        sink = pa.BufferOutputStream()
        with ipc.new_file(sink, batch.schema) as file:
            file.write_batch(batch)
        write_signed(path.parent, path.name, sink.getvalue())
        _make_room(path)


def _batch(chunks: Mapping[str, Chunk], corpus: Corpus, issues: Iterable[LineIssue]) -> pa.RecordBatch:
    led, survey = redirects_of(chunks), corpus.survey
    ids, numbers = [*chunks, *led], {word: number for number, word in enumerate(survey.rarity)}
    places = [np.empty(0, np.int32)]
    for chunk_id in ids:  # one at a time: views of all may not fit into memory
        words = corpus.views[chunk_id].words
        places.append(np.fromiter(map(numbers.__getitem__, words), np.int32, len(words)))

    def row(chunk_id: str) -> tuple[object, ...]:
        chunk, to = chunks[chunk_id], led.get(chunk_id)
        at, nothing = chunk.offsets, (None, None, None)
        span = nothing if at is None else (at.start, at.end, at.unit)
        redirect = nothing if to is None else (to.kind, to.new_ids, to.confidence)
        return (chunk_id, chunk.text, *place_of(chunk), *span, *redirect)

    columns = zip(*map(row, ids), strict=True) if ids else repeat(())
    fields = [field for field in CHUNK_SCHEMA if field.name != _WORDS]
    arrays = {field.name: pa.array(each, field.type) for field, each in zip(fields, columns, strict=False)}
    ends = pa.array(np.cumsum([*map(len, places)]), pa.int64())
    arrays[_WORDS] = pa.LargeListArray.from_arrays(ends, pa.array(np.concatenate(places)))
    stored = {
        _SURVEY: orjson.dumps(survey._asdict()),
        _ISSUES: orjson.dumps(issue_table(issues).to_pylist()),
    }
    schema = CHUNK_SCHEMA.with_metadata(stored)
    return pa.record_batch([arrays[name] for name in schema.names], schema=schema)


def _make_room(path: Path) -> None:
    """Remove the files used longest ago, until the rest are at most `MOST_BYTES`."""
    room = MOST_BYTES
    files = [(each.stat(), each) for each in path.parent.glob("*.*") if not each.name.startswith(".")]
    for status, each in sorted(files, key=lambda file: -file[0].st_mtime_ns):
        room -= status.st_size
        if room < 0 and each != path:
            each.unlink(missing_ok=True)
