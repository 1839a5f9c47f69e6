"""The consequences of settings: a sentence, the headline numbers, all metrics, and how values changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from proofspan.display_names import GROUNDED_NAMES
from proofspan.metrics.values import counted_in_words, number_in_words
from proofspan.services.compare import (
    WITHOUT_GOLD,
    MetricPair,
    needs_sentence,
    p_words,
    pair_in_words,
    verdict_sentence,
)
from proofspan.services.whatif.types import Logged, WhatIf
from proofspan.store.files.types import Flips
from proofspan.ui.compare.difference import difference_cell, difference_column
from proofspan.ui.compare.panels import moves_grid, value_cell
from proofspan.ui.visit.view_state import ViewState, question_name
from proofspan.ui.whatif.asked import Asked
from proofspan.ui.widgets import markup
from proofspan.ui.widgets.chart import BY_BUCKET, BY_CAUSE, BY_LABEL, Split
from proofspan.ui.widgets.markup import Markup, Piece
from proofspan.ui.widgets.table import Cell, Column, Grid, Row, explained, show_grid
from proofspan.ui.widgets.text import shortened
from proofspan.ui.wording import whatif
from proofspan.wording import counted

#: How the computed side is called beside the logged run.
HERE = "what-if"
#: The metrics that are cards, those of them that a run has.
HEADLINES = ("section_match_at_1", "gt_in_top_20")
#: Whose changes are listed, and the one of them that the list of questions cannot be limited to.
#: A cause or grounding that is not known: the answer was made from another prompt, or is not checked.
UNKNOWN = "Unknown"
BY_GROUNDED = Split("Grounding", "grounded", GROUNDED_NAMES, {}, UNKNOWN)
SPLITS: Mapping[str, Split] = {
    "bucket": BY_BUCKET,
    "cause": replace(BY_CAUSE, none=UNKNOWN),
    "label": BY_LABEL,
    "grounded": BY_GROUNDED,
}


def heading(view: ViewState) -> None:
    """Draw the page's title and the question that it answers."""
    about = f"  What would {view.run} have ranked with other settings?"
    markup.page_title("What-if", about, width="content")
    st.space("stretch")


#: The most questions that are named as not reproduced.
MOST_NAMED = 50


def trust(logged: Logged, view: ViewState) -> None:
    """Draw for how many questions the logged order comes out again, which do not, and what cannot be changed.

    Where fewer than two lists are logged nothing is fused, and there is nothing to reproduce.
    """
    right = f"{logged.reproduced:,} of {counted(logged.questions, 'question')}"
    words = f" {right} come out in their logged order when computed again with the run's own settings."
    with st.container(key="trust", gap="xxsmall"):
        if len(logged.lists) > 1 and not logged.differing:
            markup.show(
                markup.text(
                    [Piece("✓ Reproduced", "pass", term="term.reproduced"), Piece(words)], role="line"
                )
            )
        elif len(logged.lists) > 1:
            words += " Trust the ranks of the others less: they differ before anything is changed."
            markup.show(
                markup.text(
                    [Piece("! Reproduced in part", "warn", term="term.reproduced"), Piece(words)], role="line"
                )
            )
            with st.expander(f"The {len(logged.differing):,} that do not", key="differing"):
                show_grid(_differing(logged, view), key="grid-differing")
        if logged.why:
            with st.expander("What cannot be changed, and why", key="why"):
                markup.show(*(markup.text(markup.coded(each), role="hint", limit=400) for each in logged.why))


def _differing(logged: Logged, view: ViewState) -> Grid:
    """Return the questions that are not reproduced, each with the way to it."""
    rows = []
    for q_id in logged.differing[:MOST_NAMED]:
        name = question_name(q_id)
        to = view.as_list().change(q=name).link("question")
        rows.append(Row(Cell(shortened(name, 80), href=to, spoken=f"Open {name}"), ()))
    more = len(logged.differing) - len(rows)
    rows += [Row(Cell(f"and {more:,} more", look="quiet"), ())] if more else []
    return Grid("Questions that are not reproduced", "Question", (), tuple(rows), wide=False)


def report_only(run_id: str) -> None:
    """Explain that a run without traces has nothing to compute from."""
    message = f"{run_id} has a stored report and no traces, so there are no lists to rank again."
    then = "Name the run's traces in the manifest (`traces: {path: …}`), or choose another run."
    with st.container(border=True, key="empty"):
        markup.note(message, "strong", role="line")
        markup.show(markup.text(markup.coded(then, "muted"), role="hint"))


