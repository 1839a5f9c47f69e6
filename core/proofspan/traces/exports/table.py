"""A table of questions: CSV with a row for each, and lists as JSON in their cells."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

import orjson

from proofspan.contracts.records.field_values import number_of
from proofspan.contracts.records.records import Json
from proofspan.traces.exports.passages import metadata_of
from proofspan.traces.exports.reviews import review_columns
from proofspan.traces.exports.types import ExportFormat, context_of, with_numbers
from proofspan.traces.formats.native import id_by_text
from proofspan.traces.formats.table import columns_of
from proofspan.traces.formats.types import Asked, Passage
from proofspan.wording import spreadsheet_text

#: The columns of the parts of a question, in their order; scores and fields follow by name.
_COLUMNS = (
    *("question_id", "model", "question", "response", "contexts", "reference_answer", "reference_contexts"),
)
#: Bytes of rows that are kept in memory until all columns are known; more lie in a temporary file.
_IN_MEMORY = 16 << 20


def _write(asked: Iterable[Asked], _corpus: Iterable[Passage], sinks: Sequence[BinaryIO]) -> None:
    own: set[str] = set()
    others: set[str] = set()
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as kept:
        for each in asked:
            row = {name: value for name, value in _row(each) if value is not None}
            own |= row.keys() & set(_COLUMNS)
            others |= row.keys() - set(_COLUMNS)
            kept.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        header = [*(name for name in _COLUMNS if name in own), *sorted(others)]
        sinks[0].write(_line(header))
        kept.seek(0)
        for line in kept:
            row = orjson.loads(line)
            sinks[0].write(_line([_cell(row.get(name)) for name in header]))


def _row(asked: Asked) -> Iterator[tuple[str, Json]]:
    yield from (("question_id", asked.q_id), ("model", asked.run or None), ("question", asked.q))
    yield "response", asked.answer
    yield "contexts", [*map(_passage, context_of(asked)[1])] or None
    yield "reference_answer", asked.expected
    yield "reference_contexts", [*map(_passage, asked.gold)] or None
    scores = {
        name: score.get("score") if isinstance(score, dict) else score
        for name, score in with_numbers(asked.scores)
    }
    review = review_columns(asked.review)
    for name, value in (scores | asked.fields).items():  # an earlier export may have written the same columns
        yield (f"earlier_{name}" if name in review else _free(name)), value
    yield from review.items()


def _free(name: str) -> str:
    """Return a name for a column that readers take for no part of a question."""
    return f"field {name}" if columns_of([name]) else name


def _passage(passage: Passage) -> Json:
    """Return a text, or an object where there is more to say, or the text could be read as a name."""
    text, metadata = passage.text or "", metadata_of(passage)
    is_made = passage.id in (None, id_by_text(passage.document, text))
    if is_made and not metadata and passage.score is None and " " in text:
        return text
    parts = {
        "id": passage.id,
        "text": passage.text,
        "score": passage.score,
        "metadata": metadata or None,
    }
    return {name: value for name, value in parts.items() if value is not None}


def _cell(value: Json) -> str:
    if value is None or isinstance(value, str):
        return spreadsheet_text(value or "")
    return repr(value) if number_of(value) is not None else orjson.dumps(value).decode()


def _line(cells: Sequence[str]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue().encode("utf-8", "replace")


TABLE = ExportFormat(
    name="table",
    title="A table",
    suffix=".csv",
    holds=frozenset({"q_id", "run", "answer", "expected", "field", "review", "score.number", "score.text"})
    | {
        f"{of}.{part}"
        for of in ("chunks", "gold")
        for part in ("text", "id", "document", "page", "place", "score", "more")
    },
    documentation="A row is a question; contexts are a list in JSON. What people say is in columns "
    "`review_…`. Text that a spreadsheet would run as a formula has a ' before it.",
    write=_write,
)
