"""The page that belongs to a choice: which span is meant, where it stands, what else lies on its page.

Only the spans of the chosen document are placed, and of its retrieved passages only those of the page that is
shown: a click must not open every document of a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from proofspan.contracts.records.records import Attachment, Box, Chunk
from proofspan.contracts.records.render_ref import PageRef, parse_render_ref
from proofspan.errors import Fault, Problem
from proofspan.evidence.attachments import CatalogueIndex, CitedPlace
from proofspan.evidence.types import FoundSpan, PageImage, SpanQuery
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Document, Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.revisions import cited_rev, revision_problems
from proofspan.services.page.shapes import Layer, PageSpan, Percent, shapes
from proofspan.services.page.text_under import texts_under
from proofspan.services.page.text_view import TextSpan, TextView, text_view
from proofspan.services.question.citation_queries import span_query
from proofspan.services.question.view import CitationView, QuestionView

NONE_KNOWN: Mapping[str, FoundSpan] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Target:
    """A passage that can be shown. `id` is `cite:2`, `chunk:…` or `gold:1`; `query.quote` may be empty.

    `is_context` tells whether it is drawn on its page while another passage is chosen, `rev` the revision of
    the document that it was cited from and `section_id` its section, where its record names them.
    """

    id: str
    layer: Layer
    tag: str
    doc_id: str | None
    query: SpanQuery
    is_context: bool = True
    rev: str | None = None
    section_id: str | None = None


@dataclass(frozen=True, slots=True)
class PageView:
    """What stands on the right: a page with its spans, or the problem that keeps it away.

    `found` holds the placed spans by `Target.id`. `page_idx` is the page that is shown (None where there is
    none), `printed` its own label. A document without pages has its lines in `text` instead. `revision` is
    what speaks against the document being the one that was cited. `path` is the document's file, and `texts`
    holds by `Target.id` the page's own words under each span's boxes. While a view `is_pending` its page is
    being worked on under the key `work`, and there is neither picture nor problem.
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

    @property
    def is_pending(self) -> bool:
        """Whether the page is still being worked on."""
        return self.work is not None

    @property
    def chosen(self) -> FoundSpan | None:
        """Where the chosen passage stands, None while it could not be looked for."""
        return self.found.get(self.target.id)


def targets_of(view: QuestionView) -> tuple[Target, ...]:
    """Every passage of a question: its citations, the candidates (those of the last stage first), gold."""
    cited = (_cited(item) for item in view.citations)
    return (*cited, *_retrieved(view), *_gold(view))


def place_of(view: PageView) -> CitedPlace:
    """Where the chosen passage stands, for what belongs there: its found page, else the cited one."""
    target, found = view.target, view.chosen
    if view.document is not None and not view.document.paged:
        return CitedPlace(target.doc_id, target.section_id)
    if found is not None and found.page_idx is not None:
        return CitedPlace(target.doc_id, target.section_id, found.page_idx, found.rects)
    return CitedPlace(target.doc_id, target.section_id, target.query.cited_page_idx)


def choose(targets: Sequence[Target], *, cite: int | None = None, chunk: str | None = None) -> Target | None:
    """The passage that the URL means: its chunk, else its citation, else the first that names a document.

    Where nothing is cited, the gold passage comes before what was retrieved. A `chunk` of the form `gold:1`
    means a gold span, which has no id of its own.
    """
    wanted = (f"chunk:{chunk}", chunk) if chunk is not None else (f"cite:{cite}",)
    named = next((target for target in targets if target.id in wanted), None)
    layers: tuple[Layer, ...] = ("cited", "gold", "retrieved")
    placed = [target for layer in layers for target in targets if target.layer == layer and target.doc_id]
    return named or next(iter(placed), None)


def chunk_target(chunk: Chunk, *, tag: str = "chunk") -> Target:
    """The place of a chunk, with or without a question that retrieved it."""
    label = chunk.page_label if chunk.page_idx is None else None
    query = SpanQuery(
        chunk.text, chunk.page_idx, chunk.offsets, chunk.box, chunk.box_space, cited_label=label
    )
    rev = cited_rev(chunk.chunk_id, chunk.raw)
    section_id = chunk.section_id or chunk.section_number
    return Target(
        f"chunk:{chunk.chunk_id}", "retrieved", tag, chunk.doc_id, query, rev=rev, section_id=section_id
    )


