"""Wording of an answer's claims: their status, how they differ from the evidence, and where that is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from proofspan.diagnosis.claims.restated import Restated
from proofspan.diagnosis.claims.types import (
    CheckedAnswer,
    CheckedClaim,
    ClaimDifference,
    ClaimEvidence,
    ClaimStatus,
)
from proofspan.evidence.types import FoundSpan
from proofspan.services.page.view import PageView
from proofspan.services.question.view import QuestionView
from proofspan.ui.claims.claim_list import MAX_LISTED, ClaimLine, LinePart
from proofspan.ui.widgets.markup import Kind, Piece
from proofspan.ui.widgets.text import lines, shortened
from proofspan.wording import Labels, counted, no_labels, page_words, with_printed

STATUS_WORDS: Mapping[ClaimStatus, str] = {
    "differs": "differs from the evidence",
    "unsupported": "not supported",
    "other_language": "evidence in another language",
    "derived": "derived from printed figures",
    "supported": "supported",
}
#: Differences that a line names; the rest is counted.
MAX_DIFFERENCES = 3
#: Characters of one side of a difference, and of a passage that is close to a claim.
MAX_SIDE, MAX_CLOSEST = 80, 160


def weakest_first(checked: CheckedAnswer) -> list[int]:
    """Return the numbers of the claims, from 1: those that differ, those without support, then by support."""
    order = list(STATUS_WORDS)

    def rank(number: int) -> tuple[int, float, int]:
        each = checked.claims[number - 1]
        return min(order.index(each.status), 2), each.support, number

    return sorted(range(1, len(checked.claims) + 1), key=rank)


def claim_lines(
    checked: CheckedAnswer,
    view: QuestionView,
    *,
    texts: Mapping[str, str],
    unpaged: Collection[str] = (),
    labels: Labels = no_labels,
) -> list[ClaimLine]:
    """Return the claims in words, the weakest first.

    `texts` are those of the chunks by id; `unpaged` documents are texts without pages, `labels`
    name the pages of the others.
    """
    restated = Restated(texts)
    ranks = _ranks(view)
    documents = {each.evidence.doc_id for each in checked.claims if each.evidence} - {None}
    named: list[ClaimLine] = []
    for number in weakest_first(checked):
        each = checked.claims[number - 1]
        is_text = each.evidence is not None and each.evidence.doc_id in unpaged
        where, on = "", "text" if is_text else "page"
        if each.evidence is not None:
            where = _where(each.evidence, ranks, is_text=is_text, with_document=len(documents) > 1)
            where = with_printed(where, labels(each.evidence.doc_id))
        line = comparison(each, on=on)
        if not line and each.status == "supported" and len(named) < MAX_LISTED:
            line = _same(restated.pairs(each), on)
        named.append(
            ClaimLine(
                number,
                each.status,
                STATUS_WORDS[each.status],
                " ".join(each.claim.text.split()),
                each.support,
                line=tuple(line),
                where=where,
                note=each.note,
                has_evidence=each.evidence is not None,
                terms=(
                    f"claim.{each.status}",
                    *dict.fromkeys(f"difference.{d.kind}" for d in each.differences),
                ),
            )
        )
    return named


def comparison(each: CheckedClaim, *, on: str = "page") -> list[LinePart]:
    """Return the claim beside its evidence: `number: answer 1.4 litre · page 1.0 litre`, or a formula."""
    if each.differences:
        parts: list[LinePart] = []
        for difference in each.differences[:MAX_DIFFERENCES]:
            parts += [LinePart("; ", "muted")] if parts else []
            parts += _difference(difference, on)
        if rest := len(each.differences) - MAX_DIFFERENCES:
            parts += [LinePart(f"; and {counted(rest, 'more difference')}", "muted")] if rest > 0 else []
        return parts
    if each.formula:
        return [LinePart("computed: ", "muted"), LinePart(shortened(each.formula, 2 * MAX_SIDE), "found")]
    if each.status == "unsupported" and each.evidence is not None:
        closest = f"“{shortened(each.evidence.text, MAX_CLOSEST)}”"
        return [LinePart("closest: ", "muted"), LinePart(closest)]
    return []


def _difference(difference: ClaimDifference, on: str) -> list[LinePart]:
    claimed, found = (shortened(side, MAX_SIDE) for side in (difference.claimed, difference.found))
    return [
        LinePart(f"{difference.kind}: answer ", "muted"),
        LinePart(claimed, "claimed") if claimed else LinePart("leaves it out", "claimed"),
        LinePart(f" · {on} ", "muted"),
        LinePart(found, "found") if found else LinePart("does not have it", "found"),
    ]


def _same(pairs: Sequence[tuple[str, str]], on: str) -> list[LinePart]:
    """Return figures that agree though they are printed differently: `answer $41.3 million · page 41,287`."""
    parts: list[LinePart] = []
    for claimed, found in pairs[:MAX_DIFFERENCES]:
        parts += [
            LinePart("; answer " if parts else "answer ", "muted"),
            LinePart(shortened(claimed, MAX_SIDE), "found"),
            LinePart(f" · {on} ", "muted"),
            LinePart(shortened(found, MAX_SIDE), "found"),
        ]
    return parts


def _ranks(view: QuestionView) -> dict[str, tuple[int | None, int | None]]:
    """Return each chunk's rank in the prompt, and in the last stage before it that lists it."""
    ranks: dict[str, tuple[int | None, int | None]] = {}
    for stage in view.stages:
        for item in stage.candidates:
            chunk_id, rank = item.candidate.chunk_id, item.candidate.rank
            prompt, other = ranks.get(chunk_id, (None, None))
            ranks[chunk_id] = (rank, other) if stage.name == "chunks" else (prompt, rank)
    return ranks


