"""Health: rules over the runs, likely causes, configuration, chunk ids, and cited pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import streamlit as st

from proofspan.contracts.chunk_ids.audit import QUESTIONS, Status
from proofspan.contracts.rules.catalogue import RULES, is_of_logging
from proofspan.evidence.page_base import NEAR_OFFSETS
from proofspan.metrics.statistics import share_in_words
from proofspan.services.health.failure_modes import FailureMode
from proofspan.services.health.parity import ParityRow
from proofspan.services.health.rule_counts import (
    HEALTH_EXPORTS,
    NOTICED,
    HealthRow,
    HealthTable,
    health_frame,
    trend,
)
from proofspan.services.page_base import CitedPages, Writer, fix, sentence
from proofspan.store.query.filters import Filter
from proofspan.ui.health.load import Audited
from proofspan.ui.health.overview import NARROW, linked
from proofspan.ui.visit.view_state import ViewState
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.export_menu import export_menu
from proofspan.ui.widgets.fold import fold
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import NOTHING, Cell, Column, Folding, Grid, Look, Row, explained, show_grid
from proofspan.ui.widgets.text import sentence_start
from proofspan.wording import counted

#: CSS pixels of the frame.
HEIGHT = 560
#: The number of runs with a column, and of those after the shown one.
MOST_RUNS, AFTER = 12, 3
#: The tint of one question in a hundred must still be visible.
LEAST_TONE, MOST_TONE = 0.08, 0.5


def codes_panel(table: HealthTable, view: ViewState, *, workspace: str, is_foreign: bool) -> None:
    """Show the table with the fixes and the export, or that there are no issues.

    Of foreign records one line counts the rules of the contract that do not apply.
    """
    about = (
        "The number of questions per run that break a rule of the contract, or have a suspicion. A number "
        "opens its questions; – means 0."
    )
    if any(row.unknown for row in table.rows):
        about += " ? is unknown, as citations are not located yet."
    markup.note(about, "muted")
    if is_foreign:
        count = sum(map(is_of_logging, RULES))
        markup.note(
            f"Not logged by Proofspan's contract: {counted(count, 'rule')} of logging do not apply.",
            "muted",
        )
    if not table.rows:
        message = (
            f"No data-quality issues found. Every trace of {counted(len(table.runs), 'run')} was checked."
            if is_foreign
            else f"No data-quality issues found. Every trace of {counted(len(table.runs), 'run')} was "
            "checked against the contract: envelope, citations, ranking, index and query configuration, "
            "corpus."
        )
        markup.note(message, role="line")
        return
    show_grid(code_grid(table, table.rows, view), key="code-cells")
    if len(table.runs) > MOST_RUNS:
        markup.note(f"{MOST_RUNS} of {len(table.runs):,} runs; the export has all.", "muted")
    if table.members:
        title = f"Single fields: {counted(len(table.members), 'code')}"
        single = code_grid(table, table.members, view, name="Single fields")
        fold("single-fields", title, lambda: show_grid(single, key="field-cells"))
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
    """Return a row per code under the headings of their groups, and a column per run.

    The columns are the latest runs, the latest last, with the shown one among them.
    """
    end = len(table.runs)
    if table.shown < end - MOST_RUNS:
        end = table.shown + 1 + AFTER
    places, is_compared = range(max(0, end - MOST_RUNS), end), len(table.runs) > 1
    columns = []
    for place in places:
        run, is_shown = table.runs[place], place == table.shown
        tip = f"{run.title or run.run_id}: {counted(table.questions[place], 'question')}"
        head = Cell(
            run.run_id,
            note=f"of {table.questions[place]:,}",
            tip=f"{tip}, the shown run" if is_shown else tip,
            look="accent" if is_shown else "",
        )
        columns.append(Column(head, "end"))
    found = []
    for group, alike in groupby(rows, key=lambda row: row.group):
        found.append(Row(Cell(group, look="quiet"), (Cell(""),) * len(places)))
        for row in alike:
            cells = [_cell(table, row, place, view) for place in places]
            head = _head(row)
            found.append(Row(replace(head, note=trend(table, row)) if is_compared else head, tuple(cells)))
    return Grid(name, "Finding", tuple(columns), tuple(found), height=HEIGHT, from_end=True)


#: The kind of a row → that of its term.
_TERMS: Mapping[str, str] = {
    "code": "rule",
    "suspicion": "issue",
    "evidence": "evidence",
    "unsupported": "finding",
}


def _head(row: HealthRow) -> Cell:
    """Return the title, which leads to its entry in the glossary; the numbers beside it open questions."""
    tip = f"{row.problem.message} {row.problem.fix}".replace("`", "").strip()
    code = "unsupported" if row.kind == "unsupported" else row.codes[0]
    return explained(sentence_start(row.title), f"{_TERMS[row.kind]}.{code}", tip=tip)


def _cell(table: HealthTable, row: HealthRow, place: int, view: ViewState) -> Cell:
    count, total, run_id = row.counts[place], table.questions[place], table.runs[place].run_id
    if place in row.unknown:
        tip = f"Not known: the citations of {run_id} are located once it is opened, or indexed."
        return Cell("?", tip=tip, look="quiet", spoken=f"{run_id}, {row.title}: not known")
    if not count.traces:
        return Cell("–", look="quiet", spoken=f"{run_id}, {row.title}: none")
    traces = counted(count.traces, "trace")
    share = f"no question, {traces} with another paraphrase or seed"
    if count.questions:
        of_all = counted(total, "question")
        share = f"{count.questions:,} of {of_all}, {share_in_words(count.questions, total)}"
        share += "" if count.traces == count.questions else f"; {traces} with variants"
    href = linked(view, row.filter(run_id, count)).link("")
    spoken = f"{run_id}, {row.title}: {share}, list them"
    if not count.questions:
        return Cell("0", note=counted(count.traces, "variant"), tip=share, href=href, spoken=spoken)
    look: Look = "red" if row.problem.severity == "error" and row.group != NOTICED else "yellow"
    tone = LEAST_TONE + (MOST_TONE - LEAST_TONE) * min(count.questions / total, 1.0) if total else LEAST_TONE
    return Cell(f"{count.questions:,}", tip=share, tone=tone, look=look, href=href, spoken=spoken)


def modes_panel(modes: tuple[FailureMode, ...] | None, view: ViewState) -> None:
    """Show a card per failure once they are known."""
    about = "Failures that retrieval and chunk ids often have, each with what was counted for it here."
    markup.note(about, "muted")
    if modes is None:
        markup.note("Looking for what the findings have in common …", "muted")
        return
    if not modes:
        markup.note(f"None of the seven typical failures shows in {view.run}.", role="line")
        return
    with st.container(key="health-modes"):
        for mode in modes:
            with st.container(border=True, key=f"card-of-{mode.problem.code}"):
                markup.show(
                    markup.text(
                        [Piece(mode.problem.message, "h3", term=f"failure.{mode.problem.code}")], role="line"
                    ),
                    markup.text(markup.coded(mode.problem.fix), role="hint"),
                )
                for reason in mode.reasons:
                    text = sentence_start(reason.text)
                    if reason.shown is None:
                        markup.note(text, "muted")
                        continue
                    st.page_link(
                        "pages/triage.py",
                        label=markup.label(text, limit=200),
                        query_params=linked(view, reason.shown).params(),
                    )


#: The number of values shown, the most frequent first, and of characters of each.
NAMED, MAX_VALUE = 3, 60
_PARITY_VERDICTS: Mapping[bool | None, tuple[str, Look]] = {
    True: ("✓ the same", "green"),
    False: ("✗ differs", "red"),
    None: ("not compared", "quiet"),
}


def parity_panel(rows: Sequence[ParityRow], differing: Mapping[str, int], view: ViewState) -> None:
    """Show one row per setting that indexing and querying must share."""
    about = (
        "The index, the model and the analyzer that the manifest pins, and the documents' revisions, beside "
        f"what the traces of {view.run} log of them."
    )
    markup.note(about, "muted")
    if not rows:
        message = "Nothing is pinned and nothing is logged, so queries and index cannot be compared."
        markup.note(message, role="line")
        return
    columns = (
        *(Column(Cell(name), "start") for name in ("Verdict", "Index (pinned)", "Queries (logged)")),
        Column(Cell("Questions that differ"), "end"),
    )
    found = []
    for row in rows:
        word, look = _PARITY_VERDICTS[row.is_same]
        values = [f"{_short(each.value)} × {each.traces:,}" for each in row.read[:NAMED]]
        more = f"and {len(row.read) - NAMED:,} more" if len(row.read) > NAMED else ""
        questions, count = Cell("–", look="quiet"), differing.get(row.code, 0)
        if row.is_same is False and count:
            href = linked(view, Filter(view.run, code=(row.code,))).link("")
            spoken = f"{row.name}: {counted(count, 'question')} that differ, list"
            questions = Cell(f"{count:,}", href=href, spoken=spoken)
        cells = (
            Cell(word, look=look),
            Cell(_short(row.written), tip=row.written) if row.written else Cell("not pinned", look="quiet"),
            Cell("; ".join(values), note=more) if values else Cell("not logged", look="quiet"),
            questions,
        )
        found.append(Row(Cell(sentence_start(row.name)), cells))
    grid = Grid("Index and query configuration", "Setting", columns, tuple(found))
    show_grid(grid, key="parity-cells")


def _short(value: str) -> str:
    return value if len(value) <= MAX_VALUE else f"{value[: MAX_VALUE - 1]}…"


_AUDIT_VERDICTS: Mapping[Status, tuple[str, Look]] = {
    "pass": ("✓ passes", "green"),
    "fail": ("✗ fails", "red"),
    "unknown": ("not known", "quiet"),
}
#: Session key: whether the documents are to be opened.
_ASKED = "chunk-ids:documents"


def ids_panel(found: Audited) -> None:
    """Show a row per audit, and a button to open the documents."""
    audits, extractor = found.audits, found.extractor
    about = "Audits of the chunk file: its ids, its reading order, and its offsets against the gold."
    about += f" Documents were read by {extractor}." if extractor else ""
    markup.note(about, "muted")
    if audits:
        steps = [audit.fix.replace("`", "") if audit.status == "fail" else "" for audit in audits]
        shown = 3 if any(steps) else 2
        names = ("Result", "Counted", "What to do")[:shown]
        rows = []
        for audit, step in zip(audits, steps, strict=True):
            word, look = _AUDIT_VERDICTS[audit.status]
            cells = (Cell(word, look=look), Cell(sentence_start(audit.message)), Cell(step))
            rows.append(Row(Cell(QUESTIONS[audit.name]), cells[:shown]))
        columns = tuple(Column(Cell(name), "start") for name in names)
        show_grid(Grid("Audits of the chunk file", "Audit", columns, tuple(rows)), key="audit-cells")
        failed = [audit for audit in audits if audit.status == "fail"]
        examples = [(audit, finding) for audit in failed for finding in audit.examples]
        if examples:
            with st.expander("First chunks that fail", key="audit-examples"):
                for audit, finding in examples:
                    name = Piece(f"{finding.record_id or QUESTIONS[audit.name]} ", "code")
                    markup.show(markup.text([name, Piece(finding.message)], role="hint"))
    if found.pending is not None:
        markup.note("Auditing the chunk file …", "muted")
    elif extractor is None:
        st.button(
            "Check against the documents",
            key="audit-documents",
            help="Opens every document: can revisions be computed again, and is each text at its place?",
            on_click=lambda: st.session_state.update({_ASKED: True}),
        )


def ids_in_words(found: Audited) -> str:
    """`6 of 7 audits pass`, `being audited`."""
    if not found.audits:
        return "being audited" if found.pending is not None else "not audited"
    passed = sum(audit.status == "pass" for audit in found.audits)
    failed = f", {found.failed:,} failed" if found.failed else ""
    return f"{passed:,} of {counted(len(found.audits), 'audit')} pass{failed}"


def parity_in_words(rows: Sequence[ParityRow]) -> str:
    """`1 of 5 settings differs`, `5 settings, none differs`."""
    differing = sum(row.is_same is False for row in rows)
    if differing:
        return f"{differing:,} of {counted(len(rows), 'setting')} differ{'s' * (differing == 1)}"
    return f"{counted(len(rows), 'setting')}, none differs" if rows else "nothing to compare"


def is_asked() -> bool:
    """Return whether this visit has requested to open the documents."""
    return bool(st.session_state.get(_ASKED))


#: Offsets as column titles: pages before the cited one, the cited one, pages after it.
TITLES: Mapping[int, str] = {-2: "−2", -1: "−1", 0: "Cited", 1: "+1", 2: "+2"}
ELSEWHERE = "Farther"
ALL_DOCUMENTS = "all documents"


def cited_pages(known: Mapping[str, CitedPages], writer: Writer) -> None:
    """Show how many pages quotes are from the cited page: a row per run and document, those with a fix first.

    Each has the sentence about it and the fix.
    """
    rows = []
    for run_id, cited in known.items():
        for finding in sorted(cited.findings, key=lambda each: not each.is_systematic):
            document = ALL_DOCUMENTS if finding.doc_id is None else finding.doc_id
            says, step = (
                f"{sentence_start(text)}.".replace("`", "") if text else ""
                for text in (sentence(finding), fix(finding, writer) or "")
            )
            counts = (*finding.near, finding.elsewhere)
            numbers = (Cell(f"{count:,}") if count else NOTHING for count in counts)
            rows.append(Row(Cell(run_id, note=document), (Cell(says, note=step), *numbers)))
    if not rows:
        message = (
            "No run cites text that determines its page."
            if known
            else "No run's citations are located yet; proofspan index locates them."
        )
        markup.note(message, "muted", role="line")
        return
    hint = (
        "The number of quotes by distance from the cited page. Counted are quotes of headline traces that "
        "are long enough and on one page only."
    )
    markup.note(hint, "muted")
    titles = (*(TITLES[offset] for offset in NEAR_OFFSETS), ELSEWHERE)
    below = Folding(NARROW, "says", titled=True)
    columns = (
        Column(Cell("What it says"), "start", name="says", lines=3),
        *(
            Column(Cell(title), "end", name=f"offset{place}", width=5 if len(title) > 2 else 3.5, folds=below)
            for place, title in enumerate(titles)
        ),
    )
    corner = Column(Cell("Run"), "start", name="run", width=10, narrow=7, lines=2)
    grid = Grid("Cited pages by run and document", corner, columns, tuple(rows), height=HEIGHT)
    show_grid(grid, key="cited-pages")
