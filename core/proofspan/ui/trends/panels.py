"""The parts of Trends around its figures. Each draws what it is given and fetches nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from proofspan.display_names import BUCKET_NAMES
from proofspan.metrics.catalogue import METRICS
from proofspan.metrics.ranked import BUCKET_MEANINGS, BUCKET_STEPS, BUCKETS
from proofspan.metrics.statistics import share_in_words
from proofspan.metrics.values import (
    MetricValue,
    counted_in_words,
    interval_in_words,
    left_out_in_words,
    missing_in_words,
    number_in_words,
    value_in_words,
)
from proofspan.services.compare import MetricPair, pair_in_words
from proofspan.services.metrics.run_metrics import HEADLINES, RunTrend, Trends
from proofspan.services.question.variants import ASPECTS, Aspect, Stability, Steadiness
from proofspan.services.release import ReleaseVerdict
from proofspan.ui.status import notices
from proofspan.ui.status.release import check_term, show_verdict
from proofspan.ui.trends.charts import base, behind
from proofspan.ui.trends.metrics_table import VERDICTS
from proofspan.ui.visit.view_state import ViewState, question_name
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.fold import fold
from proofspan.ui.widgets.markup import Kind, Markup, Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Look, Row, explained, show_grid
from proofspan.wording import counted


def heading(trends: Trends, view: ViewState) -> None:
    """Draw what is shown, and the link to Compare."""
    run = trends.current
    about = f"  {run.run_id} · {counted(run.questions, 'question')} · {counted(len(trends.runs), 'run')}"
    about += f" · compared with {trends.other.run_id}" if trends.other is not None else ""
    with st.container(horizontal=True, vertical_alignment="center", key="trends-head"):
        markup.page_title("Trends", about, width="content")
        st.space("stretch")
        vs = trends.other.run_id if trends.other is not None else None
        st.page_link(
            "pages/report.py",
            label="Release report",
            icon=":material/description:",
            query_params=base(view, run.run_id).change(vs=vs).params(),
        )
        if trends.other is not None:
            st.page_link(
                "pages/compare.py",
                label=markup.label(f"Compare with {trends.other.run_id}"),
                icon=":material/compare_arrows:",
                query_params=base(view, run.run_id).change(vs=trends.other.run_id).params(),
            )


def scope(trends: Trends, view: ViewState, *, has_gold: bool) -> None:
    """Explain which questions the numbers below count, where that may be mistaken."""
    notes = []
    if view.is_filtered:
        notes.append("The numbers count all questions of each run; Triage's filter does not apply.")
    if not has_gold:
        notes.append(
            "The workspace names no gold set, so ranking, citations and refusals are not measured. "
            "Add gold: {path: …} to its manifest."
        )
    if len(trends.runs) == 1 and not trends.missing:
        notes.append("This is the only run, so there is nothing to compare it with.")
    notices.notes(notes)


def missing_runs(missing: Sequence[str], at_work: Callable[[], bool]) -> None:
    """Name the runs without numbers; while they are being indexed, check again until they are there."""
    named = ", ".join(missing[:5]) + (f" and {len(missing) - 5:,} more" if len(missing) > 5 else "")
    runs = counted(len(missing), "run")
    if missing and at_work():
        words = f"{runs} being indexed; they appear here when they are done: {named}."
        notices.wait(lambda: not at_work(), words)
    elif missing:
        markup.note(f"{runs} without an index; proofspan index says why: {named}.")


def refusals(run: RunTrend, view: ViewState) -> None:
    """Draw refusals by whether the gold is in the top 20, and the next step for each bucket."""
    if sum(run.refusals.values()):
        markup.note("Does the run decline where it should answer? Of answerable questions.", "muted")
        show_grid(refusal_grid(run, view), key="refusal-cells")
    else:
        left_out = left_out_in_words(run.measured.values["gt_in_top_20"])
        markup.note(f"Nothing to count: {left_out or 'no questions'}.")
    for bucket in BUCKETS:
        step, count = BUCKET_STEPS.get(bucket), run.buckets.get(bucket, 0)
        if step and count:
            name = Piece(
                f"{count:,} {BUCKET_NAMES[bucket]}",
                "strong",
                f"{BUCKET_MEANINGS[bucket]} ({bucket})",
                term=f"bucket.{bucket}",
            )
            markup.show(markup.text([name, Piece(f". {step}")], role="hint"))


#: Refused? → found in the top 20? → how a cell looks, and what it means.
_REFUSALS: Mapping[bool, Mapping[bool, tuple[Look, str]]] = {
    False: {
        True: ("green", "retrieved and answered"),
        False: ("orange", "answered without the gold passage: check what the answer is based on"),
    },
    True: {
        True: ("red", "refused although the gold passage was retrieved"),
        False: ("gray", "refused without the gold passage: improve recall"),
    },
}


def refusal_grid(run: RunTrend, view: ViewState) -> Grid:
    """Return refused or not × gold in the top 20 or not, over the judged questions of a run."""
    whole = sum(run.refusals.values())
    heads = {True: "Gold in the top 20", False: "Gold not in the top 20"}
    rows = []
    for refused, meanings in _REFUSALS.items():
        name, cells = "Refused" if refused else "Answered", []
        for found, (look, meaning) in meanings.items():
            count = run.refusals.get((refused, found), 0)
            if not count:
                cells.append(Cell("0", look="quiet", tip=meaning))
                continue
            buckets = ("hit", "score_policy") if found else ("retrieval_gap",)
            message = f"{name}, {heads[found]}: {counted(count, 'question')} of {whole:,}"
            cells.append(
                Cell(
                    f"{count:,}",
                    note=share_in_words(count, whole),
                    tip=meaning,
                    look=look,
                    tone=0.25 + 0.6 * count / whole,
                    href=base(view, run.run_id).change(refused=refused, bucket=buckets).link(""),
                    spoken=f"{message}, {meaning}; list them",
                )
            )
        rows.append(Row(Cell(name), tuple(cells)))
    columns = tuple(Column(Cell(head)) for head in heads.values())
    title = f"Refusals of {run.run_id} by whether the gold is in the top 20"
    return Grid(title, "Answer", columns, tuple(rows), wide=False)


def show_gate(verdict: ReleaseVerdict, view: ViewState) -> None:
    """Draw the release verdict with its reasons, and all checks behind a fold."""
    with st.container(border=True, key="gate"):
        show_verdict(verdict, view)
        title = f"All {counted(len(verdict.checks), 'check')}"
        fold("checks", title, lambda: show_grid(check_grid(verdict, view), key="check-cells"))


def check_grid(report: ReleaseVerdict, view: ViewState) -> Grid:
    """Return a row per check in the gate's order: its result, its count, and a link to its questions."""
    rows = []
    for check in report.checks:
        word, look = VERDICTS[check.outcome]
        href = None
        if check.shown is not None and check.count:
            href = replace(base(view, check.shown.run), filter=check.shown).link("")
        spoken = f"{check.title}: open {counted(check.count, 'question')}"
        questions = Cell(f"{check.count:,}" if check.count else "", href=href, spoken=spoken)
        rows.append(
            Row(
                explained(check.title, check_term(check.name)),
                (Cell(word, look=look), Cell(check.message.replace("`", "")), questions),
            )
        )
    columns = (
        Column(Cell("Result"), "start"),
        Column(Cell("Counted"), "start"),
        Column(Cell("Questions"), "end"),
    )
    return Grid(f"Checks of {report.run_id}", "Check", columns, tuple(rows))


