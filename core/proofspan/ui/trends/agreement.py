"""How far people agree about a run's answers, with each other and with the rules."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from proofspan.diagnosis.verdicts.judge import harm_of
from proofspan.diagnosis.verdicts.types import CAUSES
from proofspan.display_names import NAMES
from proofspan.errors import Fault
from proofspan.services.review import RULES, AgreementReport, agreement, coefficient, ruled
from proofspan.store.query.store import Store
from proofspan.ui.status.notices import fault_panel
from proofspan.ui.visit import session
from proofspan.ui.visit.view_state import ViewState, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.controls import segments
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.table import NOTHING, Cell, Column, Grid, Row, show_grid
from proofspan.ui.widgets.text import shortened
from proofspan.ui.wording.question import short_id

#: Disagreements, and pairs of people, that are listed.
MOST = 50
_FIELD = "agreement-field"
_FIELDS: Mapping[str, str] = {"correct": "Correctness", "cause": "Cause", "label": "Label"}


def agreement_panel(opened: session.Opened, store: Store, view: ViewState) -> None:
    """Draw the agreement about one field of the verdicts, the disagreements, and the record by rule."""
    try:
        known = session.reviews(opened)
    except Fault as fault:
        fault_panel(fault.problems)
        return
    rules = ruled(store, view.run)
    if not rules:
        markup.note("Nobody has given a verdict on an answer of this run yet.", "muted")
        return
    chosen = str(st.session_state.get(f"{_FIELD}:chosen", "correct"))

    def choose(field: str) -> None:
        st.session_state[f"{_FIELD}:chosen"] = field

    segments("Agreement about", _FIELDS, chosen, key=_FIELD, on_choose=choose)
    report = agreement(known, rules, lambda target: rules[target], chosen)
    lead = [Piece("Krippendorff's α of all people: "), Piece(coefficient(report.alpha), "strong")]
    about = Piece(f"  {report.alpha.n:,} answers that several people looked at", "muted")
    markup.show(markup.text([*lead, about], role="line"))
    if report.pairs:
        show_grid(pairs_grid(report), key="agreement-pairs")
    if report.by_rule:
        show_grid(rules_grid(report), key="agreement-rules")
        words = "What the rules say, and their order of harm, are the same for everybody: never learned."
        markup.note(words, "muted")
    if report.disagreements:
        show_grid(disagreements_grid(report, view), key="agreement-list")
        if (left := len(report.disagreements) - MOST) > 0:
            markup.note(f"and {left:,} more", "muted")


def pairs_grid(report: AgreementReport) -> Grid:
    """Return a row per pair of people, and of each person with the rules."""
    rows = [
        Row(
            Cell(f"{_person(pair.one)} and {_person(pair.other)}"),
            (
                Cell(coefficient(pair.kappa)),
                Cell(f"{pair.kappa.n:,}"),
                Cell(f"{pair.kappa.same:,}"),
            ),
        )
        for pair in report.pairs[:MOST]
    ]
    heads = ("Cohen's κ, 95 % interval", "Answers of both", "Same")
    columns = tuple(Column(Cell(head), "end") for head in heads)
    return Grid("Agreement of pairs", "People", columns, tuple(rows))


def rules_grid(report: AgreementReport) -> Grid:
    """Return a row per value of the rules: looked at, not agreed to and, of a cause, its order of harm."""
    is_cause = report.field == "cause"
    heads = [Cell("Looked at"), Cell("Disagreed")]
    if is_cause:
        heads.append(Cell("Order of harm", tip="1 is the most harmful"))
    rows = []
    for each in report.by_rule:
        cells = [Cell(f"{each.seen:,}"), Cell(f"{each.disagreed:,}")]
        if is_cause:
            cause = next((cause for cause in CAUSES if cause == each.value), None)
            cells.append(NOTHING if cause is None else Cell(str(harm_of(cause) + 1)))
        rows.append(Row(Cell(_value(report.field, each.value)), tuple(cells)))
    columns = tuple(Column(head, "end") for head in heads)
    return Grid("Record of the rules", "What the rules say", columns, tuple(rows))


def disagreements_grid(report: AgreementReport, view: ViewState) -> Grid:
    """Return a row per answer on which people or the rules disagree, linked to its question."""
    rows = []
    for each in report.disagreements[:MOST]:
        target = each.target
        place = {"q": question_name(target.q_id), "p": target.paraphrase, "s": target.seed}
        link = view.as_list().without_filter().change(run=target.run_id, **place).link("question")
        variant = f" p{target.paraphrase} s{target.seed}" if target.paraphrase or target.seed else ""
        given = (f"{_person(name)}: {_value(report.field, value)}" for name, value in each.values.items())
        head = Cell(f"{short_id(target.q_id)}{variant}", href=link, spoken=f"open {short_id(target.q_id)}")
        rows.append(Row(head, (Cell(shortened(", ".join(given), 400)),)))
    return Grid("Disagreements", "Question", (Column(Cell("Values"), "start"),), tuple(rows))


def _person(name: str) -> str:
    return "the rules" if name == RULES else shortened(name, 60)


def _value(field: str, value: str) -> str:
    return NAMES[field].get(value, value)
