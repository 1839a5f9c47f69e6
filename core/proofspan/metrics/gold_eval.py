"""Evaluate a trace against its gold question: the outcomes that metrics sum up.

A citation points at a gold passage by the narrowest thing that both name. Offsets in the same document and
unit must overlap. Else the gold quote must be in the cited text, or three or more words of cited text in the
gold quote. If neither is (two extractions of a page seldom agree on a table), gold chunks decide, else gold
sections, else the page.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from proofspan.contracts.records.names import SectionKey, normalize_text, section_key
from proofspan.contracts.records.records import Citation, GoldQuestion, Offsets, Trace
from proofspan.diagnosis.gold import declines
from proofspan.diagnosis.topic import section_of
from proofspan.diagnosis.types import ReportRow
from proofspan.diagnosis.words import tokens
from proofspan.metrics.ranked import LEFT_OUT, Ranked, ranked
from proofspan.metrics.relevance import NONE, GoldCorpus, Relevance, Sections, lies_in
from proofspan.traces.records.chunks import Place, Places
from proofspan.traces.records.citations import citations

#: Words in a row that are more than chance; an anchor of fewer has to be there as a whole.
RUN: Final = 3


class Cited(NamedTuple):
    """The numbers of citation metrics in the order of the index's columns: 0–1, None if not counted.

    Precision is None if nothing is cited, recall if the gold names no passage, anchor coverage without an
    anchor, or if the cited text is unknown without a chunk file.
    """

    citation_precision: float | None = None
    citation_recall: float | None = None
    anchor_coverage: float | None = None


NOT_COUNTED: Final = Cited()


def cited_against(spans: Sequence[CitedSpan], passages: Sequence[Passage], anchor: Words | None) -> Cited:
    """Compare an answer's distinct citations with the gold; an answer without citations points at nothing."""
    precision = recall = None
    if passages:
        pointing = [[_points_at(span, passage) for passage in passages] for span in spans]
        if spans:
            precision = sum(map(any, pointing)) / len(spans)
        recall = sum(map(any, zip(*pointing, strict=True))) / len(passages)
    return Cited(precision, recall, anchor and _coverage(anchor, spans))


def _points_at(span: CitedSpan, passage: Passage) -> bool:
    same_document = span.doc_id is not None and span.doc_id == passage.doc_id
    if same_document and span.offsets and passage.offsets and span.offsets.unit == passage.offsets.unit:
        return span.offsets.start < passage.offsets.end and passage.offsets.start < span.offsets.end
    cited, quote = span.words, passage.quote
    if cited and quote and (quote.text in cited.text or (cited.size >= RUN and cited.text in quote.text)):
        return True
    if passage.chunks and span.chunk_id is not None:
        return span.chunk_id in passage.chunks
    if passage.sections and span.section:
        return lies_in(passage.sections, span.section, span.doc_id)
    return same_document and span.page_idx is not None and span.page_idx == passage.page_idx


@lru_cache(maxsize=1 << 14)
def _runs(anchor: Words) -> list[str]:
    """Return the runs of an anchor's words, each between blanks."""
    each = anchor.text.split()
    length = min(RUN, anchor.size)
    return [f" {' '.join(each[start : start + length])} " for start in range(anchor.size - length + 1)]


def _coverage(anchor: Words, spans: Sequence[CitedSpan]) -> float:
    """Return the share of the anchor's words in runs that a cited text has."""
    cited = "|".join([span.words.text for span in spans if span.words])  # no word holds the sign
    if anchor.text in cited:
        return 1.0
    covered: set[int] = set()
    for start, run in enumerate(_runs(anchor)):
        if run in cited:
            covered.update(range(start, start + min(RUN, anchor.size)))
    return len(covered) / anchor.size


NO_SECTIONS: Sections = {}

#: Only texts with one of these are changed by normalization.
_TO_NORMALIZE = ("\n", "\r", "\u00ad", "\ufeff")


class Words(NamedTuple):
    """A text's words between blanks, so that words in a row are one string, and their number."""

    text: str
    size: int


class Passage(NamedTuple):
    """A gold span; for gold without spans a gold chunk, else a gold section.

    A citation without more points at it by one of `chunks` or `sections`, or by its page. `quote` has at
    least a word.
    """

    doc_id: str | None = None
    page_idx: int | None = None
    chunks: frozenset[str] = NONE
    sections: Sections = NO_SECTIONS
    offsets: Offsets | None = None
    quote: Words | None = None


class CitedSpan(NamedTuple):
    """The target of a citation. `offsets` and `words` are its own (of its quote), else its chunk's.

    `section` is empty for a section that only repeats the page.
    """

    chunk_id: str | None
    doc_id: str | None
    section: SectionKey
    page_idx: int | None
    offsets: Offsets | None
    words: Words | None


@dataclass(frozen=True, slots=True)
class ChunkFile:
    """The places, texts and offsets of the chunks of a chunk file."""

    places: Places
    texts: Mapping[str, str]
    offsets: Mapping[str, Offsets]


NO_CHUNK_FILE = ChunkFile({}, {}, {})


def words_of(text: str) -> Words | None:
    """Return the words of a text without case, punctuation and line breaks; None without any."""
    if any(mark in text for mark in _TO_NORMALIZE):
        text = normalize_text(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).casefold()
    found = tokens(text)
    return Words(f" {' '.join(found)} ", len(found)) if found else None


