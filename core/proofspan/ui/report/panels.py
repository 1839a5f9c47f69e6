"""The parts of the release report. Each draws what it is given and fetches nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from proofspan.metrics.goals import Status
from proofspan.services.page.crop import Crop
from proofspan.services.release import State
from proofspan.services.report.content import WHAT_IF, Number, ReleaseReport
from proofspan.services.report.proofs import Proof
from proofspan.store.query.filters import Filter
from proofspan.ui.status.release import check_term
from proofspan.ui.visit.routes import REPORT_TITLE
from proofspan.ui.visit.view_state import ViewState, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.copy_button import show_copying
from proofspan.ui.widgets.markup import Kind, Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Row, explained, show_grid
from proofspan.ui.widgets.text import shortened
from proofspan.wording import counted

_STATES: Mapping[State, tuple[str, Kind]] = {
    "ready": ("✓", "pass"),
    "not_ready": ("✗", "fail"),
    "not_enough_evidence": ("?", "warn"),
}
_STATUSES: Mapping[Status, tuple[str, Kind]] = {
    "pass": ("✓ ", "pass"),
    "warn": ("! ", "warn"),
    "fail": ("✗ ", "fail"),
    "unknown": ("", "muted"),
}
_FILES = {"pdf": "application/pdf", "png": "image/png"}


def head(report: ReleaseReport, files: Mapping[str, Callable[[], bytes]]) -> None:
    """Draw the title with the ways to hand the report over."""
    verdict = report.verdict
    stem = "".join(each if each.isalnum() else "-" for each in f"{verdict.run_id}-{verdict.against or ''}")
    with st.container(horizontal=True, vertical_alignment="center", key="report-head"):
        about = f"  {report.title.partition(' · ')[2]} · {report.about}"
        markup.page_title(REPORT_TITLE, about)
        show_copying("", name="", key="report-link", shows_text=False)
        for kind, make in files.items():
            st.download_button(
                markup.label(kind.upper()),
                data=make,
                file_name=f"report-{stem[:60].strip('-')}.{kind}",
                mime=_FILES[kind],
                key=f"report-{kind}",
                on_click="ignore",
            )


def headline(report: ReleaseReport) -> None:
    """Draw the verdict with its heaviest reasons."""
    state = report.verdict.state
    sign, kind = _STATES[state]
    with st.container(border=True, key=f"headline-{state.replace('_', '-')}"):
        words = Piece(f"{sign} {report.verdict.words}", kind, term=f"release.{state}")
        markup.show(markup.text([words, Piece(f"  {report.headline}")], role="line"))


def numbers(report: ReleaseReport) -> None:
    """Draw a card per headline metric."""
    with st.container(key="report-numbers"):
        for number in report.numbers:
            with st.container(border=True, key=f"number-{number.metric_id}"):
                markup.show(*_number(number))


def _number(number: Number) -> Sequence[markup.Markup]:
    sign, kind = _STATUSES[number.status]
    return (
        markup.text([Piece(number.name, "muted", term=f"metric.{number.metric_id}")], role="hint"),
        markup.text([Piece(number.number), Piece(f"  {number.sure}", "muted")], role="title"),
        markup.text([Piece(f"{sign}{number.goal}", kind)], role="hint"),
        markup.text([Piece(number.change or "No comparison", "muted")], role="hint"),
    )


def both(report: ReleaseReport, view: ViewState) -> None:
    """Draw the reasons beside the table."""
    with st.container(key="report-both"):
        _reasons(report, view)
        _table(report, view)


def _reasons(report: ReleaseReport, view: ViewState) -> None:
    """Draw the reasons with the questions closest to removing them, and what would change the verdict."""
    lines = [markup.text([Piece(report.why_title, "h2")], role="line")]
    run_id, start = report.verdict.run_id, view.with_nothing_chosen()
    for number, why in enumerate(report.why, start=1):
        reason = why.reason
        title, colon, rest = why.sentence.partition(":")
        term = check_term(reason.check) if colon else ""
        pieces = [Piece(f"{number}. "), Piece(title, term=term), Piece(f"{colon}{rest} ")]
        if reason.shown is not None and reason.count:
            href = replace(start, filter=reason.shown).link("")
            pieces.append(Piece(counted(reason.count, "question"), href=href))
            pieces.append(Piece(". "))
        for place, close in enumerate(why.closest):
            lead = "; " if place else f"{why.lead}: "
            q_id = shortened(close.q_id, 24)
            href = start.change(run=run_id, q=question_name(close.q_id)).link("question")
            pieces += [Piece(lead), Piece(q_id, href=href)]
            if close.words:
                term = f"cause.{close.cause}" if close.cause else ""
                pieces += [Piece(", "), Piece(close.words, term=term)]
        lines.append(markup.text(pieces, role="hint"))
    if not report.why:
        lines.append(markup.text([Piece("Every check passes.", "muted")], role="hint"))
    if report.more_reasons:
        more = counted(report.more_reasons, "more reason")
        trends = start.change(run=run_id, vs=report.verdict.against).link("trends")
        lines.append(markup.text([Piece(f"{more} among all checks", href=trends)], role="hint"))
    if report.steps:
        lines.append(markup.text([Piece("What would change it", "h2")], role="line"))
    for place, step in enumerate(report.steps):
        bullet = [Piece("• ")]
        if report.what_if is not None and not place:
            href = start.change(run=run_id, what_if=report.what_if.params).link("whatif")
            bullet.append(Piece(WHAT_IF, href=href))
            step = step.removeprefix(WHAT_IF)
        lines.append(markup.text([*bullet, Piece(step)], role="hint"))
    with st.container(border=True, key="report-why"):
        markup.show(*lines)


def _table(report: ReleaseReport, view: ViewState) -> None:
    """Draw the counts of both runs, with what was fixed and what regressed."""
    verdict, start = report.verdict, view.with_nothing_chosen()
    rows = []
    for count in report.counts:
        was, now, fixed, regressed = count.cells
        href = replace(start, filter=count.shown).link("") if count.now else None
        spoken = f"{count.name} in {verdict.run_id}: open {now}" if href else ""
        here = Cell(now, href=href, spoken=spoken)
        rows.append(
            Row(explained(count.name, _term(count.shown)), (Cell(was), here, Cell(fixed), Cell(regressed)))
        )
    heads = (verdict.against or "Before", verdict.run_id, "fixed", "regressed")
    columns = tuple(Column(Cell(shortened(each, 20)), "end") for each in heads)
    with st.container(border=True, key="report-since"):
        markup.note(report.since, "h2", role="line")
        show_grid(Grid(report.since, "Questions", columns, tuple(rows)), key="report-counts")
        markup.note(report.counts_note, "muted")


def _term(shown: Filter) -> str:
    """Return the glossary's entry for what a list of questions has in common; "" without one."""
    if shown.met:
        return f"metric.{shown.met}"
    kinds = {"cause": shown.cause, "bucket": shown.bucket}
    return next((f"{kind}.{values[0]}" for kind, values in kinds.items() if values), "")


