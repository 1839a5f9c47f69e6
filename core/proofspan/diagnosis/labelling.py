"""One trace → its label and the signals behind it. The hot path: every trace of an index build comes through.

With the default profile label, why, chunks and citations_in_answer are those of the reference script of
the triage recipe (docs/requirements.md), on every trace that it accepts. The profile changes three
things and nothing else: which phrases make a refusal, whether "template/citations violated" is decided by the
answer's text, by the citation payload or not at all, and which cited ids are counted (the text's, the
payload's, or with template "none" the payload's where there is one).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from proofspan.contracts.records.records import Label, Trace
from proofspan.diagnosis.answers import (
    MARKER,
    claims_of,
    follows_template,
    other_refusal,
    payload_ids,
    refuses,
)
from proofspan.diagnosis.corpus import UNRESOLVED, ChunkView, Corpus
from proofspan.diagnosis.coverage import content_of, coverage, missing_words
from proofspan.diagnosis.numbers import NUMBER_WORDS, Number, claimed_numbers, evidence_values
from proofspan.diagnosis.types import Profile, ReportRow, Signals
from proofspan.diagnosis.words import phrases, query_tokens, tokens

#: Part of every index's key: raised when a rule changes any outcome.
RULES_VERSION = "1"

REFUSAL_SUSPECT: tuple[Label, str] = (
    "refusal_suspect",
    "evidence contains query terms but model refused",
)
REFUSAL_OK: tuple[Label, str] = ("refusal_ok", "no query terms found in evidence; refusal acceptable")
#: The labels of an answer that declines.
REFUSAL_LABELS: tuple[Label, ...] = (REFUSAL_SUSPECT[0], REFUSAL_OK[0])
VIOLATED: tuple[Label, str] = ("generation_drift", "template/citations violated")
NOT_GROUNDED: tuple[Label, str] = ("generation_drift", "answer text not grounded in evidence")
NOT_ALIGNED: tuple[Label, str] = ("retrieval_drift", "evidence lacks query terms")
GROUNDED: tuple[Label, str] = ("ok", "citations present and answer grounded")


def reflect(trace: Trace, corpus: Corpus, profile: Profile) -> ReportRow:
    """The report row of one trace."""
    answer, ids = trace.answer, trace.chunk_ids
    lower = answer.lower()
    views, survey = corpus.views, corpus.survey
    evidence = [views[chunk_id] for chunk_id in ids]
    in_text = trace.ids_in_text
    in_payload = payload_ids(trace)
    cited = counted_ids(in_text, in_payload, profile)
    retrieved = [chunk_id in ids for chunk_id in cited]
    resolved = [chunk_id in corpus.texts for chunk_id in cited]

    refusals = lowered(profile.refusal)
    refused = refuses(lower, refusals)
    claims = claims_of(answer, lower, (ids, cited), refusals if refused else ())
    asked = query_tokens(trace.q)
    asked_content = content_of(asked, survey)
    claimed_content = content_of(set(tokens(claims)), survey)
    missing = missing_words({*asked, *claimed_content.known}.difference(asked_content.nowhere), evidence)
    missing.update(asked_content.nowhere)
    found = tuple([token for token in asked if token not in missing])
    phrase = None if refused else matched_phrase(answer, evidence, missing)

    violated = not refused and _violates(lower, in_payload, all(retrieved), profile)
    label, why = _verdict(refused, violated, aligned=bool(found), grounded=phrase is not None)
    signals = Signals(
        phrase,
        found,
        tuple([token for token in asked if token in missing]),
        coverage(asked_content, missing, survey),
        coverage(claimed_content, missing, survey),
        unsupported_numbers(claims, trace.q, evidence),
        len(cited),
        sum(retrieved),
        sum(resolved),
    )
    suspicions = list(trace.suspicions)
    if not asked_content.total:
        suspicions.append("query_terms_too_few")
    if not all(retrieved):
        suspicions.append("citation_outside_retrieved")
    if UNRESOLVED in evidence or not all(resolved):
        suspicions.append("unresolved_chunk_id")
    if corpus.former and not corpus.former.isdisjoint((*ids, *cited)):
        suspicions.append("redirected_chunk_id")
    if in_text and in_payload and set(in_text) != set(in_payload):
        suspicions.append("citations_disagree")
    suspicions += _wording_suspicions(lower, refused, cited, profile)
    if contradicts(trace.raw.get("ok"), label):
        suspicions.append("ok_contradicts")
    return ReportRow(trace.q, label, why, ids, in_text, signals, tuple(sorted(suspicions)), trace.q_id)


def lacks_template(trace: Trace, verdict: ReportRow, profile: Profile) -> bool:
    """Whether an answer was labelled for want of its citations, not for citing what was not retrieved.

    Where no answer was logged, as in a log line, nothing says that it lacked them.
    """
    if verdict.why != VIOLATED[1] or not trace.answer.strip():
        return False
    has_payload = bool(payload_ids(trace))
    return not follows_template(trace.answer.lower(), has_payload=has_payload, template=profile.template)


def declines(trace: Trace, profile: Profile) -> bool:
    """Whether an answer declines, by the profile's own phrases."""
    return refuses(trace.answer.lower(), lowered(profile.refusal))


