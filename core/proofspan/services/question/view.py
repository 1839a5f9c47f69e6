"""One question as its page shows it: the record, the reasons of its label, candidates, citations and gold."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.records import (
    Candidate,
    Chunk,
    Citation,
    GoldQuestion,
    SourceLine,
    StageName,
    Trace,
)
from proofspan.diagnosis.answers import refuses
from proofspan.diagnosis.claims.types import Claim
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.explain import explain
from proofspan.diagnosis.gold import GoldOutcome, gold_outcome, gold_target
from proofspan.diagnosis.labelling import QUESTION_UNKNOWN, lowered, verdict
from proofspan.diagnosis.safety import Notices, SafetyOmission, omitted
from proofspan.diagnosis.types import Explanation, Profile, ReportRow
from proofspan.errors import InputFault
from proofspan.evidence.types import SpanQuery
from proofspan.services.question.cited_sentences import MAX_CITATIONS, claims_by_citation, claims_of_trace
from proofspan.traces.records.chunks import place_of
from proofspan.traces.records.citations import citations, filled_from
from proofspan.traces.records.redirects import (
    candidate_of_today,
    of_today,
    redirects_of,
    without_former_place,
)
from proofspan.traces.records.stored_reports import StoredRow, remembered
from proofspan.traces.records.trace_record import LAST_STAGES, Measures, measures, stages

GoldMark = Literal["chunk", "page", "section"]
QuoteFrom = Literal["payload", "chunk"]
NO_GOLD: Mapping[str, GoldQuestion] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CitationView:
    """A citation, or a retrieved passage with its `rank`, with quote and place from its chunk.

    `chunk` is None if it is not known. `redirect` is where an id of an earlier build leads now.
    `is_retrieved`: the chunk of a citation was in the prompt, or the page of a citation without a chunk is
    among the candidates, where `page_rank` is the best of those on it. `claims` are those that a citation
    without a quote of its own is given for.
    """

    citation: Citation
    quote_from: QuoteFrom | None
    chunk: Chunk | None = None
    redirect: Redirect | None = None
    is_retrieved: bool = False
    rank: int | None = None
    page_rank: int | None = None
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class CandidateView:
    """A candidate of one stage, completed from its chunk's record (`text` None: the chunk is not known).

    `was_rank` is its rank in the previous stage, `cited_by` the numbers of the citations that point at it.
    `gold` is the strongest reason why it is relevant: gold chunk, page of a gold span, or gold section.
    `redirect` is where an id of an earlier build leads now.
    """

    candidate: Candidate
    was_rank: int | None
    cited_by: tuple[int, ...]
    gold: GoldMark | None
    redirect: Redirect | None = None

    @property
    def id_today(self) -> str:
        """Return the id of its chunk in the current build, the first of several."""
        return self.redirect.new_ids[0] if self.redirect else self.candidate.chunk_id


@dataclass(frozen=True, slots=True)
class StageView:
    """The ranked list of one stage."""

    name: StageName
    candidates: tuple[CandidateView, ...]


@dataclass(frozen=True, slots=True)
class QuestionView:
    """Everything about one question that needs no open document; stages in the pipeline's order.

    `gold_outcome` is None if it cannot be known. `row`, and so the label, is None without chunks or without a
    question to judge by. `stored` is the report's row of a run without traces. `omissions` are the warnings
    and cautions that the answer may omit, None if that cannot be known.
    """

    trace: Trace
    row: ReportRow | None
    explanation: Explanation
    profile: Profile
    measures: Measures
    citations: tuple[CitationView, ...]
    stages: tuple[StageView, ...]
    gold: GoldQuestion | None
    gold_outcome: GoldOutcome | None
    stored: StoredRow | None = None
    omissions: tuple[SafetyOmission, ...] | None = None

    @property
    def is_question_known(self) -> bool:
        """Return whether any record says what was asked."""
        return QUESTION_UNKNOWN not in self.trace.suspicions

    @property
    def last_stage(self) -> StageView | None:
        """Return the stage that rank 1 is read from: the last one before the prompt."""
        named = {stage.name: stage for stage in self.stages}
        return next((named[name] for name in LAST_STAGES if name in named), None)


def load_question(
    trace: Trace,
    *,
    chunks: Mapping[str, Chunk],
    corpus: Corpus | None,
    profile: Profile,
    gold: Mapping[str, GoldQuestion] = NO_GOLD,
    unpaged: frozenset[str] = frozenset(),
    notices: Notices | None = None,
) -> QuestionView:
    """Join a trace with its chunks, its gold question and the reasons of its label.

    The label is computed by the function that the index uses, so that page and table cannot differ. Without
    a `corpus` there is no label and nothing is marked as unsupported. Candidates of `unpaged` documents get
    no page. `notices` are those of the catalogue.
    """
    known = gold.get(trace.q_id)
    shown = (citation_view(citation, chunks) for citation in citations(trace))
    cited = tuple(replace(each, is_retrieved=each.citation.chunk_id in trace.chunk_ids) for each in shown)
    ranked = _stages(trace, chunks, cited, known, unpaged)
    cited = _with_claims([_with_page_rank(each, ranked) for each in cited], trace, profile)
    row = verdict(trace, corpus, profile)
    target = gold_target(known)
    # The places of candidates, cited chunks and gold chunks in the chunk file.
    named = {each.candidate.chunk_id for stage in ranked for each in stage.candidates}
    named |= {each.citation.chunk_id for each in cited if each.citation.chunk_id is not None}
    named |= set(map(str, target.wanted)) if target and target.kind == "chunk" else set()
    named |= {new_id for each in named if (led := redirects_of(chunks).get(each)) for new_id in led.new_ids}
    places = {chunk_id: place_of(chunks[chunk_id]) for chunk_id in named & chunks.keys()}
    explanation = explain(trace, corpus if corpus is not None else Corpus({}), profile)
    if corpus is None:  # only what the answer itself says: its ids, its refusal
        explanation = replace(explanation, numbers=(), words_missing=())
    today = of_today(trace, chunks, wanted=known.chunks if known else ())
    return QuestionView(
        trace=trace,
        row=row,
        explanation=explanation,
        profile=profile,
        measures=measures(trace),
        citations=cited,
        stages=ranked,
        gold=known,
        gold_outcome=gold_outcome(today, target, row, places),
        omissions=omitted(trace, row, notices, places) if notices is not None else None,
    )


def _with_page_rank(view: CitationView, ranked: Sequence[StageView]) -> CitationView:
    """Return a citation of a page with the best rank of that page's candidates, in the latest such stage."""
    cited = view.citation
    if cited.chunk_id is not None or cited.page_idx is None or cited.doc_id is None:
        return view
    place = cited.doc_id, cited.page_idx
    for stage in reversed(ranked):
        listed = (each.candidate for each in stage.candidates)
        ranks = [each.rank for each in listed if (each.doc_id, each.page_idx) == place]
        if ranks:
            return replace(view, is_retrieved=True, page_rank=min(ranks))
    return view


