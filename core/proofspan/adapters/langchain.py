"""LangChain's `Document` → the citation payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from proofspan.adapters.payload import Given, Payload, payload, plain, value_at
from proofspan.contracts.records.field_values import index_of


def langchain_payload(document: object, **given: Unpack[Given]) -> Payload:
    """The citation payload of a `Document`, or of what `model_dump`, `to_json` or `dumpd` made of one.

    The keywords are those of `Given`. Fields come from its `metadata`; the snippet's id is else the
    document's own `id`, and the offsets are else `start` and `end`, or what a splitter with
    `add_start_index=True` leaves: `start_index`, and the end by the length of the text. `PyPDFLoader` counts
    `page` from 0 (`page_base=0`), Unstructured's loader `page_number` from 1; a `page_label` is carried on as
    what is printed on the page.
    """
    document = _unpacked(document)
    metadata = value_at(document, "metadata")
    own = {"snippet_id": value_at(document, "id"), "offsets": _offsets(document, metadata)}
    return payload(metadata, own, **given)


def _unpacked(document: object) -> object:
    """The fields of a document that LangChain serialized: they are the arguments of its constructor."""
    if isinstance(document, Mapping) and "lc" in document:
        return document.get("kwargs")
    return document


def _offsets(document: object, metadata: object) -> tuple[object, object] | None:
    start, end = value_at(metadata, "start"), value_at(metadata, "end")
    if start is not None or end is not None:
        return start, end
    # The splitter writes -1 where it does not find its own piece again.
    index, text = index_of(plain(value_at(metadata, "start_index"))), value_at(document, "page_content")
    return (index, index + len(text)) if index is not None and index >= 0 and isinstance(text, str) else None
