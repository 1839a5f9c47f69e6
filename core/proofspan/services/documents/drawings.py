"""Render what a `render_ref` names: a picture file, or a region of a page.

A reference is a stranger's text. A bad one is a result with a problem, not an error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from proofspan.contracts.records.render_ref import PageRef, RenderRef, parse_render_ref
from proofspan.errors import Fault, ManifestFault, Problem
from proofspan.evidence.types import Mime, Picture
from proofspan.manifest.paths import artifact_path, refusal_of, resolve_reference
from proofspan.manifest.types import Manifest
from proofspan.services.documents.document_cache import Placer
from proofspan.services.documents.revisions import document_not_listed

#: Characters of a reference that a message repeats.
SHOWN = 200
FORMS = "write `file:PATH` below the attachments folder, or `pdf:DOC_ID#page_idx=N&bbox=x0,y0,x1,y1`"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture's bytes, its size in pixels and its kind, or the `problem` that prevented it.

    `page_idx` is the page of a region, known even where it cannot be rendered.
    """

    png: bytes | None = None
    width: int = 0
    height: int = 0
    page_idx: int | None = None
    problem: Problem | None = None
    mime: Mime = "image/png"


#: A drawing that is not ready.
BEING_DRAWN = Drawing(problem=Problem("being_drawn", "it is being drawn", "", "", severity="note"))


def draw(render_ref: str | None, *, manifest: Manifest, placer: Placer) -> Drawing:
    """Render what a reference names; never raises for a reference or for the file that it names.

    The problem's code is `nothing_to_draw` (a note: there is no reference), `render_ref_unreadable`,
    `path_refused`, `no_attachments_root`, `document_not_listed`, `not_paged`, or a code of resolving a path,
    of `PdfPool.clip` or of `PdfPool.picture`.
    """
    if render_ref is None:
        fix = "give the attachment a `render_ref` where there is something to draw"
        message = "the catalogue names nothing to draw"
        return Drawing(problem=Problem("nothing_to_draw", message, "", fix, severity="note"))
    ref = parse_render_ref(render_ref)
    if ref is None:  # a path that would leave its folder is refused; anything else cannot be read
        shown = repr(render_ref[:SHOWN])
        reason = refusal_of(render_ref.removeprefix("file:")) if render_ref.startswith("file:") else None
        if reason is not None:
            return Drawing(
                problem=Problem("path_refused", f"the picture's path is refused: {reason}", shown, FORMS)
            )
        message = f"the reference {shown} cannot be read"
        return Drawing(problem=Problem("render_ref_unreadable", message, "render_ref", FORMS))
    page_idx = ref.page_idx if isinstance(ref, PageRef) else None
    try:
        picture = _picture(ref, manifest, placer)
    except Fault as fault:
        return Drawing(page_idx=page_idx, problem=fault.problems[0])
    return Drawing(picture.data, picture.width, picture.height, page_idx, mime=picture.mime)


def _picture(ref: RenderRef, manifest: Manifest, placer: Placer) -> Picture:
    """Raises `Fault`."""
    if not isinstance(ref, PageRef):
        path = ref.path[:SHOWN]
        if manifest.attachments_root is None:
            message = f"the picture {path} cannot be looked for: the manifest names no folder of pictures"
            where = f"{manifest.file or manifest.folder}: attachments_root"
            fix = "name the folder: attachments_root: corpus/media"
            raise ManifestFault.of("no_attachments_root", message, where=where, fix=fix)
        try:
            folder = resolve_reference(manifest.folder, manifest.attachments_root, folder=True)
            return placer.picture(resolve_reference(folder, ref.path))
        except ManifestFault as fault:
            message = f"the picture {path}: {fault.problems[0].message}"
            raise ManifestFault(replace(fault.problems[0], message=message)) from None
    document = manifest.document(ref.doc_id)
    if document is None:
        raise ManifestFault(document_not_listed(ref.doc_id, manifest))
    if not document.paged:
        message = f"the document {ref.doc_id[:SHOWN]} has no pages, so no region of one can be drawn"
        where = f"{manifest.file or manifest.folder}: {document.artifact.key}"
        fix = "leave `render_ref` out: the attachment's text is shown"
        raise ManifestFault.of("not_paged", message, where=where, fix=fix)
    return placer.clip(artifact_path(manifest, document.artifact), ref.page_idx, ref.box)
