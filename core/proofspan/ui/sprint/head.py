"""The head of Sprint: goals against now, the release check in a line, and what comes next."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from proofspan.journal.sprint import MANIFEST_LINE
from proofspan.manifest.load import MANIFEST_NAME
from proofspan.manifest.types import Manifest
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.values import (
    MetricValue,
    counted_in_words,
    interval_in_words,
    left_out_in_words,
    missing_in_words,
    number_in_words,
)
from proofspan.services.release import ReleaseVerdict
from proofspan.services.sprint.types import AgendaItem, GoalNow, SprintRecord
from proofspan.store.query.metric_sql import MISSES
from proofspan.store.query.store import Store
from proofspan.ui.sprint.entries import Shown
from proofspan.ui.sprint.items import Edit, opened_panel, show_item
from proofspan.ui.sprint.load import Sprint, address, authors, days
from proofspan.ui.sprint.words import (
    listed,
    moment,
    name_of,
    sign_of,
    unmarked,
    words_of,
)
from proofspan.ui.status import background, notices, release
from proofspan.ui.status.release import verdict_line
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import panel
from proofspan.ui.widgets.markup import Kind, Markup, Piece
from proofspan.ui.widgets.table import NOTHING, Cell, Column, Folding, Grid, Row, show_grid
from proofspan.ui.widgets.text import shortened
from proofspan.wording import counted

#: Characters of a goal's own words on its card.
MAX_CRITERIA = 300
#: Problems of the record that are shown.
MAX_PROBLEMS = 10
#: How a verdict on a goal is called and looks.
_REACHED: dict[str, tuple[str, Kind]] = {
    "pass": ("✓ reached", "pass"),
    "warn": ("! nearly", "warn"),
    "fail": ("✗ not reached", "fail"),
    "unknown": ("? not measured", "muted"),
}


def title_line(sprint: Sprint) -> None:
    """Draw the sprint's title with the number of entries and who wrote last."""
    entries = sprint.record.entries
    about = f"  {counted(len(entries), 'entry', 'entries')}"
    about += f" by {counted(len(authors(entries)), 'author')} on {counted(len(days(entries)), 'day')}"
    markup.page_title(shortened(sprint.record.title, 120) or "Sprint", about, width="content")


def about_line(record: SprintRecord) -> None:
    """Draw what the record says of the sprint as a whole: its status, its owner, its purpose."""
    if record.sprint is not None:
        owner = record.sprint.line("owner")
        words = (
            record.sprint.line("status"),
            f"owner {owner}" if owner else "",
            record.sprint.line("purpose"),
        )
        if any(words):
            markup.note(shortened(unmarked(" · ".join(filter(None, words))), MAX_CRITERIA), "muted")


def nothing_named(manifest: Manifest) -> None:
    """Draw what the page is for, and how a workspace gets a record."""
    markup.page_title("Sprint", f"  {manifest.name}")
    markup.note(
        "The living record of a sprint: goals against the runs, decisions, work packages, risks, log.",
        role="line",
    )
    fix = (
        f"Add `{MANIFEST_LINE}` to {MANIFEST_NAME}; `proofspan sprint import FILE.md` fills it from Markdown."
    )
    markup.show(markup.text(markup.coded(fix), role="line"))


def read_only(record: SprintRecord) -> None:
    """Draw why nothing can be added, where nothing can."""
    if record.can_write:
        message = markup.coded(f"Read only: {record.can_write}.", "muted")
        markup.show(markup.text(message, role="hint"))


def unread_lines(record: SprintRecord) -> None:
    """Draw the lines that hold no entry, and references that lead nowhere."""
    problems = (*record.issues, *record.problems)
    if problems:
        title = f"{counted(len(problems), 'problem')} of the record"
        with st.expander(title, key="sprint-problems"):
            notices.fault_panel(problems[:MAX_PROBLEMS])
            if len(problems) > MAX_PROBLEMS:
                markup.note(f"{len(problems) - MAX_PROBLEMS:,} more, which proofspan check prints.", "muted")


