"""What became of cited text on its pages, in words: toggles, their sentences, a row's cell. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from proofspan.store.placed import EvidenceState

#: After "Cited text:", worst first.
TITLES: Mapping[EvidenceState, str] = {
    "not_found": "not found",
    "numbers_differ": "figures differ",
    "page_mismatch": "on another page",
    "partial": "found in part",
    "fuzzy": "worded differently",
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
#: What a row says first; of the other states but `page_mismatch` nothing needs a look.
_WRONG: Mapping[EvidenceState, str] = {
    "not_found": "cited text not found",
    "numbers_differ": "figure differs from the page",
}
#: Where the cited page is beside the right one, by how far the text is from it.
_BESIDE = {-1: "cited page is one too high", 1: "cited page is one too low"}


def evidence_meaning(state: EvidenceState) -> str:
    """What a toggle counts, in one sentence."""
    return _MEANING[state]


def wrong_text(states: Collection[str]) -> list[str]:
    """What is wrong with the words that a trace cites, worst first."""
    return [said for state, said in _WRONG.items() if state in states]


def besides(states: Collection[str], *, offset: int | None, omitted: int) -> list[str]:
    """What else of a trace's citations needs a look: their pages, and the warnings that they pass over.

    `offset` is the page where the text stands minus the cited one, None where that is not one and the same
    for all its citations on other pages. `omitted` counts the warnings of the cited sections that the answer
    may leave out.
    """
    said = []
    if "page_mismatch" in states:
        beside = _BESIDE.get(offset) if offset is not None else None
        said.append(beside or "cited text on another page")
    if omitted:
        said.append("may omit a warning" if omitted == 1 else f"may omit {omitted:,} warnings")
    return said
