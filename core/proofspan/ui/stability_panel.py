"""Stability: what the pipeline logs of its questions' convergence, and what of their traces stays in fact."""

from __future__ import annotations

from proofspan.metrics.values import MetricValue
from proofspan.metrics.words import left_out_in_words, value_in_words
from proofspan.services.stability import ASPECTS, Aspect, Share, Stability, Steadiness
from proofspan.ui import safe
from proofspan.ui.grid import Cell, Column, Grid, Row, show_grid
from proofspan.ui.safe import Piece
from proofspan.ui.state import ViewState, question_name
from proofspan.ui.words import counted

#: So many of the least steady questions are listed.
LISTED = 8
#: The columns' heads; the same words as in `ASPECTS`, shorter.
_HEADS: dict[Aspect, str] = {"rank1": "rank 1", "cited": "cited", "label": "label"}
_LOGGED = "The state λ that the pipeline logged, convergent in every trace of the question."


def show_stability(found: Stability, logged: MetricValue, view: ViewState) -> None:
    """The shares of a run with their intervals, then its least steady questions.

    `logged` is the run's λ convergent.
    """
    safe.show(
        safe.text(
            [Piece("Stability ", "strong"), Piece(_asked(found), "muted")],
            role="line",
        )
    )
    if not found.questions:
        return
    show_grid(_shares(found, logged), key="stability-shares")
    doubted = found.convergent_by_log_alone
    if doubted.part:
        told = f"{doubted.part:,} of {doubted.whole:,} that log convergent throughout change all the same."
        safe.show(safe.text([Piece(told)], role="line"))
    unsteady = [question for question in found.questions if question.changing]
    if unsteady:
        show_grid(_questions(unsteady[:LISTED], view), key="stability-questions")
    if len(unsteady) > LISTED:
        more = f"{len(unsteady) - LISTED:,} more questions change in something."
        safe.show(safe.text([Piece(more, "muted")], role="hint"))


def _asked(found: Stability) -> str:
    """Over how many questions, and how often they were asked."""
    if not found.questions:
        return "each question was asked once, so that nothing can be said of it"
    told = f"over {counted(len(found.questions), 'question')} with several traces"
    short = len(found.questions) - found.enough
    few = f"; {short:,} of them with fewer than 3 paraphrases × 2 seeds" if short else ""
    once = f"; {found.once:,} asked once" if found.once else ""
    return f"{told}{few}{once}"


def _shares(found: Stability, logged: MetricValue) -> Grid:
    rows = [
        Row(
            Cell("λ logged convergent", tip=_LOGGED),
            (Cell(value_in_words(logged), note=left_out_in_words(logged)),),
        ),
        *(Row(Cell(f"same {words}"), (_share(found.staying(aspect)),)) for aspect, words in ASPECTS.items()),
        Row(Cell("all three"), (_share(found.steady),)),
    ]
    return Grid(
        "Stability of this run",
        "over all traces of a question",
        (Column(Cell("questions"), "start"),),
        tuple(rows),
        wide=False,
    )


def _share(share: Share) -> Cell:
    return Cell(share.words)


def _questions(questions: list[Steadiness], view: ViewState) -> Grid:
    columns = [*(Column(Cell(head)) for head in _HEADS.values()), Column(Cell("λ logged"), "start")]
    rows = (
        Row(_name(each, view), (*_aspects(each), Cell(", ".join(each.states) or "–"))) for each in questions
    )
    return Grid("Least steady questions", "least steady", tuple(columns), tuple(rows))


def _aspects(question: Steadiness) -> tuple[Cell, ...]:
    return tuple(stays_cell(question.stays[aspect]) for aspect in _HEADS)


def stays_cell(stays: bool | None) -> Cell:
    """Whether something stays, in a word."""
    if stays is None:
        return Cell("–", tip="Not known of every trace")
    return Cell("stays", look="quiet") if stays else Cell("changes", look="red")


def _name(question: Steadiness, view: ViewState) -> Cell:
    """The question, as the way to its page, where its traces are listed."""
    shown = view.as_list().change(q=question_name(question.q_id), p=0, s=0)
    return Cell(
        question.q or question.q_id,
        tip=question.q_id,
        href=shown.link("question"),
        spoken=f"{question.q_id}: its {counted(question.traces, 'trace')}",
    )