def _with_claims(views: Sequence[CitationView], trace: Trace, profile: Profile) -> tuple[CitationView, ...]:
    """Return citations without a quote of their own with the claims that they are given for."""
    if all(view.quote_from == "payload" for view in views):
        return tuple(views)
    if refuses(trace.answer.lower(), lowered(profile.refusal)):
        return tuple(views)
    cited = {view.citation.number: view.citation.chunk_id for view in views[:MAX_CITATIONS]}
    claims = claims_by_citation(trace.answer, claims_of_trace(trace, cited), cited)
    return tuple(
        view if view.quote_from == "payload" else replace(view, claims=claims.get(view.citation.number, ()))
        for view in views
    )


def _stages(
    trace: Trace,
    chunks: Mapping[str, Chunk],
    cited: Iterable[CitationView],
    gold: GoldQuestion | None,
    unpaged: frozenset[str],
) -> tuple[StageView, ...]:
    cited_by: dict[str, tuple[int, ...]] = {}
    for item in cited:
        if (chunk_id := item.citation.chunk_id) is not None:
            cited_by[chunk_id] = (*cited_by.get(chunk_id, ()), item.citation.number)
    views: list[StageView] = []
    ranks_before: Mapping[str, int] = {}
    for stage in stages(trace):
        listed = [_completed(candidate, chunks, unpaged) for candidate in stage.candidates]
        candidates = [
            CandidateView(
                candidate=candidate,
                was_rank=ranks_before.get(candidate.chunk_id),
                cited_by=cited_by.get(candidate.chunk_id, ()),
                gold=_gold_mark(candidate, gold, redirect),
                redirect=redirect,
            )
            for candidate in listed
            for redirect in (redirects_of(chunks).get(candidate.chunk_id),)
        ]
        views.append(StageView(stage.name, tuple(candidates)))
        ranks_before = {candidate.chunk_id: candidate.rank for candidate in reversed(listed)}
    return tuple(views)


