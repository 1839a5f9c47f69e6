"""The citation payload, made of a record of LangChain, LlamaIndex or Semantic Kernel and the caller's values.

A field that is stated nowhere, or in an unsuitable type, is left out: the contract then reports
`missing_tokens`. An empty text or a zero would hide that, and look like a default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from types import MappingProxyType
from typing import Literal, Required, TypedDict, Unpack

from proofspan.contracts.records.field_values import index_of, number_of, offsets_of, text_of
from proofspan.contracts.records.records import Json

PageBase = Literal[0, 1]
Payload = dict[str, Json]

#: The key of LlamaIndex's `relationships` under which a node names the document that it was cut from.
_SOURCE = "1"
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
#: What a computed attribute may raise; it then counts as absent.
_NOT_COMPUTED = (AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class Given(TypedDict, total=False):
    """The keywords of an adapter; each counts before the same value in the record.

    `page_base` is the number of a document's first page in the record; it is required, as no record states
    it. `rev` is the revision of the record's document. `score` becomes `score_raw`. `names` are the metadata
    keys of payload fields with another name: `{"doc_id": "source"}`.
    """

    page_base: Required[PageBase]
    index_hash: str | None
    embed_model: str | None
    analyzer: str | None
    rev: str | None
    score: float | None
    names: Mapping[str, str]


def payload(
    stated: object,
    own: Mapping[str, object],
    *,
    page_base: PageBase,
    index_hash: str | None = None,
    embed_model: str | None = None,
    analyzer: str | None = None,
    rev: str | None = None,
    score: float | None = None,
    names: Mapping[str, str] = _NO_NAMES,
) -> Payload:
    """Return the payload of one record, fields in the contract's order; see `Given` for the keywords.

    `stated` is the record's metadata, `own` are its attributes by payload field. The payload's `page` counts
    from 1; one below 1 means that `page_base` is wrong, and the contract reports it. Raises ValueError for a
    `page_base` that is neither 0 nor 1.
    """
    if page_base not in (0, 1):
        raise ValueError(f"page_base is the number of a document's first page, 0 or 1, not {page_base!r}")
    given = {
        "index_hash": index_hash,
        "embed_model": embed_model,
        "analyzer": analyzer,
        "rev": rev,
        "score_raw": score,
    }
    made: Payload = {}
    for field, read in _FIELDS.items():
        keys = (names[field],) if field in names else (field, *_OTHER_NAMES.get(field, ()))
        places = (given.get(field), *(value_at(stated, key) for key in keys), own.get(field))
        value = next((value for place in places if (value := read(place)) is not None), None)
        if value is not None:
            made[field] = value
    if "page" in made:
        made["page"] += 1 - page_base
    return made


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


def ranked(payloads: Iterable[Payload], *, order: Literal["k_pos", "k_final"] = "k_pos") -> list[Payload]:
    """Return the payloads with ranks by their order, from 1, in place of ranks they had.

    `k_pos` is the rank before a reranker; rank the output of a reranker with `order="k_final"`.
    """
    numbered = ({**each, order: rank} for rank, each in enumerate(payloads, start=1))
    return [{field: each[field] for field in _FIELDS if field in each} | each for each in numbered]


def value_at(record: object, name: str) -> object:
    """Return the value of a key or attribute, spelled `doc_id`, `docId` or `DocId`; None without one."""
    words = [word[:1].upper() + word[1:] for word in name.split("_")]
    pascal = "".join(words)
    for spelling in dict.fromkeys((name, name[:1] + pascal[1:], pascal)):
        if isinstance(record, Mapping):
            value = record.get(spelling)
        else:
            try:
                value = getattr(record, spelling, None)
            except _NOT_COMPUTED:
                value = None
        if value is not None:
            return value
    return None


def plain(value: object) -> Json:
    """Return a text or number, NumPy's included, as plain JSON; None for all else, NaN and infinity."""
    if isinstance(value, str):
        return str.__str__(value).encode("utf-8", "replace").decode()
    if isinstance(value, bool):
        return None
    if isinstance(value, Integral):
        return index_of(int(value))
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else None
    return None


def _name(value: object) -> Json:
    """Return an id or other text, a number as text. An empty text is kept: the record states it."""
    value = plain(value)
    return value if isinstance(value, str) else text_of(value)


def _count(value: object) -> Json:
    return index_of(plain(value))


def _number(value: object) -> Json:
    return number_of(plain(value))


def _offsets(value: object) -> Json:
    """Return `{start, end, unit}` of an object or a pair; the unit is characters by default."""
    if isinstance(value, list | tuple):
        pair, unit = [plain(each) for each in value], None
    else:
        pair = [plain(value_at(value, "start")), plain(value_at(value, "end"))]
        unit = plain(value_at(value, "unit"))
    if len(pair) != 2:
        return None
    unit = unit.lower() if isinstance(unit, str) else unit
    offsets = offsets_of({"start": pair[0], "end": pair[1], "unit": unit})
    return offsets and {"start": offsets.start, "end": offsets.end, "unit": offsets.unit}


def _window(value: object) -> Json:
    """Return `{pre, post}`, without what is not stated."""
    sizes = {side: _count(value_at(value, side)) for side in ("pre", "post")}
    return {side: size for side, size in sizes.items() if size is not None} or None


#: The payload's fields in the contract's order, each with its reader. The page label is not part of the
#: contract; it is for records without a page number.
_FIELDS: Mapping[str, Callable[[object], Json]] = {
    "doc_id": _name,
    "section_id": _name,
    "snippet_id": _name,
    "source_url": _name,
    "offsets": _offsets,
    "tokens": _count,
    "index_hash": _name,
    "embed_model": _name,
    "analyzer": _name,
    "rev": _name,
    "window": _window,
    "page": _count,
    "score_raw": _number,
    "score_norm": _number,
    "rerank_score": _number,
    "k_pos": _count,
    "k_final": _count,
    "page_label": _name,
}
#: Further metadata keys of a field.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "snippet_id": ("chunk_id",),
    "page": ("page_number",),
    "score_raw": ("score",),
    "k_pos": ("k",),
}
