"""The metadata of a passage under the names that readers of documents know."""

from __future__ import annotations

from proofspan.contracts.records.records import Json
from proofspan.traces.formats.types import Passage


def metadata_of(passage: Passage) -> dict[str, Json]:
    """Return place and further fields of a passage; pages count from 0.

    Fields that came as `metadata` stay at its top, others are below `fields`: readers take a name such as
    `source` for the document's.
    """
    more = dict(passage.more)
    known = more.pop("metadata", None)
    metadata = {
        **(known if isinstance(known, dict) else {}),
        "source": passage.document,
        "section_id": passage.section,
        "page_idx": None if passage.page is None else passage.page - (passage.page_base or 0),
        "page_label": passage.label,
        "offsets": passage.offsets,
        "bbox": passage.box,
        "bbox_space": passage.box_space if passage.box else None,
        "fields": more or None,
    }
    return {name: value for name, value in metadata.items() if value is not None}