def show_goals(shown: Shown, edit: Edit | None, *, is_reading: bool) -> None:
    """Draw a card per goal: the number now, what it takes, and the run that moved it last."""
    goals = shown.sprint.record.goals
    if not goals:
        return
    with st.container(key="goal-cards"):
        for goal in goals:
            with st.container(border=True, key=f"goal-{goal.item.key}"):
                markup.show(*_card(goal, is_reading=is_reading))
                _card_links(goal, shown.view)
    item = shown.sprint.items.get(shown.view.item or "")
    if item is not None and item.kind == "goal":
        opened_panel(lambda: show_item(item, shown, edit), focus=address(item))


def _card(goal: GoalNow, *, is_reading: bool) -> Iterable[Markup]:
    """Yield a goal's name, its number with a bar, what it takes, and what moved it."""
    metric = METRICS.get(goal.metric_id or "")
    name = name_of(goal.item) or (metric.name if metric is not None else goal.item.key)
    term = f"metric.{metric.metric_id}" if metric is not None else ""
    is_named = metric is not None and name.casefold() == metric.name.casefold()
    title = [Piece(shortened(name, 120), "h2", term=term if is_named else "")]
    if metric is not None and not is_named:
        title += [Piece(" by ", "muted"), Piece(metric.name, "muted", term=term)]
    yield markup.text(title, role="line")
    if metric is None or goal.value is None:
        yield from _unmeasured(goal, is_reading=is_reading)
        return
    if goal.value.value is None:
        yield markup.text([Piece("–"), Piece(missing_in_words(goal.value), "muted")], role="title")
        yield markup.text([Piece(left_out_in_words(goal.value), "muted")], role="hint")
        return
    number, counted_words = number_in_words(metric, goal.value.value), counted_in_words(goal.value)
    sure = f"{counted_words} · {interval_in_words(goal.value)} in {goal.run_id}"
    yield markup.text([Piece(number), Piece(sure, "muted")], role="title")
    if metric.kind == "share" and goal.needed is not None and goal.questions:
        yield markup.gauge(goal.value.value, goal.value.low, goal.value.high, goal.needed / goal.questions)
    yield markup.text(_goal_words(goal), role="hint")
    if goal.moved_by and goal.was is not None and goal.was.value is not None:
        was, now = (_short(value) for value in (goal.was, goal.value))
        yield markup.text([Piece(f"{goal.moved_by}: {was} → {now}", "muted")], role="hint")
    yield from _criteria(goal)


def _unmeasured(goal: GoalNow, *, is_reading: bool) -> Iterable[Markup]:
    """Yield the status that a person gave to a goal without a metric, and its criteria."""
    status = words_of(goal.item.fields.get("status"))
    missing = "no status yet" if goal.metric_id is None else goal.why or "not measured yet"
    missing = "being read …" if goal.metric_id is not None and is_reading else missing
    pieces = [Piece(shortened(status, 60))] if status else [Piece("–"), Piece(missing, "muted")]
    yield markup.text(pieces, role="title")
    yield from _criteria(goal)
    if status and goal.item.history:
        last = goal.item.history[-1]
        yield markup.text([Piece(f"{moment(last.at)} · {last.author}", "muted")], role="hint")


def _criteria(goal: GoalNow) -> Iterable[Markup]:
    criteria = shortened(unmarked(listed(goal.item.fields.get("criteria"))), MAX_CRITERIA)
    if criteria:
        yield markup.text([Piece(criteria, "muted")], role="hint")


def _goal_words(goal: GoalNow) -> list[Piece]:
    """Return `✗ not reached  goal 26 of 37 (at least 70 %), 1 more`."""
    status = goal.verdict.status if goal.verdict is not None else "unknown"
    words, kind = _REACHED[status]
    part = goal.value.numerator if goal.value is not None else None
    whole = goal.value.denominator if goal.value is not None else None
    needed = goal.needed
    pieces = [Piece(words, kind, tip=f"{goal.verdict.why}." if goal.verdict is not None else "")]
    threshold = words_of(goal.item.fields.get("threshold"))
    if needed is not None and goal.questions:
        pieces.append(Piece(f" goal {needed:,} of {goal.questions:,}", "muted"))
        if part is not None and whole == goal.questions and needed > part:
            pieces.append(Piece(f", {needed - part:,} more", "muted"))
    elif threshold:
        pieces.append(Piece(f" goal {threshold}", "muted"))
    return pieces


def _short(value: MetricValue) -> str:
    part = value.numerator
    return (
        number_in_words(value.metric, value.value) if part is None else f"{part:,} of {value.denominator:,}"
    )


