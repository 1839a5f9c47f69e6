"""The marks of a segment's traces by which rules over the whole run compare them, sorted.

Lines that are appended are compared with these of the earlier segments, whose rows are not read again.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc as ipc

from proofspan.store.files.run_file import marks_name
from proofspan.store.files.segment_files import read_columns
from proofspan.store.files.signed import signed_body, write_signed

#: The columns of a segment that its marks are made of.
MARKED = ("q_id", "paraphrase", "seed", "q", "answer_print", "memory", "offset_unit")
_WORDS = b"words"
#: Odd numbers without a pattern, by which a hash is multiplied before the next number is added.
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)


class Marks(NamedTuple):
    """`identities` are 64-bit hashes of `q_id`, paraphrase and seed, `answers` the prints of the answers.

    Both are sorted and have the row of each in the segment; of equal ones the first row is first. `ids` and
    `questions` are hashes of `q_id` and question of the answers. `memory` and `units` count the states of
    memory and the units of offsets, in the order of first occurrence.
    """

    identities: np.ndarray
    identity_rows: np.ndarray
    answers: np.ndarray
    answer_rows: np.ndarray
    ids: np.ndarray
    questions: np.ndarray
    memory: dict[str, int]
    units: dict[str, int]


_ARRAYS = Marks._fields[:6]


def marks_of(folder: Path, segment: str) -> Marks:
    """Return the marks of a segment; they are made and written where the file is missing or damaged.

    DamagedError where the segment cannot be read. OSError where the cache cannot be written.
    """
    path = folder / marks_name(segment)
    try:
        with ipc.open_file(signed_body(path)) as file:
            batch, words = file.get_batch(0), orjson.loads(file.schema.metadata[_WORDS])
        arrays = (batch.column(name).values.to_numpy() for name in _ARRAYS)
        return Marks(*arrays, *words)
    except (OSError, ValueError, TypeError, LookupError, pa.ArrowException):
        return write_marks(folder, segment, read_columns(folder, [segment], MARKED))


def write_marks(folder: Path, segment: str, rows: pa.Table) -> Marks:
    """Write the marks of a segment with these rows, whole or not at all, and return them."""
    ids, questions = _hashes(rows.column("q_id")), _hashes(rows.column("q"))
    identities = ids.copy()
    for name, factor in zip(("paraphrase", "seed"), _MIX, strict=True):
        identities = identities * np.uint64(factor) + rows.column(name).to_numpy().astype(np.uint64)
    prints = rows.column("answer_print")
    printed = np.flatnonzero(prints.is_valid().to_numpy())
    by_identity = np.argsort(identities, kind="stable")
    answers = prints.drop_null().to_numpy()
    by_answer = np.argsort(answers, kind="stable")
    of_answers = printed[by_answer]
    marks = Marks(
        identities[by_identity],
        by_identity.astype(np.int32),
        answers[by_answer],
        of_answers.astype(np.int32),
        ids[of_answers],
        questions[of_answers],
        _counts(rows.column("memory")),
        _counts(rows.column("offset_unit")),
    )
    arrays = [pa.array([each]) for each in marks[:6]]
    stored = {_WORDS: orjson.dumps([marks.memory, marks.units])}
    sink = pa.BufferOutputStream()
    batch = pa.record_batch(arrays, names=list(_ARRAYS)).replace_schema_metadata(stored)
    with ipc.new_file(sink, batch.schema) as file:
        file.write_batch(batch)
    write_signed(folder, marks_name(segment), sink.getvalue())
    return marks


def _hashes(texts: pa.ChunkedArray) -> np.ndarray:
    digests = (blake2b(text.encode(), digest_size=8).digest() for text in texts.to_pylist())
    return np.frombuffer(b"".join(digests), np.uint64)


def _counts(words: pa.ChunkedArray) -> dict[str, int]:
    counted = pc.value_counts(words.cast(pa.string()).drop_null().combine_chunks())
    return dict(zip(*(part.to_pylist() for part in counted.flatten()), strict=True))


def summed(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Return the sums of counts, in the order of first occurrence."""
    total: dict[str, int] = {}
    for each in counts:
        for word, count in each.items():
            total[word] = total.get(word, 0) + count
    return total
