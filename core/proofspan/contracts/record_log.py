"""The rules of log records and of rows of `rag_traces`: lists that belong together, and the run's pins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import orjson

from proofspan.contracts.answer_rules import lambda_findings
from proofspan.contracts.context import Context
from proofspan.contracts.envelope_rules import time_findings
from proofspan.contracts.findings import Finding
from proofspan.contracts.parity import index_name
from proofspan.contracts.payload_rules import parity_findings
from proofspan.contracts.ranking_rules import rank_of
from proofspan.contracts.record_lists import ids_of, unknown_chunks
from proofspan.contracts.records import Json

#: Lists that have one entry a citation.
_BESIDE = ("scores", "kpos", "kfinal")


def with_lists(row: Mapping[str, Json]) -> dict[str, Json]:
    """A row of `rag_traces` with lists where it holds the JSON text of one, as exported columns do."""
    lists = {name: _list_in(row[name]) for name in ("citations", *_BESIDE) if isinstance(row.get(name), str)}
    return {**row, **{name: found for name, found in lists.items() if found is not None}}


def _list_in(text: str) -> list[Json] | None:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, list) else None


def row_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a row of `rag_traces` beyond its schema."""
    cited = obj.get("citations")
    count = len(cited) if isinstance(cited, list) else 0
    for name in _BESIDE:
        beside = obj.get(name)
        if isinstance(beside, list) and len(beside) != count:
            said = f"{name} has {len(beside):,} places, citations {count:,}"
            yield Finding("lists_differ", name, said)
    yield from log_findings(obj, context)


def log_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a log record beyond its schema and what its line tells already."""
    yield from time_findings(obj)
    yield from lambda_findings(obj)
    for name in ("kpos", "kfinal"):
        ranks = obj.get(name)
        for place, rank in enumerate(ranks if isinstance(ranks, list) else (), start=1):
            if type(rank) is int and rank_of(rank) is None:
                yield Finding(
                    f"bad_{name}", f"{name}[{place}]", f"{name}[{place}] is {rank}, ranks count from 1"
                )
    yield from _parity(obj, context)
    yield from unknown_chunks(ids_of(obj.get("citations")), context, "citations")


def _parity(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Index, embedding model and analyzer that are not the run's; a log names its store apart."""
    index_hash, store = obj.get("index_hash"), obj.get("store")
    if isinstance(index_hash, str) and isinstance(store, str):
        index_hash = index_name(index_hash, store)
    embed_model = obj.get("embed_model", obj.get("embed"))
    stated = {"index_hash": index_hash, "embed_model": embed_model, "analyzer": obj.get("analyzer")}
    for finding in parity_findings(stated, context):
        is_renamed = finding.field == "embed_model" and "embed" in obj
        yield Finding(finding.code, "embed" if is_renamed else finding.field, finding.message)
