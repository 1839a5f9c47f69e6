"""The page of a chosen passage: where it is in its document, and what else lies on that page.

Only passages of the chosen document are located, and of its retrieved ones only those that name the shown
page: a click must not open every document of a trace.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from proofspan.contracts.records.records import Attachment, Box
from proofspan.contracts.records.render_ref import PageRef, parse_render_ref
from proofspan.errors import Fault, Problem
from proofspan.evidence.attachments import CatalogueIndex, CitedPlace
from proofspan.evidence.geometry import line_boxes
from proofspan.evidence.text.page_lines import text_in_lines
from proofspan.evidence.text.text_document import TextDocument
from proofspan.evidence.types import FoundSpan, PageImage, SpanQuery, TextRange
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Document, Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.revisions import document_not_listed, revision_problems
from proofspan.services.page.shapes import Layer, PageSpan, Percent, shapes
from proofspan.services.page.target import Target
from proofspan.services.page.text_under import texts_under, words_in
from proofspan.services.page.text_view import TextSpan, TextView, text_view
from proofspan.services.question.cited_sentences import sentences_for


@dataclass(frozen=True, slots=True)
class PageView:
    """The shown page with its spans, or the problem that prevents showing it.

    `found` holds the located passages by `Target.id`, `sentences` where on this page, or in this text, is
    what decides the claims of a citation without a quote of its own, `texts` the page's own words under each.
    `page_idx` is the shown page (None without one), `printed` its label and `labels` those of all pages. A
    document without pages has its lines in `text` instead. `revision` lists what suggests that the document
    is not the one that was cited; `path` is its file. `work` is the key of the background task while the page
    is not ready: until then there is neither picture nor problem.
    """

    target: Target
    document: Document | None = None
    page_idx: int | None = None
    page_count: int | None = None
    printed: str | None = None
    image: PageImage | None = None
    spans: tuple[PageSpan, ...] = ()
    found: Mapping[str, FoundSpan] = field(default_factory=dict)
    text: TextView | None = None
    problem: Problem | None = None
    revision: tuple[Problem, ...] = ()
    work: Hashable = None
    path: Path | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    sentences: Mapping[str, tuple[Box, ...] | tuple[TextRange, ...]] = field(default_factory=dict)

    @property
    def is_pending(self) -> bool:
        """Whether the page is still being prepared."""
        return self.work is not None

    @property
    def chosen(self) -> FoundSpan | None:
        """The location of the chosen passage, None while it could not be looked for."""
        return self.found.get(self.target.id)


def place_of(view: PageView) -> CitedPlace:
    """Return the place of the chosen passage: the page it was found on, else the cited one."""
    target, found = view.target, view.chosen
    if view.document is not None and not view.document.paged:
        return CitedPlace(target.doc_id, target.section_id)
    if found is not None and found.page_idx is not None:
        return CitedPlace(target.doc_id, target.section_id, found.page_idx, found.rects)
    return CitedPlace(target.doc_id, target.section_id, target.query.cited_page_idx)


def pending_view(
    chosen: Target, *, manifest: Manifest, page: int | None = None, work: Hashable = None
) -> PageView:
    """Return what is known of `locate_view` before a file is opened."""
    document = manifest.document(chosen.doc_id) if chosen.doc_id is not None else None
    page_idx = page if page is not None else chosen.query.cited_page_idx
    is_paged = document is None or document.paged
    return PageView(chosen, document, page_idx=page_idx if is_paged else None, work=work)


def locate_view(
    chosen: Target,
    targets: Sequence[Target],
    *,
    manifest: Manifest,
    placer: Placer,
    page: int | None = None,
    known: Mapping[str, FoundSpan] | None = None,
) -> PageView:
    """Return the page of `chosen`, or the page `page` of its document, with every span that lies on it.

    `known` are spans located earlier (a bundle's), by `Target.id`; they are not located again. A fault
    becomes the view's `problem`; nothing is raised for a document that cannot be shown.
    """
    if chosen.doc_id is None:
        message = "the passage names no document"
        fix = "give the candidate, the chunk or the citation a `doc_id`, and import again"
        return PageView(chosen, problem=Problem("no_document", message, where=chosen.id, fix=fix))
    view = pending_view(chosen, manifest=manifest, page=page)
    document = view.document
    if document is None:
        return PageView(chosen, problem=document_not_listed(chosen.doc_id, manifest))
    own = [target for target in targets if target.doc_id == document.doc_id]
    try:
        path = artifact_path(manifest, document.artifact)
        view = replace(view, path=path, revision=revision_problems(document, path, rev=chosen.rev))
        if document.paged:
            return _on_page(view, own, path, placer, known or {}, page)
        return _in_text(view, own, path, placer, known or {})
    except Fault as fault:
        return replace(view, problem=fault.problems[0])


def _by_id(
    targets: Iterable[Target],
    known: Mapping[str, FoundSpan],
    locate: Callable[[list[SpanQuery]], list[FoundSpan]],
) -> dict[str, FoundSpan]:
    """The located targets; those `known` are not located again."""
    queries = {target.id: target.query for target in targets}
    missing = {id_: query for id_, query in queries.items() if id_ not in known}
    found = dict(zip(missing, locate(list(missing.values())), strict=True))
    return {id_: found.get(id_) or known[id_] for id_ in queries}


def _on_page(
    view: PageView,
    targets: Sequence[Target],
    path: Path,
    placer: Placer,
    known: Mapping[str, FoundSpan],
    page: int | None,
) -> PageView:
    """The page with what has a quote, or at least a producer's box that can be shown."""
    info = placer.document(path)
    shown = [each for each in targets if each.query.quote.strip() or each.query.box]
    listed = [target for target in shown if target.kind != "retrieved"]
    chosen = [view.target] if view.target.query.quote.strip() or view.target.query.box else []
    is_there = view.page_idx is not None and 0 <= view.page_idx < info.page_count
    likely_page = view.page_idx if is_there else None
    found = _by_id([*chosen, *listed], known, partial(placer.locate, path, likely_page=likely_page))
    at = found[view.target.id].page_idx if chosen else None
    # The requested page, else the one where the text was found, else the cited one, else the first.
    candidates = (page, at, view.target.query.cited_page_idx)
    page_idx = next((each for each in candidates if each is not None), 0)
    view = replace(view, page_count=info.page_count, page_idx=page_idx, found=found, labels=info.labels)
    if not 0 <= page_idx < info.page_count:
        beyond = f"PDF page {page_idx + 1} (page_idx {page_idx}) is beyond the end"
        message = f"{beyond}: there are {info.page_count} pages"
        fix = "check the producer's page base (page_idx counts from 0) and the document's edition"
        return replace(view, problem=Problem("page_out_of_range", message, view.target.doc_id or "", fix))
    near = (each for each in shown if page_idx in each.query.cited_pages)
    nearby = [each for each in near if each.kind == "retrieved" and each.is_context]
    found = {**_by_id(nearby, known, partial(placer.locate, path)), **found}
    image = placer.page(path, page_idx)
    boxes = {each.id: _boxes(each, found[each.id], page_idx) for each in (*chosen, *listed, *nearby)}
    drawn = {each.id: each for each in (*nearby, *listed, *chosen)}
    pages = {
        each.id: each
        for each in (*targets, view.target)
        if each.is_page and each.claims and page_idx in each.query.cited_pages
    }
    bare = {each.id: each for each in pages.values() if each.id not in drawn}
    sentences = {
        span_id: _sentences(target, found.get(span_id), boxes.get(span_id, ((), True))[0], image)
        for span_id, target in {**drawn, **bare}.items()
        if target.claims
    }
    own_boxes = {span_id: rects for span_id, (rects, _) in boxes.items()}
    return replace(
        view,
        printed=info.labels[page_idx] if page_idx < len(info.labels) else None,
        image=image,
        found=found,
        sentences=sentences,
        spans=_drawn({**bare, **drawn}, view.target, found, boxes, sentences, image),
        texts=texts_under(
            own_boxes | {span_id: rects for span_id, rects in sentences.items() if rects},
            image.words,
            rotation=image.page.rotation,
        ),
    )


def _sentences(
    target: Target, found: FoundSpan | None, rects: Sequence[Box], image: PageImage
) -> tuple[Box, ...]:
    """The boxes of what decides a citation's claims: among its chunk's words, else those of the page.

    They are read off the page, since a chunk's text may have lost the lines of a table. Of a chunk that goes
    on elsewhere, what comes closest on this page is not the closest of all.
    """
    words = image.words if target.is_page else words_in(rects, image.words)
    text, starts = text_in_lines(words, rotation=image.page.rotation)
    goes_on = found is not None and bool(found.continues)
    boxes: list[Box] = []
    for start, end in sentences_for(target.claims, text, only_decided=goes_on):
        first, last = bisect_right(starts, start) - 1, bisect_left(starts, end)
        boxes += line_boxes([box for box, _ in words[first:last]], rotation=image.page.rotation)
    return tuple(boxes)


def _in_text(
    view: PageView, targets: Sequence[Target], path: Path, placer: Placer, known: Mapping[str, FoundSpan]
) -> PageView:
    """The whole text with its spans: it is one page, whatever pages the passages name.

    A span is where it was found, else where its offsets point.
    """
    listed = [target for target in targets if target.kind == "cited" or target.is_context]
    context = (*listed, view.target)
    shown = {each.id: each for each in context if each.query.quote.strip() or each.query.offsets}
    document = placer.text(path)
    found = _by_id(shown.values(), known, partial(placer.locate_in_text, path))
    spans = []
    sentences: dict[str, tuple[TextRange, ...]] = {}
    for span_id, each in found.items():
        target, is_verified = shown[span_id], bool(each.ranges)
        ranges, is_chosen = each.ranges or each.unverified_ranges, span_id == view.target.id
        tag = _tag(target, is_verified)
        if target.claims and is_verified:
            parts = sentences[span_id] = _sentences_in(document, ranges, target)
            if parts != ranges:
                around = TextSpan(target.kind, tag, ranges, is_chosen, is_extent=True)
                spans.append(replace(around, tag="", chosen=False) if parts else around)
            ranges = parts
        if ranges:
            spans.append(TextSpan(target.kind, tag, ranges, is_chosen, is_verified))
    return replace(view, text=text_view(document, spans), found=found, sentences=sentences)


def _sentences_in(
    document: TextDocument, ranges: Sequence[TextRange], target: Target
) -> tuple[TextRange, ...]:
    """The ranges that decide a citation's claims in the passage that it names."""
    first, last = ranges[0].start, ranges[-1].end
    found = sentences_for(target.claims, document.text[first:last])
    return tuple(document.range(first + start, first + end) for start, end in found)


def _tag(target: Target, is_verified: bool) -> str:
    return target.tag if is_verified else f"{target.tag}, unverified"


def _drawn(
    targets: Mapping[str, Target],
    chosen: Target,
    found: Mapping[str, FoundSpan],
    boxes: Mapping[str, tuple[tuple[Box, ...], bool]],
    sentences: Mapping[str, tuple[Box, ...]],
    image: PageImage,
) -> tuple[PageSpan, ...]:
    """The located spans of this page, the chosen one last, so that it lies on top.

    Of citations without a quote of their own `sentences` are meant; their passage is only outlined.
    """
    spans = []
    for span_id, target in targets.items():
        own, is_verified = boxes.get(span_id, ((), True))
        # A citation covers the room between its words only if no other word lies there.
        is_clean = span_id in found and found[span_id].status in ("exact", "normalized")
        rects = shapes(own, image, as_region=target.kind != "cited" or is_clean)
        extent: tuple[Percent, ...] = ()
        if span_id in sentences and is_verified:
            part = shapes(sentences[span_id], image, as_region=True)
            rects, extent = part, rects if rects != part else ()
        if rects or extent:
            tag = ((target.kind, _tag(target, is_verified)),)
            is_chosen = span_id == chosen.id
            spans.append(PageSpan(span_id, target.kind, tag, rects, is_chosen, is_verified, extent))
    # Spans that begin at the same place carry their tags together, on the topmost of them.
    tags: dict[tuple[float, float], list[tuple[Layer, str]]] = {}
    topmost_first = sorted(spans, key=lambda span: span.chosen)[::-1]
    for span in topmost_first:
        tags.setdefault(_start(span), []).extend(span.tags)
    shared = [replace(span, tags=tuple(tags.pop(_start(span), ()))) for span in topmost_first]
    return tuple(reversed(shared))


def _start(span: PageSpan) -> tuple[float, float]:
    return (span.rects or span.extent)[0][:2]


def _boxes(target: Target, found: FoundSpan, page_idx: int) -> tuple[tuple[Box, ...], bool]:
    """A span's boxes on a page in points, and whether the page's text confirms them."""
    others = ((each.page_idx, each.rects) for each in (*found.continues, *found.alternatives))
    places = ((found.page_idx, found.rects), *others)
    boxes = next((rects for page, rects in places if page == page_idx), ())
    if not boxes and target.query.cited_page_idx == page_idx:
        return found.unverified, False
    return boxes, True


# Attachments on the shown page, to be outlined and scrolled to.


def attachment_on(view: PageView, catalogue: CatalogueIndex, attachment_id: str) -> Attachment | None:
    """Return the attachment of that id on the shown page, None where the page has none such."""
    if view.document is None or view.page_idx is None:
        return None
    entries = catalogue.by_page.get((view.document.doc_id, view.page_idx), ())
    on_page = (entry.attachment for entry in entries)
    return next((each for each in on_page if each.attachment_id == attachment_id), None)


def region_of(attachment: Attachment, view: PageView) -> Percent | None:
    """Return the attachment's box in percent of the shown picture; None without a box on this page.

    It is the region that is drawn, else the box of its record, in points of the unrotated page.
    """
    ref = parse_render_ref(attachment.render_ref or "")
    shown = (view.document.doc_id if view.document else None, view.page_idx)
    is_here = (attachment.doc_id, attachment.page_idx) == shown
    box = attachment.box if is_here and attachment.box_space == "points" else None
    if isinstance(ref, PageRef) and (ref.doc_id, ref.page_idx) == shown:
        box = ref.box
    return None if box is None or view.image is None else next(iter(shapes([box], view.image)), None)
