"""What points at a place, and what is looked for there: one rule for the Question page, runs and bundles."""

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
    """A citation, or a retrieved passage with its `rank`, with what its chunk adds (None: not known)."""

    citation: Citation
    quote_from: QuoteFrom | None
    chunk: Chunk | None
    rank: int | None = None


def pointer_of(citation: Citation, chunks: Mapping[str, Chunk]) -> Pointer:
    """The citation with quote and place from its chunk, as it is where that is not known.

    What only a former id says of the place is of the earlier build: its chunk of today says it better.
    """
    chunk = chunks.get(citation.chunk_id) if citation.chunk_id is not None else None
    if redirect_of(chunks, citation.chunk_id) is not None:
        citation = without_former_place(citation)
    if chunk is None:
        return Pointer(citation, "payload" if citation.quote else None, None)
    return Pointer(filled_from(citation, chunk), "payload" if citation.quote else "chunk", chunk)


def pointers_of(trace: Trace, chunks: Mapping[str, Chunk]) -> Iterator[Pointer]:
    """Everything that the answer cites, in its order."""
    return (pointer_of(citation, chunks) for citation in citations(trace))


def span_query(citation: Citation) -> SpanQuery:
    """What is looked for; the quote is empty where there is none."""
    return SpanQuery(
        citation.quote or "",
        citation.page_idx,
        citation.offsets,
        citation.box,
        citation.box_space if citation.box else None,
        cited_label=citation.page_label if citation.page_idx is None else None,
    )
