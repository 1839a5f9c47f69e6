"""Whether a payload is beyond doubt: the quick look before the rules, as nearly every payload is clean.

It accepts nothing in which the rules would find anything (a property holds that), and may refuse what they
would pass: an odd spelling only costs the time of the rules. About two microseconds.
"""

from __future__ import annotations

from operator import itemgetter

from proofspan.contracts.records.field_values import LARGEST, OFFSET_UNITS
from proofspan.contracts.records.records import Json
from proofspan.contracts.rules.finding import Context
from proofspan.contracts.rules.parity import same_analyzer, same_embed_model, same_index, same_rev

_TEXTS = itemgetter(
    *("doc_id", "section_id", "snippet_id", "source_url", "index_hash", "embed_model", "analyzer", "rev")
)
_SPAN = itemgetter("start", "end", "unit")
#: All that a payload in its plainest form has.
_PLAIN = frozenset(
    {
        *("doc_id", "section_id", "snippet_id", "source_url", "offsets", "tokens"),
        *("index_hash", "embed_model", "analyzer", "rev", "window", "page", "page_idx"),
        *("score_raw", "score_norm", "rerank_score", "k_pos", "k_final"),
    }
)


def is_clean(item: Json, context: Context) -> bool:
    """Whether a citation payload is in the plainest form and nothing is wrong with it."""
    if type(item) is not dict:
        return False
    try:
        texts = _TEXTS(item)
        if not all(map(str.strip, texts)):  # refuses whatever is not text, too
            return False
        start, end, unit = _SPAN(item["offsets"])
        tokens, k_pos = item["tokens"], item["k_pos"]
        if unit not in OFFSET_UNITS or type(start) is not int or type(end) is not int:
            return False
    except (KeyError, TypeError):
        return False
    return (
        0 <= start < end < LARGEST
        and type(tokens) is int
        and 0 < tokens < LARGEST
        and type(k_pos) is int
        and 0 < k_pos < LARGEST
        and _is_placed(item)
        and _is_scored(item)
        and _is_live(texts, context)
    )


def is_clean_record(item: Json, context: Context) -> bool:
    """The same of a payload that is a record of its own: neither version nor schema speaks against it.

    It has no fields but those of the payload, and nothing in it is nested deeper than its offsets.
    """
    return (
        is_clean(item, context)
        and _PLAIN.issuperset(item)
        and len(item["offsets"]) == len(("start", "end", "unit"))
        and _is_window(item.get("window"))
        and (context.corpus is None or item["snippet_id"] in context.corpus)
    )


def _is_window(window: Json) -> bool:
    """Whether a window is absent, or two numbers of characters and nothing else."""
    if window is None:
        return True
    if type(window) is not dict or len(window) != len(("pre", "post")):
        return False
    return type(window.get("pre")) is int and type(window.get("post")) is int


def _is_placed(item: dict[str, Json]) -> bool:
    """Whether page, page_idx and k_final are absent or plainly right."""
    get = item.get
    page, page_idx, k_final = get("page"), get("page_idx"), get("k_final")
    if page is not None and not (type(page) is int and 0 < page < LARGEST):
        return False
    if page_idx is not None and not (
        type(page_idx) is int and 0 <= page_idx < LARGEST and (page is None or page == page_idx + 1)
    ):
        return False
    return k_final is None or (type(k_final) is int and 0 < k_final < LARGEST)


def _is_scored(item: dict[str, Json]) -> bool:
    """Whether a score is there, and those that are there are numbers in range."""
    get = item.get
    raw, norm, rerank = get("score_raw"), get("score_norm"), get("rerank_score")
    if norm is None:
        is_scored = type(raw) is float or type(raw) is int
    else:
        is_scored = (type(norm) is float or type(norm) is int) and 0 <= norm <= 1
        is_scored = is_scored and (raw is None or type(raw) is float or type(raw) is int)
    is_reranked = rerank is None or type(rerank) is float or type(rerank) is int
    return is_scored and is_reranked and "score" not in item


def _is_live(texts: tuple[str, ...], context: Context) -> bool:
    """Whether index, models and revision are the run's, or the run says nothing of them."""
    doc_id, _, _, _, index_hash, embed_model, analyzer, rev = texts
    pinned = context.index_hash
    if pinned is not None and not same_index(index_hash, pinned):
        return False
    pinned = context.embed_model
    if pinned is not None and not same_embed_model(embed_model, pinned):
        return False
    pinned = context.analyzer
    if pinned is not None and not same_analyzer(analyzer, pinned):
        return False
    pinned = context.revs.get(doc_id)
    return pinned is None or same_rev(rev, pinned)
