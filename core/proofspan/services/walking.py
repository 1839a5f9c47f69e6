"""One stop of a walkthrough: the bundle that is shown, the page of its chosen citation, what belongs to it.

A stored bundle is shown where it may be (`proofspan.services.stored_bundles`), else one that is built now by
the very rules. All of it is plain data: what draws it asks for nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from proofspan.contracts.records import Chunk, Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.profile import profile_from
from proofspan.errors import Fault
from proofspan.evidence.attachments import SAFETY_KINDS, CatalogueIndex, lies_beside
from proofspan.evidence.bundles import Bundle, BundleAttachment, BundleCitation
from proofspan.evidence.types import FoundSpan, SpanQuery
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.services.bundling import Sources, bundles_of
from proofspan.services.drawings import Drawing, draw
from proofspan.services.placer import Fingerprint, Placer, fingerprint
from proofspan.services.playlist import Stop
from proofspan.services.questions import QuestionView, load_question
from proofspan.services.revisions import cited_rev
from proofspan.services.shelf import Pool, Shelf
from proofspan.services.spans import PageView, Target, locate_view
from proofspan.services.stored import stored_question, with_ids
from proofspan.services.stored_bundles import StoredBundles
from proofspan.traces.reports import StoredRow
from proofspan.traces.traces import read_trace_at

#: So many notices, and so many pictures, are shown of a bundle before somebody asks for more.
AT_ONCE = 12


@dataclass(frozen=True, slots=True)
class Materials:
    """What stops are made from. `corpus` lends the chunks made ready for triage, None where there are none.

    `traces` is the run's unpacked file; where it is None, `row` gives the rows of its report.
    """

    manifest: Manifest
    pool: Pool
    placer: Placer
    chunks: Mapping[str, Chunk]
    catalogue: CatalogueIndex
    corpus: Callable[[], AbstractContextManager[Corpus]] | None
    stored: StoredBundles
    traces: Path | None
    row: Callable[[Stop], StoredRow]


@dataclass(frozen=True, slots=True)
class Slide:
    """A stop's bundle. `targets` are its citations (else the passage it shows), `known` where they stand.

    `told` says why the stored bundle is not the one that is shown, "" where it is or none is named. `prints`
    are the states of the documents that all this was worked out on.
    """

    stop: Stop
    view: QuestionView
    bundle: Bundle
    targets: tuple[Target, ...]
    known: Mapping[str, FoundSpan]
    told: str
    prints: Mapping[str, Fingerprint | None]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """An attachment and what it looks like; `drawing` is None where its words are enough."""

    attachment: BundleAttachment
    drawing: Drawing | None

    @property
    def is_beside(self) -> bool:
        """Whether it lies on a page next to the cited place alone."""
        return _is_beside(self.attachment)


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is shown of a stop: `page` is None where the bundle has no place to turn to.

    `hidden` counts the attachments that are not among the `exhibits`.
    """

    slide: Slide
    page: PageView | None
    exhibits: tuple[Exhibit, ...]
    hidden: int


def slide_of(stop: Stop, materials: Materials) -> Slide:
    """The bundle of a stop. Fault where its record is not there any more."""
    view, trace = question_of(stop, materials)
    shelf = Shelf(materials.manifest, materials.pool, placer=materials.placer)
    bundle, told = None, ""
    if materials.traces is not None:
        bundle, told = _stored(stop, trace, shelf, materials.stored)
    if bundle is None:
        sources = Sources(
            shelf,
            chunks=materials.chunks,
            catalogue=materials.catalogue,
            profile=profile_from(materials.manifest.triage),
        )
        (bundle,) = bundles_of([(stop.key, trace)], sources)
    targets = targets_of(bundle)
    known = {_id(each): each.found for each in _passages(bundle) if each.found is not None}
    return Slide(stop, view, bundle, targets, known, told, _prints(bundle, materials.manifest))


def is_current(slide: Slide, manifest: Manifest) -> bool:
    """Whether the documents that a slide was worked out on lie there as they did."""
    return slide.prints == prints_now(slide, manifest)


def prints_now(slide: Slide, manifest: Manifest) -> Mapping[str, Fingerprint | None]:
    """The states of those documents by now."""
    return _prints(slide.bundle, manifest)


def scene_of(
    slide: Slide, materials: Materials, *, cite: int | None = None, page: int | None = None, more: int = 0
) -> Scene:
    """The slide with citation `cite` chosen, on page `page` of its document; `more` lists of exhibits added.

    Whatever can't be shown is a problem in what is given back; nothing is raised.
    """
    manifest, placer = materials.manifest, materials.placer
    chosen = chosen_of(slide, cite)
    shown = None
    if chosen is not None:
        shown = locate_view(
            chosen, slide.targets, manifest=manifest, placer=placer, page=page, known=slide.known
        )
    listed = _listed(slide.bundle, AT_ONCE * (1 + more))
    exhibits = tuple(_exhibit(each, manifest, placer) for each in listed)
    return Scene(slide, shown, exhibits, len(slide.bundle.attachments) - len(exhibits))


