"""The stops of a walkthrough: for each trace of a list its bundle, the page of its chosen citation and its
attachments.

A stored bundle is shown if it is up to date (`proofspan.services.bundles.stored`), else one that is built now
by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from proofspan.contracts.records.records import Chunk, SourceLine, TraceKey
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.types import profile_from
from proofspan.errors import Fault
from proofspan.evidence.attachments import SAFETY_KINDS, CatalogueIndex
from proofspan.evidence.bundles import Bundle, BundleAttachment, BundleCitation
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import FoundSpan
from proofspan.manifest.types import Manifest
from proofspan.services.bundles.build import Sources, bundles_of
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.document_set import Shelf
from proofspan.services.documents.drawings import Drawing, draw
from proofspan.services.page.target import Target, targets_of
from proofspan.services.page.view import PageView, locate_view
from proofspan.services.question.view import QuestionView, load_question, stored_question
from proofspan.traces.records.stored_reports import StoredRow
from proofspan.traces.records.traces import read_trace_at

#: Notices, and pictures, that are shown of a bundle until more are requested.
AT_ONCE = 12


@dataclass(frozen=True, slots=True)
class Materials:
    """The inputs of stops. `corpus` lends the chunks prepared for triage, None without chunks.

    `traces` is the run's uncompressed file; if it is None, `row` gives the rows of its report.
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
class Exhibit:
    """An attachment and its picture; `drawing` is None if its text is enough."""

    item: BundleAttachment
    drawing: Drawing | None


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything shown of a stop. `page` is None for a bundle without a place.

    `hidden` counts the attachments that are not among the `exhibits`.
    """

    slide: Slide
    page: PageView | None
    exhibits: tuple[Exhibit, ...]
    hidden: int


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
        profile = profile_from(materials.manifest.triage)
        sources = Sources(shelf, materials.chunks, materials.catalogue, profile=profile)
        (bundle,) = bundles_of([(stop.key, view.trace)], sources)
    passages = list(_passages(bundle, view))
    targets = tuple(target for _, target in passages)
    known = {target.id: cited.found for cited, target in passages if cited.found is not None}
    return Slide(stop, view, bundle, targets, known, outdated)


def scene_of(
    slide: Slide, materials: Materials, *, cite: int | None = None, page: int | None = None, more: int = 0
) -> Scene:
    """Return the slide with citation `cite` chosen, on page `page`, with `more` further lists of exhibits.

    Anything that can't be shown is a problem in the result; nothing is raised.
    """
    manifest, placer = materials.manifest, materials.placer
    chosen, shown = chosen_of(slide, cite), None
    if chosen is not None:
        shown = locate_view(
            chosen, slide.targets, manifest=manifest, placer=placer, page=page, known=slide.known
        )
    count, bundle = AT_ONCE * (1 + more), slide.bundle
    notices = sorted(
        bundle.safety_attachments,
        key=lambda item: (item.is_beside, SAFETY_KINDS.index(item.attachment.kind)),
    )
    media = sorted(bundle.media_attachments, key=lambda item: item.is_beside)
    exhibits = tuple(_exhibit(item, manifest, placer) for item in (*notices[:count], *media[:count]))
    return Scene(slide, shown, exhibits, len(bundle.attachments) - len(exhibits))


def chosen_of(slide: Slide, cite: int | None) -> Target | None:
    """Return the requested citation, else the one that the bundle shows, else the first with a document."""
    shown, targets = slide.bundle.citation, slide.targets
    candidates = [target for target in targets if target.kind == "cited" and target.number == cite]
    if shown is not None:
        kind = "retrieved" if shown.number is None else "cited"
        candidates += [t for t in targets if t.kind == kind and shown.number in (None, t.number)]
    return next(iter((*candidates, *(target for target in targets if target.doc_id))), None)


def _passages(bundle: Bundle, view: QuestionView) -> Iterator[tuple[BundleCitation, Target]]:
    """Yield the citations, and the retrieved passage shown instead, with their targets in the question."""
    targets, shown = targets_of(view), bundle.citation
    by_number = {target.number: target for target in targets if target.kind == "cited"}
    by_chunk = {target.chunk_id: target for target in targets if target.kind == "retrieved"}
    is_passage = shown is not None and shown.number is None
    for cited in (*bundle.citations, shown) if shown is not None and is_passage else bundle.citations:
        target = by_chunk.get(cited.chunk_id) if cited.number is None else by_number.get(cited.number)
        if target is not None:
            yield cited, target


def question_of(stop: Stop, materials: Materials) -> QuestionView:
    """Return the question with the marks of its answer. Raises Fault if its record no longer exists."""
    manifest, key, chunks = materials.manifest, stop.key, materials.chunks
    profile, unpaged = profile_from(manifest.triage), manifest.unpaged
    if materials.traces is None:
        row = materials.row(stop)
        return stored_question(row, run_id=key.run_id, chunks=chunks, profile=profile, unpaged=unpaged)
    trace = read_trace_at(materials.traces, stop.source, run_id=key.run_id, q_id=key.q_id)
    is_judged = materials.corpus is not None and stop.is_labelled
    with materials.corpus() if materials.corpus and is_judged else nullcontext() as corpus:
        return load_question(trace, chunks=chunks, corpus=corpus, profile=profile, unpaged=unpaged)


def _exhibit(item: BundleAttachment, manifest: Manifest, placer: Placer) -> Exhibit:
    attachment = item.attachment
    if attachment.kind in SAFETY_KINDS and attachment.text.strip():
        return Exhibit(item, None)
    return Exhibit(item, draw(attachment.render_ref, manifest=manifest, placer=placer))


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

    It holds columns instead of records, since a list may have a hundred thousand lines.
    """

    columns: Mapping[str, Sequence[Any]]
    rows: Sequence[int]
    places: Mapping[TraceKey, int]
    unknown: tuple[str, ...] = field(default=())

    @classmethod
    def of(cls, frame: pd.DataFrame) -> Playlist:
        """Return all traces of `Store.places`, in its order."""
        columns = {str(name): frame[name].tolist() for name in frame.columns}
        return cls._over(columns, range(len(frame)))

    @classmethod
    def _over(
        cls, columns: Mapping[str, Sequence[Any]], rows: Sequence[int], unknown: Iterable[str] = ()
    ) -> Playlist:
        places = {_key(columns, row): place for place, row in enumerate(rows)}
        return cls(columns, rows, places, tuple(unknown))

    def only(self, keys: Collection[TraceKey]) -> Playlist:
        """Return only these traces, in the order of the list."""
        rows = [row for row in self.rows if _key(self.columns, row) in keys]
        return self._over(self.columns, rows)

    def picked(self, named: Mapping[str, TraceKey]) -> Playlist:
        """Return these traces in the order of their names; those not in the list are `unknown`."""
        places = {name: self.places.get(key) for name, key in named.items()}
        rows = [self.rows[place] for place in places.values() if place is not None]
        return self._over(self.columns, rows, (name for name, place in places.items() if place is None))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Stop]:
        return map(self.at, range(len(self)))

    def at(self, place: int) -> Stop:
        """Return the trace at a position; IndexError beyond the end of the list."""
        row, columns = self.rows[place], self.columns
        file, line, offset, length = (columns[name][row] for name in ("file", "line", "offset", "length"))
        source = SourceLine(str(file), int(line), int(offset), int(length))
        is_labelled = isinstance(columns["label"][row], str)
        return Stop(_key(columns, row), source, str(columns["q"][row]), is_labelled)

    def place(self, key: TraceKey) -> int | None:
        """Return the position of a trace, None if it is not in the list."""
        return self.places.get(key)


def _key(columns: Mapping[str, Sequence[Any]], row: int) -> TraceKey:
    paraphrase, seed, repeat = (int(columns[name][row]) for name in ("paraphrase", "seed", "repeat"))
    return TraceKey(str(columns["run_id"][row]), str(columns["q_id"][row]), paraphrase, seed, repeat)
