"""Write log records as the traceability contract's table `rag_traces`: a DuckDB view, or SQL to load."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import orjson
import pyarrow as pa

from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import Finding, finding_of
from proofspan.store.query.database import Database, statement
from proofspan.traces.separate.log_lines import COLUMNS, LISTS, LogRecord, row_of

#: The columns that the page declares NOT NULL.
REQUIRED = ("ts", "qid", "seg", "deltaS", "lambda_state")
#: A row of the table: times as text in UTC, lists as JSON; None for NULL.
Row = Mapping[str, str | int | float | None]

#: The largest numbers that their columns hold.
_MOST: Mapping[str, float] = {"seg": (1 << 31) - 1, "deltaS": 3.4e38}
_TYPES: Mapping[str, pa.DataType] = {"seg": pa.int64(), "deltaS": pa.float64()}
_SCHEMA = pa.schema([("place", pa.int64()), *((name, _TYPES.get(name, pa.string())) for name in COLUMNS)])


def table_row(record: LogRecord) -> tuple[Row, tuple[Finding, ...]]:
    """Return the record as a row, and findings for NOT NULL columns without a value.

    A value that does not fit its column (no valid time, a ΔS beyond REAL) is NULL as well.
    """
    given = row_of(record)
    row = {name: _fitting(name, value) for name, value in given.items()}
    findings = []
    for column in REQUIRED:
        if row[column] is None:
            name, value = column.replace("deltaS", "delta_s"), given[column]
            code, message = f"missing_{name}", f"the row has no {column}, which the table declares NOT NULL"
            if value is not None:
                code = f"bad_{name}"
                message = f"{column} is {str(value)[:80]!r}, which its column cannot hold"
            findings.append(finding_of(code, column, message, record.qid))
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
        values = ", ".join(_literal(row[name]) for name in COLUMNS)
        yield f"INSERT INTO rag_traces VALUES ({values});\n"  # noqa: S608 - all values are literals
    yield "COMMIT;\n"


def _fitting(name: str, value: Json) -> str | int | float | None:
    if value is None:
        return None
    if name in LISTS:
        return orjson.dumps(value).decode()
    if name == "ts":  # in UTC; one without a zone as it is
        try:
            time = datetime.fromisoformat(value)
            if time.tzinfo is not None:
                time = time.astimezone(UTC).replace(tzinfo=None)
        except (ValueError, OverflowError):
            return None
        return time.isoformat(sep=" ")
    if name in _MOST:
        return value if abs(value) <= _MOST[name] else None
    return str(value)


def _literal(value: str | int | float | None) -> str:
    """Return a value as every SQL dialect reads it: quotes are doubled, nothing else is special."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("\0", "\ufffd").replace("'", "''") + "'"
    return repr(value)
