"""The texts of the queries: one question a file in `sql/`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def statement(name: str) -> str:
    """The text of `sql/{name}.sql`."""
    return (files("proofspan.store") / "sql" / f"{name}.sql").read_text(encoding="utf-8")
