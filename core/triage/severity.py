"""Worst first: the one order in which Triage lists questions."""

from __future__ import annotations

from core.contracts.records import LABELS, Label
from core.triage.types import ReportRow

_RANK: dict[Label, int] = {label: rank for rank, label in enumerate(LABELS)}

#: Sorts an answer without content words behind all that claim something.
NO_CLAIM = 2.0


def severity(row: ReportRow) -> tuple[int, int, float, str]:
    """The sort key, smallest worst: label, then many unsupported numbers, little coverage, q_id."""
    signals = row.signals
    covered = NO_CLAIM if signals.answer_coverage is None else signals.answer_coverage
    return _RANK[row.label], -len(signals.numbers_unsupported), covered, row.q_id or ""


def label_rank(label: Label) -> int:
    """0 for the worst label to 4 for `ok`: the label's part of `severity`."""
    return _RANK[label]
