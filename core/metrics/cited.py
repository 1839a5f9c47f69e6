"""One trace's citations against its gold passages and its anchor."""

from __future__ import annotations

from typing import NamedTuple


class Cited(NamedTuple):
    """What citation metrics are made of, in the order of the index's columns: 0–1, None where not counted."""

    citation_precision: float | None = None
    citation_recall: float | None = None
    anchor_coverage: float | None = None


NOTHING_CITED = Cited()
