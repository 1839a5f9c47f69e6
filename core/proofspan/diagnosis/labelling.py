"""Label a trace and compute its signals. The hot path: it runs for every trace of an index build.

With the default profile label, why, chunks and citations_in_answer are those of the reference script of
the triage recipe (docs/requirements.md), on every trace that it accepts. The profile changes three
things and nothing else: which phrases make a refusal, whether "template/citations violated" is decided by the
answer's text, by the citation payload or not at all, and which cited ids are counted (the text's, the
payload's, or with template "none" the payload's where there is one).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from proofspan.contracts.records.records import NO_QUESTION, Label, Trace
from proofspan.diagnosis.answers import (
    MARKER,
    claims_of,
    follows_template,
    other_refusal,
    payload_ids,
    refuses,
)
from proofspan.diagnosis.claims.by_value import without_supported
from proofspan.diagnosis.corpus import (
    UNRESOLVED,
    ChunkView,
    Corpus,
    content_of,
    coverage,
    missing_words,
)
from proofspan.diagnosis.numbers import NUMBER_WORDS, Number, claimed_numbers, evidence_values
from proofspan.diagnosis.types import Profile, ReportRow, Signals
from proofspan.diagnosis.words import phrases, query_tokens, tokens

#: Part of every index's key: raised when a rule changes any outcome.
RULES_VERSION = "3"

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


def decided(*, refused: bool, violated: bool, is_aligned: bool, is_grounded: bool) -> tuple[Label, str]:
    """Return the label and its reason, decided as the reference does, in its order."""
    if refused:
        return REFUSAL_SUSPECT if is_aligned else REFUSAL_OK
    if violated:
        return VIOLATED
    if not is_aligned:
        return NOT_ALIGNED
    return GROUNDED if is_grounded else NOT_GROUNDED


def reflect(trace: Trace, corpus: Corpus, profile: Profile) -> ReportRow:
    """Return the report row of a trace."""
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

    violated = False
    if not refused and profile.template != "none":
        follows = follows_template(lower, has_payload=bool(in_payload), template=profile.template)
        violated = not (follows and all(retrieved))
    label, why = decided(
        refused=refused,
        violated=violated,
        is_aligned=bool(found) or trace.q == NO_QUESTION,
        is_grounded=phrase is not None,
    )
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
    if not asked_content.total and trace.q != NO_QUESTION:
        suspicions.append("query_terms_too_few")
    if not all(retrieved):
        suspicions.append("citation_outside_retrieved")
    if UNRESOLVED in evidence or not all(resolved):
        suspicions.append("unresolved_chunk_id")
    if corpus.former and not corpus.former.isdisjoint((*ids, *cited)):
        suspicions.append("redirected_chunk_id")
    if in_text and in_payload and set(in_text) != set(in_payload):
        suspicions.append("citations_disagree")
    # Readings of the triage recipe that are stricter than its script. With template "none" there is no exact
    # form of a refusal to require.
    if refused and lower.strip() not in refusals and profile.template != "none":
        suspicions.append("refusal_not_exact")
    if not refused and not cited and MARKER in lower:
        suspicions.append("citations_empty")
    if not refused and other_refusal(lower):
        suspicions.append("refusal_other_wording")
    # The pipeline's own `ok` never contradicts a refusal.
    ok = trace.raw.get("ok")
    if (ok is True and label in ("generation_drift", "retrieval_drift")) or (ok is False and label == "ok"):
        suspicions.append("ok_contradicts")
    return ReportRow(trace.q, label, why, ids, in_text, signals, tuple(sorted(suspicions)), trace.q_id)


def lacks_template(trace: Trace, verdict: ReportRow, profile: Profile) -> bool:
    """Return whether an answer was labelled for missing citations, not for citing what was not retrieved.

    False without a logged answer, as in a log line.
    """
    if verdict.why != VIOLATED[1] or not trace.answer.strip():
        return False
    has_payload = bool(payload_ids(trace))
    return not follows_template(trace.answer.lower(), has_payload=has_payload, template=profile.template)


def declines(trace: Trace, profile: Profile) -> bool:
    """Return whether an answer declines by the profile's phrases."""
    return refuses(trace.answer.lower(), lowered(profile.refusal))


@lru_cache(maxsize=64)
def lowered(phrases_given: tuple[str, ...]) -> tuple[str, ...]:
    """Return refusal phrases in lower case."""
    return tuple(phrase.lower() for phrase in phrases_given)


def counted_ids(in_text: tuple[str, ...], in_payload: tuple[str, ...], profile: Profile) -> tuple[str, ...]:
    """Return the cited ids that the profile counts."""
    if profile.template == "seed":
        return in_text
    return in_payload if profile.template == "payload" else in_payload or in_text


def matched_phrase(answer: str, evidence: Sequence[ChunkView], missing: set[str]) -> str | None:
    """Return the first phrase of the answer that the evidence has in any case, as the answer has it.

    The reference joins chunks by an empty line, so a phrase may run across a join; as it neither begins nor
    ends with white space, it then has the whole empty line, and only such a phrase needs the join. `missing`
    are tokens that no chunk has: a phrase with one of them between two spaces is nowhere.
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
    """Return the numbers of the claims, as written, that are neither in the evidence nor in the question."""
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
    """Return the claimed numbers that question and chunks support neither as written nor by value."""
    asked = evidence_values(question)
    rest = [number for number in claimed_numbers(claims) if number.value not in asked]
    for view in evidence:
        if not rest:
            break
        rest = [number for number in rest if number.value not in view.numbers]
    spelled = [NUMBER_WORDS.get(number.value, ()) for number in rest]  # small numbers may be words
    left = [
        number
        for number, words in zip(rest, spelled, strict=True)
        if all(view.words.isdisjoint(words) for view in evidence)
    ]
    return without_supported(left, claims, question, evidence)


#: The suspicion of a trace whose records do not say what was asked.
QUESTION_UNKNOWN = "question_unknown"


def verdict(trace: Trace, corpus: Corpus | None, profile: Profile) -> ReportRow | None:
    """Return the report row of a trace, None without chunks or a question.

    None too for a data set's question that no pipeline has answered or retrieved for.
    """
    if corpus is None or QUESTION_UNKNOWN in trace.suspicions:
        return None
    is_bare = "answer_missing" in trace.suspicions and trace.raw.keys().isdisjoint(("chunks", "stages"))
    if is_bare and profile.template == "none":
        return None
    return reflect(trace, corpus, profile)
