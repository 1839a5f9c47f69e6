"""The states that locating a citation can result in: their names and, where a state is a finding, its fix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

EvidenceState = Literal[
    "not_found", "numbers_differ", "page_mismatch", "partial", "fuzzy", "not_placed", "normalized", "exact"
]


@dataclass(frozen=True, slots=True)
class StateText:
    """The words for one state.

    `name` is used by itself, `meaning` is a sentence about one citation. `code` and `fix` are those of the
    finding; empty where the state is not one. Toggles and filters use `proofspan.display_names`.
    """

    name: str
    meaning: str
    code: str = ""
    fix: str = ""


#: Worst first, as lists are ordered.
EVIDENCE: Mapping[EvidenceState, StateText] = {
    "not_found": StateText(
        "cited text not found",
        "The cited text is nowhere in its document.",
        "cited_text_not_found",
        "Quote the chunk's own words, and check that traces and documents are of one edition.",
    ),
    "numbers_differ": StateText(
        "wrong number",
        "A cited number differs from the number on the page.",
        "figures_differ",
        "Let the answer copy numbers from the chunk, and check these before the answers go out.",
    ),
    "page_mismatch": StateText(
        "cited text on another page",
        "The cited text is on another page than the cited one.",
        "cited_page_differs",
        "See under cited pages who writes the page numbers, and from which number on.",
    ),
    "partial": StateText("cited text found in part", "The page holds only a part of the cited text."),
    "fuzzy": StateText("cited text worded differently", "The page words the cited text differently."),
    "not_placed": StateText(
        "citation not located", "The citation names no document, or no text to look for."
    ),
    "normalized": StateText(
        "cited text found, typography aside",
        "The page has the cited text, but for case, hyphens or quotation marks.",
    ),
    "exact": StateText("cited text found word for word", "The page has the cited text word for word."),
}
EVIDENCE_STATES: tuple[EvidenceState, ...] = tuple(EVIDENCE)
#: The states that a citation may have beside its status, of which it has exactly one.
FLAGS: tuple[EvidenceState, ...] = ("page_mismatch", "numbers_differ")
