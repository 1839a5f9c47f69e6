"""What becomes of a trace that is held to its gold question: the outcomes that every metric adds up."""

from __future__ import annotations

from typing import NamedTuple

from core.metrics.cited import NOTHING_CITED, Cited
from core.metrics.ranked import Ranked


class Judged(NamedTuple):
    """One trace's outcomes. Type and answerability are the gold question's, None without one.

    `refused`: the answer declines; None without a verdict.
    """

    q_type: str | None
    answerable: bool | None
    refused: bool | None
    ranked: Ranked
    cited: Cited = NOTHING_CITED

    @property
    def columns(self) -> tuple[object, ...]:
        """The outcomes as the index holds them, in the order of its columns."""
        return (self.q_type, self.answerable, self.refused, *self.ranked, *self.cited)


#: A row of a report whose run has no traces: nobody can tell what was ranked.
UNJUDGED = Judged(None, None, None, Ranked("no_candidates"))
