"""The colours of labels and buckets, in one place, as names of the theme so that both colour schemes follow.

`.streamlit/config.toml` says which hue each name has in light and in dark. A colour repeats what the words
beside it say and never carries a meaning alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from proofspan.contracts.records import Label
from proofspan.metrics.ranked import Bucket

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
    """A label as Streamlit's coloured badge, for the Markdown of our own widgets' labels."""
    return f":{LABEL_COLOURS[label]}-badge[{label}]"