def locate_view(
    chosen: Target,
    targets: Sequence[Target],
    *,
    manifest: Manifest,
    placer: Placer,
    page: int | None = None,
    known: Mapping[str, FoundSpan] = NONE_KNOWN,
) -> PageView:
    """The page of `chosen`, or the page `page` of its document, with every span that lies on it.

    `known` are places by `Target.id` that were found before (a bundle's): those are not looked for again. A
    fault becomes the view's `problem`; nothing is raised for a document that cannot be shown.
    """
    document, problem = _document(chosen, manifest)
    if document is None or problem is not None:
        return PageView(chosen, document, problem=problem)
    own = [target for target in targets if target.doc_id == document.doc_id]
    view = PageView(chosen, document)
    if document.paged:
        view = replace(view, page_idx=page if page is not None else chosen.query.cited_page_idx)
    try:
        path = artifact_path(manifest, document.artifact)
        view = replace(view, path=path, revision=revision_problems(document, path, rev=chosen.rev))
        places = _Places(path, placer, known)
        return _on_page(view, own, places, page) if document.paged else _in_text(view, own, places)
    except Fault as fault:
        return replace(view, problem=fault.problems[0])


@dataclass(frozen=True, slots=True)
class _Places:
    """Where passages of the document at `path` stand; those `known` are not looked for."""

    path: Path
    placer: Placer
    known: Mapping[str, FoundSpan]

    def on_pages(self, targets: Iterable[Target], *, likely_page: int | None = None) -> dict[str, FoundSpan]:
        """By id, for what has a quote, or at least a producer's box that can be shown."""
        asked = [each for each in targets if each.query.quote.strip() or each.query.box]
        return self._of(asked, partial(self.placer.locate, likely_page=likely_page))

    def in_text(self, targets: Iterable[Target]) -> dict[str, FoundSpan]:
        """The same in a document without pages, for what has a quote, or offsets that can be shown."""
        asked = [each for each in targets if each.query.quote.strip() or each.query.offsets]
        return self._of(asked, self.placer.locate_in_text)

    def _of(
        self, asked: Sequence[Target], locate: Callable[[Path, Sequence[SpanQuery]], Sequence[FoundSpan]]
    ) -> dict[str, FoundSpan]:
        missing = [target for target in asked if target.id not in self.known]
        fresh = locate(self.path, [target.query for target in missing])
        found = {target.id: place for target, place in zip(missing, fresh, strict=True)}
        return {target.id: found.get(target.id) or self.known[target.id] for target in asked}


def pending_view(
    chosen: Target, *, manifest: Manifest, page: int | None = None, work: Hashable = None
) -> PageView:
    """What can be said of `locate_view` before it has an answer, without opening a file."""
    document, _ = _document(chosen, manifest)
    page_idx = page if page is not None else chosen.query.cited_page_idx
    is_paged = document is None or document.paged
    return PageView(chosen, document, page_idx=page_idx if is_paged else None, work=work)


def _on_page(view: PageView, targets: Sequence[Target], places: _Places, page: int | None) -> PageView:
    info = places.placer.document(places.path)
    view = replace(view, page_count=info.page_count)
    listed = [target for target in targets if target.layer != "retrieved"]
    is_there = view.page_idx is not None and 0 <= view.page_idx < info.page_count
    found = places.on_pages([view.target, *listed], likely_page=view.page_idx if is_there else None)
    page_idx = _page_to_show(view.target, found.get(view.target.id), page)
    view = replace(view, page_idx=page_idx, found=found)
    if not 0 <= page_idx < info.page_count:
        return replace(view, problem=_beyond(view, page_idx, info.page_count))
    near = (t for t in targets if t.query.cited_page_idx == page_idx)
    nearby = [t for t in near if t.layer == "retrieved" and t.is_context]
    found = {**places.on_pages(nearby), **found}
    image = places.placer.page(places.path, page_idx)
    shown = {target.id: target for target in (*nearby, *listed, view.target)}
    return replace(
        view,
        printed=info.labels[page_idx] if page_idx < len(info.labels) else None,
        image=image,
        found=found,
        spans=_drawn(shown.values(), view.target, found, image),
        texts=_texts([view.target, *listed, *nearby], found, image),
    )


