"""Evaluate a trace against its gold question: the outcomes that metrics sum up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from proofspan.contracts.records.records import Citation, GoldQuestion, Trace
from proofspan.diagnosis.gold import declines
from proofspan.diagnosis.types import ReportRow
from proofspan.metrics.citations import (
    NOT_COUNTED,
    Anchor,
    ChunkFile,
    Cited,
    Passage,
    anchor_of,
    cited_against,
    cited_spans,
    passages_of,
    words_of,
)
from proofspan.metrics.ranked import LEFT_OUT, Ranked, ranked
from proofspan.metrics.relevance import GoldCorpus, Relevance
from proofspan.traces.records.citations import citations


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
        """Return the outcomes of a trace. Its citations count if it should answer and does not decline.

        `cited` are its citations, if they have been read already.
        """
        refused = None if verdict is None else declines(trace, verdict)
        gold = self._questions.get(trace.q_id)
        if gold is None:
            return Judged(None, None, refused, LEFT_OUT["no_gold"])
        relevance, passages, anchor = self._wanted(trace.q_id)
        outcome = ranked(trace, relevance, self._known.places)
        if not gold.answerable or refused or not (passages or anchor):
            return Judged(gold.type, gold.answerable, refused, outcome)
        spans = cited_spans(citations(trace) if cited is None else cited, self._known)
        is_readable = self._known.texts or not spans or any(span.words for span in spans)
        pointed = cited_against(spans, passages, anchor if is_readable else None)
        return Judged(gold.type, gold.answerable, refused, outcome, pointed)

    def _wanted_of(self, q_id: str) -> tuple[Relevance, tuple[Passage, ...], Anchor | None]:
        gold = self._questions[q_id]
        relevance = self._corpus.relevance(gold)
        passages = passages_of(gold, relevance, self._corpus, self._known)
        return relevance, passages, anchor_of(words_of(gold.anchor or ""))