@lru_cache(maxsize=64)
def lowered(phrases_given: tuple[str, ...]) -> tuple[str, ...]:
    """Refusal phrases as they are compared."""
    return tuple(phrase.lower() for phrase in phrases_given)


def counted_ids(in_text: tuple[str, ...], in_payload: tuple[str, ...], profile: Profile) -> tuple[str, ...]:
    """The cited ids that the profile goes by."""
    if profile.template == "seed":
        return in_text
    return in_payload if profile.template == "payload" else in_payload or in_text


def matched_phrase(answer: str, evidence: Sequence[ChunkView], missing: set[str]) -> str | None:
    """The first phrase of the answer that stands in the evidence, whatever its case, as the answer has it.

    The reference joins chunks by an empty line, so a phrase may run across a join; as it neither begins nor
    ends with white space, it then holds the whole empty line, and only such a phrase needs the join made.
    `missing` are tokens that no chunk has: a phrase with one of them between two spaces stands nowhere.
    """
    for phrase in dict.fromkeys(phrases(answer)):
        wanted = phrase.lower()
        if missing and not missing.isdisjoint(wanted.split()[1:-1]):
            continue
        for view in evidence:
            if wanted in view.lower:
                return phrase
        if "\n\n" in wanted and wanted in "\n\n".join([view.lower for view in evidence]):
            return phrase
    return None


def unsupported_numbers(claims: str, question: str, evidence: Sequence[ChunkView]) -> tuple[str, ...]:
    """The numbers of the claims that stand neither in the evidence nor in the question, as written."""
    rest = evidence_values(claims)
    for view in evidence:
        if not rest:
            return ()
        rest = rest - view.numbers
    if not rest:
        return ()
    # Even the most generous reading finds something open; now it counts what the answer claims.
    return tuple(dict.fromkeys([number.text for number in unsupported(claims, question, evidence)]))


def unsupported(claims: str, question: str, evidence: Sequence[ChunkView]) -> list[Number]:
    """The claimed numbers for which neither the question nor any chunk holds an equal value, in order."""
    asked = evidence_values(question)
    rest = [number for number in claimed_numbers(claims) if asked.isdisjoint(number.values)]
    for view in evidence:
        if not rest:
            break
        rest = [number for number in rest if view.numbers.isdisjoint(number.values)]
    return [number for number in rest if not _spelled_out(number, evidence)]


def _spelled_out(number: Number, evidence: Sequence[ChunkView]) -> bool:
    """Whether a small number stands in the evidence as a word."""
    words = NUMBER_WORDS.get(number.values[0])
    return words is not None and any(not view.words.isdisjoint(words) for view in evidence)


def contradicts(ok: object, label: Label) -> bool:
    """Whether the pipeline's own `ok` says the opposite of the label; refusals are nobody's failure."""
    if ok is True:
        return label in ("generation_drift", "retrieval_drift")
    return ok is False and label == "ok"


def _violates(lower: str, in_payload: tuple[str, ...], all_retrieved: bool, profile: Profile) -> bool:
    """Whether an answer that is no refusal breaks the template, or cites what was not retrieved."""
    if profile.template == "none":
        return False
    follows = follows_template(lower, has_payload=bool(in_payload), template=profile.template)
    return not (follows and all_retrieved)


def _verdict(refused: bool, violated: bool, *, aligned: bool, grounded: bool) -> tuple[Label, str]:
    """The reference's decision, in its order."""
    if refused:
        return REFUSAL_SUSPECT if aligned else REFUSAL_OK
    if violated:
        return VIOLATED
    if not aligned:
        return NOT_ALIGNED
    return GROUNDED if grounded else NOT_GROUNDED


def _wording_suspicions(lower: str, refused: bool, cited: Sequence[str], profile: Profile) -> list[str]:
    """The stricter readings of the triage recipe, where its script is content with less.

    With template "none" no exact form of a refusal was agreed on, so none is asked for.
    """
    if refused:
        exact = lower.strip() in lowered(profile.refusal)
        return [] if exact or profile.template == "none" else ["refusal_not_exact"]
    found = []
    if not cited and MARKER in lower:
        found.append("citations_empty")
    if other_refusal(lower):
        found.append("refusal_other_wording")
    return found


# A trace's label where there is something to judge by; the one place that decides whether there is.

#: The suspicion of a trace whose records do not say what was asked.
QUESTION_UNKNOWN = "question_unknown"


def verdict(trace: Trace, corpus: Corpus | None, profile: Profile) -> ReportRow | None:
    """The report row of a trace; None where there are no chunks, or no question, to judge by."""
    if corpus is None or QUESTION_UNKNOWN in trace.suspicions:
        return None
    return reflect(trace, corpus, profile)