def chosen_of(slide: Slide, cite: int | None) -> Target | None:
    """The citation that is asked for, else the one that the bundle shows, else the first."""
    wanted = f"cite:{cite}"
    shown = _id(slide.bundle.citation) if slide.bundle.citation is not None else ""
    return next(
        (target for name in (wanted, shown) for target in slide.targets if target.id == name),
        next((target for target in slide.targets if target.doc_id), None),
    )


def targets_of(bundle: Bundle) -> tuple[Target, ...]:
    """The passages of a bundle: what its answer cites, and the one that it shows."""
    return tuple(_target(each) for each in _passages(bundle))


def _passages(bundle: Bundle) -> Sequence[BundleCitation]:
    shown = bundle.citation
    is_listed = shown is None or any(_id(each) == _id(shown) for each in bundle.citations)
    return bundle.citations if is_listed or shown is None else (*bundle.citations, shown)


def _id(cited: BundleCitation) -> str:
    return f"cite:{cited.number}" if cited.number is not None else f"chunk:{cited.chunk_id}"


def _target(cited: BundleCitation) -> Target:
    is_passage = cited.number is None
    return Target(
        id=_id(cited),
        layer="retrieved" if is_passage else "cited",
        tag=f"rank {cited.rank}" if is_passage else f"cited {cited.number}",
        doc_id=cited.doc_id,
        query=SpanQuery(cited.quote or "", cited.page_idx, cited.offsets),
        rev=cited_rev(cited.chunk_id),
        section_id=cited.section_id,
    )


def question_of(stop: Stop, materials: Materials) -> tuple[QuestionView, Trace]:
    """The question with what marks its answer, and the trace that a bundle is made of. No document is opened.

    Fault where the record is not there any more.
    """
    manifest, key = materials.manifest, stop.key
    profile, unpaged = profile_from(manifest.triage), manifest.unpaged
    if materials.traces is None:
        row = materials.row(stop)
        view = stored_question(
            row, run_id=key.run_id, chunks=materials.chunks, gold={}, profile=profile, unpaged=unpaged
        )
        return view, with_ids(row, key.run_id)
    trace = read_trace_at(materials.traces, stop.source, run_id=key.run_id, q_id=key.q_id)
    if materials.corpus is None or not stop.is_labelled:
        return _joined(trace, materials, None), trace
    with materials.corpus() as corpus:
        return _joined(trace, materials, corpus), trace


def _joined(trace: Trace, materials: Materials, corpus: Corpus | None) -> QuestionView:
    manifest = materials.manifest
    return load_question(
        trace,
        chunks=materials.chunks,
        gold={},
        corpus=corpus,
        profile=profile_from(manifest.triage),
        unpaged=manifest.unpaged,
    )


def _stored(stop: Stop, trace: Trace, shelf: Shelf, stored: StoredBundles) -> tuple[Bundle | None, str]:
    try:
        return stored.bundle(stop.key, trace, shelf)
    except Fault as fault:
        return None, f"its stored bundle can't be read: {fault.problems[0].message}"


def _prints(bundle: Bundle, manifest: Manifest) -> dict[str, Fingerprint | None]:
    """The state of each document that a bundle's passages and attachments stand in; None where it is gone."""
    named = (*(each.doc_id for each in _passages(bundle)), *(each.doc_id for each in bundle.attachments))
    return {doc_id: _print(doc_id, manifest) for doc_id in named if doc_id is not None}


def _print(doc_id: str, manifest: Manifest) -> Fingerprint | None:
    document = manifest.document(doc_id)
    try:
        return fingerprint(artifact_path(manifest, document.artifact)) if document is not None else None
    except Fault:
        return None


def _listed(bundle: Bundle, count: int) -> list[BundleAttachment]:
    """The first of the notices and of the pictures, those of the cited place before those beside it.

    Of the notices the gravest come first.
    """
    notices = sorted(
        bundle.safety_attachments, key=lambda item: (_is_beside(item), SAFETY_KINDS.index(item.kind))
    )
    return [*notices[:count], *sorted(bundle.media_attachments, key=_is_beside)[:count]]


def _is_beside(item: BundleAttachment) -> bool:
    return lies_beside(item.by, item.pages_away)


def _exhibit(item: BundleAttachment, manifest: Manifest, placer: Placer) -> Exhibit:
    if item.kind in SAFETY_KINDS and item.text.strip():
        return Exhibit(item, None)
    return Exhibit(item, draw(item.render_ref, manifest=manifest, placer=placer))
