"""From a citation to the query that locates it, for the Question page, runs and bundles alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.records import Chunk, Citation, Trace
from proofspan.evidence.types import SpanQuery
from proofspan.traces.records.citations import citations, filled_from
from proofspan.traces.records.redirects import redirect_of, without_former_place

QuoteFrom = Literal["payload", "chunk"]


@dataclass(frozen=True, slots=True)
class Pointer:
    """A citation, or a retrieved passage with its `rank`, with its chunk (None: not known)."""

    citation: Citation
    quote_from: QuoteFrom | None
    chunk: Chunk | None
    rank: int | None = None


def pointer_of(citation: Citation, chunks: Mapping[str, Chunk]) -> Pointer:
    """Return the citation with quote and place from its chunk, if the chunk is known.

    The place in an id of an earlier build is dropped, since the chunk of the current build has a better one.
    """
    chunk = chunks.get(citation.chunk_id) if citation.chunk_id is not None else None
    if redirect_of(chunks, citation.chunk_id) is not None:
        citation = without_former_place(citation)
    if chunk is None:
        return Pointer(citation, "payload" if citation.quote else None, None)
    return Pointer(filled_from(citation, chunk), "payload" if citation.quote else "chunk", chunk)


def pointers_of(trace: Trace, chunks: Mapping[str, Chunk]) -> Iterator[Pointer]:
    """Return the citations of the answer, in its order."""
    return (pointer_of(citation, chunks) for citation in citations(trace))


def span_query(citation: Citation) -> SpanQuery:
    """Return the query that locates a citation; its quote may be ""."""
    return SpanQuery(
        citation.quote or "",
        citation.page_idx,
        citation.offsets,
        citation.box,
        citation.box_space if citation.box else None,
        cited_label=citation.page_label if citation.page_idx is None else None,
    )