def _in_text(view: PageView, targets: Sequence[Target], places: _Places) -> PageView:
    """The text with every span that is drawn on a page: it is one page, whatever pages the spans name."""
    document = places.placer.text(places.path)
    drawn = [target for target in targets if target.layer == "cited" or target.is_context]
    shown = {target.id: target for target in (*drawn, view.target)}
    found = places.in_text(shown.values())
    spans = [
        _text_span(target, found[target.id], is_chosen=target.id == view.target.id)
        for target in shown.values()
        if target.id in found
    ]
    return replace(view, text=text_view(document, spans), found=found)


def _text_span(target: Target, found: FoundSpan, *, is_chosen: bool) -> TextSpan:
    """A span in a text: where it was found, else where its offsets point."""
    ranges, is_verified = found.ranges or found.unverified_ranges, bool(found.ranges)
    tag = target.tag if is_verified else f"{target.tag}, unverified"
    return TextSpan(target.id, target.layer, tag, ranges, is_chosen, is_verified)


def _page_to_show(target: Target, found: FoundSpan | None, page: int | None) -> int:
    """The page asked for, else the one where the text stands, else the cited one, else the first."""
    candidates = (page, found.page_idx if found else None, target.query.cited_page_idx)
    return next((page_idx for page_idx in candidates if page_idx is not None), 0)


def _drawn(
    targets: Iterable[Target], chosen: Target, found: Mapping[str, FoundSpan], image: PageImage
) -> tuple[PageSpan, ...]:
    """The placed spans of this page, the chosen one last, so that it lies on top."""
    spans = []
    for target in targets:
        place = found.get(target.id)
        if place is None:
            continue
        boxes, is_verified = _boxes(target, place, image.page.page_idx)
        tag = target.tag if is_verified else f"{target.tag}, unverified"
        if rects := shapes(boxes, image, as_region=_is_region(target, place)):
            tags = ((target.layer, tag),)
            is_chosen = target.id == chosen.id
            spans.append(PageSpan(target.id, target.layer, tags, rects, is_chosen, is_verified))
    return _with_shared_tags(sorted(spans, key=lambda span: span.chosen))


def _texts(targets: Iterable[Target], found: Mapping[str, FoundSpan], image: PageImage) -> dict[str, str]:
    """The page's own words under each span that lies on it, the first ones where it is too much."""
    page = image.page
    placed = ((target, found[target.id]) for target in targets if target.id in found)
    boxes = {target.id: _boxes(target, place, page.page_idx)[0] for target, place in placed}
    return texts_under(boxes, image.words, rotation=page.rotation)


def _boxes(target: Target, place: FoundSpan, page_idx: int) -> tuple[tuple[Box, ...], bool]:
    """A span's boxes on a page in points, and whether the page's text confirms them."""
    boxes = _rects_on(place, page_idx)
    if not boxes and target.query.cited_page_idx == page_idx:
        return place.unverified, False
    return boxes, True


def _is_region(target: Target, place: FoundSpan) -> bool:
    """Whether a span may cover the room between its words: what is cited only if no other word lies there."""
    return target.layer != "cited" or place.status in ("exact", "normalized")


def _with_shared_tags(spans: Sequence[PageSpan]) -> tuple[PageSpan, ...]:
    """Spans that begin at the same place carry their tags together, on the topmost of them."""
    tags: dict[tuple[float, float], list[tuple[Layer, str]]] = {}
    for span in reversed(spans):
        tags.setdefault(span.rects[0][:2], []).extend(span.tags)
    drawn = []
    for span in reversed(spans):
        drawn.append(replace(span, tags=tuple(tags.pop(span.rects[0][:2], ()))))
    return tuple(reversed(drawn))


def _rects_on(place: FoundSpan, page_idx: int) -> tuple[Box, ...]:
    if place.page_idx == page_idx:
        return place.rects
    return next((other.rects for other in place.alternatives if other.page_idx == page_idx), ())


