"""The gold passage in words: what it is, where it was retrieved and seen, whether it is cited. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.contracts.chunk_ids import parse
from core.contracts.records import GoldQuestion, StageName
from core.services.questions import QuestionView
from core.triage.advice import gold_meaning
from core.triage.gold import GOLD_NAMES, GoldOutcome, GoldState, gold_target
from core.ui.safe import Kind, Piece

#: How the row ends where the answerer saw the passage.
_AT_LAST: Mapping[GoldState, str] = {
    "uncited": "not cited",
    "seen": "the answer cites nothing",
    "cited": "cited",
}
#: So many gold chunks, sections or pages are named; of more, the rest is counted.
MAX_NAMED = 3


def gold_rows(view: QuestionView) -> list[tuple[str, list[Piece]]]:
    """`Gold`: `page 58 of 3M_2018_10K · retrieved at rank 15 of 75 · not among the 5 chunks …`.

    No row where no gold is known. Pages count from 1, as everywhere on the page.
    """
    gold = view.gold
    if gold is None:
        return []
    outcome = view.gold_outcome
    if not gold.answerable:
        return [("Gold", [Piece("the documents hold no answer"), *(_ending(outcome) if outcome else ())])]
    what = _what(gold)
    if what is None:
        return []
    pieces = [Piece(what)]
    if outcome is not None:
        sizes = {stage.name: len(stage.candidates) for stage in view.stages}
        pieces += _retrieved(outcome, sizes)
        pieces += _seen(outcome, sizes.get("chunks", 0))
    return [("Gold", pieces)]


def _ending(outcome: GoldOutcome) -> list[Piece]:
    """What the answer made of it, the state's sentence as its tip; what is not right stands out."""
    state = outcome.state
    told = "refused" if state == "uncited" and outcome.is_refusal else _AT_LAST.get(state, GOLD_NAMES[state])
    kind: Kind = "plain" if state in ("cited", "declined") else "strong"
    return [Piece(" · "), Piece(told, kind, tip=gold_meaning(state))]


def _what(gold: GoldQuestion) -> str | None:
    """What is looked for; None where the gold names no place."""
    target = gold_target(gold)
    if target is None:
        return None
    if target.kind == "chunk":
        return _either([_chunk_name(chunk_id) for chunk_id in gold.chunks])
    if target.kind == "section":
        return f"section {_either([section.strip() for section in gold.sections if section.strip()])}"
    return _either(
        [f"page {span.page_idx + 1} of {span.doc_id}" for span in gold.spans if span.page_idx is not None]
    )


def _chunk_name(chunk_id: str) -> str:
    """`section 5.4.1, p. 43 of manual` where the id says so, else the id."""
    parts = parse(chunk_id)
    if parts is None:
        return f"chunk {chunk_id}"
    page = f", p. {parts.page}" if parts.page else ""
    return f"section {parts.sect_path}{page} of {parts.doc_uid}"


def _either(names: Sequence[str]) -> str:
    named = list(dict.fromkeys(names))
    more = [f"{len(named) - MAX_NAMED} more"] if len(named) > MAX_NAMED else []
    return " or ".join([*named[:MAX_NAMED], *more])


def _retrieved(ranks: GoldOutcome, sizes: Mapping[StageName, int]) -> list[Piece]:
    """Nothing where the answerer's own list is the only one: `_seen` says it."""
    if ranks.stage is None or ranks.stage == "chunks":
        return []
    size = sizes.get(ranks.stage, 0)
    if ranks.retrieved is None:
        return [Piece(" · "), Piece(f"not among the {size:,} {ranks.stage}", "strong")]
    return [Piece(f" · {ranks.stage} at rank {ranks.retrieved:,} of {size:,}")]


def _seen(ranks: GoldOutcome, size: int) -> list[Piece]:
    if ranks.seen is not None:
        return [Piece(f" · seen by the answerer at rank {ranks.seen:,} of {size:,}"), *_ending(ranks)]
    chunks = f"the {size:,} chunk{'s' * (size != 1)} that the answerer saw"
    return [Piece(" · "), Piece(f"not among {chunks}" if size else "the answerer saw no chunk", "strong")]