def _where(
    evidence: ClaimEvidence,
    ranks: Mapping[str, tuple[int | None, int | None]],
    *,
    is_text: bool,
    with_document: bool,
) -> str:
    """Return `PDF page 50, in the prompt at rank 1`."""
    prompt, retrieved = ranks.get(evidence.chunk_id or "", (None, None))
    origin = {
        "prompt": "in the prompt" + (f" at rank {prompt}" if prompt else ""),
        "retrieved": "retrieved" + (f" at rank {retrieved}" if retrieved else "") + ", not in the prompt",
        "cited_page": "only on the cited page",
        "gold": "only in the gold passage",
    }[evidence.origin]
    page = page_words(evidence.page_idx) if evidence.page_idx is not None and not is_text else None
    document = shortened(evidence.doc_id, 60) if with_document and evidence.doc_id else None
    return ", ".join(filter(None, (document, page, origin)))


def nothing_to_check(view: QuestionView) -> str:
    """Return why an answer without claims has none."""
    if view.explanation.refusal is not None:
        return "The answer declines, so there is nothing to check."
    return "No claim was found in the answer."


# The finding above the page while a claim is chosen.


_KINDS: Mapping[str, Kind] = {"claimed": "differs", "found": "strong"}


def claim_finding(view: PageView, line: ClaimLine) -> tuple[list[list[Piece]], list[Piece]]:
    """Return how the chosen claim differs, and where its evidence is on the shown page."""
    differs = [Piece(part.text, _KINDS.get(part.look, "plain")) for part in line.line]
    subject = f"Claim {line.number}: {line.status_words}."
    passage = "The closest passage" if line.status == "unsupported" else "Its evidence"
    return [differs] if line.status == "differs" else [], [
        Piece(subject, "strong"),
        Piece(f" {passage} {_found_words(view, view.chosen)}: {line.where}."),
    ]


def _found_words(view: PageView, found: FoundSpan | None) -> str:
    if found is None or found.status == "not_found":
        return "was not found in the document, so nothing is highlighted"
    if found.ranges:
        return f"is on {lines(found.ranges)}"
    if found.page_idx is not None and view.page_idx not in (
        found.page_idx,
        *(each.page_idx for each in (*found.continues, *found.alternatives)),
    ):
        return f"is on {page_words(found.page_idx)}, not on this page"
    return "is highlighted"
