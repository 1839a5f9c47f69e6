"""The rules that compare a record with others: of its run, its question, or the chunk file."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from typing import Literal

from proofspan.contracts.records.field_values import id_of, text_of
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.catalogue import Rule, problem
from proofspan.contracts.rules.context import shown
from proofspan.errors import Problem

#: The fields that name the state of memory in which a record was made.
MEMORY: tuple[Literal["mem_rev", "mem_hash"], ...] = ("mem_rev", "mem_hash")


def ids_in(items: Json) -> list[str | None]:
    """Return the chunks that a list names, by entries or by their ids alone; None for an entry without."""
    entries = items if isinstance(items, list) else []
    return [id_of(item) if isinstance(item, dict) else text_of(item) for item in entries]


@Rule(
    "not_in_corpus",
    "across",
    "not in the corpus",
    "A retrieved or cited chunk is not in the chunk file.",
    "Build traces and chunk file from one ingest, or write redirects with `proofspan chunk-ids`.",
)
def corpus_problems(places: Iterable[tuple[str, str | None]], corpus: Container[str]) -> Iterator[Problem]:
    """Find chunks, each with its place in the record, that the chunk file does not have."""
    for place, chunk_id in places:
        if chunk_id is not None and chunk_id not in corpus:
            yield problem("not_in_corpus", place, f"{shown(chunk_id)} is not in the chunk file")


@Rule(
    "reranked_not_retrieved",
    "across",
    "reranked, never retrieved",
    "The reranker's list holds a chunk that was not retrieved for its question.",
    "Hand the reranker the retriever's list and nothing else.",
)
@Rule(
    "cited_not_retrieved",
    "across",
    "cited, never retrieved",
    "The answer cites a chunk that was not retrieved for its question.",
    "Check the ids against the retrieved ones before an answer goes out.",
)
def retrieval_problems(
    places: Iterable[tuple[str, str | None]], retrieved: Collection[str | None], *, reranked: bool = False
) -> Iterator[Problem]:
    """Find cited or reranked chunks, each with its place in the record, that were not retrieved."""
    code = "reranked_not_retrieved" if reranked else "cited_not_retrieved"
    verb = code.partition("_")[0]
    for place, chunk_id in places:
        if chunk_id is not None and chunk_id not in retrieved:
            message = f"{shown(chunk_id)} is {verb}, but not among the {len(retrieved):,} chunks retrieved"
            yield problem(code, place, message)


def usual(counts: Mapping[str, int]) -> str:
    """Return the most frequent word, of equally frequent ones the first; "" without any.

    `counts` is in the order of first occurrence.
    """
    return max((word for word in counts if word), key=counts.__getitem__, default="")


@Rule(
    "memory_desync",
    "envelope",
    "memory changed within the run",
    "mem_rev or mem_hash is not that of the rest of the run: its answers rest on different states of memory.",
    "Freeze the memory for the whole run, and run the questions again that saw another state.",
)
def memory_problem(name: str, state: str, usual_state: str) -> Problem:
    """Return the problem of a record in another state of memory than most of its run."""
    return problem("memory_desync", name, f"{name} is {shown(state)}, and mostly {shown(usual_state)}")
