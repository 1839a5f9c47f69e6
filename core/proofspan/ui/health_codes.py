"""Findings by code over the runs: the table, what each means and asks for, and its export."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import streamlit as st

from proofspan.metrics.intervals import share_in_words
from proofspan.services.health import NOTICED, Count, HealthRow, HealthTable
from proofspan.services.health_words import HEALTH_EXPORTS, health_frame, trend
from proofspan.ui import safe
from proofspan.ui.boxes import panel
from proofspan.ui.export import export_menu
from proofspan.ui.grid import Cell, Column, Grid, Look, Row, show_grid
from proofspan.ui.health_head import linked
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState
from proofspan.ui.words import counted, sentence_start, short

#: CSS pixels of the frame.
HEIGHT = 560
#: So many runs have a column, and so many after a shown one that is older.
MOST_RUNS, AFTER = 12, 3
#: A tint for one question in a hundred is still seen.
LEAST_TONE, MOST_TONE = 0.08, 0.5
#: Of so many rows the next step stands below the table; of the others behind a fold.
STEPS_SHOWN = 3


def codes_panel(table: HealthTable, view: ViewState, *, workspace: str) -> None:
    """The table with its next steps, or the sentence that there is nothing in it."""
    about = (
        "Questions a run that break a rule of the contract, or have something that was noticed. A number "
        "opens its questions; – is none."
    )
    if any(row.unknown for row in table.rows):
        about += " ? is not known: citations that are not located yet."
    with panel("codes", "Findings by code, run by run", about):
        if not table.rows:
            said = (
                f"Nothing. Every trace of {counted(len(table.runs), 'run')} was held against the contract: "
                "envelope, citations, ranking, what was written against what is read, and the corpus."
            )
            safe.show(safe.text([Piece(said)], role="line"))
            return
        show_grid(code_grid(table, table.rows, view), key="code-cells")
        if len(table.runs) > MOST_RUNS:
            said = f"{MOST_RUNS} of {len(table.runs):,} runs; the export has all."
            safe.show(safe.text([Piece(said, "muted")], role="hint"))
        _steps(table)
        if table.members:
            with st.expander(f"Single fields: {counted(len(table.members), 'code')}", key="single-fields"):
                show_grid(code_grid(table, table.members, view, name="Single fields"), key="field-cells")
        rows = len(table.single()) * len(table.runs)
        export_menu(
            lambda: [health_frame(table)],
            matching=rows,
            name=workspace,
            stem="health",
            exports=HEALTH_EXPORTS,
        )


def code_grid(
    table: HealthTable, rows: tuple[HealthRow, ...], view: ViewState, *, name: str = "Findings by code"
) -> Grid:
    """A row a code under the names of what they are about, a column a run, the latest at the right."""
    places = runs_in_sight(table)
    columns = [Column(_run_head(table, place), "end") for place in places]
    if len(table.runs) > 1:
        columns.append(Column(Cell("trend", tip=f"How it came about in {table.run_id}"), "start"))
    found = tuple(_rows(table, rows, places, view))
    return Grid(name, "finding", tuple(columns), found, height=HEIGHT, from_end=True)


def runs_in_sight(table: HealthTable) -> range:
    """The places of the runs that have a column: the latest ones, the shown one among them."""
    end = len(table.runs)
    if table.shown < end - MOST_RUNS:
        end = table.shown + 1 + AFTER
    return range(max(0, end - MOST_RUNS), end)


def _run_head(table: HealthTable, place: int) -> Cell:
    run, total = table.runs[place], counted(table.questions[place], "question")
    is_shown = place == table.shown
    return Cell(
        run.run_id,
        note=f"of {table.questions[place]:,}",
        tip=f"{run.title or run.run_id}: {total}{', the shown run' if is_shown else ''}",
        look="accent" if is_shown else "",
    )


def title_of(row: HealthRow) -> str:
    """What a row is called, as Triage calls it."""
    return short(row.codes[0]) if row.kind == "suspicion" else row.title


def _rows(table: HealthTable, rows: tuple[HealthRow, ...], places: range, view: ViewState) -> Iterator[Row]:
    is_compared = len(table.runs) > 1
    for group, alike in groupby(rows, key=lambda row: row.group):
        yield Row(Cell(group, look="quiet"), (Cell(""),) * (len(places) + is_compared))
        for row in alike:
            cells = [_cell(table, row, place, view) for place in places]
            if is_compared:
                cells.append(Cell(trend(table, row), look="quiet"))
            yield Row(_head(table, row, view), tuple(cells))


def _head(table: HealthTable, row: HealthRow, view: ViewState) -> Cell:
    """The code, opening its questions in the shown run, else in the latest one that has any."""
    places = [table.shown, *reversed(range(len(table.runs)))]
    place = next(place for place in places if row.counts[place].traces)
    run_id = table.runs[place].run_id
    opened = linked(view, row.filter(run_id, row.counts[place])).link("")
    tip = f"{row.meaning} {row.next_step}".replace("`", "").strip()
    title = title_of(row)
    return Cell(title, tip=tip, href=opened, spoken=f"{title}: {tip} Opens its questions in {run_id}.")


def _cell(table: HealthTable, row: HealthRow, place: int, view: ViewState) -> Cell:
    count, total, run_id = row.counts[place], table.questions[place], table.runs[place].run_id
    if place in row.unknown:
        tip = f"Not known: the citations of {run_id} are located once it is opened, or indexed."
        return Cell("?", tip=tip, look="quiet", spoken=f"{run_id}, {title_of(row)}: not known")
    if not count.traces:
        return Cell("–", look="quiet", spoken=f"{run_id}, {title_of(row)}: none")
    said = _said(count, total)
    href = linked(view, row.filter(run_id, count)).link("")
    spoken = f"{run_id}, {title_of(row)}: {said}, list them"
    if not count.questions:
        return Cell("0", note=counted(count.traces, "variant"), tip=said, href=href, spoken=spoken)
    look: Look = "red" if row.severity == "error" and row.group != NOTICED else "yellow"
    tone = LEAST_TONE + (MOST_TONE - LEAST_TONE) * min(count.questions / total, 1.0) if total else LEAST_TONE
    return Cell(f"{count.questions:,}", tip=said, tone=tone, look=look, href=href, spoken=spoken)


def _said(count: Count, total: int) -> str:
    if not count.questions:
        return f"no question, {counted(count.traces, 'trace')} with another paraphrase or seed"
    of = f"{count.questions:,} of {counted(total, 'question')}, {share_in_words(count.questions, total)}"
    return of if count.traces == count.questions else f"{of}; {counted(count.traces, 'trace')} with variants"


def _steps(table: HealthTable) -> None:
    """What the codes of the shown run mean and ask for, the most frequent first."""
    found = sorted(
        (row for row in table.rows if table.now(row).traces),
        key=lambda row: (row.severity != "error", row.group == NOTICED, -table.now(row).questions),
    )
    if not found:
        said = f"{table.run_id} has none of these."
        safe.show(safe.text([Piece(said, "strong")], role="line"))
        return
    for row in found[:STEPS_SHOWN]:
        safe.show(safe.text(_told(row), role="hint"))
    if len(found) > STEPS_SHOWN:
        with st.expander(f"What to do about {len(found) - STEPS_SHOWN:,} more", key="more-steps"):
            safe.show(*(safe.text(_told(row), role="hint") for row in found[STEPS_SHOWN:]))


def _told(row: HealthRow) -> list[Piece]:
    told = [Piece(f"{sentence_start(title_of(row))}. ", "strong", tip=", ".join(row.codes))]
    return [*told, *safe.coded(f"{row.meaning} ", "muted"), *safe.coded(row.next_step)]
