"""What `check` looks at inside the files: documents opened, records read. Command and page share it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from proofspan.contracts.records.records import Attachment, Box, BoxSpace
from proofspan.contracts.records.render_ref import FileRef, lies_on, parse_render_ref
from proofspan.errors import EvidenceFault, Fault, InputFault, Problem
from proofspan.evidence.geometry import to_points
from proofspan.evidence.pdf.files import picture_problem
from proofspan.evidence.text_file import read_text
from proofspan.evidence.types import DocumentInfo, PageInfo
from proofspan.manifest.check import ATTACHMENTS_WRONG, Examine, OnBytes
from proofspan.manifest.paths import artifact_path, resolve_reference
from proofspan.manifest.types import Artifact, Document, Manifest
from proofspan.services.workspace.readable import lines_problems, reading, unpacked, unusable
from proofspan.traces.records.catalogue import read_catalogue


def everything(manifest: Manifest, opener: Opener) -> Examine:
    """One look that is all of them, one after the other."""
    looks: tuple[Examine, ...] = (opening(opener), reading, cataloguing(manifest, opener))

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
        return [problem for look in looks for problem in look(artifact, file, on_bytes)]

    return examine


def cataloguing(manifest: Manifest, opener: Opener) -> Examine:
    """Reads the catalogue: lines that are no attachment, and attachments that cannot be drawn."""

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
        if artifact.key != "catalogue":
            return []
        try:
            with unpacked(file) as plain:
                attachments, issues = read_catalogue(plain, file=artifact.path)
        except InputFault as fault:
            return unusable(artifact, fault)
        flawed = attachment_problems(
            attachments, manifest=manifest, opener=opener, key=artifact.key, where=str(file)
        )
        return [*lines_problems(artifact, file, len(attachments) + len(issues), issues), *flawed]

    return examine


# Does a document open at all? Its first bytes do not tell that a PDF is locked, torn or without pages.

#: Texts that are good files, in which nothing is placed.
_NOT_PLACED = ("too_large",)


class Opener(Protocol):
    """What opens documents; `proofspan.evidence.pdf.pool.PdfPool` does."""

    def document(self, path: Path) -> DocumentInfo: ...

    def page(self, path: Path, page_idx: int) -> PageInfo: ...


def opening(opener: Opener) -> Examine:
    """What `check_workspace` looks into documents with: each is opened, nothing is drawn."""

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
        try:
            if artifact.kind == "pdf":
                opener.document(file)
            elif artifact.kind == "text":
                read_text(file)
        except EvidenceFault as fault:
            return [_placed(problem, artifact) for problem in fault.problems]
        return []

    return examine


def _placed(problem: Problem, artifact: Artifact) -> Problem:
    """The problem with its artifact; what is only beyond our own bounds is a warning."""
    severity = "warning" if artifact.kind == "text" and problem.code in _NOT_PLACED else "error"
    return replace(problem, message=f"`{artifact.key}`: {problem.message}", severity=severity)


# Can every attachment of the catalogue be drawn? Its document is listed, its page there, its region on it.
#
# What cannot be drawn is a finding now, so that no bundle meets it later.

T = TypeVar("T")

_SINGULAR = {"are": "is", "have": "has", "do": "does"}


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with one attachment: the kind of flaw in words, the very case, and what mends it."""

    kind: str
    said: str
    fix: str


def attachment_problems(
    attachments: Mapping[str, Attachment], *, manifest: Manifest, opener: Opener, key: str, where: str
) -> list[Problem]:
    """One finding for each kind of flaw: how many attachments have it, and the first of them.

    Documents that cannot be opened are findings of their own; nothing more is asked of those here.
    """
    places = Places(manifest, opener)
    found: dict[str, list[tuple[str, Flaw]]] = {}
    for attachment in attachments.values():
        for flaw in _flaws(attachment, places):
            found.setdefault(flaw.kind, []).append((attachment.attachment_id, flaw))
    return [_problem(flawed, len(attachments), key, where) for flawed in found.values()]


def _problem(flawed: list[tuple[str, Flaw]], count: int, key: str, where: str) -> Problem:
    first_id, first = flawed[0]
    told = f"{len(flawed):,} attachments of {count:,} {first.kind}"
    if len(flawed) == 1:
        told = f"1 attachment of {count:,} {_singular(first.kind)}"
    message = f"`{key}`: {told}, first: {first_id[:80]}: {first.said}"
    return Problem(ATTACHMENTS_WRONG, message, where, first.fix, severity="warning")


def _singular(kind: str) -> str:
    """A kind of flaw as it is said of one attachment: its first word is the verb."""
    verb, _, rest = kind.partition(" ")
    return f"{_SINGULAR.get(verb, verb + 's')} {rest}"


