"""The citation payload of LangChain's, LlamaIndex's and Semantic Kernel's records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from proofspan.adapters.payload import Given, Payload, payload, plain, value_at
from proofspan.contracts.records.field_values import index_of

#: The key of LlamaIndex's `relationships` under which a node names the document that it was cut from.
_SOURCE = "1"


def langchain_payload(document: object, **given: Unpack[Given]) -> Payload:
    """Return the citation payload of a `Document`, or of its `model_dump`, `to_json` or `dumpd` export.

    The keywords are those of `Given`. Fields come from `metadata`; the snippet id is else the document's
    `id`, and the offsets are else `start` and `end`, or the `start_index` of a splitter with
    `add_start_index=True`, with the length of the text. `PyPDFLoader` counts `page` from 0 (`page_base=0`),
    Unstructured's loader `page_number` from 1; `page_label` is the label printed on the page.
    """
    if isinstance(document, Mapping) and "lc" in document:
        document = document.get("kwargs")  # a serialized document has the arguments of its constructor
    metadata = value_at(document, "metadata")
    offsets: tuple[object, object] | None = value_at(metadata, "start"), value_at(metadata, "end")
    if offsets == (None, None):
        index, text = index_of(plain(value_at(metadata, "start_index"))), value_at(document, "page_content")
        offsets = None
        if index is not None and index >= 0 and isinstance(text, str):  # -1: the splitter lost its own piece
            offsets = (index, index + len(text))
    return payload(metadata, {"snippet_id": value_at(document, "id"), "offsets": offsets}, **given)


def llamaindex_payload(node: object, **given: Unpack[Given]) -> Payload:
    """Return the citation payload of a `NodeWithScore` or a node, or of its `to_dict` or docstore export.

    The keywords are those of `Given`. Fields come from the node's `metadata`; else the document id is that of
    its source node (`ref_doc_id`), the snippet id that of the node, the offsets are its character indexes if
    both are known, and the score is the `NodeWithScore`'s. A reader that makes one document of each page
    gives each its own id, so a `doc_id` in the metadata counts first. `page_label` is the label printed on
    the page; `page_base` applies to `page` or `page_number` in the metadata.
    """
    scored = value_at(node, "node")
    score = None if scored is None else value_at(node, "score")
    node = node if scored is None else scored
    if isinstance(node, Mapping) and "__data__" in node:
        node = node["__data__"]  # a docstore keeps a node there
    # `ref_doc_id` is in no export, and raises for several sources.
    relations = value_at(node, "relationships")
    source = relations.get(_SOURCE) if isinstance(relations, Mapping) else None
    own = {
        "doc_id": value_at(source, "node_id") or value_at(node, "ref_doc_id"),
        "snippet_id": value_at(node, "id_") or value_at(node, "node_id"),
        "offsets": (value_at(node, "start_char_idx"), value_at(node, "end_char_idx")),
        "score_raw": score,
    }
    return payload(value_at(node, "metadata"), own, **given)


def semantic_kernel_payload(record: object, **given: Unpack[Given]) -> Payload:
    """Return the citation payload of a `Citation` record, as an object or exported as JSON.

    The keywords are those of `Given`. The record has the payload's fields already, spelled `doc_id`, `docId`
    or `DocId`, offsets and window too. C# counts UTF-16 units, so after an emoji its offsets are larger than
    in characters; they are copied unchanged.
    """
    return payload(record, {}, **given)
