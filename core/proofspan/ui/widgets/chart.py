"""A Plotly figure on a page: in the colours of the scheme that is on, with its numbers as a table.

A picture can neither be read aloud nor walked through by keys; its table can, and leads to the same
questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from proofspan.charts.theme import DARK, LIGHT, Hue, Palette
from proofspan.contracts.records.records import Label
from proofspan.diagnosis.verdicts.types import Cause
from proofspan.display_names import BUCKET_NAMES, CAUSE_NAMES, CORRECT_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.metrics.ranked import Bucket
from proofspan.ui.visit.links import follow
from proofspan.ui.widgets import in_view
from proofspan.ui.widgets.fold import fold
from proofspan.ui.widgets.markup import clean
from proofspan.ui.widgets.table import Grid, show_grid

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: No buttons over the figure; a double click or a wheel changes nothing.
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False, "showTips": False}


def palette() -> Palette:
    """Return the colours of the scheme that the browser shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def show_chart(
    make: Callable[[], go.Figure], *, name: str, alt: str, table: Callable[[], Grid], at_once: bool = True
) -> None:
    """Draw a figure; a click on a point follows the address that its customdata begins with.

    `alt` describes the figure in a sentence; `table` is behind "As a table" below it. A point without
    customdata, or with an empty one, does nothing. Unless `at_once`, figures are made and sent when their
    place comes into view; the stylesheet reserves its height by the key `plot-` and `name`.
    """
    key = f"chart-{name}"

    def open_point() -> None:
        points = st.session_state[key]["selection"]["points"]
        data = points[0].get("customdata") if points else None
        address = data[0] if isinstance(data, list) and data else data
        if isinstance(address, str) and address:
            follow(address)

    with st.container(key=f"plot-{name}"):
        if at_once or in_view.is_in_view(f"seen-{name}"):
            st.plotly_chart(
                make(),
                theme=None,
                key=key,
                on_select=open_point,
                selection_mode="points",
                config=_CONFIG,
                alt=clean(alt),
            )
    fold(f"{key}-table", "As a table", lambda: show_grid(table(), key=f"{key}-cells"))


# The colours of labels and buckets, in one place, as names of the theme so that both colour schemes follow.
#
# `.streamlit/config.toml` says which hue each name has in light and in dark. A colour repeats what the words
# beside it say and never carries a meaning alone.

LABEL_COLOURS: Mapping[Label, Hue] = {
    "ok": "green",
    "refusal_ok": "gray",
    "refusal_suspect": "yellow",
    "retrieval_drift": "violet",
    "generation_drift": "red",
}
#: Those of the ranking buckets, which are none of the labels'.
BUCKET_COLOURS: Mapping[Bucket, Hue] = {"hit": "accent", "score_policy": "blue", "retrieval_gap": "orange"}


@dataclass(frozen=True, slots=True)
class Split:
    """Values that questions fall into: their names and colours, the best first, and the name for having none.

    `field` is the filter that keeps one of them, `was` the one that keeps its value in the other run.
    """

    title: str
    field: str
    names: Mapping[Any, str]
    looks: Mapping[Any, Hue]
    none: str
    was: str = ""

    def term(self, value: str | None) -> str:
        """Return what explains a value in the glossary; "" for having none."""
        return f"{self.field}.{value}" if value else ""


BY_LABEL = Split("Labels", "label", LABEL_NAMES, LABEL_COLOURS, NO_LABEL, "was")
#: Causes share a colour where what to do about them is alike: in the answer, the prompt, retrieval, the form.
CAUSE_COLOURS: Mapping[Cause, Hue] = {
    "none": "green",
    "gold_suspect": "gray",
    "wrong_format": "gray",
    "bad_citation": "gray",
    "not_in_context": "blue",
    "missed_top_ranked": "violet",
    "missing_content": "violet",
    "incorrect_specificity": "yellow",
    "incomplete": "yellow",
    "over_refusal": "yellow",
    "not_extracted": "orange",
    "unsupported": "orange",
    "answered_unanswerable": "orange",
    "wrong_source": "red",
    "contradicted": "red",
    "unsafe_omission": "red",
}
BY_CAUSE = Split("Causes", "cause", CAUSE_NAMES, CAUSE_COLOURS, "Not checked", "was_cause")
BY_CORRECT = Split("Correctness", "correct", CORRECT_NAMES, {}, "Not checked", "was_correct")
BY_BUCKET = Split("Buckets", "bucket", BUCKET_NAMES, BUCKET_COLOURS, "Not judged", "was_bucket")
