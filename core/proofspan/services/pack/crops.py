"""The pages of a question in a pack: the part around its passages, with the dashboard's boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from proofspan.diagnosis.claims.types import CheckedAnswer
from proofspan.errors import Fault, Problem
from proofspan.evidence.attachments import SAFETY_KINDS, CatalogueIndex
from proofspan.evidence.types import Picture
from proofspan.manifest.types import Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.pack.redaction import Redaction
from proofspan.services.page.claims import ClaimSpot, claim_spots
from proofspan.services.page.shapes import Percent
from proofspan.services.page.target import Target, choose
from proofspan.services.page.view import PageView, locate_view

#: Pages of one question that are shown; the others are counted.
MOST_PAGES = 4
#: Dots per inch of a part of a page, and of a whole page without a box on it.
DPI, WHOLE_DPI = 110, 64
#: Percent of the page around the boxes, and the least that is shown of it, across and down.
MARGIN, LEAST = (5.0, 6.0), (64.0, 20.0)
WHOLE: Percent = (0.0, 0.0, 100.0, 100.0)


@dataclass(frozen=True, slots=True)
class PagePart:
    """A page with its boxes, of which `region` is shown, in percent of the page as displayed.

    `picture` is None for a document without pages, where it is redacted (`is_redacted`), and with a
    `problem`. `spots` are the places of claims' evidence on the page.
    """

    page: PageView
    region: Percent = WHOLE
    picture: Picture | None = None
    spots: tuple[ClaimSpot, ...] = ()
    problem: Problem | None = None
    is_redacted: bool = False


def crops_of(
    passages: Sequence[Target],
    evidence: Mapping[int, Target],
    checked: CheckedAnswer | None,
    *,
    manifest: Manifest,
    placer: Placer,
    redaction: Redaction,
    catalogue: CatalogueIndex,
) -> tuple[tuple[PagePart, ...], int]:
    """Return the pages of a question, and how many more there are.

    Those of its citations come first, then of what differs from a claim, then of gold; without any of them,
    that of its first passage. `passages` and `evidence`, by the claim's number, are those that may be shown.
    """
    pages: dict[tuple[str | None, int | None], PageView] = {}
    for target in _shown(passages, evidence, checked):
        page = locate_view(target, passages, manifest=manifest, placer=placer)
        place = (target.doc_id, page.page_idx)
        if place not in pages:
            pages[place] = page
    shown = [*pages.values()][:MOST_PAGES]
    crops = (_crop(page, evidence, checked, placer, redaction, catalogue) for page in shown)
    return tuple(crops), len(pages) - len(shown)


def _shown(
    passages: Sequence[Target], evidence: Mapping[int, Target], checked: CheckedAnswer | None
) -> Iterator[Target]:
    listed = [each for each in passages if each.kind == "cited" and each.doc_id is not None]
    if checked is not None:
        differing = (n for n, each in enumerate(checked.claims, start=1) if each.status == "differs")
        listed += [evidence[number] for number in differing if number in evidence]
    listed += [each for each in passages if each.kind == "gold" and each.doc_id is not None]
    first = choose(passages)
    yield from listed or ([first] if first is not None and first.doc_id is not None else [])


def _crop(
    page: PageView,
    evidence: Mapping[int, Target],
    checked: CheckedAnswer | None,
    placer: Placer,
    redaction: Redaction,
    catalogue: CatalogueIndex,
) -> PagePart:
    """Return the part of a page around its boxes."""
    if page.problem is not None:
        return PagePart(page, problem=page.problem)
    if _is_redacted(page, redaction, catalogue):
        return PagePart(page, is_redacted=True)
    if page.image is None or page.path is None:
        return PagePart(page)
    info = page.image.page
    try:
        spots: tuple[ClaimSpot, ...] = ()
        if checked is not None and evidence:
            found = claim_spots(page, checked, evidence, [*evidence], placer)
            spots = tuple(each for each in found if each.placement == "here")
        region = region_around(page, spots)
        dpi = DPI if _boxes(page, spots) else WHOLE_DPI
        width = max(1, round(info.width / 72 * dpi * region[2] / 100))
        picture = placer.detail(page.path, info.page_idx, region, width)
        return PagePart(page, region, picture, spots)
    except Fault as fault:
        return PagePart(page, problem=fault.problems[0])


def _is_redacted(page: PageView, redaction: Redaction, catalogue: CatalogueIndex) -> bool:
    """Return whether a page shows something that is redacted: then nothing of it is shown."""
    if not redaction.is_any or redaction.hides("pages"):
        return redaction.is_any
    doc_id = page.target.doc_id or ""
    if redaction.hides("notices"):
        on_page = [*catalogue.by_page.get((doc_id, -1 if page.page_idx is None else page.page_idx), ())]
        if page.text is not None:
            on_page = [
                each for (of, _), each_of in catalogue.by_chapter.items() if of == doc_id for each in each_of
            ]
        if any(each.attachment.kind in SAFETY_KINDS for each in on_page):
            return True
    words = [word for _, word in page.image.words] if page.image is not None else []
    lines = page.text.lines if page.text is not None else ()
    return redaction.shows(" ".join([*words, *("".join(run.text for run in line.runs) for line in lines)]))


def region_around(page: PageView, spots: Iterable[ClaimSpot]) -> Percent:
    """Return the part of the page around its passages with a margin; the whole page without any."""
    boxes = _boxes(page, spots)
    if not boxes:
        return WHOLE
    sides = []
    for axis in (0, 1):
        low = min(box[axis] for box in boxes) - MARGIN[axis]
        high = max(box[axis] + box[axis + 2] for box in boxes) + MARGIN[axis]
        missing = max(0.0, LEAST[axis] - (high - low)) / 2
        low, high = max(0.0, low - missing), min(100.0, high + missing)
        sides.append((round(low, 2), round(high, 2)))
    (left, right), (top, bottom) = sides
    return left, top, round(right - left, 2), round(bottom - top, 2)


def _boxes(page: PageView, spots: Iterable[ClaimSpot]) -> list[Percent]:
    """Return the boxes that a part of a page must show: retrieved passages only where they are meant."""
    meant = (each for each in page.spans if each.chosen or each.layer in ("cited", "gold"))
    boxes = [box for each in meant for box in (*each.rects, *each.extent)]
    return boxes + [box for spot in spots for box in (*spot.rects, *spot.marks)]
