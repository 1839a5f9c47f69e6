"""The citation payload, put together from what a foreign record states and what its caller knows.

What is stated nowhere, or in a type that its field cannot hold, is left out: the contract then says
`missing_tokens`. An empty text or a zero written in its place would hide that, and read as a default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Integral, Real
from types import MappingProxyType
from typing import Literal, Required, TypedDict

from proofspan.contracts.records.field_values import index_of, number_of, offsets_of, text_of
from proofspan.contracts.records.records import Json

PageBase = Literal[0, 1]
Payload = dict[str, Json]

_NO_NAMES: Mapping[str, str] = MappingProxyType({})
#: What a computed attribute raises where it cannot be computed; it then reads as absent.
_NOT_COMPUTED = (AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class Given(TypedDict, total=False):
    """What the caller of an adapter knows, as keywords; each counts before the same value in the record.

    `page_base` says from what number the record's pages count; it is required, as no record says it. `rev` is
    that of the record's document. `score` becomes `score_raw`. `names` says under which key of the metadata a
    field of the payload stands where that is another than its own: `{"doc_id": "source"}`.
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
    """The payload of one record, its fields in the contract's order; see `Given` for the keywords.

    `stated` is the record's metadata, `own` what its class holds by fields of the payload. The payload's
    `page` counts from 1; one below 1 means that `page_base` is not the record's, and the contract says so.
    Raises ValueError for a `page_base` that is neither 0 nor 1.
    """
    if page_base not in (0, 1):
        raise ValueError(f"page_base is 0 or 1, the number of a document's first page, not {page_base!r}")
    given = {
        "index_hash": index_hash,
        "embed_model": embed_model,
        "analyzer": analyzer,
        "rev": rev,
        "score_raw": score,
    }
    found: Payload = {}
    for field, read in _FIELDS.items():
        places = (given.get(field), *_stated(stated, field, names), own.get(field))
        value = next((value for place in places if (value := read(place)) is not None), None)
        if value is not None:
            found[field] = value
    if "page" in found:
        found["page"] += 1 - page_base
    return found


def ranked(payloads: Iterable[Payload], *, order: Literal["k_pos", "k_final"] = "k_pos") -> list[Payload]:
    """The payloads with the ranks that their order gives, from 1; it counts before ranks they had.

    `k_pos` is the rank before a reranker, so what a reranker returns is ranked by `order="k_final"`.
    """
    return [_in_order({**each, order: rank}) for rank, each in enumerate(payloads, start=1)]


def value_at(record: object, name: str) -> object:
    """What stands under `name` in a mapping, or as its attribute; None where nothing does.

    Names as C# and JavaScript write them count too: `doc_id`, then `docId`, then `DocId`.
    """
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
    """A text or number as plain JSON, NumPy's included; None for all else, for NaN and for infinity."""
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


def _in_order(found: Payload) -> Payload:
    """The contract's fields in the contract's order, then whatever else there is."""
    return {**{field: found[field] for field in _FIELDS if field in found}, **found}


def _stated(stated: object, field: str, names: Mapping[str, str]) -> Iterator[object]:
    """What the metadata says of a field: under the name that the caller gives, else under its usual ones."""
    for name in (names[field],) if field in names else (field, *_OTHER_NAMES.get(field, ())):
        yield value_at(stated, name)


def _name(value: object) -> Json:
    """An id or other text; a number in its spelling. An empty text is kept: the record states it."""
    value = plain(value)
    return value if isinstance(value, str) else text_of(value)


def _count(value: object) -> Json:
    return index_of(plain(value))


def _number(value: object) -> Json:
    return number_of(plain(value))


def _offsets(value: object) -> Json:
    """`{start, end, unit}` from an object or a pair; characters where no unit is stated."""
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
    """`{pre, post}`, as far as they are stated."""
    sizes = {side: _count(value_at(value, side)) for side in ("pre", "post")}
    return {side: size for side, size in sizes.items() if size is not None} or None


#: The payload's fields in the contract's order, each with its reader; the page's label is no part of the
#: contract, and all that says where a page is when a record knows no number for it.
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
#: Further names under which metadata carries a field.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "snippet_id": ("chunk_id",),
    "page": ("page_number",),
    "score_raw": ("score",),
    "k_pos": ("k",),
}
