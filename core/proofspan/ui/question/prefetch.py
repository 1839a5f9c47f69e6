"""What is probably shown next on the Question page, made ready while nobody waits for anything.

That is the page behind the shown one, and the page of the question behind. Nothing here is told: what could
not be made ready is made, and explained, when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from proofspan.contracts.records.records import Chunk, GoldQuestion, SourceLine, TraceKey
from proofspan.diagnosis.types import profile_from
from proofspan.fingerprints import file_state
from proofspan.manifest.types import Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.page.target import Target, choose, targets_of
from proofspan.services.page.view import PageView, locate_view
from proofspan.services.question.view import load_question
from proofspan.store.query.store import Store
from proofspan.traces.records.traces import read_trace_at
from proofspan.ui.question import load
from proofspan.ui.status import background, documents
from proofspan.ui.visit import session


@dataclass(frozen=True, slots=True)
class _Next:
    """What the page of a question is made from, in any thread."""

    key: TraceKey
    source: SourceLine
    traces: Path
    manifest: Manifest
    placer: Placer
    chunks: Mapping[str, Chunk]
    gold: Mapping[str, GoldQuestion]

    def draw(self) -> None:
        """Have the placer remember the page that the question opens with."""
        trace = read_trace_at(self.traces, self.source, run_id=self.key.run_id, q_id=self.key.q_id)
        view = load_question(
            trace,
            chunks=self.chunks,
            gold=self.gold,
            corpus=None,
            profile=profile_from(self.manifest.triage),
            unpaged=self.manifest.unpaged,
        )
        targets = targets_of(view)
        if (chosen := choose(targets)) is not None:
            locate_view(chosen, targets, manifest=self.manifest, placer=self.placer)


def make_ready(
    opened: session.Opened,
    store: Store,
    *,
    shown: PageView | None,
    targets: Sequence[Target],
    following: TraceKey | None,
) -> None:
    """Work ahead of somebody who reads this question, page by page or on to the next one.

    Not while the shown page itself is awaited: its document may hang, and would be asked once more.
    """
    if shown is not None and shown.is_pending:
        return
    if following is not None and opened.run.has_traces:
        _ready_question(opened, store, following)
    if shown is not None and shown.image is not None:
        page_idx = shown.image.page.page_idx + 1
        if page_idx < (shown.page_count or 0):
            _ready_page(opened, shown.target, targets, page_idx)


def _ready_page(opened: session.Opened, chosen: Target, targets: Sequence[Target], page_idx: int) -> None:
    key = load.page_key(opened, chosen, targets, page=page_idx)
    make = partial(
        locate_view,
        chosen,
        targets,
        manifest=opened.manifest,
        placer=documents.placer(),
        page=page_idx,
    )
    background.tasks().prefetch(key, make)


def _ready_question(opened: session.Opened, store: Store, key: TraceKey) -> None:
    path = load.attempted(lambda: documents.plain_traces(opened), None, [])
    work = ("ahead", *session.identity(opened), path and file_state(path), key)
    if path is None or background.tasks().has(work) or (found := store.find(key)) is None:
        return
    following = _Next(
        key,
        found.source,
        path,
        opened.manifest,
        documents.placer(),
        load.attempted(lambda: session.chunks(opened)[0], {}, []),
        load.attempted(lambda: session.gold(opened)[0], {}, []),
    )
    background.tasks().prefetch(work, following.draw)
