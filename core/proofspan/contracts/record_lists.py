"""The rules of ranked lists in records of their own: what a retriever found, what a reranker made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofspan.contracts.context import Context
from proofspan.contracts.findings import Finding, shown
from proofspan.contracts.payload_rules import PAYLOAD_MARKS, candidate_demand, item_findings
from proofspan.contracts.ranking_rules import RANKS, listed_ties, repeated, shared_ranks
from proofspan.contracts.records import Json
from proofspan.contracts.values import id_of, index_of, text_of

#: An item without one of these has nothing that the rules of payloads could judge.
_JUDGED = PAYLOAD_MARKS | {"page", "page_idx", "score_raw", "score_norm", "rerank_score", *RANKS}


def retrieved_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a retriever's list beyond its schema."""
    items = _items(obj)
    yield from _more_than(len(items), obj, "k")
    for place, item in enumerate(items, start=1):
        if type(item) is dict and not _JUDGED.isdisjoint(item):
            for finding in item_findings(item, context, candidate_demand(item)):
                yield finding.inside(f"items[{place}]")
    for place, finding in (*shared_ranks(items), *listed_ties(items)):
        yield finding.inside(f"items[{place}]")
    yield from _listed(items, context)


def rerank_findings(obj: Mapping[str, Json], context: Context) -> Iterator[Finding]:
    """Everything that is wrong with a reranker's list beyond its schema."""
    items = _items(obj)
    yield from _more_than(len(items), obj, "k_in")
    k_in, k_out = index_of(obj.get("k_in")), index_of(obj.get("k_out"))
    if k_in is not None and k_out is not None and k_out > k_in:
        yield Finding("bad_k_out", "k_out", f"k_out is {k_out:,}, and k_in only {k_in:,}")
    stated = [item["selected"] for item in items if type(item) is dict and type(item.get("selected")) is bool]
    if stated and k_out is not None and sum(stated) != k_out:
        said = f"{sum(stated):,} of {len(items):,} items selected, and k_out is {k_out:,}"
        yield Finding("selected_not_k_out", "items", said)
    for place, finding in shared_ranks(items):
        yield finding.inside(f"items[{place}]")
    yield from _listed(items, context)


def unknown_chunks(ids: Sequence[str | None], context: Context, place: str) -> Iterator[Finding]:
    """The chunks of a list at `place` that the chunk file does not have."""
    if context.corpus is None:
        return
    for number, chunk_id in enumerate(ids, start=1):
        if chunk_id is not None and chunk_id not in context.corpus:
            yield Finding(
                "not_in_corpus", f"{place}[{number}]", f"{shown(chunk_id)} is not in the chunk file"
            )


def ids_of(items: Json) -> list[str | None]:
    """The chunks that a list names, by entries or by their ids alone; None for what names none."""
    entries = items if isinstance(items, list) else []
    return [id_of(item) if isinstance(item, dict) else text_of(item) for item in entries]


def _listed(items: Sequence[Json], context: Context) -> Iterator[Finding]:
    """Chunks that stand in a ranked list twice, or are not in the corpus."""
    for place, finding in repeated(items):
        yield finding.inside(f"items[{place}]")
    yield from unknown_chunks(ids_of(items), context, "items")


def _items(obj: Mapping[str, Json]) -> list[Json]:
    items = obj.get("items")
    return items if isinstance(items, list) else []


def _more_than(length: int, obj: Mapping[str, Json], name: str) -> Iterator[Finding]:
    most = index_of(obj.get(name))
    if most is not None and length > most:
        yield Finding(f"bad_{name}", name, f"{name} is {most:,}, and {length:,} items are listed")
