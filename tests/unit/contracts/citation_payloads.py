"""A citation payload with which nothing is wrong, and strategies for payloads with which much may be."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from proofspan.contracts.rules.context import Context

PINS = Context(
    index_hash="faiss:2f7d",
    embed_model="bge-large-en-v1.5",
    analyzer="lowercase+ascii_fold",
    revs={"handbook": "3b91f2a"},
)


def payload(**changes: Any) -> dict[str, Any]:
    """A clean payload with these values; a value of `...` takes the field away."""
    whole = {
        "doc_id": "handbook",
        "section_id": "policies/keys",
        "snippet_id": "hb-0007",
        "source_url": "https://example.org/handbook#keys",
        "offsets": {"start": 2310, "end": 2688, "unit": "char"},
        "tokens": 188,
        "index_hash": "faiss:2f7d",
        "embed_model": "bge-large-en-v1.5:mean",
        "analyzer": "lowercase+ascii_fold",
        "rev": "3b91f2a",
        "page": 14,
        "score_raw": 0.8421,
        "score_norm": 0.78,
        "k_pos": 18,
    }
    return {name: value for name, value in {**whole, **changes}.items() if value is not ...}


#: Any JSON value, small, as a parsed line has it: no larger integers.
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
_ODD = st.sampled_from(
    [None, "", " ", 0, -1, 1, 2, 14, 14.0, 0.5, 1.5, True, [], {}, "faiss:2f7d", "3b91f2b"]
)
_UNITS = st.sampled_from(["char", "token", "words", None, 3])
_OFFSETS = st.fixed_dictionaries(
    {}, optional={"start": st.integers(-2, 4) | _ODD, "end": st.integers(-2, 4) | _ODD, "unit": _UNITS}
)
_FIELDS = (*payload(), "page_idx", "k_final", "rerank_score", "score", "id", "chunk_id")


@st.composite
def odd_payloads(draw: st.DrawFn) -> dict[str, Any]:
    """A clean payload of which up to three fields are changed, taken away or put in."""
    changes: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(_FIELDS), max_size=3, unique=True)):
        values = st.just(...) | _ODD | (_OFFSETS if name == "offsets" else JSON)
        changes[name] = draw(values)
    section, chunk = draw(st.sampled_from(["4.2", "4.3"])), draw(st.sampled_from(["c1", "c2"]))
    return payload(**{"section_id": section, "snippet_id": chunk, **changes})