@dataclass(slots=True)
class Places:
    """The pages of a workspace's documents, each asked for once. None where a document cannot be opened."""

    manifest: Manifest
    opener: Opener
    _counts: dict[str, int | None] = field(default_factory=dict)
    _pages: dict[tuple[str, int], PageInfo | None] = field(default_factory=dict)

    def page_count(self, document: Document) -> int | None:
        """How many pages a document has; one without pages counts as one."""
        if not document.paged:
            return 1
        if document.doc_id not in self._counts:
            self._counts[document.doc_id] = self._asked(
                document, lambda path: self.opener.document(path).page_count
            )
        return self._counts[document.doc_id]

    def page(self, document: Document, page_idx: int) -> PageInfo | None:
        """A page's size and rotation."""
        place = (document.doc_id, page_idx)
        if place not in self._pages:
            self._pages[place] = self._asked(document, lambda path: self.opener.page(path, page_idx))
        return self._pages[place]

    def _asked(self, document: Document, ask: Callable[[Path], T]) -> T | None:
        try:
            return ask(artifact_path(self.manifest, document.artifact))
        except Fault:
            return None


def _unrotated(page: PageInfo) -> tuple[float, float]:
    upright = page.rotation % 180 == 0
    return (page.width, page.height) if upright else (page.height, page.width)


def _flaws(attachment: Attachment, places: Places) -> Iterator[Flaw]:
    """What is wrong with an attachment's own place, and with what is to be drawn for it."""
    own = list(_place_flaws(attachment, places))
    yield from own
    if attachment.render_ref is None:
        return
    ref = parse_render_ref(attachment.render_ref)
    if ref is None:
        yield Flaw(
            "have a `render_ref` that cannot be read",
            f"{attachment.render_ref[:200]!r}",
            "write `file:PATH` below the attachments folder, or `pdf:DOC_ID#page_idx=N&bbox=x0,y0,x1,y1`",
        )
    elif isinstance(ref, FileRef):
        yield from _file_flaws(ref, places.manifest)
    elif not own:
        yield from _region_flaws(ref.doc_id, ref.page_idx, ref.box, places, drawn=True)


def _place_flaws(attachment: Attachment, places: Places) -> Iterator[Flaw]:
    if attachment.doc_id is None or attachment.page_idx is None:
        if attachment.doc_id is not None and places.manifest.document(attachment.doc_id) is None:
            yield _not_listed(attachment.doc_id)
        return
    box = attachment.box
    document = places.manifest.document(attachment.doc_id)
    if box is not None and attachment.box_space != "points" and document is not None and document.paged:
        page = _page_if_there(document, attachment.page_idx, places)
        box = _in_points(box, attachment.box_space, page) if page else None
    yield from _region_flaws(attachment.doc_id, attachment.page_idx, box, places, drawn=False)


def _region_flaws(
    doc_id: str, page_idx: int, box: Box | None, places: Places, *, drawn: bool
) -> Iterator[Flaw]:
    """What is wrong with a region of a page (the whole page where there is no box)."""
    document = places.manifest.document(doc_id)
    if document is None:
        yield _not_listed(doc_id)
        return
    if drawn and not document.paged:
        fix = "leave `render_ref` out: the attachment's text is shown"
        yield Flaw("are to be drawn from a document without pages", doc_id[:200], fix)
        return
    count = places.page_count(document)
    if count is not None and page_idx >= count:
        said = f"page_idx {page_idx:,} of {doc_id[:200]}, which has {count:,} page{'s' * (count != 1)}"
        yield Flaw("lie beyond the end of their document", said, "count pages from 0 in page_idx")
        return
    page = _page_if_there(document, page_idx, places)
    if page is None and document.paged and count is not None:
        said = f"page_idx {page_idx:,} of {doc_id[:200]}"
        yield Flaw("stand on a page that cannot be read", said, "repair the PDF: write it anew")
        return
    if box is None or page is None:
        return
    size = _unrotated(page)
    if not lies_on(box, width=size[0], height=size[1]):
        sides = ", ".join(f"{side:g}" for side in box)
        said = f"bbox {sides} on page_idx {page_idx:,}, which is {size[0]:g} × {size[1]:g} points"
        fix = "give x0, y0, x1, y1 in points of the unrotated page, from its top left, x0 < x1 and y0 < y1"
        yield Flaw("do not lie on their page", said, fix)


def _page_if_there(document: Document, page_idx: int, places: Places) -> PageInfo | None:
    count = places.page_count(document) if document.paged else None
    return places.page(document, page_idx) if count is not None and page_idx < count else None


def _in_points(box: Box, space: BoxSpace, page: PageInfo) -> Box:
    width, height = _unrotated(page)
    return to_points(box, space, width=width, height=height, rotation=page.rotation)


def _not_listed(doc_id: str) -> Flaw:
    fix = "list it under `documents`, or correct the doc_id"
    return Flaw("stand in a document that the manifest does not list", doc_id[:200], fix)


def _file_flaws(ref: FileRef, manifest: Manifest) -> Iterable[Flaw]:
    if manifest.attachments_root is None:
        fix = "name the folder of the pictures: attachments_root: corpus/media"
        return [Flaw("name a file, and the manifest no `attachments_root`", ref.path, fix)]
    try:
        folder = resolve_reference(manifest.folder, manifest.attachments_root, folder=True)
    except Fault:
        return []  # a finding of its own
    try:
        problem = picture_problem(resolve_reference(folder, ref.path))
    except Fault as fault:
        problem = fault.problems[0]
        return [Flaw("name a file that is not there", f"{ref.path}: {problem.message}", problem.fix)]
    if problem is not None:
        return [Flaw("name a file that cannot be drawn", f"{ref.path}: {problem.message}", problem.fix)]
    return []
