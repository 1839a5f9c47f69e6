"""An answer's claims and the verdict on it, made alike for the shown question, reports and whole runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from proofspan.contracts.records.records import Attachment, GoldQuestion, Trace
from proofspan.diagnosis.answers import claims_of, from_another_prompt, payload_ids
from proofspan.diagnosis.claims.check import Checker
from proofspan.diagnosis.claims.types import DIGITS, CheckedAnswer, claim_records
from proofspan.diagnosis.gold import declines
from proofspan.diagnosis.labelling import QUESTION_UNKNOWN
from proofspan.diagnosis.types import Profile, ReportRow
from proofspan.diagnosis.verdicts.expected import compare_expected
from proofspan.diagnosis.verdicts.gold_text import GoldTrails
from proofspan.diagnosis.verdicts.judge import Case, Omitted, judge
from proofspan.diagnosis.verdicts.types import Verdict, verdict_record
from proofspan.services.question.view import QuestionView


class Judged(NamedTuple):
    """An answer's checked claims, and the verdict on it."""

    checked: CheckedAnswer
    verdict: Verdict


@dataclass(slots=True)
class AnswerChecker:
    """Checks and judges traces by the chunks, the gold questions and the profile. Belongs to one thread.

    `checker` is None without chunks, `gold` are the gold questions by id, `notices` the warnings and cautions
    of the catalogue by id. `follows` says whether any answer of the run follows the template. `trails` are
    those of the checker's chunks, made when they are first needed: whoever keeps them keeps what was read.
    """

    profile: Profile
    checker: Checker | None
    gold: Mapping[str, GoldQuestion] = field(default_factory=dict)
    notices: Mapping[str, Attachment] = field(default_factory=dict)
    follows: bool = True
    trails: GoldTrails | None = None

    def judged(self, trace: Trace, row: ReportRow | None, omitted: Sequence[Omitted]) -> Judged | None:
        """Return the claims of a trace and the verdict on it; None where it gets no label either.

        `row` has the trace's label and suspicions, `omitted` are the notices that it may leave out.
        """
        gold, checker = self.gold.get(trace.q_id), self.checker
        checked = _checked(trace, self.profile, checker, gold)
        if checked is None or checker is None or row is None:
            return None
        if self.trails is None:
            self.trails = GoldTrails(checker.texts, checker.places)
        trail = self.trails.trail(trace, gold) if gold is not None else None
        blanked = None
        if gold is not None:
            cited = payload_ids(trace) or trace.ids_in_text
            made_from = from_another_prompt(trace)
            prompt = trace.chunk_ids if made_from is None else made_from.chunks
            blanked = claims_of(trace.answer, trace.answer.lower(), (prompt, cited))
        correctness = compare_expected(
            trace.answer,
            gold,
            question=trace.q,
            is_refusal=declines(trace, row),
            survey=checker.survey,
            blanked=blanked,
            checked=checked.claims,
        )
        case = Case(
            trace,
            row,
            self.profile,
            checked,
            gold,
            correctness,
            trail,
            checker.places,
            omitted,
            self.follows,
        )
        return Judged(checked, judge(case))


def judged_question(
    view: QuestionView, checker: Checker | None, *, follows: bool, trails: GoldTrails | None = None
) -> Judged | None:
    """Return the checked claims of the shown answer and the verdict; None where it has no label either.

    `checker` is that of the workspace's chunks, None without any; `follows` and `trails` are those of
    `AnswerChecker`.
    """
    gold = {} if view.gold is None else {view.trace.q_id: view.gold}
    answers = AnswerChecker(view.profile, checker, gold, follows=follows, trails=trails)
    return answers.judged(view.trace, view.row, view.omissions or ())


def with_claims(row: ReportRow, judged: Judged) -> ReportRow:
    """Return a report row with the claims of its answer and the verdict on it."""
    checked = judged.checked
    support = None if checked.support is None else round(checked.support, DIGITS)
    signals = replace(row.signals, support=support, contradictions=checked.contradictions)
    extra = {"claims_note": checked.note} if checked.note else {}
    claims = tuple(claim_records(checked.claims))
    return replace(
        row, signals=signals, claims=claims, verdict=verdict_record(judged.verdict), extra=row.extra | extra
    )


def _checked(
    trace: Trace, profile: Profile, checker: Checker | None, gold: GoldQuestion | None
) -> CheckedAnswer | None:
    if checker is None or QUESTION_UNKNOWN in trace.suspicions:
        return None
    return checker.check(trace, profile, gold)
