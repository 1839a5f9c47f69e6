"""Pictures of the proofs in a report: each flipped question's passage on its page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proofspan.contracts.records.records import Chunk, GoldQuestion, TraceKey
from proofspan.diagnosis.types import profile_from
from proofspan.errors import Fault
from proofspan.manifest.types import Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.crop import Crop, crop_of
from proofspan.services.page.target import choose, targets_of
from proofspan.services.page.view import locate_view
from proofspan.services.question.view import QuestionView, load_question
from proofspan.services.report.content import Flip
from proofspan.store.index.labelling import read_led_chunks
from proofspan.store.query.store import Store
from proofspan.traces.lines.unpack import artifact_source
from proofspan.traces.records.gold import read_gold
from proofspan.traces.records.redirects import gold_of_today
from proofspan.traces.records.traces import read_trace_at
from proofspan.traces.separate.join_cache import trace_file

#: Share of a page's width that a proof shows, its width divided by its height, and its width in pixels.
SHARE, ASPECT, PIXELS = 0.52, 2.1, 680
#: Returns a question by its id. Raises Fault where its record cannot be read.
ReadQuestion = Callable[[str], QuestionView]


@dataclass(frozen=True, slots=True)
class Proof:
    """A flipped question with the crop of the passage that its answer cites, else of its gold passage."""

    flip: Flip
    crop: Crop


def proofs_of(
    flips: Iterable[Flip], read: ReadQuestion, *, manifest: Manifest, placer: Placer
) -> tuple[Proof, ...]:
    """Return the proof of each flip, in order. A crop says why it has no picture; nothing is raised."""
    return tuple(Proof(flip, _crop(flip, read, manifest, placer)) for flip in flips)


def _crop(flip: Flip, read: ReadQuestion, manifest: Manifest, placer: Placer) -> Crop:
    try:
        view = read(flip.q_id)
    except Fault as fault:
        return Crop("", missing=fault.problems[0].message)
    targets = targets_of(view)
    chosen = choose(targets)
    if chosen is None:
        return Crop("", missing="the answer cites no passage")
    shown = locate_view(chosen, targets, manifest=manifest, placer=placer)
    return crop_of(shown, placer, share=SHARE, aspect=ASPECT, pixels=PIXELS)


def reader_of(store: Store, manifest: Manifest, run_id: str, *, cache_dir: Path) -> ReadQuestion:
    """Return what reads the questions of a run from its files, for commands; side files are read once.

    Chunks and gold that cannot be read are left out: a citation without its chunk has no passage.
    """

    @cache
    def chunks() -> Mapping[str, Chunk]:
        if manifest.chunks is None:
            return {}
        try:
            return read_led_chunks(manifest, manifest.chunks, cache_dir=cache_dir)[0]
        except Fault:
            return {}

    @cache
    def gold() -> Mapping[str, GoldQuestion]:
        if manifest.gold is None:
            return {}
        try:
            plain = artifact_source(manifest, manifest.gold, cache_dir=cache_dir)
        except Fault:
            return {}
        known = read_gold(plain, file=manifest.gold.path)[0]
        return gold_of_today(known, chunks()) if manifest.redirects is not None else known

    run, profile = manifest.run(run_id), profile_from(manifest.triage)

    def read(q_id: str) -> QuestionView:
        found = store.find(TraceKey(run_id, q_id))
        if found is None or run is None:
            raise Fault.of("no_such_question", "the run has no record of this question")
        path = trace_file(manifest, run, cache_dir=cache_dir).needed_path
        trace = read_trace_at(path, found.source, run_id=run_id, q_id=q_id)
        return load_question(
            trace, chunks=chunks(), corpus=None, profile=profile, gold=gold(), unpaged=manifest.unpaged
        )

    return read
