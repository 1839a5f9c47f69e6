"""One trace's citations against its gold passages and its anchor.

A citation points at a gold passage by the narrowest thing that both sides name. With offsets in the same
document and unit they have to overlap. Else the gold quote has to stand in the cited text, or three words and
more of cited text in the gold quote. Where neither does (two extractions of a page seldom agree on a table)
gold chunks decide, else gold sections, else the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from proofspan.contracts.records import Offsets
from proofspan.metrics.passages import CitedSpan, Passage, Words
from proofspan.metrics.relevance import lies_in

#: Words in a row that are more than chance; an anchor of fewer has to be there as a whole.
RUN: Final = 3


class Cited(NamedTuple):
    """What citation metrics are made of, in the order of the index's columns: 0–1, None where not counted.

    Precision is None where nothing is cited, recall where the gold names no passage, anchor coverage where
    it has no anchor, or nobody can tell what was cited as there is no chunk file.
    """

    citation_precision: float | None = None
    citation_recall: float | None = None
    anchor_coverage: float | None = None


NOT_COUNTED: Final = Cited()


class Anchor(NamedTuple):
    """A gold anchor's words between blanks, the runs of words in it, and how many words it has."""

    text: str
    runs: tuple[str, ...]
    size: int


def cited_against(spans: Sequence[CitedSpan], passages: Sequence[Passage], anchor: Anchor | None) -> Cited:
    """What an answer's distinct citations make of the gold; one that cites nothing points at nothing."""
    precision = recall = None
    if passages:
        pointing = [[points_at(span, passage) for passage in passages] for span in spans]
        if spans:
            precision = sum(map(any, pointing)) / len(spans)
        recall = sum(map(any, zip(*pointing, strict=True))) / len(passages)
    return Cited(precision, recall, anchor and _coverage(anchor, spans))


def points_at(span: CitedSpan, passage: Passage) -> bool:
    """Whether a citation points at a passage."""
    same_document = span.doc_id is not None and span.doc_id == passage.doc_id
    if same_document and span.offsets and passage.offsets and span.offsets.unit == passage.offsets.unit:
        return _overlap(span.offsets, passage.offsets)
    if span.words and passage.quote and _holds(span.words, passage.quote):
        return True
    if passage.chunks and span.chunk_id is not None:
        return span.chunk_id in passage.chunks
    if passage.sections and span.section:
        return lies_in(passage.sections, span.section, span.doc_id)
    return same_document and span.page_idx is not None and span.page_idx == passage.page_idx


def anchor_of(words: Words | None) -> Anchor | None:
    """An anchor from its words; None without any."""
    if words is None:
        return None
    each = words.text.split()
    length = min(RUN, words.size)
    runs = (each[start : start + length] for start in range(words.size - length + 1))
    return Anchor(words.text, tuple(f" {' '.join(run)} " for run in runs), words.size)


def _coverage(anchor: Anchor, spans: Sequence[CitedSpan]) -> float:
    """The share of the anchor's words that belong to a run which stands in a cited text."""
    cited = "|".join([span.words.text for span in spans if span.words])  # no word holds the sign
    if anchor.text in cited:
        return 1.0
    length = anchor.size - len(anchor.runs) + 1
    covered: set[int] = set()
    for start, run in enumerate(anchor.runs):
        if run in cited:
            covered.update(range(start, start + length))
    return len(covered) / anchor.size


def _overlap(one: Offsets, other: Offsets) -> bool:
    return one.start < other.end and other.start < one.end


def _holds(cited: Words, gold: Words) -> bool:
    return gold.text in cited.text or (cited.size >= RUN and cited.text in gold.text)
