"""Write log records as the traceability contract's table `rag_traces`: a DuckDB view, or SQL to load."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import orjson
import pyarrow as pa

from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import Finding, finding_of
from proofspan.store.query.database import Database, statement
from proofspan.traces.separate.log_lines import COLUMNS, LISTS, LogRecord, row_of

#: The columns that the page declares NOT NULL, and by what name a code knows them.
REQUIRED: Final[Mapping[str, str]] = {
    "ts": "ts",
    "qid": "qid",
    "seg": "seg",
    "deltaS": "delta_s",
    "lambda_state": "lambda_state",
}
#: A row of the table: times as text in UTC, lists as JSON; None for NULL.
Row = Mapping[str, str | int | float | None]

_INSERT = "INSERT INTO rag_traces VALUES ("
_SEG_MAX = (1 << 31) - 1
_REAL_MAX = 3.4e38
_TYPES: Mapping[str, pa.DataType] = {"seg": pa.int64(), "deltaS": pa.float64()}
_SCHEMA = pa.schema([("place", pa.int64()), *((name, _TYPES.get(name, pa.string())) for name in COLUMNS)])


def table_row(record: LogRecord) -> tuple[Row, tuple[Finding, ...]]:
    """Return the record as a row, and findings for NOT NULL columns without a value.

    A value that does not fit its column (no valid time, a ΔS beyond REAL) is NULL as well.
    """
    given = row_of(record)
    row = {name: _fitting(name, value) for name, value in given.items()}
    findings = [
        finding_of(*_lacking(column, name, given[column]), record.qid)
        for column, name in REQUIRED.items()
        if row[column] is None
    ]
    return row, tuple(findings)


def rag_traces(rows: Sequence[Row], query: str = "FROM rag_traces") -> pa.Table:
    """Return the result of a query over the DuckDB view of these rows: all of them by default."""
    numbered = [{"place": place, **row} for place, row in enumerate(rows)]
    records = pa.Table.from_pylist(numbered, schema=_SCHEMA)
    return Database().over_view(statement("rag_traces"), query, {"records": records})


def sql_dump(rows: Iterable[Row], *, nullable: Collection[str] = ()) -> Iterator[str]:
    """Yield the table as SQL: DDL, then rows. Loads into DuckDB, SQLite and PostgreSQL.

    The columns of `nullable` lose their NOT NULL, for rows without a value. A NUL, which no SQL text can
    hold, becomes U+FFFD.
    """
    yield "".join(
        line.replace(" NOT NULL", "") if line.split(maxsplit=1)[:1] and line.split()[0] in nullable else line
        for line in statement("rag_traces_table").splitlines(keepends=True)
    )
    yield "BEGIN;\n"
    for row in rows:
        yield "".join((_INSERT, ", ".join(_literal(row[name]) for name in COLUMNS), ");\n"))
    yield "COMMIT;\n"


def _lacking(column: str, name: str, given: Json) -> tuple[str, str, str]:
    if given is None:
        return f"missing_{name}", column, f"the row has no {column}, which the table declares NOT NULL"
    return f"bad_{name}", column, f"{column} is {str(given)[:80]!r}, which its column cannot hold"


def _fitting(name: str, value: Json) -> str | int | float | None:
    """Return the value as its column takes it; None where it cannot."""
    if value is None:
        return None
    if name in LISTS:
        return orjson.dumps(value).decode()
    if name == "ts":
        return _utc(value)
    if name == "seg":
        return value if abs(value) <= _SEG_MAX else None
    if name == "deltaS":
        return value if abs(value) <= _REAL_MAX else None
    return str(value)


def _utc(text: str) -> str | None:
    """Return an ISO 8601 time in UTC, one without a zone as it is; None for invalid times."""
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is not None:
            time = time.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return time.isoformat(sep=" ")


def _literal(value: str | int | float | None) -> str:
    """Return a value as every SQL dialect reads it: quotes are doubled, nothing else is special."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("\0", "\ufffd").replace("'", "''") + "'"
    return repr(value)