def see(report: ReleaseReport, proofs: Sequence[Proof], view: ViewState, *, is_ready: bool) -> None:
    """Draw the flipped questions, each with the place of its proof, which leads to both answers."""
    if not proofs:
        markup.titled("See for yourself", f"  {report.flips_note}")
        return
    markup.note("See for yourself", "h2", role="line")
    verdict = report.verdict
    start = view.with_nothing_chosen().change(run=verdict.run_id, vs=verdict.against)
    with st.container(key="report-proofs"):
        for place, proof in enumerate(proofs):
            flip = proof.flip
            href = start.change(q=question_name(flip.q_id)).link("compare")
            kind: Kind = "pass" if flip.kind == "fixed" else "fail"
            sign = Piece(flip.sign, kind)
            with st.container(border=True, key=f"proof-{place}"):
                markup.show(
                    markup.text([sign, Piece(" "), Piece(shortened(flip.q_id, 24), href=href)], role="line"),
                    markup.text([Piece(shortened(flip.q, 80), tip=flip.q)], role="hint"),
                    markup.text([Piece(flip.words, "muted")], role="hint"),
                    *crop(proof.crop, is_ready=is_ready),
                )


def crop(shown: Crop, *, is_ready: bool = True) -> Sequence[markup.Markup]:
    """Return a crop with its boxes and its place; its text, or the reason for neither, in its place."""
    if not is_ready:
        return (markup.text([Piece("The page is being drawn …", "muted")], role="hint"),)
    place = markup.text([Piece(shortened(shown.place, 70), "muted")], role="hint")
    if shown.picture is not None:
        boxes = ((each.layer, each.rect, each.is_extent) for each in shown.boxes)
        return (markup.crop(shown.picture, boxes, alt=f"Part of {shown.place}"), place)
    if shown.text:
        return (markup.text([Piece(shortened(shown.text, 150))], role="quote"), place)
    return (markup.text([Piece(f"No picture: {shown.missing}.", "muted")], role="hint"), place)
