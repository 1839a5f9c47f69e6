"""The keys of the dashboard: those that several files use, and the list of all of them for Help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: Keys wherever the focus is, unless it is in a field. The palette's needs Ctrl or Command, in fields too.
HELP, SEARCH, PALETTE = "?", "/", "k"
#: The questions after and before the shown one.
NEXT, PREVIOUS = "J", "K"
#: The review of the shown answer: agree with Proofspan, choose another verdict, take the last one back.
AGREE, DISAGREE, UNDO = "A", "D", "U"
#: Make answer and shown passage the gold of the question.
GOLD = "G"

#: Place → keys → what they do. Alternatives are separated by spaces.
SHEET: Final[Mapping[str, Mapping[str, str]]] = {
    "Everywhere": {
        f"Ctrl+{PALETTE.upper()} ⌘{PALETTE.upper()}": "Go to a question, run, page or document, or act",
        SEARCH: "Search the questions of the run",
        HELP: "Open Help, at the term that has the focus",
        "Esc": "Close what is open, leave the tour",
    },
    "Question, and questions of Compare": {
        NEXT: "Next question of the list",
        PREVIOUS: "Previous question of the list",
    },
    "Review of an answer": {
        AGREE: "Agree with what Proofspan says",
        f"{DISAGREE} 1–6": "Choose another correctness, by its digit",
        UNDO: "Take your verdict back",
        GOLD: "Make the answer and the shown passage the gold",
    },
    "Lists and tables": {
        "↑ ↓ ← →": "Next link or button that way",
        "Home End": "First and last",
        "PageUp PageDown": "One screen up or down",
        "Enter": "Open",
        "Space Shift+Space": "On Triage: tick the row, or all since the last one",
    },
    "Help": {
        "↑ ↓": "Next term, or next place or action",
        "Enter": "Link to the term in the address, or go there",
    },
    "Answer and claims": {
        "← → ↑ ↓": "Next citation or claim",
        "Home End": "First and last claim",
    },
    "Page viewer": {
        "↑ ↓": "Marked passage before and after",
        "← →": "Page before and after, unless it fills the window",
        "PageUp PageDown": "Page before and after",
        "+ = - −": "Zoom in and out",
        "0": "Whole page",
        "F": "Zoom to the highlighted passage",
        "Ctrl+C": "Copy the words of the page in the focused box",
    },
    "Strip of pages": {
        "← →": "Next page with a mark",
        "Home End": "First and last",
    },
    "Walkthrough": {
        "← →": "Previous and next question",
        "↑ ↓": "Citation before and after",
        "1–9": "Citation by its number",
        "Home End": "First and last question",
        "F P": "Present in full screen",
        "Esc": "Leave the presentation",
    },
}
