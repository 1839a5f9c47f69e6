"""Open what people have: recognize a file's format and make a workspace of it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from proofspan.contracts.records.records import Chunk
from proofspan.errors import InputFault
from proofspan.services.opening.chunk_files import with_texts
from proofspan.traces.formats.native import Native
from proofspan.traces.formats.records import read_records, sample_of
from proofspan.traces.formats.types import Asked, PageBase, Reading
from proofspan.traces.importers.workspace import Converted, Importer, ImportReport, import_source
from proofspan.traces.registry import Recognized, recognized

#: Takes the names of documents and returns the files of those that are there.
FindDocuments = Callable[[Collection[str]], Mapping[str, Path]]
#: Takes questions and returns them with the documents of their passages.
NameDocuments = Callable[[Iterable[Asked]], Iterator[Asked]]
#: Takes a source, how many of its bytes are read, and how many it has.
OnRead = Callable[[Path, int, int], None]


class Source(NamedTuple):
    """A file or folder to open, and its format."""

    path: Path
    found: Recognized


@dataclass(frozen=True, slots=True)
class Opened:
    """A workspace that was made of sources: their formats, what was read of each, and the import.

    `guessed_base`: the page base was taken as given, since the sources do not say it; `has_page_zero`: they
    do, by a page 0.
    """

    workspace: Path
    sources: tuple[Source, ...]
    readings: tuple[Reading, ...]
    report: ImportReport
    guessed_base: bool = False
    has_page_zero: bool = False

    @property
    def found(self) -> Recognized:
        """Return the format of the first source."""
        return self.sources[0].found

    @property
    def reading(self) -> Reading:
        """Return what was read of the first source."""
        return self.readings[0]


def recognize(source: Path) -> Recognized:
    """Return the format of a source. Raises InputFault for a broken one, or one that no format recognizes."""
    sample = sample_of(source)
    found = recognized(sample)
    if found is None:
        if not sample.records and sample.shape in ("object", "array", "lines", "table", "http"):
            reading = Reading(source.name)
            next(read_records(source, reading), None)
            if reading.problems:
                raise InputFault(*reading.problems)
        raise InputFault.of(
            "unknown_format",
            "its format is not recognized",
            where=str(source),
            fix="export it in one of the formats that the page Open your data lists, or describe it by a "
            "mapping, which this command begins: proofspan import suggest FILE",
        )
    return found


def open_source(
    source: Path,
    *,
    workspace: Path,
    documents: Mapping[str, Path] | None = None,
    unknown_base: PageBase = 0,
    force: bool = False,
) -> Opened:
    """Make a workspace of one source whose documents are known by the names that it uses; see below."""
    return open_sources(
        [Source(source, recognize(source))],
        workspace=workspace,
        find=lambda _names: documents or {},
        unknown_base=unknown_base,
        force=force,
    )


def open_sources(
    sources: Sequence[Source],
    *,
    workspace: Path,
    find: FindDocuments,
    unknown_base: PageBase = 0,
    named: NameDocuments | None = None,
    chunks: Mapping[str, Chunk] | None = None,
    force: bool = False,
    on_read: OnRead = lambda _source, _done, _total: None,
) -> Opened:
    """Make a workspace of sources whose formats are recognized.

    A file that is a single object, such as a response, adds to one run with the others of its kind; each of
    several files of records is a run of its own. `find` is asked once for the documents that they name.
    Passages without a text have that of the chunk with their id. `named` gives documents to those of
    questions that name none. Raises a Fault, and leaves no folder behind, if nothing can be read or
    `workspace` must not be replaced.
    """
    readings = tuple(Reading(each.path.name, on_bytes=partial(on_read, each.path)) for each in sources)
    with tempfile.TemporaryDirectory() as folder:
        native = Native(Path(folder), unknown_base=unknown_base)
        first, reading = sources[0].path, Reading(sources[0].path.name)
        questions = _questions(sources, readings)
        if chunks:
            questions = with_texts(questions, chunks)
        if named is not None:
            questions = named(questions)
        native.write(questions, reading)
        problems = (*(each for one in readings for each in one.problems), *reading.problems)
        if not native.questions:
            raise InputFault(*(problems or _nothing_asked(first).problems))
        files = find(tuple(native.documents))
        paths = {native.documents[name]: path for name, path in files.items()}

        def convert(_source: Path, _files: Mapping[str, Path]) -> Converted:
            return replace(native.converted(first.stem), found=paths, pattern=None, problems=problems)

        others = {f"source {number}": each.path for number, each in enumerate(sources[1:], start=2)}
        form = sources[0].found.format
        importer = Importer(name=form.name, description=form.title, convert=convert)
        report = import_source(importer, first, workspace=workspace, files=others, force=force)
    return Opened(workspace, tuple(sources), readings, report, native.guessed, native.has_page_zero)


def _nothing_asked(source: Path) -> InputFault:
    message, fix = "holds no question", "export questions with answers"
    return InputFault.of("nothing_asked", message, where=str(source), fix=fix)


def _questions(sources: Sequence[Source], readings: Sequence[Reading]) -> Iterator[Asked]:
    """Yield the questions of all sources, those of several files of records in runs named after the files."""
    for source, reading in zip(sources, readings, strict=True):
        of_file = "" if len(sources) == 1 or _is_single(source.path) else source.path.stem
        for asked in source.found.format.read(source.path, reading):
            run = ": ".join(filter(None, (of_file, asked.run)))
            yield replace(asked, run=run) if run != asked.run else asked


def _is_single(path: Path) -> bool:
    sample = sample_of(path)
    is_one_line = sample.shape == "lines" and len(sample.records) == 1 and ".json" in path.suffixes
    return sample.shape in ("object", "http") or is_one_line
