"""What is looked for on a page for a citation: one rule for the Question page and for whole runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.contracts.records import Chunk, Citation, Trace
from core.evidence.types import SpanQuery
from core.traces.canonical import citations, filled_from


def completed_citations(trace: Trace, chunks: Mapping[str, Chunk]) -> Iterator[Citation]:
    """The trace's citations in their order, each with what its chunk's record adds."""
    return (completed_citation(citation, chunks) for citation in citations(trace))


def completed_citation(citation: Citation, chunks: Mapping[str, Chunk]) -> Citation:
    """The citation with quote and place from its chunk, as it is where that is not known."""
    chunk = chunks.get(citation.chunk_id) if citation.chunk_id is not None else None
    return filled_from(citation, chunk) if chunk is not None else citation


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
