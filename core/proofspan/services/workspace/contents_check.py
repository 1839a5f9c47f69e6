"""The checks inside a workspace's files: documents open, records can be read, attachments can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from proofspan.contracts.records.records import Attachment, Box
from proofspan.contracts.records.render_ref import FileRef, lies_on, parse_render_ref
from proofspan.errors import EvidenceFault, Fault, InputFault, Problem
from proofspan.evidence.geometry import to_points
from proofspan.evidence.pdf.files import picture_problem
from proofspan.evidence.text_file import read_text
from proofspan.evidence.types import DocumentInfo, PageInfo
from proofspan.manifest.check import ATTACHMENTS_WRONG, Examine, OnBytes
from proofspan.manifest.paths import artifact_path, resolve_reference
from proofspan.manifest.types import Artifact, Document, Manifest
from proofspan.services.pinning.findings import pin_problems
from proofspan.services.workspace.readable import lines_problems, reading, unpacked, unusable, wrongly_decoded
from proofspan.traces.records.catalogue import read_catalogue
from proofspan.wording import counted

#: Problems of text files that only keep citations from being located there.
_NOT_LOCATED = ("too_large",)


class Opener(Protocol):
    """Opens documents; `proofspan.evidence.pdf.pool.PdfPool` does."""

    def document(self, path: Path) -> DocumentInfo: ...

    def page(self, path: Path, page_idx: int) -> PageInfo: ...


def everything(manifest: Manifest, opener: Opener) -> Examine:
    """Return the check that makes all checks of this file."""
    opened = opening(opener)

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
        problems = [*opened(artifact, file, on_bytes), *reading(artifact, file, on_bytes)]
        run = next((each for each in manifest.runs if each.record == artifact), None)
        if run is not None:
            problems += [
                replace(each, message=f"`{artifact.key}`: {each.message}", where=str(file))
                for each in pin_problems(manifest, run)
            ]
        if artifact.key != "catalogue":
            return problems
        try:
            with unpacked(file, fix_encoding=artifact.fix_encoding) as plain:
                attachments, issues = read_catalogue(plain, file=artifact.path)
        except InputFault as fault:
            return [*problems, *unusable(artifact, fault)]
        problems += [] if artifact.fix_encoding else wrongly_decoded(artifact, file, file)
        problems += lines_problems(artifact, file, len(attachments) + len(issues), issues)
        return problems + attachment_problems(
            attachments, manifest=manifest, opener=opener, key=artifact.key, where=str(file)
        )

    return examine


def opening(opener: Opener) -> Examine:
    """Return the check that opens documents: a PDF may be locked, damaged or without pages."""

    def examine(artifact: Artifact, file: Path, on_bytes: OnBytes) -> Iterable[Problem]:
        try:
            if artifact.kind == "pdf":
                opener.document(file)
            elif artifact.kind == "text":
                read_text(file)
        except EvidenceFault as fault:
            for problem in fault.problems:
                is_slight = artifact.kind == "text" and problem.code in _NOT_LOCATED
                message = f"`{artifact.key}`: {problem.message}"
                yield replace(problem, message=message, severity="warning" if is_slight else "error")

    return examine


def attachment_problems(
    attachments: Mapping[str, Attachment], *, manifest: Manifest, opener: Opener, key: str, where: str
) -> list[Problem]:
    """Return a problem for each kind of error: how many attachments have it, and the first of them.

    Documents that cannot be opened are reported elsewhere and not checked further.
    """
    pages = Pages(manifest, opener)
    by_code: dict[str, list[tuple[str, Problem]]] = {}
    for attachment in attachments.values():
        for problem in _problems(attachment, pages):
            by_code.setdefault(problem.code, []).append((attachment.attachment_id, problem))
    summaries = []
    for code, found in by_code.items():
        first_id, first = found[0]
        count = f"{counted(len(found), 'attachment')} of {len(attachments):,}"
        message = f"`{key}`: {count}: {code.replace('_', ' ')}; the first is {first_id[:80]}: {first.message}"
        summaries.append(Problem(ATTACHMENTS_WRONG, message, where, first.fix, severity="warning"))
    return summaries


class Pages:
    """The pages of a workspace's documents, each read once; None if a document cannot be opened."""

    def __init__(self, manifest: Manifest, opener: Opener) -> None:
        self.manifest = manifest
        self._opener = opener
        self._known: dict[tuple[str, int | None], DocumentInfo | PageInfo | None] = {}

    def count(self, document: Document) -> int | None:
        """Return the number of pages, 1 for a document without pages."""
        if not document.paged:
            return 1
        opened = self._read(document, None)
        return opened.page_count if isinstance(opened, DocumentInfo) else None

    def page(self, document: Document, page_idx: int) -> PageInfo | None:
        """Return a page's size and rotation, None if the document has no such page."""
        count = self.count(document) if document.paged else None
        page = self._read(document, page_idx) if count is not None and page_idx < count else None
        return page if isinstance(page, PageInfo) else None

    def _read(self, document: Document, page_idx: int | None) -> DocumentInfo | PageInfo | None:
        place = document.doc_id, page_idx
        if place not in self._known:
            try:
                path = artifact_path(self.manifest, document.artifact)
                self._known[place] = (
                    self._opener.document(path) if page_idx is None else self._opener.page(path, page_idx)
                )
            except Fault:
                self._known[place] = None
        return self._known[place]


