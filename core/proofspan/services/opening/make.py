"""Make the workspace of what was named, or return the one that was made of the same before."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.fingerprints import file_state, sha256_of
from proofspan.manifest.load import MANIFEST_NAME
from proofspan.services.imported_pages import measured_base
from proofspan.services.opening import summary as summaries
from proofspan.services.opening.chunk_files import chunks_of
from proofspan.services.opening.documents import Confirm, Found, Pdf, find
from proofspan.services.opening.open import Opened, open_sources
from proofspan.services.opening.place import KEY_CHARS, place_of
from proofspan.services.opening.summary import Summary, summary_of
from proofspan.services.opening.things import Things
from proofspan.services.opening.unnamed import MOST_PDFS, TextSearch, of_document
from proofspan.store.files.cache_dir import writing_to
from proofspan.traces.formats.types import PageBase
from proofspan.wording import counted

#: Raised when the same sources would make another workspace than before.
OPENING_VERSION = 2
#: Of more PDFs than this, sizes and times are compared in place of contents.
MOST_HASHED = 100
#: Most pages count from this where nothing shows it: people count so, and printed numbers begin with it.
USUAL_BASE: PageBase = 1
#: PDF processes, and seconds for one passage: for a passage that is nowhere, all pages are read.
WORKERS, TIMEOUT_S = 2, 60.0

#: Takes what is being done in words, and how much of how much is done; None where that is not known.
OnProgress = Callable[[str, int, int | None], None]
#: Asks whether pages count from 0 or 1; None where there is no answer.
AskBase = Callable[[], PageBase | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Decisions of the person who opens: questions are asked only where they arise.

    `page_base` is the number of a document's first page where a source does not say it; None: measured.
    """

    page_base: PageBase | None = None
    confirm: Confirm = lambda _folder, _target, _count: False
    ask_base: AskBase = lambda: None
    on_progress: OnProgress = lambda _doing, _done, _total: None


@dataclass(frozen=True, slots=True)
class Made:
    """A workspace, the summary of what was opened, and whether it was there already."""

    workspace: Path
    summary: Summary
    was_there: bool = False


