"""The tour of the demo: the pages that it leads over, and the welcome on Triage that begins it."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from proofspan.manifest.types import Manifest
from proofspan.resources import DEMO
from proofspan.ui.visit.routes import OPEN_PATH
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece

#: What a link names in place of a term: the whole glossary, which begins with the terms of the page.
EVERYTHING = "all"
#: The cookie of a browser in which the welcome was dismissed.
COOKIE = ("proofspan_welcome", "dismissed")
_DISMISSED = "welcome:dismissed"
#: The demo's latest run, and the one with faults: its answer to a question has a wrong figure.
LATEST, FAULTY, MISQUOTED = "R006", "R005", "Q84"


class Step(NamedTuple):
    """A stop of the tour: a page of the demo, the CSS selector of what is outlined there, and what to see."""

    page: str
    view: ViewState
    target: str
    title: str
    text: str


def _view(run: str, **more: object) -> ViewState:
    return ViewState().change(run=run, **more)


STEPS: tuple[Step, ...] = (
    Step(
        "",
        _view(FAULTY),
        ".st-key-strip",
        "Every answer has a verdict",
        "These are a pipeline's answers to 39 questions on a car's manual. They are counted by why they "
        "fail, the most harmful first; the list has the same order.",
    ),
    Step(
        "question",
        _view(FAULTY, q=MISQUOTED),
        ".st-key-page-side",
        "A wrong number, and its page",
        "The answer says 1.4 litre. The page that it cites says 1.0 litre: the passage is marked where it is "
        "in the PDF.",
    ),
    Step(
        "question",
        _view(FAULTY, q=MISQUOTED, at_claim=1),
        ".st-key-claims",
        "Each claim has its evidence",
        "An answer is split into claims. Choose one to see the sentence that supports or contradicts it, and "
        "by how much.",
    ),
    Step(
        "walkthrough",
        _view(LATEST),
        ".st-key-walk-bar",
        "Show it to others",
        "Walkthrough shows one answer and its evidence at a time. The arrow keys turn the pages, F fills the "
        "screen.",
    ),
    Step(
        "trends",
        _view(LATEST),
        ".st-key-gate",
        "Is this run ready for release?",
        "One verdict from all checks, with the reasons and what would change it. Each number leads to its "
        "questions.",
    ),
    Step(
        OPEN_PATH,
        ViewState(),
        "[data-testid=stForm]",
        "Now with your own data",
        "Open traces, exports or responses of your tools together with the PDFs. This dashboard "
        "reads them, and sends them nowhere.",
    ),
)


def address(number: int) -> str:
    """Return the relative address of a step by its number from 1."""
    link = STEPS[number - 1].view.link(STEPS[number - 1].page)
    return f"{link}{'&' if '?' in link else '?'}tour={number}"


def is_demo(manifest: Manifest) -> bool:
    """Return whether a workspace is the demo that ships with the program."""
    return manifest.folder.resolve() == DEMO.resolve()


def show_welcome() -> None:
    """Draw what the demo is and what to try, until it is dismissed in this browser."""
    name, value = COOKIE
    if st.session_state.get(_DISMISSED) or st.context.cookies.get(name) == value:
        return

    def way(words: str, href: str) -> Piece:
        return Piece(words, "strong", href=href)

    between = Piece(" · ", "muted")
    about = [
        Piece("This is a demo: ", "strong"),
        Piece("a pipeline's answers on a car's manual, each checked against the page that it cites. A "),
        Piece("run", term="term.run"),
        Piece(" is one pass over the questions."),
    ]
    tries = [
        Piece("Try: "),
        way("A wrong number on its page", _view(FAULTY, q=MISQUOTED).link("question")),
        between,
        way("Answers one by one", _view(LATEST).link("walkthrough")),
        between,
        way(f"Is {LATEST} ready for release?", _view(LATEST).link("trends")),
    ]
    onward = [
        way("Start the 60-second tour", address(1)),
        between,
        way("Open your data", f"./{OPEN_PATH}"),
        between,
        Piece("What do the verdicts mean?", "strong", term=EVERYTHING),
    ]
    with st.container(border=True, horizontal=True, wrap=False, key="welcome"):
        markup.show(*(markup.text(line, role="line") for line in (about, tries, onward)))
        st.button(
            "Dismiss",
            key="welcome-dismiss",
            type="tertiary",
            width="content",
            on_click=lambda: st.session_state.update({_DISMISSED: True}),
        )