def _card_links(goal: GoalNow, view: ViewState) -> None:
    with st.container(horizontal=True, key=f"links-of-{goal.item.key}"):
        value, metric_id = goal.value, goal.metric_id
        if metric_id in MISSES and goal.run_id and value is not None and value.numerator is not None:
            missed = value.denominator - value.numerator
            if missed:
                failing = view.with_nothing_chosen().change(run=goal.run_id, miss=metric_id)
                title = f"View {counted(missed, 'failing question')}"
                st.page_link("pages/triage.py", label=title, query_params=failing.params())
        if goal.run_id and metric_id is not None:
            run = view.with_nothing_chosen().change(run=goal.run_id)
            st.page_link("pages/trends.py", label="Trends", query_params=run.params())
        if len(goal.item.history) > 1 or metric_id is None:
            history = view.change(item=address(goal.item)).params()
            st.page_link("pages/sprint.py", label="History", query_params=history)


def release_part(
    latest: session.Opened, store: Store, view: ViewState, *, indexed: bool, is_reading: bool
) -> None:
    """Draw the release check of the latest run, and wait for what is still being read."""
    if is_reading:
        words = "Runs are being read; their numbers appear here when that is done."
        notices.wait(lambda: _is_read(latest), words, "muted")
    if indexed:
        verdict, key = release.verdict_when_ready(latest, store)
        release_line(verdict, view)
        if key is not None:
            background.hint("The release check is being made; the page updates by itself.", [key])


def _is_read(latest: session.Opened) -> bool:
    """Return whether nothing is being read that the page waits for."""
    store, job = session.index(latest)
    failed = job is not None and bool(job.failure)
    return failed or (store is not None and not session.others_are_indexed(latest))


def release_line(verdict: ReleaseVerdict | None, view: ViewState) -> None:
    """Draw the release verdict on the latest run in a line, with the link to its checks."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="release-line"):
        if verdict is None:
            markup.note("Release check: the metrics are being read …", "muted")
            return
        first, *rest = verdict_line(verdict)
        first = Piece(f"{first.text.rstrip(': ')} of {verdict.run_id}: ", "h2")
        markup.show(markup.text([first, *rest], role="line"), width="content")
        query = view.with_nothing_chosen().change(run=verdict.run_id).params()
        st.page_link("pages/trends.py", label="See why in Trends", query_params=query)


def agenda_panel(shown: Shown) -> None:
    """Draw what has to be decided or done next, and above it the stop rule where it is raised."""
    record, view = shown.sprint.record, shown.view
    if not record.agenda and not record.stopped:
        return
    about = "What is open, and what it unblocks."
    with panel("agenda", "Next", about):
        for sentence in record.stopped:
            markup.show(
                markup.text(
                    [Piece("Stop rule: ", "strong", term="term.stop rule"), Piece(sentence)], role="says"
                )
            )
        if record.agenda:
            rows = tuple(_agenda_row(item, view) for item in record.agenda)
            show_grid(Grid("Agenda", _AGENDA_HEAD, _AGENDA_COLUMNS, rows, height=420), key="agenda-cells")


_AGENDA_HEAD = Column(Cell("To decide or to do"), "start", "head", lines=3)
_AGENDA_COLUMNS = (
    Column(Cell("State"), "start", "state", 8.0, 7.4),
    Column(Cell("Unblocks"), "start", "unblocks", 11.0, 9.0, 2, Folding(38.0, "head", titled=True)),
    Column(Cell("Waits for"), "start", "waits", 11.0, 9.0, 2, Folding(46.0, "head", titled=True)),
)


def _agenda_row(agenda: AgendaItem, view: ViewState) -> Row:
    sign, key = sign_of(agenda.item), address(agenda.item)
    head = Cell(
        shortened(unmarked(agenda.what), 240),
        href=view.change(item=key).link("sprint"),
        spoken=f"{shortened(agenda.what, 120)}: open {agenda.item.name}",
    )
    state = Cell(chips=(sign.chip(),)) if sign else NOTHING
    after = agenda.unblocks or agenda.item.listed("unblocks")
    linked = (Cell(shortened(", ".join(names), 120)) for names in (after, agenda.waits_for))
    return Row(head, (state, *linked), key=f"agenda-{key}")