def _completed(candidate: Candidate, chunks: Mapping[str, Chunk], unpaged: frozenset[str]) -> Candidate:
    """Return the candidate with document, section, page and text from its chunk if the trace lacks them."""
    chunk = chunks.get(candidate.chunk_id)
    if candidate.chunk_id in redirects_of(chunks):
        candidate = candidate_of_today(candidate)
    if chunk is not None:
        candidate = replace(
            candidate,
            doc_id=candidate.doc_id or chunk.doc_id,
            section_id=candidate.section_id or chunk.section_id or chunk.section_number,
            page_idx=chunk.page_idx if candidate.page_idx is None else candidate.page_idx,
            text=chunk.text if candidate.text is None else candidate.text,
        )
    return replace(candidate, page_idx=None) if candidate.doc_id in unpaged else candidate


def _gold_mark(candidate: Candidate, gold: GoldQuestion | None, redirect: Redirect | None) -> GoldMark | None:
    if gold is None:
        return None
    ids = redirect.new_ids if redirect else (candidate.chunk_id,)
    if not set(ids).isdisjoint(gold.chunks):
        return "chunk"
    places = {(span.doc_id, span.page_idx) for span in gold.spans if span.page_idx is not None}
    if (candidate.doc_id, candidate.page_idx) in places:
        return "page"
    return "section" if candidate.section_id in gold.sections else None


# Citations with their chunks, for the Question page, runs and bundles alike.


def citation_view(citation: Citation, chunks: Mapping[str, Chunk]) -> CitationView:
    """Return the citation with quote and place from its chunk, if the chunk is known.

    The place in an id of an earlier build is dropped, since the chunk of the current build has a better one.
    """
    chunk = chunks.get(citation.chunk_id) if citation.chunk_id is not None else None
    redirect = redirects_of(chunks).get(citation.chunk_id or "")
    if redirect is not None:
        citation = without_former_place(citation)
    if chunk is None:
        return CitationView(citation, "payload" if citation.quote else None, redirect=redirect)
    quote_from: QuoteFrom = "payload" if citation.quote else "chunk"
    return CitationView(filled_from(citation, chunk), quote_from, chunk, redirect)


def span_query(citation: Citation) -> SpanQuery:
    """Return the query that locates a citation; its quote may be ""."""
    return SpanQuery(
        citation.quote or "",
        citation.page_idx,
        citation.offsets,
        citation.box,
        citation.box_space if citation.box else None,
        cited_label=citation.page_label if citation.page_idx is None else None,
        last_cited_page_idx=citation.last_page_idx,
    )


# A question of a run with a stored report and no traces.


def stored_question(
    row: StoredRow,
    *,
    run_id: str,
    chunks: Mapping[str, Chunk],
    profile: Profile,
    gold: Mapping[str, GoldQuestion] = NO_GOLD,
    unpaged: frozenset[str] = frozenset(),
) -> QuestionView:
    """Return the row as a question: its retrieved and cited ids, joined with their chunks.

    Without an answer there is no label (`QuestionView.row` is None).
    """
    raw = {
        "chunks": [{"id": chunk_id} for chunk_id in row.chunks],
        "citations": [{"chunk_id": chunk_id} for chunk_id in row.citations_in_answer],
    }
    trace = replace(remembered(row, run_id), raw=raw, payload=raw["citations"])
    view = load_question(trace, chunks=chunks, gold=gold, corpus=None, profile=profile, unpaged=unpaged)
    return replace(view, stored=row)


def stored_row(rows: Iterable[StoredRow], source: SourceLine, *, folder: Path) -> StoredRow:
    """Return the row of a run's report at this place. Raises `InputFault` if it no longer exists."""
    row = next((row for row in rows if row.source == source), None)
    if row is None:
        message = f"the report no longer has this row at line {source.line:,}"
        fix = f"run `proofspan index {shlex.quote(str(folder))}` to read it again"
        raise InputFault.of("report_changed", message, where=source.file, fix=fix)
    return row
