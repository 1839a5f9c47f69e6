"""The evidence of an answer's claims on a page: where the sentence or row is, and the words that differ."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.records import Box, Chunk
from proofspan.diagnosis.claims.types import CheckedAnswer, CheckedClaim
from proofspan.evidence.types import FoundSpan, PageImage, SpanQuery
from proofspan.services.claim_places import passage_query
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.shapes import Percent, shapes
from proofspan.services.page.target import Target
from proofspan.services.page.text_under import PageWord
from proofspan.services.page.view import PageView

#: Claims located for a page, and among them those without a page of their own, which are looked for in the
#: whole document. Others are located when they are chosen.
MAX_LOCATED, MAX_ANYWHERE = 40, 3

#: `here`: on the shown page. `elsewhere`: on another page or in another document. `lost`: its text was not
#: found where the chunk says. `none`: there is no evidence.
Placement = Literal["here", "elsewhere", "lost", "none"]


@dataclass(frozen=True, slots=True)
class ClaimSpot:
    """Where a claim's evidence is; `rects` are its boxes on the shown page, `marks` the words that differ."""

    number: int
    placement: Placement
    rects: tuple[Percent, ...] = ()
    marks: tuple[Percent, ...] = ()


def claim_targets(checked: CheckedAnswer, chunks: Mapping[str, Chunk]) -> dict[int, Target]:
    """Return the evidence of each claim as a passage that a page can show, by the claim's number."""
    targets: dict[int, Target] = {}
    for number, each in enumerate(checked.claims, start=1):
        evidence = each.evidence
        if evidence is None:
            continue
        chunk = chunks.get(evidence.chunk_id or "")
        text = chunk.text if chunk is not None else ""
        query = SpanQuery(evidence.text, evidence.page_idx)
        if text[evidence.start : evidence.end] == evidence.text:
            query = passage_query(text, evidence.start, evidence.end, evidence.page_idx)
        targets[number] = Target(
            "claim",
            number,
            evidence.doc_id,
            query,
            chunk_id=evidence.chunk_id,
            section_id=chunk.section_id if chunk is not None else None,
        )
    return targets


def claim_spots(
    shown: PageView,
    checked: CheckedAnswer,
    targets: Mapping[int, Target],
    order: Sequence[int],
    placer: Placer,
) -> tuple[ClaimSpot, ...]:
    """Say where each claim's evidence is, with its boxes if it is on the shown page.

    Only what may be on the shown page is located, the first claims of `order` first. Raises `EvidenceFault`
    where the document cannot be read.
    """
    doc_id = shown.document.doc_id if shown.document else None
    own = [number for number in order if number in targets and targets[number].doc_id == doc_id]
    located: dict[int, FoundSpan] = {}
    if shown.path is not None and shown.image is not None:
        here = shown.image.page.page_idx
        pages = {number: targets[number].query.cited_page_idx for number in own}
        # A chunk may go on from the page before, and its record may be off by one.
        near = [number for number, page in pages.items() if page is not None and abs(page - here) <= 1]
        anywhere = [number for number, page in pages.items() if page is None][:MAX_ANYWHERE]
        first = [*near, *anywhere][:MAX_LOCATED]
        found = placer.locate(shown.path, [targets[number].query for number in first])
        located = dict(zip(first, found, strict=True))
    return tuple(
        _spot(number, checked.claims[number - 1], number in targets, located.get(number), shown.image)
        for number in order
    )


def _spot(
    number: int, each: CheckedClaim, has_evidence: bool, found: FoundSpan | None, image: PageImage | None
) -> ClaimSpot:
    if not has_evidence:
        return ClaimSpot(number, "none")
    if found is None or image is None:
        return ClaimSpot(number, "elsewhere")
    if found.page_idx is None:
        return ClaimSpot(number, "lost")
    others = ((each.page_idx, each.rects) for each in (*found.alternatives, *found.continues))
    places = ((found.page_idx, found.rects), *others)
    own = next((rects for page_idx, rects in places if page_idx == image.page.page_idx), ())
    rects = shapes(own, image, as_region=True)
    if not rects:
        return ClaimSpot(number, "elsewhere")
    return ClaimSpot(number, "here", rects, tuple(_marks(each, own, image)))


def _marks(each: CheckedClaim, rects: Sequence[Box], image: PageImage) -> Iterable[Percent]:
    """Yield the boxes of the words that differ, inside those of the evidence."""
    if each.evidence is None:
        return
    words = [word for word in image.words if _is_inside(word[0], rects)]
    for difference in each.differences:
        start = difference.found_start - each.evidence.start
        if difference.found and 0 <= start <= len(each.evidence.text):
            boxes = boxes_of(difference.found, each.evidence.text, start, words)
            yield from shapes(boxes, image, as_region=True)


def boxes_of(phrase: str, text: str, start: int, words: Sequence[PageWord]) -> list[Box]:
    """Return the boxes of a phrase at `text[start:]` among the page's words of that text; [] where unsure.

    Words are compared by letters and digits alone. Of several equal runs on the page the one counts that
    comes as often before as in the text, unless the two disagree on how often the phrase occurs.
    """
    wanted, shown = _tokens(phrase), [_letters(word) for _, word in words]
    if not wanted:
        return []
    of_text = [(match.start(), _letters(match[0])) for match in re.finditer(r"\S+", text)]
    of_text = [(at, word) for at, word in of_text if word]
    page = [(place, word) for place, word in enumerate(shown) if word]
    in_text = _runs(wanted, [word for _, word in of_text])
    on_page = _runs(wanted, [word for _, word in page])
    nearest = min(range(len(in_text)), key=lambda each: abs(of_text[in_text[each]][0] - start), default=None)
    if nearest is None or len(in_text) != len(on_page):
        if len(on_page) != 1:
            return []
        nearest = 0
    first = on_page[nearest]
    return [words[page[place][0]][0] for place in range(first, first + len(wanted))]


def _runs(wanted: Sequence[str], words: Sequence[str]) -> list[int]:
    size = len(wanted)
    return [at for at in range(len(words) - size + 1) if list(words[at : at + size]) == list(wanted)]


def _tokens(phrase: str) -> list[str]:
    return [letters for word in phrase.split() if (letters := _letters(word))]


def _letters(word: str) -> str:
    return "".join(each for each in word.casefold() if each.isalnum())


def _is_inside(box: Box, rects: Sequence[Box]) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(left <= x <= right and top <= y <= bottom for left, top, right, bottom in rects)
