"""One stop of a walkthrough: the bundle that is shown, the page of its chosen citation, what belongs to it.

A stored bundle is shown where it may be (`proofspan.services.bundles.stored`), else one that is built now by
the very rules. All of it is plain data: what draws it asks for nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from proofspan.contracts.records.records import Chunk, SourceLine, Trace, TraceKey
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import profile_from
from proofspan.errors import Fault
from proofspan.evidence.attachments import SAFETY_KINDS, CatalogueIndex
from proofspan.evidence.bundles import Bundle, BundleAttachment, BundleCitation
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest
from proofspan.services.bundles.build import Sources, bundles_of
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.documents.document_cache import Fingerprint, Placer, fingerprint
from proofspan.services.documents.document_set import Shelf
from proofspan.services.documents.drawings import Drawing, draw
from proofspan.services.page.target import Target, targets_of
from proofspan.services.page.view import PageView, locate_view
from proofspan.services.question.view import QuestionView, load_question, stored_question, with_ids
from proofspan.traces.records.stored_reports import StoredRow
from proofspan.traces.records.traces import read_trace_at

#: So many notices, and so many pictures, are shown of a bundle before somebody asks for more.
AT_ONCE = 12


@dataclass(frozen=True, slots=True)
class Materials:
    """What stops are made from. `corpus` lends the chunks made ready for triage, None where there are none.

    `traces` is the run's unpacked file; where it is None, `row` gives the rows of its report.
    """

    manifest: Manifest
    pool: PdfPool
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
    """An attachment and its picture; `drawing` is None where its text is enough."""

    item: BundleAttachment
    drawing: Drawing | None


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
    passages = list(_targets(bundle, view))
    targets = tuple(target for _, target in passages)
    known = {target.id: cited.found for cited, target in passages if cited.found is not None}
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
    shown, targets = slide.bundle.citation, slide.targets
    candidates = [target for target in targets if target.kind == "cited" and target.number == cite]
    if shown is not None:
        kind = "retrieved" if shown.number is None else "cited"
        candidates += [t for t in targets if t.kind == kind and shown.number in (None, t.number)]
    return next(iter((*candidates, *(target for target in targets if target.doc_id))), None)


def _passages(bundle: Bundle) -> Sequence[BundleCitation]:
    """The citations of the answer, and the retrieved passage that is shown where none of them can be."""
    shown = bundle.citation
    return bundle.citations if shown is None or shown.number is not None else (*bundle.citations, shown)


def _targets(bundle: Bundle, view: QuestionView) -> Iterator[tuple[BundleCitation, Target]]:
    """The bundle's passages as the question has them."""
    targets = targets_of(view)
    by_number = {target.number: target for target in targets if target.kind == "cited"}
    by_chunk = {target.chunk_id: target for target in targets if target.kind == "retrieved"}
    for cited in _passages(bundle):
        is_passage = cited.number is None
        target = by_chunk.get(cited.chunk_id) if is_passage else by_number.get(cited.number)
        if target is not None:
            yield cited, target


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
    named = (
        *(each.doc_id for each in _passages(bundle)),
        *(each.attachment.doc_id for each in bundle.attachments),
    )
    return {doc_id: _print(doc_id, manifest) for doc_id in named if doc_id is not None}


def _print(doc_id: str, manifest: Manifest) -> Fingerprint | None:
    document = manifest.document(doc_id)
    try:
        return fingerprint(artifact_path(manifest, document.artifact)) if document is not None else None
    except Fault:
        return None


def _listed(bundle: Bundle, count: int) -> list[BundleAttachment]:
    """Return the first notices and the first pictures, those of the cited place before those beside it."""
    notices = sorted(
        bundle.safety_attachments,
        key=lambda item: (item.is_beside, SAFETY_KINDS.index(item.attachment.kind)),
    )
    return [*notices[:count], *sorted(bundle.media_attachments, key=lambda item: item.is_beside)[:count]]


def _exhibit(item: BundleAttachment, manifest: Manifest, placer: Placer) -> Exhibit:
    attachment = item.attachment
    if attachment.kind in SAFETY_KINDS and attachment.text.strip():
        return Exhibit(item, None)
    return Exhibit(item, draw(attachment.render_ref, manifest=manifest, placer=placer))


# The list that a Walkthrough goes through: its traces in order, each with the line that holds it.


@dataclass(frozen=True, slots=True)
class Stop:
    """One trace of a list. `is_labelled` is False where the index has no label for it."""

    key: TraceKey
    source: SourceLine
    q: str
    is_labelled: bool


@dataclass(frozen=True, slots=True)
class Playlist:
    """Traces in order; positions count from 0. `unknown` are names that were asked for and are not there.

    It holds columns and no records: a list may have a hundred thousand lines.
    """

    columns: Mapping[str, Sequence[Any]]
    rows: Sequence[int]
    places: Mapping[TraceKey, int]
    unknown: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Playlist:
        """All of `Store.places`, in its order."""
        columns = {str(name): frame[name].tolist() for name in frame.columns}
        return cls._over(columns, range(len(frame)))

    @classmethod
    def _over(
        cls, columns: Mapping[str, Sequence[Any]], rows: Sequence[int], unknown: Iterable[str] = ()
    ) -> Playlist:
        places = {_key(columns, row): place for place, row in enumerate(rows)}
        return cls(columns, rows, places, tuple(unknown))

    def only(self, keys: Collection[TraceKey]) -> Playlist:
        """The list with these traces alone, in its own order."""
        rows = [row for row in self.rows if _key(self.columns, row) in keys]
        return self._over(self.columns, rows)

    def picked(self, named: Mapping[str, TraceKey]) -> Playlist:
        """These traces in the order of their names; those that the list does not hold are `unknown`."""
        found = {name: self.places.get(key) for name, key in named.items()}
        rows = [self.rows[place] for place in found.values() if place is not None]
        return self._over(self.columns, rows, (name for name, place in found.items() if place is None))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Stop]:
        return map(self.at, range(len(self)))

    def at(self, place: int) -> Stop:
        """The trace at a position from 0; IndexError beyond the list's end."""
        row, columns = self.rows[place], self.columns
        file, line, offset, length = (columns[name][row] for name in ("file", "line", "offset", "length"))
        source = SourceLine(str(file), int(line), int(offset), int(length))
        is_labelled = isinstance(columns["label"][row], str)
        return Stop(_key(columns, row), source, str(columns["q"][row]), is_labelled)

    def place(self, key: TraceKey) -> int | None:
        """Where a trace stands, None where the list does not hold it."""
        return self.places.get(key)


def _key(columns: Mapping[str, Sequence[Any]], row: int) -> TraceKey:
    paraphrase, seed, repeat = (int(columns[name][row]) for name in ("paraphrase", "seed", "repeat"))
    return TraceKey(str(columns["run_id"][row]), str(columns["q_id"][row]), paraphrase, seed, repeat)
