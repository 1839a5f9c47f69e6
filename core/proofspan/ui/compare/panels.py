"""The parts of the Compare page and their tables. Each draws what it is given and fetches nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from proofspan.display_names import COLUMN_NAMES, CORRECT_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.statistics import MOST_DRAWN, mcnemar
from proofspan.metrics.values import (
    MetricValue,
    counted_in_words,
    interval_in_words,
    left_out_in_words,
    number_in_words,
    value_in_words,
)
from proofspan.services.compare import (
    FLIP_KINDS,
    MOST_LISTED,
    WITHOUT_GOLD,
    FlipKind,
    MetricPair,
    Pins,
    chosen_sentence,
    labels_in_words,
    needs_sentence,
    p_words,
    ranks_in_words,
    scope_sentences,
    verdict_sentence,
)
from proofspan.services.release import ReleaseVerdict
from proofspan.store.files.types import Flips, RunFacts
from proofspan.store.query.filters import Sort
from proofspan.store.query.metric_sql import AXES, MISSES, OUTCOMES
from proofspan.ui.compare.difference import difference_cell, difference_column
from proofspan.ui.compare.load import MOVES, Compared, Transitions
from proofspan.ui.status import notices
from proofspan.ui.status.release import verdict_line
from proofspan.ui.triage import panels
from proofspan.ui.visit.view_state import ViewState, change_view, question_name, read_view
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import BY_BUCKET, BY_CAUSE, BY_CORRECT, BY_LABEL, Split
from proofspan.ui.widgets.controls import select
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import Cell, Chip, Column, Folding, Grid, Look, Row, explained, show_grid
from proofspan.ui.widgets.text import sentence_start, shortened, unbroken
from proofspan.wording import counted

#: A matrix of more columns takes a line of its own.
WIDE = 4
#: What an address of another comparison leaves out.
_PLACE = {"q": None, "cite": None, "chunk": None, "page": None}
#: Rows of each list on a page.
ROWS_A_PAGE = 20
#: Characters of a question and of its id.
MAX_QUESTION, MAX_ID = 140, 40
#: Characters of a pinned value; of a hash the first ones are enough.
MAX_VALUE, HASH = 120, re.compile(r"(?<=\b[0-9a-f]{8})[0-9a-f]{8,}\b")
#: A list narrower than that many rem shows rank and answer below the question.
NARROW = 30

#: The faintest tint of a cell that counts something.
FAINTEST = 0.25


def heading(view: ViewState, manifest: Manifest) -> None:
    """Draw `R004 compared with R003`, the titles of the runs, and what to compare with and by."""
    run, other = manifest.run(view.run), manifest.run(view.vs or "")
    against = f"{view.run} compared with {view.vs}" if other else view.run
    titles = " compared with ".join(each.title for each in (run, other) if each is not None and each.title)
    with st.container(key="compare-title", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", key="compare-head"):
            markup.page_title("Compare", f"  {against}", width="content")
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
            offered = [*(OUTCOMES if manifest.gold is not None else WITHOUT_GOLD), view.filter.outcome]
            select(
                "By",
                {outcome: f"by {OUTCOMES[outcome]}" for outcome in offered},
                view.filter.outcome,
                key="compare-by",
                width=230,
                on_choose=partial(_change, "outcome"),
            )
        with st.container(horizontal=True, vertical_alignment="center"):
            if titles:
                markup.note(titles, "muted", width="content")
            if other is not None:
                report = view.with_nothing_chosen().change(run=view.run, vs=view.vs)
                st.page_link(
                    "pages/report.py",
                    label="Release report",
                    icon=":material/description:",
                    query_params=report.params(),
                )


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


def verdict(flips: Flips, changes: Mapping[str, Flips], both: Compared, ready: ReleaseVerdict | None) -> None:
    """Draw what changed and whether the newer run is ready, then what it is based on.

    Below are the `changes` by the other outcomes. Above an open question the statement is small print.
    """
    view, manifest = both.opened.view, both.opened.manifest
    run, vs, outcome = view.run, view.vs or "", view.filter.outcome
    has_gold = manifest.gold is not None
    chosen = chosen_sentence(manifest, both.opened.run, both.other.run)
    message = verdict_sentence(flips, run=run, vs=vs, outcome=outcome, has_gold=has_gold, is_test=not chosen)
    if view.q is not None:
        markup.note(message, "muted")
        return
    besides = [chosen]
    if run != vs:
        besides += [
            "" if chosen else needs_sentence(flips),
            *scope_sentences(flips, run=run, vs=vs, outcome=outcome),
        ]
    narrowed = view.filter.without_comparison.where().sentence
    besides += [f"Only questions {narrowed}."] if narrowed else []
    if both.left_out:
        besides.append(f"The filter on {both.left_out} is not applied here: it goes by answers.")
    with st.container(key="verdict", gap="xxsmall"):
        markup.show(
            markup.text([Piece(message, "strong")], role="verdict"),
            *([markup.text(verdict_line(ready), role="line")] if ready else ()),
            *(markup.text([Piece(each, "muted")], role="hint") for each in besides if each),
        )
        others = {name: found for name, found in changes.items() if name != outcome}
        if run != vs and any(each.judged for each in others.values()):
            with st.container(key=f"changes-{len(others)}"):
                show_grid(changes_grid(others, view, is_test=not chosen), key="grid-changes")
        if ready is not None:
            query = view.with_nothing_chosen().change(run=view.run, vs=view.vs).params()
            st.page_link("pages/trends.py", label="See the reasons in Trends", query_params=query)
        if narrowed:
            change = {"type": (), "cohort": "", "about": ()}
            st.button(
                "Compare all questions",
                key="compare-all",
                type="tertiary",
                on_click=change_view,
                kwargs=change,
            )


def changes_grid(changes: Mapping[str, Flips], view: ViewState, *, is_test: bool = True) -> Grid:
    """Return a row per outcome: how many questions were fixed and regressed by it, each a list in Triage.

    `changes` are those of other outcomes than the one that the statement above is about.
    """

    def count(outcome: str, kind: FlipKind, found: Flips) -> Cell:
        name, number = AXES[outcome].name, getattr(found, kind)
        if not found.judged:
            return Cell("–", tip="No question is judged in both runs", look="quiet")
        href = view.change(flip=kind, outcome=outcome).link("") if number else None
        spoken = f"{name} {kind}: {counted(number, 'question')}. Open in Triage." if href else ""
        look: Look = "" if number else "quiet"
        return Cell(f"{number:,}", href=href, spoken=spoken, look=look)

    rows = []
    for outcome, found in changes.items():
        has_p = is_test and found.fixed + found.regressed
        p = p_words(mcnemar(found.fixed, found.regressed)) if has_p else "–"
        head = Cell(
            AXES[outcome].name,
            note=f"{found.judged:,} judged by {OUTCOMES[outcome]}",
            href=view.change(outcome=outcome, flip="").link("compare"),
            spoken=f"Compare by {OUTCOMES[outcome]}",
            terms=((AXES[outcome].name, f"metric.{outcome}"),) if outcome in METRICS else (),
        )
        both = (count(outcome, kind, found) for kind in FLIP_KINDS)
        rows.append(Row(head, (*both, Cell(p))))
    tip = "The probability of as uneven flips if neither run were better (McNemar)"
    flip = "term.flip"
    heads = (explained("Fixed", flip), explained("Regressed", flip), Cell("p-value", tip=tip))
    columns = tuple(Column(head, "end") for head in heads)
    title = f"Changes from {view.vs} to {view.run} by outcome"
    return Grid(title, "Other outcomes", columns, tuple(rows), wide=False)


def flips(lists: Mapping[FlipKind, pd.DataFrame], counts: Flips, view: ViewState) -> DeltaGenerator:
    """Draw twenty rows of each list that has any; return the place above them for what belongs to both."""
    longest = max(map(len, lists.values()))
    at = min(view.at, max(1, -(-longest // ROWS_A_PAGE)))
    with st.container(horizontal=True, vertical_alignment="center", key="flips-head"):
        markup.titled("Changed outcomes ", "open a question to see both answers", width="content")
        st.space("stretch")
        beside = st.container(width="content", key="flips-beside")
    with st.container(key="compare-flips"):
        for kind in FLIP_KINDS:
            total, linked = getattr(counts, kind), view.change(flip=kind, at=at)
            if not total:
                continue
            with st.container(key=f"flips-{kind}", gap="xsmall"):
                _, right, wrong = AXES[view.filter.outcome]
                was, now = (wrong, right) if kind == "fixed" else (right, wrong)
                listed = f", the first {MOST_LISTED:,} of them" if total > MOST_LISTED else ""
                about = f"{was} in {view.vs}, {now} in {view.run}{listed}"
                with st.container(horizontal=True, vertical_alignment="center", key=f"flips-title-{kind}"):
                    markup.titled(f"{sentence_start(kind)} ", about, level="h3", width="content")
                    st.page_link(
                        "pages/triage.py",
                        label="List in Triage",
                        query_params=view.change(flip=kind).as_list().params(),
                    )
                rows = lists[kind].iloc[(at - 1) * ROWS_A_PAGE : at * ROWS_A_PAGE]
                if len(rows):
                    show_grid(flips_grid(rows, linked, kind), key=f"grid-{kind}", on_sort=_sort)
                else:
                    markup.note("No more of them on this page.", "muted")
    panels.paging(longest, view, rows_a_page=ROWS_A_PAGE)
    return beside


def _sort(name: str) -> None:
    """Sort the lists by a column, then the other way, then in the usual order."""
    sort = read_view().sort
    after = Sort(name)
    if sort.by == name:
        after = Sort() if sort.descending else Sort(name, descending=True)
    change_view(sort=after.by, desc=after.descending)


def template_note(runs: Sequence[RunFacts]) -> None:
    """Explain that labels say little where no answer of a run follows the template."""
    absent = [each.run_id for each in runs if each.suggestion is not None]
    if absent:
        message = f"No answer of {' and of '.join(absent)} follows the template, so labels say little: "
        markup.note(f"{message}Triage offers the profile that fits.", "muted")


def matrices(moved: Mapping[str, Transitions], view: ViewState) -> None:
    """Draw how correctness, causes and, with gold, buckets changed, side by side where they fit.

    `moved` has the transitions by column. Labels are in the place of causes where claims are not checked.
    """
    correct, causes, labels, buckets = (moved[name] for name in MOVES)
    moves = ((BY_CORRECT, correct), (BY_CAUSE, causes))
    has_causes = any(was is not None or now is not None for was, now, _ in causes)
    kinds = [(BY_LABEL, labels, "without a label")] if not has_causes else []
    kinds.append((BY_BUCKET, buckets, "not judged"))
    shown = [
        (split, counts, unknown, transition_matrix(split, counts, view))
        for split, counts, unknown in kinds
        if any(was is not None or now is not None for was, now, _ in counts)
    ]
    is_wide = any(len(grid.columns) > WIDE for *_, grid in shown)
    with st.container(key="compare-matrices-below" if is_wide else "compare-matrices"):
        for split, counts in moves:
            changed = [(was, now, count) for was, now, count in counts if was and now and was != now]
            if changed:
                number = counted(sum(count for *_, count in changed), "answer")
                name = split.title.lower()
                with st.container(key=f"matrix-{name}", gap="xsmall"):
                    changed_from = f"{number} changed from {view.vs} to {view.run}"
                    markup.titled(f"{split.title} ", changed_from, term=f"term.{split.field}")
                    grid = moves_grid(
                        split,
                        changed,
                        names=(view.vs or "", view.run),
                        link=partial(_moved_address, split, view),
                    )
                    show_grid(grid, key=f"grid-{name}")
        for split, counts, unknown, grid in shown:
            left_out = sum(count for was, now, count in counts if was is None and now is None)
            besides = f" · {left_out:,} {unknown} in both runs" if left_out else ""
            about = f"rows: in {view.vs}, columns: in {view.run}{besides}"
            name = split.title.lower()
            with st.container(key=f"matrix-{name}", gap="xsmall"):
                markup.titled(f"{split.title} ", about, term=f"term.{split.field}")
                show_grid(grid, key=f"grid-{name}")


def moves_grid(
    split: Split,
    moved: Sequence[tuple[str | None, str | None, int]],
    *,
    names: tuple[str, str],
    link: Callable[[str | None, str | None], str | None],
    opens: str = "Open in Triage",
) -> Grid:
    """Return a row per change of a value, what is worst now first, with the questions of each.

    `names` are those of both sides. `link` is the address of a change's questions, None where they cannot be
    listed, and `opens` the words for it.
    """
    rows = []
    known = [*split.names, None]
    for was, now, count in sorted(moved, key=lambda each: (known.index(each[1]), known.index(each[0]))):
        words = " → ".join(split.names[value] if value else split.none for value in (was, now))
        href = link(was, now)
        spoken = f"{words}: {counted(count, 'question')}. {opens}." if href else ""
        named = tuple((split.names[value], split.term(value)) for value in (was, now) if value)
        rows.append(Row(Cell(words, terms=named), (Cell(f"{count:,}", href=href, spoken=spoken),)))
    title = f"{split.title}: changes from {names[0]} to {names[1]}"
    return Grid(title, " → ".join(names), (Column(Cell("Questions"), "end"),), tuple(rows))


def _moved_address(split: Split, view: ViewState, was: str | None, now: str | None) -> str:
    return view.change(**{split.was: (was,), split.field: (now,)}).link("")


def metrics(pairs: Sequence[MetricPair], view: ViewState) -> None:
    """Draw every metric of both runs; a number opens the questions that count against it."""
    about = "click a value to see failing questions; differences are paired, and a colour is about one metric"
    if any(pair.difference is not None and pair.difference.method == "normal" for pair in pairs):
        about += f"; normal intervals for more than {MOST_DRAWN:,} pairs"
    markup.note(f"{sentence_start(about)}.", "muted")
    if not pairs:
        markup.note("Neither run has anything to count.", "muted")
        return
    run, vs = view.run, view.vs or ""
    columns = (Column(Cell(vs), "end"), Column(Cell(run), "end"), difference_column(run, vs))
    rows = tuple(
        Row(
            explained(
                pair.metric.name,
                f"metric.{pair.metric.metric_id}",
                tip=f"{pair.metric.counted} {pair.metric.source}.",
            ),
            (
                value_cell(pair.there, view.change(run=vs, vs=None)),
                value_cell(pair.here, view),
                difference_cell(pair),
            ),
        )
        for pair in pairs
    )
    show_grid(Grid(f"Metrics of {vs} and {run}", "Metric", columns, rows), key="grid-metrics")


def pins(found: Pins, view: ViewState) -> None:
    """Draw the settings that are pinned differently, and in a line those that are the same."""

    def pinned(value: str | None) -> Cell:
        if value is None:
            return Cell("not pinned", look="quiet")
        line = HASH.sub("…", " ".join(value.split()))
        return Cell(shortened(line, MAX_VALUE), tip=value[:2_000] if line != value else "")

    notices.fault_panel(found.problems)
    if found.differing:
        rows = tuple(Row(Cell(each.key), (pinned(each.was), pinned(each.now))) for each in found.differing)
        below = Folding(NARROW, "setting", titled=True)
        sides = (("was", view.vs or ""), ("now", view.run))
        columns = tuple(Column(Cell(run), "start", name=name, lines=2, folds=below) for name, run in sides)
        title = f"Configuration changes from {view.vs} to {view.run}"
        corner = Column(Cell("Setting"), "start", name="setting", lines=2)
        show_grid(Grid(title, corner, columns, rows), key="grid-pins")
    elif found.same:
        markup.note("No pinned setting differs.")
    else:
        message = "Neither run pins its configuration: add `pinned:` to the runs of the manifest."
        markup.show(markup.text(markup.coded(message, "muted"), role="hint"))
    if found.same:
        markup.note(f"Unchanged: {', '.join(found.same)}.", "muted")


def flips_grid(rows: pd.DataFrame, view: ViewState, kind: FlipKind) -> Grid:
    """Return a list of questions, each row a link to both answers: the rank of its gold section and, of the
    answer, correctness and label, before and now.
    """

    def column(name: str, title: str, **layout: Any) -> Column:
        way: Literal["descending", "ascending"] = "descending" if view.sort.descending else "ascending"
        return Column(
            Cell(title), name=name, sorts=True, sorted=way if view.sort.by == name else "", **layout
        )

    listed = []
    for record in rows.to_dict("records"):
        name = question_name(str(record["q_id"]))
        here = view.change(q=name, p=0, s=0, cite=None, chunk=None, page=None)
        question = shortened(str(record["q"]), MAX_QUESTION)
        ranks = [record[column] for column in ("was_rank", "section_rank")]
        was, now = (None if pd.isna(rank) else int(rank) for rank in ranks)
        labels = [record[column] for column in ("was_label", "label")]
        codes = [label if isinstance(label, str) else None for label in labels]
        names = dict.fromkeys(LABEL_NAMES[code] if code else NO_LABEL for code in codes)
        verdicts = [record[column] for column in ("was_correct", "correct")]
        known = [verdict for verdict in verdicts if isinstance(verdict, str)]
        judged = " → ".join(dict.fromkeys(CORRECT_NAMES[verdict] for verdict in known))
        head = Cell(
            question,
            note=shortened(name, MAX_ID),
            tip=name if len(name) > MAX_ID else "",
            href=here.link("compare"),
            spoken=f"{name}, both answers side by side: {question}",
        )
        label, tip = " → ".join(names), labels_in_words(*codes)
        terms = [(CORRECT_NAMES[each], f"correct.{each}") for each in dict.fromkeys(known)]
        terms += [(LABEL_NAMES[code], f"label.{code}") for code in dict.fromkeys(codes) if code]
        answer = Cell(judged or label, note=label if judged else "", tip=tip, terms=tuple(terms))
        listed.append(Row(head, (Cell(ranks_in_words(was, now)), answer)))
    below = Folding(NARROW, "question", titled=True)
    corner = Column(Cell("Question"), "start", name="question", lines=2)
    columns = (
        column("section_rank", COLUMN_NAMES["gold_rank"], align="end", width=6.5, folds=below),
        column("correct", "Answer", align="start", width=10.5, lines=2, folds=below),
    )
    message = "were fixed" if kind == "fixed" else "regressed"
    title = f"Questions that {message} in {view.run} compared with {view.vs}"
    return Grid(title, corner, columns, tuple(listed))


def value_cell(value: MetricValue | None, view: ViewState | None) -> Cell:
    """Return a number with its interval and counts; with a `view` it opens the questions against it."""
    if value is None or value.value is None:
        return Cell("–", look="quiet", tip=left_out_in_words(value) if value else "")
    metric, words = value.metric, value_in_words(value)
    counted = counted_in_words(value)
    # What is counted may take several words, which wrap in a narrow window: "35 answers with claims".
    shown = unbroken(counted) if value.numerator is not None else counted.replace(" ", "\u00a0", 1)
    href, spoken = None, ""
    if view is not None and metric.metric_id in MISSES:
        href = view.change(miss=metric.metric_id).link("")
        spoken = f"{metric.name} of {view.run}: {words}. Open the questions that count against it in Triage."
    return Cell(
        number_in_words(metric, value.value),
        note=", ".join(filter(None, (unbroken(interval_in_words(value)), shown))),
        tip=left_out_in_words(value),
        href=href,
        spoken=spoken,
    )


def transition_matrix(split: Split, counts: Transitions, view: ViewState) -> Grid:
    """Return how many questions went from which value (rows) to which (columns), with sums at the ends.

    The values that occur are there, the worst first. Questions without a value in both runs are left out.
    """
    run, vs = view.run, view.vs or ""
    known = {(was, now): count for was, now, count in counts if (was, now) != (None, None)}
    values = (*reversed(tuple(split.looks)), None)
    old = [value for value in values if any(was == value for was, _ in known)]
    new = [value for value in values if any(now == value for _, now in known)]
    most = max(known.values(), default=1)

    def name(value: str | None) -> str:
        return split.names[value] if value else split.none

    def chip(value: str | None) -> Cell:
        if value is None:
            return Cell(split.none, look="quiet")
        return Cell(chips=(Chip(split.names[value], split.looks[value], value, split.term(value)),))

    def cell(was: str | None, now: str | None) -> Cell:
        """Return a count, more strongly tinted the larger it is; grey where nothing changed, else in the
        colour of the value now.
        """
        count = known.get((was, now), 0)
        if not count:
            return Cell("·", look="quiet")
        tip = f"{name(was)} in {vs}, {name(now)} in {run}"
        look: Look = "gray" if now is None or was == now else split.looks[now]
        tone = FAINTEST + (1 - FAINTEST) * count / most
        if was is None or now is None:  # what has no value cannot be asked for
            return Cell(f"{count:,}", tip=tip, tone=tone, look=look)
        href = view.change(**{split.was: (was,), split.field: (now,)}).link("")
        spoken = f"{tip}: {counted(count, 'question')}. Open in Triage."
        return Cell(f"{count:,}", tip=tip, tone=tone, look=look, href=href, spoken=spoken)

    def total(counts: Iterable[int]) -> Cell:
        return Cell(f"{sum(counts):,}", look="quiet")

    rows = []
    for was in old:
        whole = total(count for (then, _), count in known.items() if then == was)
        rows.append(Row(chip(was), (*(cell(was, now) for now in new), whole)))
    sums = [total(count for (_, now), count in known.items() if now == value) for value in new]
    rows.append(Row(Cell(f"All in {run}", look="quiet"), (*sums, total(known.values()))))
    columns = (*(Column(chip(value)) for value in new), Column(Cell(f"All in {vs}"), "end"))
    title = f"{split.title}: rows by {vs}, columns by {run}"
    return Grid(title, f"{vs} ↓  {run} →", columns, tuple(rows))