def show_cards(trends: Trends, pairs: Mapping[str, MetricPair], view: ViewState) -> None:
    """Draw a card per headline metric."""
    with st.container(key="trend-cards"):
        for metric_id in HEADLINES:
            with st.container(border=True, key=f"card-of-{metric_id}"):
                markup.show(*card(trends.current, trends.other, metric_id, pairs.get(metric_id)))
                value = trends.current.value(metric_id)
                if value is not None:
                    missed = value.denominator - (value.numerator or 0)
                    failing = f"View {counted(missed, 'failing question')}"
                    title = failing if missed else "View its questions"
                    questions = base(view, trends.current.run_id).change(**behind(metric_id))
                    st.page_link("pages/triage.py", label=title, query_params=questions.params())


def card(run: RunTrend, other: RunTrend | None, metric_id: str, pair: MetricPair | None) -> Iterable[Markup]:
    """Return a number with its count, its goal, and its difference from the other run's."""
    metric, value = METRICS[metric_id], run.measured.values[metric_id]
    yield markup.text([Piece(metric.name, "h2", term=f"metric.{metric_id}")], role="line")
    if value.value is None:
        yield markup.text([Piece("–"), Piece(missing_in_words(value), "muted")], role="title")
        yield markup.text([Piece(left_out_in_words(value) or f"no {metric.of}", "muted")], role="hint")
        return
    sure = " · ".join(filter(None, (counted_in_words(value), interval_in_words(value))))
    yield markup.text([Piece(number_in_words(metric, value.value)), Piece(sure, "muted")], role="title")
    goal, verdict = run.measured.goals.get(metric_id), run.measured.verdicts.get(metric_id)
    if goal is not None and verdict is not None:
        kind: Kind = "muted" if verdict.status == "unknown" else verdict.status
        word = Piece(VERDICTS[verdict.status][0], kind, tip=f"{verdict.why}.")
        yield markup.text([word, Piece(f" goal {goal.in_words()}", "muted")], role="hint")
    else:
        yield markup.text([Piece("no goal set", "muted")], role="hint")
    if other is not None and pair is not None and pair.there is not None and (words := pair_in_words(pair)):
        mean = pair.difference
        is_equal = mean is None or mean.low == mean.high == 0
        sign = "" if is_equal else f", {'' if pair.is_clear else 'not '}significant"
        was = f"From {other.run_id} ({number_in_words(metric, pair.there.value)}): {words}{sign}."
        yield markup.text([Piece(was)], role="hint")


