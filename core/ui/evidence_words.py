"""What became of cited text on its pages, in words: toggles, their sentences, a row's cell. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from core.store.placed import EvidenceState

#: After "Cited text:", worst first.
TITLES: Mapping[EvidenceState, str] = {
    "not_found": "not found",
    "numbers_differ": "figures differ",
    "page_mismatch": "on another page",
    "partial": "found in part",
    "fuzzy": "reads differently",
    "not_placed": "not looked for",
    "normalized": "typography aside",
    "exact": "word for word",
}
_MEANING: Mapping[EvidenceState, str] = {
    "not_found": "Questions that cite text which stands nowhere in the document.",
    "numbers_differ": "Questions that cite a figure where the page has another one.",
    "page_mismatch": "Questions that cite text which stands on another page than the cited one.",
    "partial": "Questions with a citation of which the page holds only a part.",
    "fuzzy": "Questions that cite in words which differ from those on the page.",
    "not_placed": "Questions with a citation that could not be looked for: no document, or no quote.",
    "normalized": "Questions with a citation that stands on its page but for case, hyphens or quotes.",
    "exact": "Questions with a citation that stands on its page word for word.",
}
#: What a row says; of the rest nothing needs a look.
_STANDS_OUT: Mapping[EvidenceState, str] = {
    "not_found": "cited text not found",
    "numbers_differ": "figure differs from the page",
    "page_mismatch": "cited text on another page",
}
#: Where the cited page is beside the right one, by how far the text is from it.
_BESIDE = {-1: "cited page is one too high", 1: "cited page is one too low"}


def evidence_meaning(state: EvidenceState) -> str:
    """What a toggle counts, in one sentence."""
    return _MEANING[state]


def stands_out(states: Collection[str], *, offset: int | None = None, omitted: int = 0) -> list[str]:
    """What of a trace's citations needs a look, worst first.

    `offset` is the page where the text stands minus the cited one, None where that is not one and the same
    for all its citations on other pages. `omitted` counts the warnings of the cited sections that the answer
    may leave out.
    """
    said = dict(_STANDS_OUT)
    if offset is not None and offset in _BESIDE:
        said["page_mismatch"] = _BESIDE[offset]
    found = [sentence for state, sentence in said.items() if state in states]
    if omitted:
        found.append("may omit a warning" if omitted == 1 else f"may omit {omitted:,} warnings")
    return found
