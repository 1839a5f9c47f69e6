"""Mount Help once a page: the drawer, the palette and its search, and on the demo the welcome and the tour.

The browser shows and hides all of it. The server sends what is constant for a workspace, once, and looks up
questions while somebody types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import orjson
import streamlit as st

from proofspan.contracts.records.records import TraceKey
from proofspan.errors import Fault
from proofspan.manifest.types import Manifest
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.ui import keys
from proofspan.ui.component import component
from proofspan.ui.help import tour
from proofspan.ui.help.glossary import entries
from proofspan.ui.status.fragments import fragment
from proofspan.ui.visit import session
from proofspan.ui.visit.routes import OPEN_PATH, OPEN_TITLE, PAGES
from proofspan.ui.visit.view_state import ViewState, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.markup import Piece, clean
from proofspan.ui.wording.verdict import run_chip

_SCRIPTS = ("ui/visit/links.js", "ui/help/drawer.js", "ui/help/palette.js", "ui/help/tour.js")
_SEARCH, _ASKED = "palette-search", "palette:asked"
#: Parameters of an address that name the workspace and how it is read, and the run.
_KEPT = ("opened", "run", "template", "refusal")
#: The field that the key of search leads to.
_FIELD = ".st-key-search input"
#: What the link of the sidebar to the palette names in place of a term.
_GO_TO = "palette"
#: Questions that are shown, documents that are sent, and characters of a question, a title and a search.
MOST, MOST_DOCUMENTS, MAX_CHARS, MAX_WORDS = 20, 500, 160, 200
_MAX_NUMBER = 2**53
_BY_ID = Sort("q_id")


def show_help(page: str) -> None:
    """Mount Help on the page of this address; before its content, so that it works while that loads."""
    try:
        opened = session.current(needs_run=False)
    except Fault:  # the page shows it
        opened = None
    manifest = opened.manifest if opened is not None else None
    key = session.identity(opened) if opened is not None else ()
    data = session.cached("help", key, lambda: packed(manifest))
    component("ui/help/help", scripts=_SCRIPTS)(key="help", data=data)
    if opened is None:
        return
    _search()
    if not page and tour.is_demo(opened.manifest):
        tour.show_welcome()


def sidebar_links() -> None:
    """Draw the ways to Help and to the palette, each with its key."""
    links = (("Help", tour.EVERYTHING, keys.HELP), ("Go to …", _GO_TO, f"Ctrl {keys.PALETTE.upper()}"))
    markup.show(
        *(
            markup.text([Piece(words, term=term), Piece(key, "key")], role="line")
            for words, term, key in links
        )
    )


def packed(manifest: Manifest | None) -> bytes:
    """Return what the browser needs, as JSON; without a workspace no runs and documents."""
    runs = manifest.runs if manifest is not None else ()
    documents = manifest.documents if manifest is not None else ()
    pages = [(path, title) for group in PAGES.values() for _, title, path in group]
    is_demo = manifest is not None and tour.is_demo(manifest)
    steps = tour.STEPS if is_demo else ()
    return orjson.dumps(
        {
            "entries": [entry._asdict() for entry in entries()],
            "sheet": [(place, [*listed.items()]) for place, listed in keys.SHEET.items()],
            "keys": {"help": keys.HELP, "search": keys.SEARCH, "palette": keys.PALETTE},
            "search": _FIELD,
            "all": tour.EVERYTHING,
            "goTo": _GO_TO,
            "kept": _KEPT,
            "welcome": "=".join(tour.COOKIE),
            "pages": [*pages, (OPEN_PATH, OPEN_TITLE)],
            "runs": [(run.run_id, _short(run.title or "")) for run in reversed(runs)],
            "documents": [
                (each.doc_id, _short(each.title or each.doc_id)) for each in documents[:MOST_DOCUMENTS]
            ],
            "tour": [
                {
                    "address": tour.address(number),
                    "target": step.target,
                    "title": step.title,
                    "text": step.text,
                }
                for number, step in enumerate(steps, start=1)
            ],
        }
    )


class Asked(NamedTuple):
    """A request of the palette with its running number: questions with `words`, or the next failing one."""

    number: int
    words: str = ""
    failure: bool = False


def asked_from(sent: object) -> Asked | None:
    """Return the request that a browser sent, None for anything else."""
    if not isinstance(sent, Mapping):
        return None
    number, words, failure = sent.get("number"), sent.get("words", ""), sent.get("failure", False)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < _MAX_NUMBER:
        return None
    if not isinstance(words, str) or not isinstance(failure, bool):
        return None
    return Asked(number, words.strip()[:MAX_WORDS], failure)


@fragment(place="palette-search-place")
def _search() -> None:
    asked: Asked | None = st.session_state.pop(_ASKED, None)
    component("ui/help/search")(
        key=_SEARCH, data=orjson.dumps(_answer(asked)) if asked else b"", on_ask_change=_remember
    )


def _remember() -> None:
    if (asked := asked_from(st.session_state[_SEARCH].get("ask"))) is not None:
        st.session_state[_ASKED] = asked


def _answer(asked: Asked) -> dict[str, Any]:
    """Return the answer for the browser; a run without an index has no questions yet."""
    answer: dict[str, Any] = {"number": asked.number, "questions": [], "go": "", "note": ""}
    try:
        opened = session.current(needs_run=False)
        store = session.store_of(opened)
        if store.stamp(opened.view.run) is None:
            return answer | {"note": "The run is not indexed yet."}
        if not asked.failure:
            return answer | {"questions": questions(store, opened.view, asked.words)}
        go = next_failure(store, opened.view)
        return answer | {"go": go, "note": "" if go else "No other question of the run fails."}
    except Fault:  # the page shows it
        return answer


def questions(store: Store, view: ViewState, words: str) -> list[dict[str, str]]:
    """Return at most `MOST` questions of the run: those whose id begins with `words`, then those that have
    them in the question, then in the answer.
    """
    hits: dict[str, dict[str, str]] = {}
    if not words:
        return []
    for find in (
        partial(store.named_like, view.run, words, limit=MOST),
        partial(store.page, Filter(view.run, text=words, questions_only=True), _BY_ID, limit=MOST, offset=0),
        partial(store.page, Filter(view.run, text=words), _BY_ID, limit=MOST, offset=0),
    ):
        for record in find().to_dict("records"):
            name = question_name(str(record["q_id"]), int(record["repeat"]))
            chip = run_chip(*(record[each] for each in ("label", "grounded", "correct", "cause")))
            variant = int(record["paraphrase"]), int(record["seed"])
            hits.setdefault(
                name,
                {
                    "name": f"{name}  {_short(str(record['q']))}",
                    "note": f"{chip.sign} {chip.words.split(' · ')[-1]}",
                    "address": _at(view.without_filter(), name, *variant),
                },
            )
        if len(hits) >= MOST:
            break
    return list(hits.values())[:MOST]


def next_failure(store: Store, view: ViewState) -> str:
    """Return the address of the failing question after the shown one, else of the first; "" without one."""
    failing = replace(view.filter, fails=True)
    after = store.neighbours(failing, view.sort, view.key).next if view.key else None
    if after is None:
        first = store.places(failing, view.sort, limit=1)
        for record in first.to_dict("records"):
            names = ("q_id", "paraphrase", "seed", "repeat")
            q_id, *variant = (record[name] for name in names)
            after = TraceKey(view.run, str(q_id), *map(int, variant))
    if after is None or after == view.key:
        return ""
    return _at(view, question_name(after.q_id, after.repeat), after.paraphrase, after.seed)


def _at(view: ViewState, q: str, p: int, s: int) -> str:
    return view.as_list().change(q=q, p=p, s=s).link("question")


def _short(text: str) -> str:
    line = " ".join(clean(text).split())
    return line if len(line) <= MAX_CHARS else f"{line[: MAX_CHARS - 1].rstrip()}…"