def _document(target: Target, manifest: Manifest) -> tuple[Document | None, Problem | None]:
    if target.doc_id is None:
        return None, Problem(
            "no_document",
            "nothing says which document this passage is from",
            where=target.id,
            fix="give the candidate, the chunk or the citation a `doc_id`, and import again",
        )
    document = manifest.document(target.doc_id)
    if document is None:
        return None, Problem(
            "document_not_listed",
            f"the workspace has no document {target.doc_id}, so its page cannot be shown",
            where=f"{manifest.file or manifest.folder}: documents",
            fix="put the file into the workspace and list it under `documents` with this doc_id",
        )
    return document, None


def _beyond(view: PageView, page_idx: int, page_count: int) -> Problem:
    return Problem(
        "page_out_of_range",
        f"PDF page {page_idx + 1} (page_idx {page_idx}) lies beyond the end: there are {page_count} pages",
        where=view.target.doc_id or "",
        fix="check the producer's page base (page_idx counts from 0) and the document's edition",
    )


def _cited(view: CitationView) -> Target:
    cited = view.citation
    query = span_query(cited)
    rev = cited_rev(cited.chunk_id, cited.raw)
    name, section_id = f"cited {cited.number}", cited.section_id
    return Target(f"cite:{cited.number}", "cited", name, cited.doc_id, query, rev=rev, section_id=section_id)


def _gold(view: QuestionView) -> Iterable[Target]:
    """The gold spans; their section where the question has but one."""
    gold = view.gold
    if gold is None:
        return
    section_id = gold.sections[0] if len(gold.sections) == 1 else None
    for number, span in enumerate(gold.spans, start=1):
        query = SpanQuery(span.quote, span.page_idx, span.offsets)
        tag = f"gold {number}" if len(gold.spans) > 1 else "gold"
        yield Target(f"gold:{number}", "gold", tag, span.doc_id, query, section_id=section_id)


def _retrieved(view: QuestionView) -> Iterable[Target]:
    """Each candidate once, with its rank in the latest stage that holds it.

    What the answerer neither saw nor cites is no context: a page may hold dozens of such passages.
    """
    last = view.last_stage
    seen_ids = set(view.trace.chunk_ids)
    stages = ([last] if last else []) + [stage for stage in view.stages if stage is not last]
    seen: set[str] = set()
    for item in (item for stage in stages for item in stage.candidates):
        candidate = item.candidate
        if candidate.chunk_id not in seen:
            seen.add(candidate.chunk_id)
            query = SpanQuery(candidate.text or "", candidate.page_idx)
            tag = f"rank {candidate.rank}"
            is_context = not seen_ids or candidate.chunk_id in seen_ids or bool(item.cited_by)
            rev = cited_rev(candidate.chunk_id, candidate.raw)
            yield Target(
                f"chunk:{candidate.chunk_id}",
                "retrieved",
                tag,
                candidate.doc_id,
                query,
                is_context,
                rev,
                candidate.section_id,
            )


# Where on a shown page an attachment lies, so that it can be outlined and scrolled to.


def attachment_on(view: PageView, catalogue: CatalogueIndex, attachment_id: str) -> Attachment | None:
    """The attachment of that id on the shown page, None where the page has none such."""
    if view.document is None or view.page_idx is None:
        return None
    entries = catalogue.by_page.get((view.document.doc_id, view.page_idx), ())
    on_page = (entry.attachment for entry in entries)
    return next((each for each in on_page if each.attachment_id == attachment_id), None)


def region_of(attachment: Attachment, view: PageView) -> Percent | None:
    """The attachment's box in percent of the shown picture; None where no box of this very page is known."""
    box = _box(attachment, view)
    if box is None or view.image is None:
        return None
    return next(iter(shapes([box], view.image)), None)


def _box(attachment: Attachment, view: PageView) -> Box | None:
    """What is drawn of it, else the place that its record gives, in points of the unrotated page."""
    ref = parse_render_ref(attachment.render_ref or "")
    doc_id = view.document.doc_id if view.document else None
    if isinstance(ref, PageRef) and (ref.doc_id, ref.page_idx) == (doc_id, view.page_idx):
        return ref.box
    is_here = (attachment.doc_id, attachment.page_idx) == (doc_id, view.page_idx)
    return attachment.box if is_here and attachment.box_space == "points" else None
