"""A trace of a run as the question that all formats share, with the texts and places of its chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proofspan.contracts.records.chunk_id import sha1_8
from proofspan.contracts.records.field_values import ID_NAMES
from proofspan.contracts.records.records import Candidate, Chunk, Citation, GoldQuestion, Json, Offsets, Trace
from proofspan.journal.annotations import Annotations, Target
from proofspan.traces.exports.reviews import review_of
from proofspan.traces.formats.types import Asked, Cited, Passage
from proofspan.traces.records.citations import citations
from proofspan.traces.records.trace_record import stages

#: Fields of a trace that are parts of a question of their own.
_OWN = frozenset(
    {"run_id", "q_id", "qid", "q", "question", "answer", "chunks", "stages", "citations", "scores"}
)
#: Fields of an entry or a citation that a passage has under names of its own.
_PLACED = frozenset(
    {*ID_NAMES, "doc_id", "section_id", "page_idx", "page", "page_label", "text", "quote", "offsets"}
    | {"bbox", "bbox_space", "score", "score_norm", "score_raw"}
)


def asked_of(
    trace: Trace,
    *,
    chunks: Mapping[str, Chunk],
    gold: Mapping[str, GoldQuestion],
    run: str = "",
    reviews: Annotations | None = None,
) -> Asked:
    """Return a trace as a question. Texts and places that it does not state are those of its chunks.

    What people say of it is in `reviews`. A field `review`, which an earlier export wrote, becomes
    `earlier_review` beside it.
    """
    known = gold.get(trace.q_id)
    scores = trace.raw.get("scores")
    fields = {name: value for name, value in trace.raw.items() if name not in _OWN and value is not None}
    target = Target(trace.run_id, trace.q_id, trace.paraphrase, trace.seed)
    review = {} if reviews is None else review_of(reviews, target, trace.answer)
    if review and "review" in fields:
        fields["earlier_review"] = fields.pop("review")
    return Asked(
        place=f"{trace.source.file}:{trace.source.line}",
        q=trace.q,
        q_id=None if trace.q_id == sha1_8(trace.q) else trace.q_id,
        answer=None if "answer_missing" in trace.suspicions else trace.answer,
        lists={
            stage.name: [_passage(each, chunks.get(each.chunk_id)) for each in stage.candidates]
            for stage in stages(trace)
        },
        cited=[_cited(each) for each in citations(trace)],
        expected=known.answer if known else None,
        gold=[*_gold(known, chunks)] if known else [],
        answerable=False if known and not known.answerable else None,
        scores=dict(scores) if isinstance(scores, dict) else {},
        fields=fields,
        run=run,
        review=review,
    )


def passage_of(chunk: Chunk) -> Passage:
    """Return a chunk as a passage; pages count from 0."""
    return Passage(
        text=chunk.text,
        id=chunk.chunk_id,
        document=chunk.doc_id,
        section=chunk.section_id or chunk.section_number,
        page=chunk.page_idx,
        page_base=None if chunk.page_idx is None else 0,
        label=chunk.page_label,
        offsets=_characters(chunk.offsets),
        box=chunk.box,
        box_space=chunk.box_space,
    )


def _passage(candidate: Candidate, chunk: Chunk | None) -> Passage:
    passage = passage_of(chunk) if chunk is not None else Passage(id=candidate.chunk_id)
    passage.text = passage.text or candidate.text
    passage.document = candidate.doc_id or passage.document
    passage.section = candidate.section_id or passage.section
    if candidate.page_idx is not None:
        passage.page, passage.page_base = candidate.page_idx, 0
    passage.score = candidate.score
    passage.more = _more(candidate.raw)
    return passage


def _cited(citation: Citation) -> Cited:
    span, reason = citation.raw.get("answer_span"), citation.raw.get("reason")
    return Cited(
        passage=Passage(
            text=citation.quote,
            document=citation.doc_id,
            section=citation.section_id,
            page=citation.page_idx,
            page_base=None if citation.page_idx is None else 0,
            label=citation.page_label,
            offsets=_characters(citation.offsets),
            box=citation.box,
            box_space=citation.box_space,
            more={
                name: value
                for name, value in _more(citation.raw).items()
                if name not in ("answer_span", "reason")
            },
        ),
        chunk=citation.chunk_id,
        span=(span[0], span[1]) if isinstance(span, list) and len(span) == 2 else None,
        reason=reason if isinstance(reason, str) else "",
    )


def _gold(known: GoldQuestion, chunks: Mapping[str, Chunk]) -> Iterator[Passage]:
    """Yield the gold chunks, the spans that are not one of them, and the sections that neither names."""
    quotes, sections = set(), set()
    for chunk_id in known.chunks:
        passage = passage_of(chunks[chunk_id]) if chunk_id in chunks else Passage(id=chunk_id)
        quotes.add((passage.document, passage.page, passage.text))
        sections.add(passage.section)
        if chunk_id in known.grades:
            passage.more = {"relevance": known.grades[chunk_id]}
        yield passage
    for span in known.spans:
        if (span.doc_id, span.page_idx, span.quote) not in quotes:
            base: Json = None if span.page_idx is None else 0
            yield Passage(
                text=span.quote,
                document=span.doc_id,
                page=span.page_idx,
                page_base=base,
                offsets=_characters(span.offsets),
            )
    yield from (Passage(section=each) for each in known.sections if each not in sections)


def _more(raw: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in raw.items() if name not in _PLACED and value is not None}


def _characters(offsets: Offsets | None) -> tuple[int, int] | None:
    return (offsets.start, offsets.end) if offsets is not None and offsets.unit == "char" else None
