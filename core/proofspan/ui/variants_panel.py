"""The same question in other words and with other seeds: what of its traces stays, and the way to each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import streamlit as st

from proofspan.contracts.records import LABELS, TraceKey
from proofspan.services.stability import ASPECTS, Steadiness
from proofspan.ui import safe
from proofspan.ui.grid import Cell, Column, Grid, Row, show_grid
from proofspan.ui.state import ViewState, question_name
from proofspan.ui.theme import LABEL_COLOURS
from proofspan.ui.triage_rows import NOTHING, gold_rank
from proofspan.ui.words import counted

_COLUMNS = (
    Column(Cell("label")),
    Column(Cell("rank 1 in"), "end"),
    Column(Cell("gold § at"), "end"),
)


def show_variants(steadiness: Steadiness, traces: Callable[[], pd.DataFrame], view: ViewState) -> None:
    """One line on what stays, and behind it the traces. `traces` are all of the question in this run."""
    with st.expander(safe.label(stability_words(steadiness), limit=160), key="variants"):
        show_grid(variants_grid(traces(), view), key="variants-grid")


def stability_words(each: Steadiness) -> str:
    """`3 paraphrases × 2 seeds · changes: section at rank 1, cited chunks · stays: label · λ divergent`."""
    told = [f"{counted(each.paraphrases, 'paraphrase')} × {counted(each.seeds, 'seed')}"]
    for stays, verb in ((False, "changes"), (True, "stays")):
        names = [words for aspect, words in ASPECTS.items() if each.stays[aspect] is stays]
        told += [f"{verb}: {', '.join(names)}"] if names else []
    told += [f"λ {', '.join(each.states)}"] if each.states else []
    return " · ".join(told)


def variants_grid(traces: pd.DataFrame, view: ViewState) -> Grid:
    """A row a trace, each the way to its own page; the one that is shown says so."""
    rows = tuple(_rows(traces, view))
    return Grid("This question in other words and with other seeds", "trace", _COLUMNS, rows)


def _rows(traces: pd.DataFrame, view: ViewState) -> Iterator[Row]:
    told: set[int] = set()
    for record in traces.to_dict("records"):
        key = TraceKey(
            view.run, record["q_id"], int(record["paraphrase"]), int(record["seed"]), int(record["repeat"])
        )
        name = f"p{key.paraphrase} · s{key.seed}{f' · #{key.repeat}' if key.repeat > 1 else ''}"
        is_shown = key == view.key
        shown = view.change(
            q=question_name(key.q_id, key.repeat),
            p=key.paraphrase,
            s=key.seed,
            cite=None,
            chunk=None,
            page=None,
        )
        yield Row(
            Cell(
                name,
                note=_note(record, is_told=key.paraphrase in told, is_shown=is_shown),
                href=None if is_shown else shown.link("question"),
                spoken="" if is_shown else f"open {name}",
            ),
            tuple(_cells(record)),
        )
        told.add(key.paraphrase)


def _note(record: dict[Any, Any], *, is_told: bool, is_shown: bool) -> str:
    """The question as this paraphrase asks it, once for all its seeds."""
    asked = [] if is_told else [str(record["q"])[:200]]
    return " · ".join([*(["shown here"] if is_shown else []), *asked])


def _cells(record: dict[Any, Any]) -> Iterator[Cell]:
    label, state = record["label"], record["lambda_state"]
    logged = f"λ {state[:60]}" if isinstance(state, str) else ""
    if label in LABELS:
        yield Cell(label, note=logged, look=LABEL_COLOURS[label])
    else:
        yield Cell("no label", note=logged, look="quiet")
    section = record["rank1_section"]
    yield Cell(section[:60] if isinstance(section, str) and section else NOTHING)
    yield Cell(gold_rank(record["unranked"], record["section_rank"]))
