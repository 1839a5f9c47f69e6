"""The documents of a workspace as bundles need them: opened, hashed, their pages and attachments drawn, once.

Nothing here raises for a document, a page or a reference: what can't be used is a `Problem`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from core.errors import Fault, Problem
from core.evidence.bundles import BundleProblem
from core.evidence.types import FoundSpan, SpanQuery
from core.manifest.paths import artifact_path
from core.manifest.types import Document, Manifest
from core.services.drawings import draw
from core.services.placer import Placer
from core.services.revisions import file_problem, file_sha256

#: A quote of a document, and what became of it.
Wanted = tuple[str, SpanQuery]
Placed = FoundSpan | Problem
#: Hears how many quotes more have been looked for.
OnPlaced = Callable[[int], None]

#: Quotes of one document that are looked for between two steps of progress.
QUOTES_A_STEP = 64
#: After so many quotes that cost a worker its life or its time, a document is not asked again.
PATIENCE = 3
#: Stands for what only helps on one machine.
CHECK = "proofspan check WORKSPACE says what mends it"
_COSTLY = ("timed_out", "crashed", "too_large")


@dataclass(frozen=True, slots=True)
class Held:
    """A document of the manifest as it lies there; one without pages counts as one page.

    `path`, `page_count` and `sha256` are None where it can't be opened, and `problem` says why. A document
    that can be opened has a `problem` where it is not the file that the manifest describes.
    """

    document: Document
    path: Path | None = None
    page_count: int | None = None
    labels: tuple[str, ...] = ()
    sha256: str | None = None
    problem: Problem | None = None

    def label(self, page_idx: int) -> str | None:
        """What is printed on a page, where the document carries labels of its own."""
        return self.labels[page_idx] if page_idx < len(self.labels) else None


class Shelf:
    """Answers about a workspace's documents, each worked out once. Used by one thread."""

    def __init__(self, manifest: Manifest, placer: Placer) -> None:
        self.manifest = manifest
        self.placer = placer
        self._documents = {document.doc_id: document for document in manifest.documents}
        self._held: dict[str, Held] = {}
        self._pages: dict[tuple[str, int], Problem | None] = {}
        self._drawings: dict[str | None, Problem | None] = {}

    def held(self, doc_id: str) -> Held | None:
        """The document, None where the manifest does not list it."""
        if doc_id not in self._documents:
            return None
        if doc_id not in self._held:
            self._held[doc_id] = self._opened(self._documents[doc_id])
        return self._held[doc_id]

    def page_problem(self, doc_id: str, page_idx: int) -> Problem | None:
        """Why a page can't be shown; None where it can, the one page of a text included."""
        held = self.held(doc_id)
        if held is None or held.path is None or not held.document.paged:
            return held.problem if held is not None and held.path is None else None
        key = (doc_id, page_idx)
        if key not in self._pages:
            try:
                self.placer.page(held.path, page_idx)
                self._pages[key] = None
            except Fault as fault:
                self._pages[key] = fault.problems[0]
        return self._pages[key]

    def drawing_problem(self, render_ref: str | None) -> Problem | None:
        """Why an attachment can't be drawn from its reference alone; None where it can."""
        if render_ref not in self._drawings:
            drawing = draw(render_ref, manifest=self.manifest, placer=self.placer)
            self._drawings[render_ref] = drawing.problem
        return self._drawings[render_ref]

    def place(self, wanted: Iterable[Wanted], *, workers: int, on_placed: OnPlaced) -> dict[Wanted, Placed]:
        """Where quotes stand, each looked for once; documents that can be opened are asked side by side."""
        by_document: defaultdict[str, list[SpanQuery]] = defaultdict(list)
        for doc_id, query in dict.fromkeys(wanted):
            by_document[doc_id].append(query)
        found: dict[Wanted, Placed] = {}
        held = {doc_id: self.held(doc_id) for doc_id in by_document}
        with ThreadPoolExecutor(max_workers=workers) as threads:
            jobs = [
                (doc_id, queries, threads.submit(_placed, each, queries, self.placer, on_placed))
                for doc_id, queries in by_document.items()
                if (each := held[doc_id]) is not None and each.path is not None
            ]
            for doc_id, queries, job in jobs:
                found |= {(doc_id, query): place for query, place in zip(queries, job.result(), strict=True)}
        return found

    def told(self, problem: Problem) -> BundleProblem:
        """A problem as a bundle has it: the same wherever the workspace and the program lie."""
        folder = str(self.manifest.folder)
        said = problem.message.replace(f"{folder}/", "")
        is_local = folder in problem.remedy or sys.executable in problem.remedy
        return BundleProblem(problem.code, said, CHECK if is_local else problem.remedy)

    def _opened(self, document: Document) -> Held:
        try:
            path = artifact_path(self.manifest, document.artifact)
            info = self.placer.document(path) if document.paged else None
            if info is None:
                self.placer.text(path)
            sha256, problem = file_sha256(path), file_problem(document, path)
        except Fault as fault:
            return Held(document, problem=fault.problems[0])
        except OSError as error:
            said = f"the document cannot be read: {error.strerror or error}"
            remedy = "check its permissions and the disk that it lies on"
            return Held(document, problem=Problem("unreadable", said, document.artifact.path, remedy))
        if info is None:
            return Held(document, path, 1, (), sha256, problem)
        return Held(document, path, info.page_count, info.labels, sha256, problem)


def _placed(held: Held, queries: Sequence[SpanQuery], placer: Placer, on_placed: OnPlaced) -> list[Placed]:
    """The places of one document's quotes, in their order."""
    found: list[Placed] = []
    for start in range(0, len(queries), QUOTES_A_STEP):
        step = queries[start : start + QUOTES_A_STEP]
        given_up = _given_up(found)
        if given_up is not None:
            found += [given_up] * len(step)
        else:
            found += _step(held, step, placer)
        on_placed(len(step))
    return found


def _step(held: Held, queries: Sequence[SpanQuery], placer: Placer) -> list[Placed]:
    """All at once; where one of them is answered by a fault, each alone."""
    try:
        return list(_located(held, queries, placer))
    except Fault:
        found: list[Placed] = []
        for query in queries:
            given_up = _given_up(found)
            if given_up is not None:
                found.append(given_up)
                continue
            try:
                found += _located(held, [query], placer)
            except Fault as fault:
                found.append(fault.problems[0])
        return found


def _given_up(found: Sequence[Placed]) -> Problem | None:
    """The problem that a document is given up for, once it has tried our patience."""
    costly = [place for place in found if isinstance(place, Problem) and place.code in _COSTLY]
    return costly[-1] if len(costly) >= PATIENCE else None


def _located(held: Held, queries: Sequence[SpanQuery], placer: Placer) -> Sequence[FoundSpan]:
    if held.path is None:
        return []
    if held.document.paged:
        return placer.locate(held.path, queries)
    return placer.locate_in_text(held.path, queries)
