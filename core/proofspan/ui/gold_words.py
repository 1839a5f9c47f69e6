"""The gold passage in words: what it is, where it was retrieved and seen, whether it is cited. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.chunk_ids import parse
from proofspan.contracts.records import GoldQuestion, StageName
from proofspan.diagnosis.advice import gold_meaning
from proofspan.diagnosis.gold import GOLD_NAMES, GoldOutcome, GoldState, gold_target
from proofspan.metrics.buckets import BUCKET_LEVERS, BUCKETS, bucket_meaning, bucket_step
from proofspan.metrics.ranked import Bucket
from proofspan.services.questions import QuestionView
from proofspan.traces.canonical import top_stage
from proofspan.ui.citation_words import is_of_several_documents
from proofspan.ui.safe import Kind, Piece
from proofspan.ui.words import counted

#: How the row ends where the answerer saw the passage.
_AT_LAST: Mapping[GoldState, str] = {
    "uncited": "not cited",
    "seen": "the answer cites nothing",
    "cited": "cited",
}
#: So many gold chunks, sections or pages are named; of more, the rest is counted.
MAX_NAMED = 3


def gold_rows(view: QuestionView) -> list[tuple[str, list[Piece]]]:
    """`Gold`: `page 58 of 3M_2018_10K · retrieved at rank 15 of 75 · not seen by the answerer`.

    No row where no gold is known. Pages count from 1, as everywhere on the page.
    """
    gold = view.gold
    if gold is None:
        return []
    outcome = view.gold_outcome
    if not gold.answerable:
        return [("Gold", [Piece("the documents hold no answer"), *(_ending(outcome) if outcome else ())])]
    what = _what(gold, names_document=is_of_several_documents(view))
    if what is None:
        return []
    if outcome is None:
        return [("Gold", [Piece(what)])]
    sizes = {stage.name: len(stage.candidates) for stage in view.stages}
    return [("Gold", [Piece(what), *_retrieved(outcome, sizes), *_seen(outcome, sizes)])]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What the index has of a trace's ranking; `bucket` None where it is not judged."""

    bucket: Bucket | None
    section_rank: int | None
    top_rank: int | None


def ranking_of(row: Mapping[str, object]) -> Ranking:
    """The ranking of an index row."""
    bucket = next((each for each in BUCKETS if each == row["bucket"]), None)
    ranks = (None if row[name] is None else int(str(row[name])) for name in ("section_rank", "top_rank"))
    return Ranking(bucket, *ranks)


def ranking_rows(view: QuestionView, ranking: Ranking | None) -> list[tuple[str, list[Piece]]]:
    """`Ranking`: `score_policy · gold section at rank 3 of reranked, 2 of fused · next: rerank`.

    No row where the question is not judged.
    """
    last = view.last_stage
    if ranking is None or ranking.bucket is None or last is None:
        return []
    ranks = {last.name: ranking.section_rank}
    top = top_stage(view.trace)
    if top is not None:
        ranks.setdefault(top, ranking.top_rank)
    told = ", ".join(_at(stage, rank) for stage, rank in ranks.items())
    tip = f"{bucket_meaning(ranking.bucket)} {bucket_step(ranking.bucket) or ''}".strip()
    lever = BUCKET_LEVERS.get(ranking.bucket)
    what = "section" if view.gold is None or view.gold.sections or view.gold.chunks else "page"
    pieces = [Piece(ranking.bucket, "strong" if lever else "plain", tip=tip), Piece(f" · gold {what} {told}")]
    return [("Ranking", [*pieces, *([Piece(f" · next: {lever}")] if lever else [])])]


def _at(stage: StageName, rank: int | None) -> str:
    """`at rank 3 of reranked`, `not in fused`."""
    name = "what the answerer saw" if stage == "chunks" else stage
    return f"not in {name}" if rank is None else f"at rank {rank:,} of {name}"


def _ending(outcome: GoldOutcome) -> list[Piece]:
    """What the answer made of it, the state's sentence as its tip; what is not right stands out."""
    state = outcome.state
    told = "refused" if state == "uncited" and outcome.is_refusal else _AT_LAST.get(state, GOLD_NAMES[state])
    kind: Kind = "plain" if state in ("cited", "declined") else "strong"
    return [Piece(" · "), Piece(told, kind, tip=gold_meaning(state))]


def _what(gold: GoldQuestion, *, names_document: bool) -> str | None:
    """What is looked for; None where the gold names no place."""
    target = gold_target(gold)
    if target is None:
        return None
    if target.kind == "chunk":
        return _either([_chunk_name(chunk_id, names_document) for chunk_id in gold.chunks])
    if target.kind == "section":
        return f"section {_either([section.strip() for section in gold.sections if section.strip()])}"
    pages = ((span.page_idx, span.doc_id) for span in gold.spans if span.page_idx is not None)
    return _either([f"page {page_idx + 1}{_of(doc_id, names_document)}" for page_idx, doc_id in pages])


def _of(doc_id: str | None, names_document: bool) -> str:
    return f" of {doc_id}" if names_document and doc_id else ""


def _chunk_name(chunk_id: str, names_document: bool) -> str:
    """`section 5.4.1, p. 43 of manual` where the id says so, else the id."""
    parts = parse(chunk_id)
    if parts is None:
        return f"chunk {chunk_id}"
    page = f", p. {parts.page}" if parts.page else ""
    return f"section {parts.sect_path}{page}{_of(parts.doc_uid, names_document)}"


def _either(names: Sequence[str]) -> str:
    named = list(dict.fromkeys(names))
    more = [f"{len(named) - MAX_NAMED} more"] if len(named) > MAX_NAMED else []
    return " or ".join([*named[:MAX_NAMED], *more])


def _retrieved(ranks: GoldOutcome, sizes: Mapping[StageName, int]) -> list[Piece]:
    """Nothing where the answerer's own list is the only one, or where nobody found it: `_seen` says it."""
    if ranks.stage is None or ranks.stage == "chunks" or (ranks.retrieved is None and ranks.seen is None):
        return []
    size = sizes.get(ranks.stage, 0)
    if ranks.retrieved is None:
        return [Piece(" · "), Piece(f"not among the {size:,} {ranks.stage}", "strong")]
    return [Piece(f" · {ranks.stage} at rank {ranks.retrieved:,} of {size:,}")]


def _seen(ranks: GoldOutcome, sizes: Mapping[StageName, int]) -> list[Piece]:
    """Where the answerer saw it; else that it did not, with how many chunks it saw as the tip."""
    size = sizes.get("chunks", 0)
    if ranks.seen is not None:
        return [Piece(f" · seen at rank {ranks.seen:,} of {size:,}"), *_ending(ranks)]
    saw = f"the {counted(size, 'chunk')} that the answerer saw"
    tip = f"It is not among {saw}." if size else "The answerer saw no chunk."
    told = "not seen by the answerer"
    if ranks.stage is not None and ranks.stage != "chunks" and ranks.retrieved is None:
        told = f"not among the {sizes.get(ranks.stage, 0):,} {ranks.stage}"
    return [Piece(" · "), Piece(told, "strong", tip=tip)]
