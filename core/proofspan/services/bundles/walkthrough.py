"""The stops of a walkthrough: for each trace of a list its bundle, the page of its chosen citation and its
attachments.

A stored bundle is shown if it is up to date (`proofspan.services.bundles.stored`), else one that is built now
by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from proofspan.contracts.records.records import Chunk, SourceLine, TraceKey
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import profile_from
from proofspan.errors import Fault
from proofspan.evidence.attachments import SAFETY_KINDS, CatalogueIndex
from proofspan.evidence.bundles import Bundle, BundleAttachment
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan, Picture
from proofspan.manifest.types import Manifest
from proofspan.services.bundles.build import Sources, bundle_of
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.document_set import Shelf
from proofspan.services.documents.drawings import Drawing, draw
from proofspan.services.page.target import Target, targets_of
from proofspan.services.page.view import PageView, locate_view
from proofspan.services.question.view import QuestionView, load_question, stored_question, stored_row
from proofspan.traces.records.stored_reports import StoredRow
from proofspan.traces.records.traces import read_trace_at

#: The columns that identify a trace.
KEY = ("run_id", "q_id", "paraphrase", "seed", "repeat")
#: Notices, and pictures, that are shown of a bundle until more are requested.
AT_ONCE = 12


@dataclass(frozen=True, slots=True)
class Materials:
    """The inputs of stops. `corpus` lends the chunks prepared for triage, None without chunks.

    `traces` is the run's uncompressed file; if it is None, `rows` are those of its report.
    """

    manifest: Manifest
    pool: PdfPool
    placer: Placer
    chunks: Mapping[str, Chunk]
    catalogue: CatalogueIndex
    corpus: Callable[[], AbstractContextManager[Corpus]] | None
    stored: StoredBundles
    traces: Path | None
    rows: Sequence[StoredRow] = ()


@dataclass(frozen=True, slots=True)
class Slide:
    """A stop's bundle. `targets` are its citations (else the passage it shows), `known` their located spans.

    `outdated` is the reason why the stored bundle is not shown, "" if it is or the run has none.
    """

    stop: Stop
    view: QuestionView
    bundle: Bundle
    targets: tuple[Target, ...]
    known: Mapping[str, FoundSpan]
    outdated: str


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything shown of a stop. `page` is None for a bundle without a place.

    `exhibits` are attachments with their pictures, None where the text is enough; `hidden` counts the others.
    `labels` are the printed numbers of the document's pages, empty where it has none.
    """

    slide: Slide
    page: PageView | None
    exhibits: tuple[tuple[BundleAttachment, Drawing | None], ...]
    hidden: int
    labels: Sequence[str] = ()


def slide_of(stop: Stop, materials: Materials) -> Slide:
    """Return the bundle of a stop. Raises Fault if its record no longer exists."""
    view = question_of(stop, materials)
    shelf = Shelf(materials.manifest, materials.pool, placer=materials.placer)
    bundle, outdated = None, ""
    if materials.traces is not None:
        try:
            bundle, outdated = materials.stored.bundle(stop.key, view.trace, shelf)
        except Fault as fault:
            outdated = f"its stored bundle can't be read: {fault.problems[0].message}"
    if bundle is None:
        bundle = bundle_of(stop.key, view, Sources(shelf, materials.chunks, materials.catalogue))
    targets, shown = targets_of(view), bundle.citation
    by_number = {target.number: target for target in targets if target.kind == "cited"}
    by_chunk = {target.chunk_id: target for target in targets if target.kind == "retrieved"}
    is_passage = shown is not None and shown.number is None
    passages = {}
    for cited in (*bundle.citations, shown) if shown is not None and is_passage else bundle.citations:
        target = by_chunk.get(cited.chunk_id) if cited.number is None else by_number.get(cited.number)
        if target is not None:
            passages[target] = cited.found
    known = {target.id: found for target, found in passages.items() if found is not None}
    return Slide(stop, view, bundle, tuple(passages), known, outdated)