def _problems(attachment: Attachment, pages: Pages) -> Iterator[Problem]:
    """Yield the problems of an attachment's own place, and of the picture to draw for it."""
    doc_id, page_idx, box = attachment.doc_id, attachment.page_idx, attachment.box
    document = pages.manifest.document(doc_id) if doc_id is not None else None
    own: list[Problem] = []
    if doc_id is not None and page_idx is not None:
        if box is not None and attachment.box_space != "points" and document is not None and document.paged:
            page, space = pages.page(document, page_idx), attachment.box_space
            if page is None:
                box = None
            else:
                width, height = _unrotated(page)
                box = to_points(box, space, width=width, height=height, rotation=page.rotation)
        own = list(_region_problems(doc_id, page_idx, box, pages, is_drawn=False))
    elif doc_id is not None and document is None:
        own = [_not_listed(doc_id)]
    yield from own
    if attachment.render_ref is None:
        return
    ref = parse_render_ref(attachment.render_ref)
    if ref is None:
        fix = "write `file:PATH` below the attachments folder, or `pdf:DOC_ID#page_idx=N&bbox=x0,y0,x1,y1`"
        yield Problem("render_ref_cannot_be_read", f"{attachment.render_ref[:200]!r}", fix=fix)
    elif isinstance(ref, FileRef):
        yield from _file_problems(ref, pages.manifest)
    elif not own:
        yield from _region_problems(ref.doc_id, ref.page_idx, ref.box, pages, is_drawn=True)


def _region_problems(
    doc_id: str, page_idx: int, box: Box | None, pages: Pages, *, is_drawn: bool
) -> Iterator[Problem]:
    """Yield the problem of a region of a page, or of the whole page without a box."""
    document = pages.manifest.document(doc_id)
    if document is None:
        yield _not_listed(doc_id)
        return
    count, where = pages.count(document), f"page_idx {page_idx:,} of {doc_id[:200]}"
    page = pages.page(document, page_idx)
    if is_drawn and not document.paged:
        fix = "leave `render_ref` out: the attachment's text is shown"
        yield Problem("to_be_drawn_from_a_document_without_pages", doc_id[:200], fix=fix)
    elif count is not None and page_idx >= count:
        message = f"{where}, which has {counted(count, 'page')}"
        yield Problem("beyond_the_end_of_the_document", message, fix="count pages from 0 in page_idx")
    elif page is None and document.paged and count is not None:
        yield Problem("on_a_page_that_cannot_be_read", where, fix="repair the PDF: write it again")
    elif box is not None and page is not None:
        width, height = _unrotated(page)
        if not lies_on(box, width=width, height=height):
            sides = ", ".join(f"{side:g}" for side in box)
            message = f"bbox {sides} on page_idx {page_idx:,}, which is {width:g} × {height:g} points"
            fix = "give x0, y0, x1, y1 in points of the unrotated page, from its top left, x0 < x1, y0 < y1"
            yield Problem("not_on_the_page", message, fix=fix)


def _unrotated(page: PageInfo) -> tuple[float, float]:
    upright = page.rotation % 180 == 0
    return (page.width, page.height) if upright else (page.height, page.width)


def _not_listed(doc_id: str) -> Problem:
    fix = "list it under `documents`, or correct the doc_id"
    return Problem("in_a_document_that_the_manifest_does_not_list", doc_id[:200], fix=fix)


def _file_problems(ref: FileRef, manifest: Manifest) -> Iterator[Problem]:
    if manifest.attachments_root is None:
        fix = "name the folder of the pictures: attachments_root: corpus/media"
        yield Problem("file_without_an_attachments_root_in_the_manifest", ref.path, fix=fix)
        return
    try:
        folder = resolve_reference(manifest.folder, manifest.attachments_root, folder=True)
    except Fault:
        return  # a problem of the manifest, reported there
    code = "file_that_cannot_be_drawn"
    try:
        problem = picture_problem(resolve_reference(folder, ref.path))
    except Fault as fault:
        code, problem = "file_that_is_missing", fault.problems[0]
    if problem is not None:
        yield Problem(code, f"{ref.path}: {problem.message}", fix=problem.fix)