def made(
    things: Things, *, to: Path | None, cache_dir: Path, choices: Choices | None = None, force: bool = False
) -> Made:
    """Return the workspace of sources, in `to` or in the cache under a name made of their contents.

    The same sources, named PDFs and page base give the workspace that was made before, with what people
    wrote in it. It is made again with `force`, or if documents are missing and other PDFs lie beside the
    sources now. Raises a Fault if nothing can be read or the workspace cannot be written.
    """
    choices = choices or Choices()
    key, beside = key_of(things, choices.page_base), beside_of(things)
    folder = to if to is not None else place_of(key, cache_dir)
    known = summaries.read(folder)
    is_same = known is not None and known.key == key and (folder / MANIFEST_NAME).is_file()
    if known is not None and is_same and not force and (known.is_complete or known.beside == beside):
        return Made(folder, known, was_there=True)
    with writing_to(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
    making = _Making(things, folder, choices, force=force or to is None or is_same)
    opened, notes = making.with_pages()
    notes = [*(making.search.notes() if making.search else []), *notes]
    summary = summary_of((key, beside), opened, making.found, unknown=things.unknown, notes=notes)
    with writing_to(folder):
        summaries.write(summary, folder)
    return Made(folder, summary)


def key_of(things: Things, page_base: PageBase | None) -> str:
    """Return the name of a workspace: it changes with the sources' contents, named PDFs and the page base."""
    digest = hashlib.sha256(repr((OPENING_VERSION, page_base)).encode())
    for source in things.sources:
        digest.update(repr((source.path.name, source.found.format.name)).encode())
        files = [source.path] if source.path.is_file() else sorted(source.path.rglob("*"))
        for each in files:
            if each.is_file():
                of_file = sha256_of(each) if each == source.path else file_state(each)
                digest.update(repr((each.name, of_file)).encode())
    digest.update(repr([(each.name, sha256_of(each)) for each in things.chunk_files]).encode())
    named = [each for each in things.pdfs if each.is_named]
    if len(named) <= MOST_HASHED:
        digest.update(repr(sorted((each.path.name, sha256_of(each.file)) for each in named)).encode())
    else:
        digest.update(_state_of(named))
    return digest.hexdigest()[:KEY_CHARS]


def beside_of(things: Things) -> str:
    """Return a text that changes with the PDFs that merely lie beside the sources."""
    return hashlib.sha256(_state_of(each for each in things.pdfs if not each.is_named)).hexdigest()[
        :KEY_CHARS
    ]


def _state_of(pdfs: Iterable[Pdf]) -> bytes:
    return repr([(os.fsencode(each.path.absolute()), file_state(each.file)) for each in pdfs]).encode()


@dataclass(slots=True)
class _Making:
    """One workspace in the making: read once, and again if its pages count from another base."""

    things: Things
    folder: Path
    choices: Choices
    force: bool
    found: Found = field(default_factory=Found)
    search: TextSearch | None = None

    def with_pages(self) -> tuple[Opened, list[str]]:
        """Return the workspace with its pages where the documents show them, and notes on them."""
        base = self.choices.page_base
        guess = USUAL_BASE if base is None else base
        opened = self._read(guess)
        if not opened.guessed_base or base is not None:
            return opened, []
        right, note = (0, "page 0 occurs") if opened.has_page_zero else self._measured(guess)
        if right is None:
            right = self.choices.ask_base()
            note = "no passage shows it; --page-base 0 or 1 decides" if right is None else "as answered"
        known: PageBase = guess if right is None else right
        if known != guess:
            self.force = True
            opened = self._read(known)
        return opened, [f"The source does not say how it counts pages: taken as from {known} ({note})."]

    def _measured(self, guess: PageBase) -> tuple[PageBase | None, str]:
        if not self.found.files:
            return None, ""
        with PdfPool(workers=WORKERS, timeout_s=TIMEOUT_S) as pool:
            base, there, shown = measured_base(self.folder, guess, pool=pool, workers=WORKERS)
        return base, f"{there:,} of {counted(shown, 'passage')} that show it are there"

    def _read(self, base: Literal[0, 1]) -> Opened:
        with PdfPool(workers=1, timeout_s=TIMEOUT_S) as pool:
            return self._opened(base, pool)

    def _opened(self, base: Literal[0, 1], pool: PdfPool) -> Opened:
        held = self.things.may_hold
        only = held[0].path.stem if len(held) == 1 and held[0].is_named else None
        if only is None and 0 < len(held) <= MOST_PDFS:
            self.search = TextSearch(held, pool, self._on_passages, self.search.known if self.search else {})
        return open_sources(
            self.things.sources,
            workspace=self.folder,
            find=self._find,
            unknown_base=base,
            named=partial(of_document, only) if only else self.search.named if self.search else None,
            chunks=chunks_of(self.things.chunk_files),
            force=self.force,
            on_read=self._on_read,
        )

    def _on_read(self, source: Path, done: int, total: int) -> None:
        """Report the share of all sources that is read: a folder's size is known once it is read."""
        paths = [each.path for each in self.things.sources]
        sizes = [each.stat().st_size if each.is_file() else 0 for each in paths]
        place = paths.index(source)
        sizes[place] = total
        doing = f"reading {source.name} ({sum(sizes) / 1e6:,.1f} MB in all)"
        self.choices.on_progress(doing, sum(sizes[:place]) + done, sum(sizes))

    def _on_passages(self, done: int) -> None:
        doing = f"looking for passages in {counted(len(self.things.may_hold), 'PDF')}"
        self.choices.on_progress(f"{doing}: {counted(done, 'passage')}", done, None)

    def _find(self, names: Collection[str]) -> Mapping[str, Path]:
        self.found = find(names, self.things.pdfs, confirm=self.choices.confirm)
        return self.found.files
