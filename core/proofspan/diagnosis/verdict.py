"""A trace's label where there is something to judge by; the one place that decides whether there is."""

from __future__ import annotations

from proofspan.contracts.records import Trace
from proofspan.diagnosis.corpus import Corpus
from proofspan.diagnosis.reflect import reflect
from proofspan.diagnosis.types import Profile, ReportRow

#: The suspicion of a trace whose records do not say what was asked.
QUESTION_UNKNOWN = "question_unknown"


def verdict(trace: Trace, corpus: Corpus | None, profile: Profile) -> ReportRow | None:
    """The report row of a trace; None where there are no chunks, or no question, to judge by."""
    if corpus is None or QUESTION_UNKNOWN in trace.suspicions:
        return None
    return reflect(trace, corpus, profile)
