"""From a citation to the query that locates it, for the Question page, runs and bundles alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.records import Chunk, Citation, Trace
from proofspan.evidence.types import SpanQuery
from proofspan.traces.records.citations import citations, filled_from
from proofspan.traces.records.redirects import redirect_of, without_former_place

QuoteFrom = Literal["payload", "chunk"]


@dataclass(frozen=True, slots=True)
class CitationView:
    """A citation, or a retrieved passage with its `rank`, with quote and place from its chunk.

    `chunk` is None if it is not known. `redirect` is where an id of an earlier build leads now.
    `is_retrieved`: the chunk of a citation was in the prompt.
    """

    citation: Citation
    quote_from: QuoteFrom | None
    chunk: Chunk | None = None
    redirect: Redirect | None = None
    is_retrieved: bool = False
    rank: int | None = None


def citation_view(citation: Citation, chunks: Mapping[str, Chunk]) -> CitationView:
    """Return the citation with quote and place from its chunk, if the chunk is known.

    The place in an id of an earlier build is dropped, since the chunk of the current build has a better one.
    """
    chunk = chunks.get(citation.chunk_id) if citation.chunk_id is not None else None
    redirect = redirect_of(chunks, citation.chunk_id)
    if redirect is not None:
        citation = without_former_place(citation)
    if chunk is None:
        return CitationView(citation, "payload" if citation.quote else None, redirect=redirect)
    quote_from: QuoteFrom = "payload" if citation.quote else "chunk"
    return CitationView(filled_from(citation, chunk), quote_from, chunk, redirect)


def citation_views(trace: Trace, chunks: Mapping[str, Chunk]) -> list[CitationView]:
    """Return the citations of the answer, in its order."""
    views = (citation_view(citation, chunks) for citation in citations(trace))
    return [replace(view, is_retrieved=view.citation.chunk_id in trace.chunk_ids) for view in views]


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
