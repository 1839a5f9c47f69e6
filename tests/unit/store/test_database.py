"""The database is closed: no files, no settings, no extensions; threads do not meet; no query runs on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from proofspan.errors import StoreFault
from proofspan.store.query.database import Database


@pytest.fixture(scope="module")
def database() -> Database:
    return Database()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM glob('/etc/*')",
        "COPY (SELECT 1) TO 'leak.csv'",
        "ATTACH 'leak.duckdb'",
        "EXPORT DATABASE 'leak'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '8GB'",
        "SET lock_configuration = false",
    ],
)
def test_nothing_outside_is_reached(
    database: Database, sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreFault) as fault:
        database.rows(sql, {}, {})
    assert fault.value.problems[0].code == "query_failed"
    assert list(tmp_path.iterdir()) == []


def test_python_variables_are_no_tables(database: Database) -> None:
    secret = pa.table({"x": [1]})
    with pytest.raises(StoreFault, match="secret"):
        database.rows("SELECT * FROM secret", {}, {})
    assert secret.num_rows == 1


@pytest.mark.parametrize("way", ["rows", "column", "table"])
def test_a_query_is_stopped_after_its_time(way: str) -> None:
    hurried = Database(time_limit=0.2)
    for sql in (
        "SELECT count(*) FROM range(1000000) a, range(1000000) b",
        "SELECT a.range FROM range(1000000) a, range(1000000) b WHERE a.range + b.range < 0",
    ):
        with pytest.raises(StoreFault) as fault:
            getattr(hurried, way)(sql, {}, {})
        assert fault.value.problems[0].code == "query_timed_out"
    assert hurried.rows("SELECT 1", {}, {}) == [(1,)]


@pytest.mark.slow
def test_each_call_sees_its_own_tables(database: Database) -> None:
    """Eight threads ask tables of the same name; on one connection they would read each other's."""

    def ask(number: int) -> bool:
        table = pa.table({"x": np.full(2_000, number)})
        found = database.rows("SELECT min(x), max(x), count(*) FROM rows", {}, {"rows": table})
        return found == [(number, number, 2_000)]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(400)))


def test_values_are_bound(database: Database) -> None:
    table = pa.table({"q": ["x' OR '1'='1", "y"]})
    found = database.rows("SELECT q FROM rows WHERE q = $q", {"q": "x' OR '1'='1"}, {"rows": table})
    assert found == [("x' OR '1'='1",)]
