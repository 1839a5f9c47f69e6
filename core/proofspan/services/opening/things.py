"""Sort what people name to open: a workspace, sources of answers, PDFs, and folders of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from proofspan.errors import Fault, InputFault
from proofspan.evidence.pdf.files import MAGIC, MAGIC_WITHIN
from proofspan.manifest.load import MANIFEST_NAME, MANIFEST_SUFFIXES
from proofspan.services.opening.chunk_files import is_chunk_file
from proofspan.services.opening.documents import BESIDE_DEPTH, Pdf, named_pdf, pdfs_in
from proofspan.services.opening.open import Source, recognize
from proofspan.traces.formats.records import sample_of
from proofspan.traces.registry import recognized

#: Folders below a folder of documents that are looked through, and files of a folder that are tried.
DOCUMENT_DEPTH, MOST_TRIED = 8, 2_000
#: Files beside a source that may hold its chunks, and how many of them are looked at.
_CHUNKS, MOST_CHUNK_FILES = re.compile(r"chunk|corpus|passage", re.IGNORECASE), 20


@dataclass(frozen=True, slots=True)
class Things:
    """The sources with their formats, PDFs that may be taken, chunk files, and files of no known format."""

    sources: tuple[Source, ...]
    pdfs: tuple[Pdf, ...]
    unknown: tuple[Path, ...] = ()
    chunk_files: tuple[Path, ...] = ()

    @property
    def may_hold(self) -> tuple[Pdf, ...]:
        """Return the PDFs that passages without a document may be of: those named, else those beside."""
        named = {each.file: each for each in self.pdfs if each.is_named}
        return tuple((named or {each.file: each for each in self.pdfs}).values())


def is_workspace(thing: Path) -> bool:
    """Return whether a path is a workspace: a folder with a manifest, or a manifest."""
    return (thing / MANIFEST_NAME).is_file() if thing.is_dir() else thing.suffix in MANIFEST_SUFFIXES


def things_of(things: Sequence[Path], documents: Sequence[Path] = ()) -> Things:
    """Return the sources and PDFs among what was named. Raises InputFault if there is no source.

    A folder is a source if a format recognizes it; else those of its files are that a format recognizes, and
    the others are `unknown`. `documents` are folders of PDFs, or PDFs.
    """
    sources: list[Source] = []
    pdfs: list[Pdf] = []
    unknown: list[Path] = []
    chunk_files: list[Path] = []
    for thing in things:
        _check(thing)
        if thing.is_dir():
            pdfs += pdfs_in(thing, depth=BESIDE_DEPTH, is_named=True)
            if (found := recognized(sample_of(thing))) is not None:
                sources.append(Source(thing, found))
            else:
                before = len(sources)
                _add_files(_files(thing), sources, unknown, chunk_files)
                if len(sources) == before:  # results are often in a folder for each run
                    _add_files(_files_below(thing), sources, unknown, chunk_files)
        elif _is_pdf(thing):
            pdfs.append(named_pdf(thing))
        elif (found := recognized(sample := sample_of(thing))) is None and is_chunk_file(sample):
            chunk_files.append(thing)
        else:
            sources.append(Source(thing, found or recognize(thing)))
    pdfs += pdfs_of(documents)
    sources = _without_parts(sources)
    if not sources:
        raise InputFault.of(
            "no_source",
            f"no file with answers is among these, and no {MANIFEST_NAME}",
            where=", ".join(map(str, things[:5])),
            fix="name the trace file, export or response too: proofspan open FILE [PDF …]",
        )
    folders = dict.fromkeys(each.path.absolute().parent for each in sources)
    pdfs += [pdf for each in folders for pdf in pdfs_in(each, depth=BESIDE_DEPTH, is_named=False)]
    chunk_files += [each for folder in folders for each in _chunk_files_in(folder, {*chunk_files, *things})]
    return Things(tuple(sources), tuple(pdfs), tuple(unknown), tuple(chunk_files))


def pdfs_of(documents: Sequence[Path]) -> list[Pdf]:
    """Return the PDFs of folders, and PDFs, that were named. Raises a Fault for anything else."""
    found: list[Pdf] = []
    for place in documents:
        _check(place)
        is_folder = place.is_dir()
        found += pdfs_in(place, depth=DOCUMENT_DEPTH, is_named=True) if is_folder else [named_pdf(place)]
    return found


def _without_parts(sources: Sequence[Source]) -> list[Source]:
    """Return the sources without those that another one reads too, such as the judgments beside a run.

    A format that reads whole folders reads such files of another kind with each file of a folder.
    """
    kept: list[Source] = []
    for source in sources:
        form, folder = source.found.format, source.path.parent
        others = (each for each in kept if each.path.parent == folder and each.found.format is form)
        if source.path.is_file() and any(each.found.why != source.found.why for each in others):
            of_folder = recognized(sample_of(folder))
            if of_folder is not None and of_folder.format is form:
                continue
        kept.append(source)
    return kept


def _add_files(
    files: Iterable[Path], sources: list[Source], unknown: list[Path], chunk_files: list[Path]
) -> None:
    for path in files:
        try:
            if _is_pdf(path):
                continue
            found = recognized(sample := sample_of(path))
        except Fault:
            unknown.append(path)
            continue
        if found is not None:
            sources.append(Source(path, found))
        else:
            (chunk_files if is_chunk_file(sample) else unknown).append(path)


def _chunk_files_in(folder: Path, known: Collection[Path]) -> Iterator[Path]:
    """Yield the chunk files beside a source that are named as such."""
    taken = {each.absolute() for each in known}
    named = (each for each in _files(folder) if _CHUNKS.search(each.name) and each.absolute() not in taken)
    for path in islice(named, MOST_CHUNK_FILES):
        with suppress(Fault):
            if is_chunk_file(sample_of(path)):
                yield path


def _files(folder: Path) -> Iterable[Path]:
    """Return the first files of a folder, in order; hidden ones and links out of it are left out."""
    home = folder.resolve()
    files = [each for each in folder.iterdir() if not each.name.startswith(".") and each.is_file()]
    return [each for each in sorted(files)[:MOST_TRIED] if each.resolve().is_relative_to(home)]


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the first files of the folders below, as deep as PDFs are looked for."""
    folders = [each for depth in range(1, BESIDE_DEPTH + 1) for each in sorted(folder.glob("*/" * depth))]
    home = folder.resolve()
    inside = (each for each in folders if each.resolve().is_relative_to(home) and each.name[:1] != ".")
    return islice((file for each in inside for file in _files(each)), MOST_TRIED)


def _check(thing: Path) -> None:
    """Raise InputFault for what is neither a file nor a folder: reading a pipe would wait for ever."""
    if not thing.exists():
        raise InputFault.of("missing", "does not exist", where=str(thing), fix="correct its path")
    if not (thing.is_file() or thing.is_dir()):
        raise InputFault.of(
            "not_a_file", "is neither a file nor a folder", where=str(thing), fix="write it to a file first"
        )


def _is_pdf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(MAGIC_WITHIN)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputFault.of("unreadable", message, where=str(path), fix="make it readable") from error
    return MAGIC in head and head.lstrip()[:1] not in (b"{", b"[")  # an answer may speak of `%PDF-`
