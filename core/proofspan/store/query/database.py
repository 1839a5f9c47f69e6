"""DuckDB, locked down: in memory, without files and extensions, a cursor per call, a time limit per query.

Only our own SQL reaches it, and still external access is turned off before the first query and the
configuration is locked. Tables come in as Arrow data. Each query is a file in `sql/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from proofspan.errors import StoreFault
from proofspan.resources import text_of

#: Seconds after which a query is stopped: far more than any of ours needs at a million rows.
TIME_LIMIT = 10.0

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "1GB",
    "threads": 2,
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}

Tables = Mapping[str, pa.Table]
Params = Mapping[str, object]


class Database:
    """An in-memory database for all threads; every call uses a cursor of its own."""

    def __init__(self, *, time_limit: float = TIME_LIMIT) -> None:
        config = {**_CONFIG, "max_execution_time": str(round(1000 * time_limit))}
        self._connection = duckdb.connect(config=config)
        self._connection.execute("SET enable_external_access = false")
        self._connection.execute("SET lock_configuration = true")
        self._time_limit = time_limit

    def column(self, sql: str, params: Params, tables: Tables) -> np.ndarray:
        """Return the only column of a result as a numpy array."""
        with self._running(tables) as cursor:
            (values,) = cursor.execute(sql, dict(params)).fetchnumpy().values()
            return np.asarray(values)

    def rows(self, sql: str, params: Params, tables: Tables) -> list[tuple[Any, ...]]:
        """Return a small result as tuples."""
        with self._running(tables) as cursor:
            return cursor.execute(sql, dict(params)).fetchall()

    def table(self, sql: str, params: Params, tables: Tables) -> pa.Table:
        """Return a large result as an Arrow table."""
        with self._running(tables) as cursor:
            return cursor.sql(sql, params=dict(params)).to_arrow_reader().read_all()

    def over_view(self, view: str, sql: str, tables: Tables) -> pa.Table:
        """Return a result over the temporary view that the statement `view` creates first."""
        with self._running(tables) as cursor:
            cursor.execute(view)
            return cursor.sql(sql).to_arrow_reader().read_all()

    @contextmanager
    def _running(self, tables: Tables) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open a cursor that sees these tables.

        DuckDB applies the time limit to what is executed or streamed, not to a relation's `to_arrow_table`.
        """
        with self._connection.cursor() as cursor:
            try:
                for name, table in tables.items():
                    cursor.register(name, table)
                yield cursor
            except duckdb.InterruptException as error:
                raise StoreFault.of(
                    "query_timed_out",
                    f"the query was stopped after {self._time_limit:g} seconds",
                    fix="narrow the filter, or look at one run at a time",
                ) from error
            except duckdb.Error as error:
                raise StoreFault.of(
                    "query_failed",
                    f"the index could not be queried: {str(error).splitlines()[0]}",
                    fix="rebuild the index: proofspan index WORKSPACE",
                ) from error


@cache
def statement(name: str) -> str:
    """Return the text of `sql/{name}.sql`."""
    return text_of(f"store/query/sql/{name}.sql")


def selection(
    where: str, *, columns: str = "row", order: str = "row", limit: int | None = None, offset: int = 0
) -> str:
    """Return the SQL of some columns of the traces that meet a condition; all SQL is our own."""
    most = "NULL" if limit is None else limit
    return statement("selection").format(columns=columns, where=where, order=order, limit=most, offset=offset)