#: Cached, as answers cite some chunks again and again.
_chunk_words = lru_cache(maxsize=1 << 15)(words_of)


def passages_of(
    gold: GoldQuestion, relevance: Relevance, corpus: GoldCorpus, known: ChunkFile
) -> tuple[Passage, ...]:
    """Return the passages that an answer to the question should cite; empty if the gold names none."""
    if gold.spans:
        passages = []
        for span in gold.spans:
            quote, chunks = words_of(span.quote), frozenset(gold.chunks)
            # Of several spans each has the gold chunks with its quote, or all of them if none has it.
            if quote and len(gold.spans) > 1 and len(chunks) > 1:
                texts = ((chunk_id, _chunk_words(known.texts.get(chunk_id, ""))) for chunk_id in chunks)
                chunks = (
                    frozenset(each for each, words in texts if words and quote.text in words.text) or chunks
                )
            at, offsets = (span.doc_id, span.page_idx), _proper(span.offsets)
            passages.append(Passage(*at, chunks, relevance.sections, offsets, quote))
        return tuple(passages)
    if not gold.chunks:
        return tuple(Passage(sections=each) for each in corpus.named_sections(gold))
    placed = ((chunk_id, corpus.place(chunk_id)) for chunk_id in dict.fromkeys(gold.chunks))
    return tuple(Passage(at.doc_id, at.page_idx, frozenset({chunk_id})) for chunk_id, at in placed)


def cited_spans(cited: Iterable[Citation], known: ChunkFile) -> tuple[CitedSpan, ...]:
    """Return the targets of citations, each once: by themselves, else their chunk's; a page in an id last."""
    spans: dict[CitedSpan, None] = {}
    for citation in cited:
        chunk_id = citation.chunk_id or ""
        place = Place(citation.doc_id, citation.section_id, citation.page_idx)
        if (chunk := known.places.get(chunk_id)) is not None:
            says_page = citation.page_from == "record" or chunk.page_idx is None
            page_idx = place.page_idx if says_page else chunk.page_idx
            place = Place(place.doc_id or chunk.doc_id, place.section_id or chunk.section_id, page_idx)
        text = known.texts.get(chunk_id)
        span = CitedSpan(
            citation.chunk_id,
            place.doc_id,
            section_key(section_of(place)),
            place.page_idx,
            _proper(citation.offsets or known.offsets.get(chunk_id)),
            words_of(citation.quote) if citation.quote else _chunk_words(text) if text else None,
        )
        spans[span] = None
    return tuple(spans)


def _proper(offsets: Offsets | None) -> Offsets | None:
    return offsets if offsets and offsets.start < offsets.end else None


class Judged(NamedTuple):
    """The outcomes of a trace. Type and answerability are the gold question's, None without one.

    `refused`: the answer declines; None without a verdict.
    """

    q_type: str | None
    answerable: bool | None
    refused: bool | None
    ranked: Ranked
    cited: Cited = NOT_COUNTED

    @property
    def columns(self) -> Mapping[str, object]:
        """The outcomes by the name of their column in the index; one that is missing is null."""
        own = {"q_type": self.q_type, "answerable": self.answerable, "refused": self.refused}
        cited = {} if self.cited is NOT_COUNTED else self.cited._asdict()
        return {**own, **self.ranked.columns, **cited}


NO_GOLD: Final = Relevance("no_gold")

#: The outcome of a report row whose run has no traces, so that its ranking is unknown.
UNJUDGED = Judged(None, None, None, LEFT_OUT["no_candidates"])


class Judge:
    """Evaluates traces against the gold questions of a workspace, given by q_id."""

    def __init__(self, questions: Mapping[str, GoldQuestion], known: ChunkFile) -> None:
        self._questions = questions
        self._known = known
        self._corpus = GoldCorpus(questions.values(), known.places)
        self._wanted = lru_cache(maxsize=1 << 14)(self._wanted_of)

    def judged(
        self, trace: Trace, verdict: ReportRow | None, cited: Sequence[Citation] | None = None
    ) -> Judged:
        """Return the outcomes of a trace. Its citations count if it should answer and is known to do so.

        `cited` are its citations, if they have been read already.
        """
        refused = None if verdict is None else declines(trace, verdict)
        gold = self._questions.get(trace.q_id)
        if gold is None:
            return Judged(None, None, refused, LEFT_OUT["no_gold"])
        relevance, passages, anchor = self._wanted(trace.q_id)
        outcome = ranked(trace, relevance, self._known.places)
        # Without a verdict it is not known whether the answer declines, and a refusal would count as a miss.
        if not gold.answerable or refused is not False or not (passages or anchor):
            return Judged(gold.type, gold.answerable, refused, outcome)
        spans = cited_spans(citations(trace) if cited is None else cited, self._known)
        is_readable = self._known.texts or not spans or any(span.words for span in spans)
        pointed = cited_against(spans, passages, anchor if is_readable else None)
        return Judged(gold.type, gold.answerable, refused, outcome, pointed)

    def relevance(self, q_id: str) -> Relevance:
        """Return the gold to find in the lists of a question's traces."""
        return self._wanted(q_id)[0] if q_id in self._questions else NO_GOLD

    def _wanted_of(self, q_id: str) -> tuple[Relevance, tuple[Passage, ...], Words | None]:
        gold = self._questions[q_id]
        relevance = self._corpus.relevance(gold)
        passages = passages_of(gold, relevance, self._corpus, self._known)
        return relevance, passages, words_of(gold.anchor or "")
