"""The attachment catalogue: signal boxes, pictures, tables and symbols of the documents, with their places.

Whether an attachment's document, page and picture exist is checked in
`proofspan.services.workspace.contents_check`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

from proofspan.contracts.records.field_values import SPACES, box_of, page_of, text_of
from proofspan.contracts.records.records import (
    Attachment,
    AttachmentKind,
    Json,
    LineIssue,
)
from proofspan.traces.lines.reader import UnusableError
from proofspan.traces.lines.tables import read_by_id
from proofspan.traces.records.identity import record_from

KINDS: tuple[AttachmentKind, ...] = get_args(AttachmentKind)


def read_catalogue(path: Path, *, file: str) -> tuple[dict[str, Attachment], list[LineIssue]]:
    """Return the attachments of a JSON or JSONL file by id, and the issues of single lines.

    Of several with one id the last counts. Raises InputFault if the file cannot be read at all.
    """
    return read_by_id(path, file=file, record_of=attachment_from, id_name="attachment_id")


def attachment_from(obj: Json) -> Attachment:
    """Return the attachment of a parsed line. Raises UnusableError."""
    obj = record_from("catalogue", obj)
    attachment_id = text_of(obj.get("attachment_id"))
    if attachment_id is None:
        fix = 'Give every attachment its "attachment_id".'
        raise UnusableError("attachment_without_id", "attachment_id is missing or no text", fix)
    kind = obj.get("kind")
    if kind not in KINDS:
        message = f"the kind {str(kind)[:80]!r} is unknown" if kind is not None else "kind is missing"
        raise UnusableError("kind_unknown", message, f"Use {', '.join(KINDS)}.")
    page_idx, note = page_of(obj)
    if note in ("page_below_one", "page_unreadable"):
        message = "the page is not a whole number from 0 (page_idx) or 1 (page)"
        raise UnusableError(note, message, "Write the 0-based page as page_idx.")
    box, named = box_of(obj)[0], obj.get("bbox_space")
    space = "points" if named is None else SPACES.get(named) if isinstance(named, str) else None
    if (box is None and obj.get("bbox") is not None) or space is None:
        message = "bbox is not four numbers, or bbox_space not points, unit (0-1) or per_mille (0-1000)"
        raise UnusableError("bbox_malformed", message, "Write bbox as [x0, y0, x1, y1], in points.")
    for name in ("doc_id", "section_id"):
        if obj.get(name) is not None and type(obj[name]) not in (str, int, float):
            raise UnusableError(f"{name}_wrong_type", f"{name} is not a text", f"Write {name} as text.")
    return Attachment(
        attachment_id=attachment_id,
        kind=cast(AttachmentKind, kind),
        doc_id=text_of(obj.get("doc_id")),
        section_id=text_of(obj.get("section_id")),
        page_idx=page_idx,
        box=box,
        box_space=space,
        text=_text(obj, "text") or "",
        caption=_text(obj, "caption"),
        render_ref=_text(obj, "render_ref"),
        raw=obj,
    )


def _text(obj: Mapping[str, Json], name: str) -> str | None:
    value = obj.get(name)
    if value is not None and not isinstance(value, str):
        raise UnusableError(f"{name}_wrong_type", f"{name} is not a text", f"Write {name} as text.")
    return value
