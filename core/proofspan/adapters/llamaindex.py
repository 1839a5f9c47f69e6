"""LlamaIndex's `NodeWithScore` and nodes → the citation payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from proofspan.adapters.payload import Given, Payload, payload, value_at

#: The key of `relationships` under which a node names the document that it was cut from.
_SOURCE = "1"


def llamaindex_payload(node: object, **given: Unpack[Given]) -> Payload:
    """The citation payload of a `NodeWithScore` or a node, or of what `to_dict` or a docstore made of one.

    The keywords are those of `Given`. Fields come from the node's `metadata`; else the document's id is that
    of its source node (`ref_doc_id`), the snippet's id that of the node, the offsets are its character
    indexes where both are known, and the score is the `NodeWithScore`'s. A reader that makes one document of
    each page gives each an id of its own, so a `doc_id` in the metadata counts first. `page_label` is what is
    printed on the page and no number of it; `page_base` is about a `page` or `page_number` in the metadata.
    """
    scored = value_at(node, "node")
    score = None if scored is None else value_at(node, "score")
    node = _unpacked(node if scored is None else scored)
    own = {
        "doc_id": _source_of(node),
        "snippet_id": value_at(node, "id_") or value_at(node, "node_id"),
        "offsets": (value_at(node, "start_char_idx"), value_at(node, "end_char_idx")),
        "score_raw": score,
    }
    return payload(value_at(node, "metadata"), own, **given)


def _unpacked(node: object) -> object:
    """A docstore keeps a node under `__data__`."""
    return node["__data__"] if isinstance(node, Mapping) and "__data__" in node else node


def _source_of(node: object) -> object:
    """The source's id, from the relations: `ref_doc_id` is in no export, and raises for several sources."""
    relations = value_at(node, "relationships")
    source = relations.get(_SOURCE) if isinstance(relations, Mapping) else None
    return value_at(source, "node_id") or value_at(node, "ref_doc_id")