def scene_of(
    slide: Slide, materials: Materials, *, cite: int | None = None, page: int | None = None, more: int = 0
) -> Scene:
    """Return the slide with citation `cite` chosen, on page `page`, with `more` further lists of exhibits.

    Anything that can't be shown is a problem in the result; nothing is raised.
    """
    manifest, placer, bundle, targets = materials.manifest, materials.placer, slide.bundle, slide.targets
    # The requested citation, else the one that the bundle shows, else the first with a document.
    candidates = [target for target in targets if target.kind == "cited" and target.number == cite]
    if (own := bundle.citation) is not None:
        kind = "retrieved" if own.number is None else "cited"
        candidates += [t for t in targets if t.kind == kind and own.number in (None, t.number)]
    candidates += [target for target in targets if target.doc_id]
    shown = None
    if candidates:
        shown = locate_view(
            candidates[0], targets, manifest=manifest, placer=placer, page=page, known=slide.known
        )
    count = AT_ONCE * (1 + more)
    notices = sorted(bundle.safety_attachments, key=lambda item: (item.is_beside, item.gravity))
    media = sorted(bundle.media_attachments, key=lambda item: item.is_beside)
    exhibits = []
    for item in (*notices[:count], *media[:count]):
        is_text = item.attachment.kind in SAFETY_KINDS and item.attachment.text.strip()
        ref = item.attachment.render_ref
        exhibits.append((item, None if is_text else draw(ref, manifest=manifest, placer=placer)))
    labels: Sequence[str] = ()
    if shown is not None and shown.image is not None and shown.path is not None:
        with suppress(Fault):  # the page itself says what is wrong
            labels = placer.document(shown.path).labels
    return Scene(slide, shown, tuple(exhibits), len(bundle.attachments) - len(exhibits), labels)


def thumbnail_of(scene: Scene, placer: Placer, *, width: int) -> Picture | None:
    """Return the scene's page about `width` pixels wide; None without a page that can be drawn."""
    shown = scene.page
    if shown is None or shown.path is None or shown.image is None:
        return None
    try:
        return placer.detail(shown.path, shown.image.page.page_idx, (0.0, 0.0, 100.0, 100.0), width)
    except Fault:
        return None


def question_of(stop: Stop, materials: Materials) -> QuestionView:
    """Return the question with the marks of its answer. Raises Fault if its record no longer exists."""
    manifest, key, chunks = materials.manifest, stop.key, materials.chunks
    profile, unpaged = profile_from(manifest.triage), manifest.unpaged
    if materials.traces is None:
        row = stored_row(materials.rows, stop.source, folder=manifest.folder)
        return stored_question(row, run_id=key.run_id, chunks=chunks, profile=profile, unpaged=unpaged)
    trace = read_trace_at(materials.traces, stop.source, run_id=key.run_id, q_id=key.q_id)
    is_judged = materials.corpus is not None and stop.is_labelled
    with materials.corpus() if materials.corpus and is_judged else nullcontext() as corpus:
        return load_question(trace, chunks=chunks, corpus=corpus, profile=profile, unpaged=unpaged)


# The list of a walkthrough: its traces in order, each with its line.


@dataclass(frozen=True, slots=True)
class Stop:
    """One trace of a list. `is_labelled` is False if the index has no label for it."""

    key: TraceKey
    source: SourceLine
    q: str
    is_labelled: bool


@dataclass(frozen=True, slots=True)
class Playlist:
    """Traces in order, at positions from 0. `unknown` are requested names that do not exist.

    `frame` has the columns of `Store.places` with verdicts: a list may have a hundred thousand lines.
    """

    frame: pd.DataFrame
    places: Mapping[TraceKey, int]
    unknown: tuple[str, ...] = ()

    @classmethod
    def of(cls, frame: pd.DataFrame, *, unknown: Iterable[str] = ()) -> Playlist:
        """Return all traces of `Store.places`, in its order."""
        columns = (frame[name].tolist() for name in KEY)
        keys = (TraceKey(*key) for key in zip(*columns, strict=True))
        return cls(frame, {key: place for place, key in enumerate(keys)}, tuple(unknown))

    def only(self, keys: Collection[TraceKey]) -> Playlist:
        """Return only these traces, in the order of the list."""
        return Playlist.of(self.frame[[key in keys for key in self.places]])

    def picked(self, named: Mapping[str, TraceKey]) -> Playlist:
        """Return these traces in the order of their names; those not in the list are `unknown`."""
        rows = [self.places[key] for key in named.values() if key in self.places]
        unknown = (name for name, key in named.items() if key not in self.places)
        return Playlist.of(self.frame.iloc[rows], unknown=unknown)

    def __len__(self) -> int:
        return len(self.frame)

    def at(self, place: int) -> Stop:
        """Return the trace at a position; IndexError beyond the end of the list."""
        row = self.frame.iloc[place]
        source = SourceLine(str(row["file"]), int(row["line"]), int(row["offset"]), int(row["length"]))
        run_id, q_id, *variant = (row[name] for name in KEY)
        key = TraceKey(str(run_id), str(q_id), *map(int, variant))
        return Stop(key, source, str(row["q"]), isinstance(row["label"], str))
