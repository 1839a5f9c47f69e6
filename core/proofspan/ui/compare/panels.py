"""The parts of the Compare page around its tables. Each draws what it is given and fetches nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.display_names import COLUMN_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.manifest.types import Manifest
from proofspan.metrics.statistics import MOST_DRAWN
from proofspan.services.compare import (
    WITHOUT_GOLD,
    MetricPair,
    Pins,
    needs_sentence,
    scope_sentences,
    verdict_sentence,
)
from proofspan.services.compare_questions import (
    FLIP_KINDS,
    MOST_LISTED,
    FlipKind,
    labels_in_words,
    ranks_in_words,
)
from proofspan.store.files.types import Flips, RunFacts
from proofspan.store.query.filters import Sort
from proofspan.store.query.metric_sql import OUTCOMES
from proofspan.ui.compare.tables import (
    Transitions,
    metrics_grid,
    pins_grid,
    transition_matrix,
    unknown_in_both,
)
from proofspan.ui.status import notices
from proofspan.ui.triage import panels
from proofspan.ui.visit.view_state import ViewState, change_view, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import BY_BUCKET, BY_LABEL
from proofspan.ui.widgets.controls import select
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Row, show_grid
from proofspan.wording import counted

#: A matrix of more columns takes a line of its own.
WIDE = 4
_PLACE = {"q": None, "cite": None, "chunk": None, "page": None}


def heading(view: ViewState, manifest: Manifest) -> None:
    """Draw `R004 compared with R003`, the titles of the runs, and what to compare with and by."""
    run, other = manifest.run(view.run), manifest.run(view.vs or "")
    against = f"{view.run} compared with {view.vs}" if other else view.run
    titles = " compared with ".join(each.title for each in (run, other) if each is not None and each.title)
    with st.container(key="compare-title", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", key="compare-head"):
            markup.titled("Compare", f"  {against}", role="title", width="content")
            st.space("stretch")
            names = notices.run_names(manifest.runs, but=view.run)
            if names:
                select(
                    "Compare with",
                    {run_id: f"with {name}" for run_id, name in names.items()},
                    view.vs if view.vs in names else None,
                    key="compare-with",
                    placeholder="Compare with …",
                    is_clearable=view.vs not in names,
                    width=210,
                    on_choose=partial(_change, "vs"),
                )
            offered = [*(OUTCOMES if manifest.gold is not None else [WITHOUT_GOLD]), view.filter.outcome]
            select(
                "By",
                {outcome: f"by {OUTCOMES[outcome]}" for outcome in offered},
                view.filter.outcome,
                key="compare-by",
                width=230,
                on_choose=partial(_change, "outcome"),
            )
        if titles:
            markup.note(titles, "muted")


def _change(name: str, value: str | None) -> None:
    if value:
        change_view(**{name: value, "flip": "", **_PLACE})


def nothing_to_compare(manifest: Manifest, run_id: str) -> None:
    """Explain why there is no run to compare with, and what to do."""
    is_only = len(manifest.runs) < 2
    message = "There is only one run." if is_only else f"No run precedes {run_id}."
    then = "List another under `runs:` in the manifest." if is_only else "Choose the run to compare it with."
    markup.show(
        markup.text([Piece(message, "strong")], role="line"),
        markup.text(markup.coded(then, "muted"), role="hint"),
    )


def verdict(flips: Flips, view: ViewState, *, has_gold: bool, left_out: str) -> None:
    """Draw the deciding sentence, the questions needed for significance, and which questions are compared.

    Above an open question it is small print.
    """
    run, vs, outcome = view.run, view.vs or "", view.filter.outcome
    message = verdict_sentence(flips, run=run, vs=vs, outcome=outcome, has_gold=has_gold)
    if view.q is not None:
        markup.note(message, "muted")
        return
    besides: list[str] = []
    if run != vs:
        besides += [needs_sentence(flips), *scope_sentences(flips, run=run, vs=vs, outcome=outcome)]
    narrowed = view.filter.without_comparison.where().sentence
    besides += [f"Only questions {narrowed}."] if narrowed else []
    besides += [f"The filter on {left_out} is not applied here: it goes by answers."] if left_out else []
    with st.container(key="verdict", gap="xxsmall"):
        markup.show(
            markup.text([Piece(message, "strong")], role="verdict"),
            *(markup.text([Piece(each, "muted")], role="hint") for each in besides if each),
        )
        if narrowed:
            change = {"type": (), "cohort": "", "about": ()}
            st.button(
                "Compare all questions",
                key="compare-all",
                type="tertiary",
                on_click=change_view,
                kwargs=change,
            )


def flips(lists: Mapping[FlipKind, pd.DataFrame], counts: Flips, view: ViewState) -> DeltaGenerator:
    """Draw twenty rows of both lists, and return the place above them for what belongs to both."""
    longest = max(map(len, lists.values()))
    at = min(view.at, max(1, -(-longest // ROWS_A_PAGE)))
    with st.container(horizontal=True, vertical_alignment="center", key="flips-head"):
        markup.titled("Changed outcomes ", "open a question to see both answers", width="content")
        st.space("stretch")
        beside = st.container(width="content", key="flips-beside")
    with st.container(key="compare-flips"):
        for kind in FLIP_KINDS:
            with st.container(key=f"flips-{kind}", gap="xsmall"):
                total, linked = getattr(counts, kind), view.change(flip=kind, at=at)
                was, now = ("wrong", "right") if kind == "fixed" else ("right", "wrong")
                listed = f", the first {MOST_LISTED:,} of them listed" if total > MOST_LISTED else ""
                about = f"{was} in {view.vs}, {now} in {view.run}{listed}"
                markup.titled(f"{kind.capitalize()}: {counted(total, 'question')} ", about)
                rows = lists[kind].iloc[(at - 1) * ROWS_A_PAGE : at * ROWS_A_PAGE]
                if len(rows):
                    show_grid(flips_grid(rows, linked, kind), key=f"grid-{kind}")
                elif total:
                    markup.note("No more of them on this page.", "muted")
    panels.paging(longest, view, rows_a_page=ROWS_A_PAGE)
    return beside


def template_note(runs: Sequence[RunFacts]) -> None:
    """Explain that labels say little where no answer of a run follows the template."""
    absent = [each.run_id for each in runs if each.suggestion is not None]
    if absent:
        message = f"No answer of {' and of '.join(absent)} follows the template, so labels say little: "
        markup.note(f"{message}Triage offers the profile that fits.", "muted")


def matrices(labels: Transitions, buckets: Transitions, view: ViewState) -> None:
    """Draw how labels and, with gold, buckets changed between the runs, side by side where both fit."""
    kinds = (
        (BY_LABEL, labels, "without a label"),
        (BY_BUCKET, buckets, "not judged"),
    )
    shown = [
        (split.title, transition_matrix(split, counts, view), unknown_in_both(counts), unknown)
        for split, counts, unknown in kinds
        if any(was is not None or now is not None for was, now, _ in counts)
    ]
    is_wide = any(len(grid.columns) > WIDE for _, grid, _, _ in shown)
    with st.container(key="compare-matrices-below" if is_wide else "compare-matrices"):
        for title, grid, left_out, unknown in shown:
            besides = f" · {left_out:,} {unknown} in both runs" if left_out else ""
            about = f"rows: in {view.vs}, columns: in {view.run}{besides}"
            with st.container(key=f"matrix-{title.lower()}", gap="xsmall"):
                markup.titled(f"{title} ", about)
                show_grid(grid, key=f"grid-{title.lower()}")


def metrics(pairs: Sequence[MetricPair], view: ViewState) -> None:
    """Draw every metric of both runs; a number opens the questions that count against it."""
    about = "click a value to see failing questions; differences are paired"
    if any(pair.difference is not None and pair.difference.method == "normal" for pair in pairs):
        about += f"; normal intervals for more than {MOST_DRAWN:,} pairs"
    markup.titled("Metrics ", about)
    if pairs:
        show_grid(metrics_grid(pairs, view), key="grid-metrics")
    else:
        markup.note("Neither run has anything to count.", "muted")


def pins(found: Pins, view: ViewState) -> None:
    """Draw the settings that are pinned differently, and in a line those that are the same."""
    markup.note("Configuration changes", "strong", role="line")
    notices.fault_panel(found.problems)
    if found.differing:
        show_grid(pins_grid(found.differing, view), key="grid-pins")
    elif found.same:
        markup.note("No pinned setting differs.")
    else:
        message = "Neither run pins its configuration: add `pinned:` to the runs of the manifest."
        markup.show(markup.text(markup.coded(message, "muted"), role="hint"))
    if found.same:
        markup.note(f"Unchanged: {', '.join(found.same)}.", "muted")


#: Rows of each list on a page.
ROWS_A_PAGE = 20
#: Characters of a question and of its id.
MAX_QUESTION, MAX_ID = 140, 40


def flips_grid(rows: pd.DataFrame, view: ViewState, kind: FlipKind) -> Grid:
    """Return a row per question, linked to both answers: the rank of its gold section and its label, before
    and now.

    A click on a header sorts.
    """

    def header(text: str, by: str) -> Cell:
        """Return a header that sorts by its column, then the other way, then in the usual order."""
        after, arrow, way = Sort(by), "", "ascending"
        if view.sort.by == by:
            descending = (Sort(by, descending=True), " ↑", "descending")
            after, arrow, way = (Sort(), " ↓", "worst first") if view.sort.descending else descending
        href = view.change(sort=after.by, desc=after.descending).link("compare")
        return Cell(f"{text}{arrow}", href=href, spoken=f"{text}: sort {way}")

    listed = []
    for record in rows.to_dict("records"):
        name = question_name(str(record["q_id"]))
        here = view.change(q=name, p=0, s=0, cite=None, chunk=None, page=None)
        question = _shortened(str(record["q"]), MAX_QUESTION)
        ranks = [record[column] for column in ("was_rank", "section_rank")]
        was, now = (None if pd.isna(rank) else int(rank) for rank in ranks)
        labels = [record[column] for column in ("was_label", "label")]
        codes = [label if isinstance(label, str) else None for label in labels]
        names = dict.fromkeys(LABEL_NAMES[code] if code else NO_LABEL for code in codes)
        head = Cell(
            question,
            note=_shortened(name, MAX_ID),
            tip=name if len(name) > MAX_ID else "",
            href=here.link("compare"),
            spoken=f"{name}, both answers side by side: {question}",
        )
        ranked, labelled = ranks_in_words(was, now), Cell(" → ".join(names), tip=labels_in_words(*codes))
        link = Cell("Question", href=here.link("question"), spoken=f"{name} on the Question page")
        listed.append(Row(head, (Cell(ranked), labelled, link)))
    columns = (
        Column(header(COLUMN_NAMES["gold_rank"], "section_rank"), "end"),
        Column(header(COLUMN_NAMES["label"], "label"), "start"),
        Column(Cell(""), "start"),
    )
    message = "were fixed" if kind == "fixed" else "regressed"
    title = f"Questions that {message} in {view.run} compared with {view.vs}"
    return Grid(title, "Question", columns, tuple(listed), wide=False)


def _shortened(text: str, limit: int) -> str:
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
