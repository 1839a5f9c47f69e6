"""The report: one JSON object a line with sorted keys, and the Markdown table of the triage recipe."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from proofspan.diagnosis.types import ReportRow, Signals

#: The table shows so many characters of a question, counted before anything is escaped.
QUESTION_CUT = 60

_OWN = frozenset({"q", "q_id", "label", "why", "chunks", "citations_in_answer", "signals", "suspicions"})
_LINE_BREAKS = str.maketrans(dict.fromkeys("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))


def row_to_json(row: ReportRow) -> bytes:
    """The row as one line without its line end; `q_id` only where there is one.

    The same row gives the same bytes: keys are sorted, numbers were rounded when they were made.
    """
    signals = row.signals
    record: dict[str, object] = {
        **row.extra,
        "q": row.q,
        "label": row.label,
        "why": row.why,
        "chunks": row.chunks,
        "citations_in_answer": row.citations_in_answer,
        "signals": {name: getattr(signals, name) for name in Signals.__dataclass_fields__},
        "suspicions": row.suspicions,
    }
    if row.q_id is not None:
        record["q_id"] = row.q_id
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def table_head() -> str:
    """The two lines that open the recipe's table."""
    return "| q | label | why |\n|---|---|---|\n"


def markdown_row(row: ReportRow) -> str:
    """One line of the table."""
    return f"| {question_cell(row.q)} | **{row.label}** | {row.why} |\n"


def question_cell(question: str) -> str:
    """The raw question cut at 60 characters plus `…`; then `|` is escaped and line breaks become spaces."""
    cut = question if len(question) <= QUESTION_CUT else question[:QUESTION_CUT] + "…"
    return cut.replace("\r\n", " ").translate(_LINE_BREAKS).replace("|", "\\|")


def _signals(value: object) -> Signals:
    if not isinstance(value, Mapping):
        return Signals()
    known = {name: value[name] for name in Signals.__dataclass_fields__ if name in value}
    for name in ("query_found", "query_missing", "numbers_unsupported"):
        known[name] = _texts(known.get(name))
    return Signals(**known)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()
