"""A Plotly figure on a page: in the colours of the scheme that is on, with its numbers as a table.

A picture can neither be read aloud nor walked through by keys; its table can, and leads to the same
questions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from proofspan.charts.theme import DARK, LIGHT, Palette
from proofspan.display_names import LABEL_NAMES
from proofspan.ui.visit.links import follow
from proofspan.ui.widgets.markup import clean
from proofspan.ui.widgets.table import Grid, show_grid

if TYPE_CHECKING:
    import plotly.graph_objects as go
from collections.abc import Mapping
from typing import Literal

from proofspan.contracts.records.records import Label
from proofspan.metrics.ranked import Bucket

#: No buttons over the figure; a double click or a wheel changes nothing.
_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False, "showTips": False}


def palette() -> Palette:
    """Return the colours of the scheme that the browser shows."""
    return DARK if st.context.theme.type == "dark" else LIGHT


def show_chart(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    table: Grid | None = None,
    on_point: Callable[[Any], None] | None = None,
) -> None:
    """Draw a figure; a click on a point follows the address that its customdata begins with.

    `on_point` gets the point's customdata instead. `alt` describes the figure in a sentence; `table` is
    behind "as a table" below it. A point without customdata, or with an empty one, does nothing.
    """
    st.plotly_chart(
        figure,
        theme=None,
        key=key,
        on_select=lambda: _chosen(key, on_point or _follow),
        selection_mode="points",
        config=_CONFIG,
        alt=clean(alt),
    )
    if table is not None:
        with st.expander("as a table", key=f"{key}-table"):
            show_grid(table, key=f"{key}-cells")


def _chosen(key: str, on_point: Callable[[Any], None]) -> None:
    """Pass on the point that was clicked; deselecting does nothing."""
    points = st.session_state[key]["selection"]["points"]
    data = points[0].get("customdata") if points else None
    if data:
        on_point(data)


def _follow(data: Any) -> None:
    address = data[0] if isinstance(data, list) else data
    if isinstance(address, str) and address:
        follow(address)


# The colours of labels and buckets, in one place, as names of the theme so that both colour schemes follow.
#
# `.streamlit/config.toml` says which hue each name has in light and in dark. A colour repeats what the words
# beside it say and never carries a meaning alone.

ThemeColour = Literal["red", "violet", "yellow", "gray", "green"]
BucketColour = Literal["accent", "blue", "orange"]

LABEL_COLOURS: Mapping[Label, ThemeColour] = {
    "generation_drift": "red",
    "retrieval_drift": "violet",
    "refusal_suspect": "yellow",
    "refusal_ok": "gray",
    "ok": "green",
}
#: Those of the ranking buckets, which are none of the labels'.
BUCKET_COLOURS: Mapping[Bucket, BucketColour] = {
    "hit": "accent",
    "score_policy": "blue",
    "retrieval_gap": "orange",
}


def badge(label: Label) -> str:
    """Return a label as Streamlit's coloured badge, for the Markdown of a widget's label."""
    return f":{LABEL_COLOURS[label]}-badge[{LABEL_NAMES[label]}]"
