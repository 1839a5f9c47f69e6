"""The documents of a workspace as bundles need them: opened, hashed and rendered, each once.

Nothing here raises for a document, a page or a reference: what cannot be used is a `Problem`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from proofspan.errors import Fault, Problem
from proofspan.evidence.locate_bulk import Ask, Locator, locate_bulk
from proofspan.evidence.pdf.pool import PdfPool
from proofspan.evidence.types import DocumentInfo, FoundSpan, SpanQuery
from proofspan.manifest.paths import OUTSIDE, artifact_path
from proofspan.manifest.types import Document, Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.drawings import draw
from proofspan.services.documents.revisions import file_problem, file_sha256

#: A quote of a document (by its doc_id), and the result of locating it.
Wanted = tuple[str, SpanQuery]
Placed = FoundSpan | Problem
#: Called with the number of quotes located, and of all.
OnPlaced = Callable[[int, int], None]

#: Cached results; beyond that all are dropped.
MAX_CACHED = 50_000
#: Replaces a fix that names a path of this machine.
CHECK = "run `proofspan check WORKSPACE`, which lists the fixes"
#: A path from the root of this machine's disk, as a word of a sentence or of a command.
_LOCAL = re.compile(r"(?<![^\s'\"`(])/\w")


@dataclass(frozen=True, slots=True)
class Held:
    """A document of the manifest and its file; one without pages counts as one page.

    `path`, `page_count` and `sha256` are None where it cannot be opened; `problem` is the reason. A document
    that can be opened has a `problem` where it is not the file that the manifest describes.
    """

    document: Document
    path: Path | None = None
    page_count: int | None = None
    labels: tuple[str, ...] = ()
    sha256: str | None = None
    problem: Problem | None = None

    def label(self, page_idx: int) -> str | None:
        """Return the label printed on a page, None without one."""
        return self.labels[page_idx] if page_idx < len(self.labels) else None


class Shelf:
    """A workspace's documents with a cache of what was found out about them. Used by one thread."""

    def __init__(self, manifest: Manifest, pool: PdfPool, *, placer: Placer | None = None) -> None:
        """`placer` is one over the same pool whose cache is shared."""
        self.manifest = manifest
        self.placer = placer or Placer(pool)
        self._locator: Locator = pool if placer is None else placer
        self._documents = {document.doc_id: document for document in manifest.documents}
        self._found: dict[Wanted, Placed] = {}
        self._held: dict[str, Held] = {}
        self._pages: dict[tuple[str, int], Problem | None] = {}
        self._drawings: dict[str | None, Problem | None] = {}

    def held(self, doc_id: str) -> Held | None:
        """Return the document, None where the manifest does not list it."""
        document = self._documents.get(doc_id)
        if document is None or doc_id in self._held:
            return self._held.get(doc_id)
        try:
            path = artifact_path(self.manifest, document.artifact)
            info = self.placer.document(path) if document.paged else None
            if info is None:
                self.placer.text(path)
                info = DocumentInfo(1)
            sha256, problem = file_sha256(path), file_problem(document, path)
            held = Held(document, path, info.page_count, info.labels, sha256, problem)
        except Fault as fault:
            held = Held(document, problem=fault.problems[0])
        except OSError as error:
            message = f"the document cannot be read: {error.strerror or error}"
            fix = "check its permissions and its disk"
            held = Held(document, problem=Problem("unreadable", message, document.artifact.path, fix))
        self._held[doc_id] = held
        return held

    def page_problem(self, doc_id: str, page_idx: int) -> Problem | None:
        """Return why a page cannot be shown; None where it can, the one page of a text included."""
        held = self.held(doc_id)
        if held is None or (held.path is not None and not held.document.paged):
            return None
        if held.path is None:
            return held.problem
        key = (doc_id, page_idx)
        if key not in self._pages:
            try:
                self.placer.page(held.path, page_idx)
                self._pages[key] = None
            except Fault as fault:
                self._pages[key] = fault.problems[0]
        return self._pages[key]

    def drawing_problem(self, render_ref: str | None) -> Problem | None:
        """Return why an attachment cannot be rendered from its reference; None where it can."""
        if render_ref not in self._drawings:
            drawing = draw(render_ref, manifest=self.manifest, placer=self.placer)
            self._drawings[render_ref] = drawing.problem
        return self._drawings[render_ref]

    def place(self, wanted: Iterable[Wanted], *, workers: int, on_placed: OnPlaced) -> dict[Wanted, Placed]:
        """Locate these quotes, each only once, also over several calls.

        Those of documents that cannot be opened are left out.
        """
        requested = dict.fromkeys(wanted)
        if len(self._found) > MAX_CACHED:
            self._found = {}
        asks: dict[Wanted, Ask] = {}
        for doc_id, query in requested:
            held = self.held(doc_id) if (doc_id, query) not in self._found else None
            if held is not None and held.path is not None:
                asks[doc_id, query] = Ask(held.path, query, not held.document.paged)
        answers = locate_bulk(list(asks.values()), self._locator, workers=workers, on_done=on_placed)
        self._found |= zip(asks, answers, strict=True)
        return {each: self._found[each] for each in requested if each in self._found}

    def portable(self, problem: Problem) -> Problem:
        """Return a problem as a bundle has it: independent of where the workspace is on this machine."""
        message, folder = problem.message, self.manifest.folder
        for each in dict.fromkeys((folder.resolve(), folder)):
            message = message.replace(f"{each}/", "")
        if problem.code == "path_outside":
            message = message.partition(OUTSIDE)[0] + OUTSIDE
        return Problem(problem.code, message, fix=CHECK if _LOCAL.search(problem.fix) else problem.fix)
