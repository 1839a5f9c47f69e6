"""The claims of an answer, checked alike for the shown question, for a report and for whole runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from proofspan.contracts.records.records import GoldQuestion, Trace
from proofspan.diagnosis.claims.check import Checker
from proofspan.diagnosis.claims.types import DIGITS, CheckedAnswer, claim_records
from proofspan.diagnosis.labelling import QUESTION_UNKNOWN
from proofspan.diagnosis.types import Profile, ReportRow
from proofspan.services.question.view import QuestionView


def checked_claims(view: QuestionView, checker: Checker | None) -> CheckedAnswer | None:
    """Return the checked claims of the shown answer; None where the question has no label either.

    `checker` is that of the workspace's chunks, None without any.
    """
    if view.row is None:
        return None
    return _checked(view.trace, view.profile, checker, view.gold)


@dataclass(slots=True)
class AnswerChecker:
    """Checks traces by the chunks, the gold questions and the profile. Belongs to one thread at a time.

    `checker` is None without chunks, `gold` are the gold questions by id.
    """

    profile: Profile
    checker: Checker | None
    gold: Mapping[str, GoldQuestion] = field(default_factory=dict)

    def checked(self, trace: Trace) -> CheckedAnswer | None:
        """Return the checked claims of a trace; None where it gets no label either."""
        return _checked(trace, self.profile, self.checker, self.gold.get(trace.q_id))


def with_claims(row: ReportRow, checked: CheckedAnswer) -> ReportRow:
    """Return a report row with the claims of its answer."""
    support = None if checked.support is None else round(checked.support, DIGITS)
    signals = replace(row.signals, support=support, contradictions=checked.contradictions)
    extra = {"claims_note": checked.note} if checked.note else {}
    return replace(row, signals=signals, claims=tuple(claim_records(checked.claims)), extra=row.extra | extra)


def _checked(
    trace: Trace, profile: Profile, checker: Checker | None, gold: GoldQuestion | None
) -> CheckedAnswer | None:
    if checker is None or QUESTION_UNKNOWN in trace.suspicions:
        return None
    return checker.check(trace, profile, gold)
