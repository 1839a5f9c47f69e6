"""Steps of a trace by what their functions were given and what they returned."""

from __future__ import annotations

import re

from proofspan.contracts.records.records import Json
from proofspan.traces.formats.payloads import answer_in, passages_in, question_in, sources_in, unquoted
from proofspan.traces.formats.spans.traced import Span

#: Names of steps whose type does not say it. LangChain's contextual compression is a retriever by its type.
_RERANKS = re.compile(r"re-?rank|compress", re.IGNORECASE)
_RETRIEVES = re.compile(r"retriev|vector.?(store|search)|similarity.?search", re.IGNORECASE)


def fill(span: Span, given: Json, gave: Json) -> None:
    """Read the question, answer and passages of a step from its input and output, as its kind has them.

    A chain or retriever that is named like a reranker is one if it returned passages, and so is a chain that
    is named like a retriever, unless it returned an answer besides.
    """
    given, gave = unquoted(given), unquoted(gave)  # once for all who look into them
    span.question = question_in(given)
    answers = isinstance(gave, dict | str) and answer_in(gave) is not None
    if span.kind == "retriever" or (span.kind == "chain" and not answers):
        named = "reranker" if _RERANKS.search(span.name) else None
        if named is None and _RETRIEVES.search(span.name):
            named = "retriever"
        if named is not None and passages_in(gave):
            span.kind = "reranker" if named == "reranker" else "retriever"
    if span.kind in ("retriever", "reranker"):
        span.documents = passages_in(gave, alone=True)
        span.candidates = passages_in(given) if span.kind == "reranker" else []
    elif span.kind != "embedding":
        span.answer, span.documents = answer_in(gave), sources_in(gave)
