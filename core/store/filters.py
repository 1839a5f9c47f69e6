"""A filter is data: it yields SQL, bound values and the sentence that a person reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Filter:
    """What a list shows. Empty tuples, None and "" mean "no restriction".

    The field names are the URL's parameter names. `suspicion`, `label`, `doc`, `section` match any of the
    given values; `unsupported` True keeps rows with numbers that no evidence holds, False those without.
    `text` is searched in question and answer, case folded. `run` is always set. Only headline traces
    (paraphrase 0, seed 0) are shown unless `all_variants`.
    """

    run: str
    label: tuple[str, ...] = ()
    suspicion: tuple[str, ...] = ()
    doc: tuple[str, ...] = ()
    section: tuple[str, ...] = ()
    unsupported: bool | None = None
    text: str = ""
    all_variants: bool = False


#: What a list may be sorted by, in the words of the URL's `sort`.
SORT_KEYS: tuple[str, ...] = (
    "worst",
    "label",
    "question",
    "section",
    "cited",
    "answer_coverage",
    "query_coverage",
    "unsupported",
    "suspicions",
    "latency",
)


@dataclass(frozen=True, slots=True)
class Sort:
    """Order of a list; `by` is one of `SORT_KEYS`. Ties always break worst first, then by q_id."""

    by: str = "worst"
    descending: bool = False
