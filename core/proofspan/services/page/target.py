"""The passages of a question that a page can show: citations, gold, retrieved chunks, evidence of claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proofspan.contracts.records.records import Chunk
from proofspan.diagnosis.claims.types import Claim
from proofspan.evidence.types import SpanQuery
from proofspan.services.documents.revisions import cited_rev
from proofspan.services.page.shapes import Layer
from proofspan.services.question.view import QuestionView, span_query


@dataclass(frozen=True, slots=True)
class Target:
    """A passage that can be shown; `query.quote` may be empty.

    `number` is the citation's, the gold span's or the claim's, or a retrieved chunk's rank (None for a chunk
    that no question retrieved), counted from 1. A chunk has its `chunk_id`, a citation that of the chunk it
    cites. `is_context`: the passage is drawn on its page while another one is chosen. `rev` is the revision
    of the document that was cited, `section_id` its section, where the record names them. A citation without
    a quote of its own has the `claims` that it is given for.
    """

    kind: Layer
    number: int | None
    doc_id: str | None
    query: SpanQuery
    chunk_id: str | None = None
    is_context: bool = True
    rev: str | None = None
    section_id: str | None = None
    score: float | None = None
    claims: tuple[Claim, ...] = ()

    @property
    def is_page(self) -> bool:
        """Whether a citation names a page and nothing on it, neither text nor box nor offsets."""
        query = self.query
        names_part = query.quote.strip() or query.box or query.offsets
        return self.kind == "cited" and query.cited_page_idx is not None and not names_part

    @property
    def id(self) -> str:
        """A name that stays the same over reruns: `cite:2`, `gold:1`, `claim:3`, `chunk:…`. Never parsed."""
        if self.kind == "cited":
            return cite_id(self.number or 0)
        return f"chunk:{self.chunk_id}" if self.kind == "retrieved" else f"{self.kind}:{self.number}"

    @property
    def tag(self) -> str:
        """The name on the page: `cited 2`, `gold 1`, `claim 3`, `rank 3`, `chunk` for one without a rank."""
        if self.kind == "retrieved":
            return "chunk" if self.number is None else f"rank {self.number}"
        return f"{self.kind} {self.number}"

    @property
    def chunk_param(self) -> str | None:
        """The value of the address parameter `chunk` that chooses this passage; None for one with another."""
        return {"gold": self.id, "retrieved": self.chunk_id}.get(self.kind)


def cite_id(number: int) -> str:
    """Return the `Target.id` of a citation."""
    return f"cite:{number}"


def targets_of(view: QuestionView) -> tuple[Target, ...]:
    """Return every passage of a question: citations, candidates (those of the last stage first), gold.

    A candidate comes once, with its rank in the latest stage that holds it. One that the answerer neither saw
    nor cites is no context: a page may hold dozens of them. The section of a gold span is known only where
    the question has but one.
    """
    cited = (
        Target(
            "cited",
            each.number,
            each.doc_id,
            span_query(each),
            chunk_id=each.chunk_id,
            rev=cited_rev(each.chunk_id, each.raw),
            section_id=each.section_id,
            claims=shown.claims,
        )
        for shown in view.citations
        for each in (shown.citation,)
    )
    in_prompt = set(view.trace.chunk_ids)
    last = [view.last_stage] if view.last_stage else []
    others = [stage for stage in view.stages if stage not in last]
    rated = (item.candidate for stage in (*others, *last) for item in stage.candidates)
    scores = {each.chunk_id: each.score for each in rated if each.score is not None}
    retrieved: dict[str, Target] = {}
    for item in (item for stage in (*last, *others) for item in stage.candidates):
        candidate = item.candidate
        if candidate.chunk_id not in retrieved:
            retrieved[candidate.chunk_id] = Target(
                "retrieved",
                candidate.rank,
                candidate.doc_id,
                SpanQuery(candidate.text or "", candidate.page_idx),
                chunk_id=candidate.chunk_id,
                is_context=not in_prompt or candidate.chunk_id in in_prompt or bool(item.cited_by),
                rev=cited_rev(candidate.chunk_id, candidate.raw),
                section_id=candidate.section_id,
                score=scores.get(candidate.chunk_id),
            )
    gold: list[Target] = []
    if view.gold is not None:
        section_id = view.gold.sections[0] if len(view.gold.sections) == 1 else None
        for number, span in enumerate(view.gold.spans, start=1):
            query = SpanQuery(span.quote, span.page_idx, span.offsets)
            gold.append(Target("gold", number, span.doc_id, query, section_id=section_id))
    return (*cited, *retrieved.values(), *gold)


def choose(targets: Sequence[Target], *, cite: int | None = None, chunk: str | None = None) -> Target | None:
    """Return the passage that the address names: its chunk, else its citation, else the first with
    a document.

    Where nothing is cited, gold comes before what was retrieved. `chunk` may be `gold:1` for a gold span.
    """
    if chunk is not None:
        named = (target for target in targets if target.chunk_param == chunk)
    else:
        named = (target for target in targets if target.kind == "cited" and target.number == cite)
    layers: tuple[Layer, ...] = ("cited", "gold", "retrieved")
    first = (target for layer in layers for target in targets if target.kind == layer and target.doc_id)
    return next(named, None) or next(first, None)


def chunk_target(chunk: Chunk) -> Target:
    """Return the place of a chunk that no question retrieved."""
    label = chunk.page_label if chunk.page_idx is None else None
    return Target(
        "retrieved",
        None,
        chunk.doc_id,
        SpanQuery(chunk.text, chunk.page_idx, chunk.offsets, chunk.box, chunk.box_space, cited_label=label),
        chunk_id=chunk.chunk_id,
        rev=cited_rev(chunk.chunk_id, chunk.raw),
        section_id=chunk.section_id or chunk.section_number,
    )