#: How many of the least steady questions are listed.
LISTED = 8
#: The columns' heads; the same words as in `ASPECTS`, shorter.
_HEADS: dict[Aspect, str] = {"rank1": "Rank 1", "cited": "Cited", "label": "Label"}
_STAYS: dict[bool | None, Cell] = {
    None: Cell("–", tip="Not known of every trace"),
    True: Cell("stays", look="quiet"),
    False: Cell("changes", look="red"),
}


def show_stability(found: Stability, logged: MetricValue, view: ViewState) -> None:
    """Draw the shares of steady questions with their intervals, then the least steady questions.

    `logged` is the run's λ convergent.
    """
    if not found.questions:
        markup.note("Each question was asked once, so stability cannot be measured.")
        return
    about = f"Over {counted(len(found.questions), 'question')} with several traces"
    if short := len(found.questions) - found.enough:
        about += f"; {short:,} of them with fewer than 3 paraphrases × 2 seeds"
    markup.note(f"{about}{f'; {found.once:,} asked once' if found.once else ''}.", "muted")
    tip = "The state λ that the pipeline logged, convergent in every trace of the question."
    convergent = Cell(value_in_words(logged), note=left_out_in_words(logged))
    shares = {f"Same {words}": found.staying(aspect).words for aspect, words in ASPECTS.items()}
    rows = [Row(explained("λ logged convergent", "metric.lambda_convergent", tip=tip), (convergent,))]
    rows += [Row(Cell(name), (Cell(w),)) for name, w in (shares | {"All three": found.steady.words}).items()]
    columns = (Column(Cell("Questions"), "start"),)
    title, corner = "Stability of this run", "Over all traces of a question"
    show_grid(Grid(title, corner, columns, tuple(rows), wide=False), key="stability-shares")
    doubted = found.convergent_by_log_alone
    if doubted.part:
        message = f"{doubted.part:,} of {doubted.whole:,} that log convergent throughout do change."
        markup.note(message, role="line")
    unsteady = [question for question in found.questions if question.changing]
    if unsteady:
        show_grid(_questions(unsteady[:LISTED], view), key="stability-questions")
    if len(unsteady) > LISTED:
        markup.note(f"{len(unsteady) - LISTED:,} more questions change in something.", "muted")


def _questions(questions: list[Steadiness], view: ViewState) -> Grid:
    rows = []
    for each in questions:
        shown = view.as_list().change(q=question_name(each.q_id), p=0, s=0)
        head = Cell(
            each.q or each.q_id,
            tip=each.q_id,
            href=shown.link("question"),
            spoken=f"{each.q_id}: its {counted(each.traces, 'trace')}",
        )
        stays = (_STAYS[each.stays[aspect]] for aspect in _HEADS)
        rows.append(Row(head, (*stays, Cell(", ".join(each.states) or "–"))))
    columns = (
        *(Column(Cell(head)) for head in _HEADS.values()),
        Column(explained("λ logged", "term.λ"), "start"),
    )
    return Grid("Least steady questions", "Least steady", columns, tuple(rows))