def verdict(found: WhatIf, asked: Asked, view: ViewState, *, has_gold: bool) -> None:
    """Draw the deciding sentence, what it counts, and what the numbers leave out."""
    outcome = "section_match_at_1" if has_gold else WITHOUT_GOLD[0]
    flips = found.flips.get(outcome)
    with st.container(key="whatif-verdict", gap="xxsmall"):
        if not asked.changed:
            message = f"These are the numbers of {view.run} as logged. Change a setting to see what follows."
            markup.show(markup.text([Piece(message, "strong")], role="verdict"))
            return
        if not has_gold:
            markup.show(markup.text([Piece(_without_gold(found), "strong")], role="verdict"))
        elif flips is not None:
            message = verdict_sentence(flips, run=HERE, vs=view.run, outcome=outcome)
            markup.show(markup.text([Piece(message, "strong")], role="verdict"))
        besides = [f"With {whatif.in_words(asked.settings, found.logged)}.", _besides(found, flips)]
        besides += [needs_sentence(flips)] if flips is not None and flips.fixed + flips.regressed else []
        besides += found.notes
        markup.show(
            *(markup.text([Piece(each, "muted")], role="hint", limit=400) for each in besides if each)
        )


def _without_gold(found: WhatIf) -> str:
    moves = "moves" if len(found.moved) == 1 else "move"
    message = f"{counted(len(found.moved), 'question')} of {found.logged.questions:,} {moves}"
    return f"{message}; without gold questions nobody knows whether for the better."


def _besides(found: WhatIf, flips: Flips | None) -> str:
    verb = "differs" if len(found.moved) == 1 else "differ"
    parts = [f"{len(found.moved):,} of {counted(found.logged.questions, 'question')} {verb} in something"]
    if found.prompts_changed:
        parts.append(f"{found.prompts_changed:,} would have another prompt, to which no answer is known")
    if flips is not None and flips.left_out:
        parts.append(f"{flips.left_out:,} cannot be judged by SectionMatch@1")
    return f"{'; '.join(parts)}."


def cards(found: WhatIf, view: ViewState) -> None:
    """Draw a card per headline metric: logged → computed, with the paired difference."""
    pairs = {pair.metric.metric_id: pair for pair in found.pairs}
    shown = [pairs[name] for name in HEADLINES if name in pairs]
    if shown:
        with st.container(key="whatif-cards"):
            for pair in shown:
                with st.container(border=True, key=f"card-of-{pair.metric.metric_id}"):
                    markup.show(*_card(pair, is_changed=found.settings != type(found.settings)()))


def _card(pair: MetricPair, *, is_changed: bool) -> Iterable[Markup]:
    metric, there, here = pair.metric, pair.there, pair.here
    yield markup.text([Piece(metric.name, "h2", term=f"metric.{metric.metric_id}")], role="line")
    numbers = [number_in_words(metric, value.value) if value else "–" for value in (there, here)]
    counts = [counted_in_words(value) for value in (there, here) if value is not None and value.denominator]
    if not is_changed:
        numbers, counts = numbers[:1], counts[:1]
    yield markup.text(
        [Piece(" → ".join(numbers)), Piece(" → ".join(dict.fromkeys(counts)), "muted")], role="title"
    )
    if is_changed:
        p = f", {p_words(pair.p)}" if pair.p is not None and pair.difference and pair.difference.mean else ""
        yield markup.text([Piece(f"{pair_in_words(pair)}{p}")], role="hint")


def metrics(pairs: Sequence[MetricPair], view: ViewState) -> None:
    """Draw every metric as logged and as computed, with its paired difference."""
    about = f"{view.run} as logged, computed with the settings, and the difference question by question"
    markup.titled("Metrics ", about)
    if not pairs:
        markup.note("There is nothing to count.", "muted")
        return
    columns = (Column(Cell(f"{view.run} logged"), "end"), Column(Cell("Computed"), "end"))
    rows = tuple(
        Row(
            explained(
                pair.metric.name,
                f"metric.{pair.metric.metric_id}",
                tip=f"{pair.metric.counted} {pair.metric.source}.",
            ),
            (value_cell(pair.there, view), value_cell(pair.here, None), difference_cell(pair)),
        )
        for pair in pairs
    )
    head = difference_column("computed", "logged")
    show_grid(
        Grid(f"Metrics of {view.run} and computed", "Metric", (*columns, head), rows), key="grid-metrics"
    )


def changes(found: WhatIf, asked: Asked, view: ViewState) -> None:
    """Draw how buckets, causes, labels and grounding changed; a number lists its questions below."""

    def link(name: str, was: str | None, now: str | None) -> str | None:
        if SPLITS[name] is BY_GROUNDED:
            return None
        limited = asked.change(moved=f"{name}:{was or ''}>{now or ''}")
        return view.change(what_if=limited.params(), at=1).link("whatif")

    drawn = []
    for name, split in SPLITS.items():
        moved = [each for each in found.changes.get(name, ()) if each[0] != each[1]]
        if moved:
            drawn.append((name, split, moved))
    if not drawn:
        return
    with st.container(key="whatif-changes"):
        for name, split, moved in drawn:
            with st.container(key=f"changes-{name}", gap="xsmall"):
                count = counted(sum(each[-1] for each in moved), "question")
                markup.titled(f"{split.title} ", f"{count} changed", term=f"term.{split.field}")
                grid = moves_grid(
                    split,
                    moved,
                    names=("logged", "computed"),
                    link=partial(link, name),
                    opens="List them below",
                )
                show_grid(grid, key=f"grid-{name}")
