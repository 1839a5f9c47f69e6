"""The cause of a question's outcome: the first point of failure, in a sentence of this question's facts.

What is not known is not guessed: a cause that rests on words alone is `likely`, and an answer without an
expected one is judged by its evidence only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from proofspan.contracts.records.field_values import page_of
from proofspan.contracts.records.records import Attachment, Citation, GoldQuestion, Trace
from proofspan.diagnosis.answers import AnswerFrom, from_another_prompt, payload_ids
from proofspan.diagnosis.claims.sentences import sentences
from proofspan.diagnosis.claims.types import CheckedAnswer, CheckedClaim, ClaimStatus, DifferenceKind
from proofspan.diagnosis.claims.word_forms import forms_in, language_of, stop_forms
from proofspan.diagnosis.gold import declines
from proofspan.diagnosis.labelling import NOT_ALIGNED, counted_ids, lacks_template
from proofspan.diagnosis.safety import SafetyOmission
from proofspan.diagnosis.types import Profile, ReportRow
from proofspan.diagnosis.verdicts.gold_text import has_passage
from proofspan.diagnosis.verdicts.instructions import instructs
from proofspan.diagnosis.verdicts.types import (
    TRAIL_STAGES,
    Cause,
    CauseEvidence,
    Certainty,
    Correct,
    Correctness,
    GoldPart,
    GoldTrail,
    Grounded,
    TrailStage,
    Verdict,
)
from proofspan.diagnosis.words import is_content, query_tokens
from proofspan.traces.records.chunks import Places
from proofspan.traces.records.citations import citations
from proofspan.traces.records.trace_record import STAGES, listed
from proofspan.wording import counted

#: Characters of a text of others within a sentence.
_QUOTED = 80
#: Words that a safety notice and an instruction have in common.
_SHARED_WITH_NOTICE = 2
_YEAR = re.compile(r"(?<![\w.,])(?:19|20)\d\d(?![\w]|[.,]\d)")
#: The most claims that prove a cause.
_MOST_EVIDENCE = 8
#: Positions in a list by harm.
_UNSAFE, _FALSE, _FOREIGN, _INVENTED, _UNBACKED, _REFUSED, _PARTIAL, _MISSED, _FORMAL, _OPEN, _GOOD = range(
    11
)
_OF_CAUSE: Mapping[Cause, int] = {
    "unsafe_omission": _UNSAFE,
    "contradicted": _FALSE,
    "wrong_source": _FOREIGN,
    "answered_unanswerable": _INVENTED,
    "unsupported": _UNBACKED,
    "over_refusal": _REFUSED,
    "incomplete": _PARTIAL,
    "incorrect_specificity": _PARTIAL,
    "not_extracted": _PARTIAL,
    "missing_content": _MISSED,
    "missed_top_ranked": _MISSED,
    "not_in_context": _MISSED,
    "bad_citation": _FORMAL,
    "wrong_format": _FORMAL,
    "gold_suspect": _FORMAL,
    "none": _GOOD,
}
_DIFFERENT: Mapping[DifferenceKind, str] = {
    "number": "Wrong number",
    "unit": "Wrong unit",
    "scale": "Wrong scale",
    "date": "Wrong date",
    "negation": "The opposite",
    "direction": "Wrong direction",
    "name": "Wrong name",
    "qualifier": "Condition left out",
    "quantifier": "Wrong quantity",
    "modality": "Wrong obligation",
}
_OUTSIDE = "citation_outside_retrieved"
#: The correctness of an answer that is as good as it can be.
RIGHT: tuple[Correct, ...] = ("correct", "declined_rightly")
#: The causes that lie before the answer: the prompt lacked what is expected.
LOST: tuple[Cause, ...] = ("missing_content", "missed_top_ranked", "not_in_context")
#: What to try about each cause.
CAUSE_STEPS: Mapping[Cause, str] = {
    "unsafe_omission": "Add the safety notices of a cited section to the prompt.",
    "contradicted": "Let the answer copy figures and conditions from the passage, or check them against it.",
    "wrong_source": "Let retrieval filter by what the question names: the part, period, section or edition.",
    "answered_unanswerable": "Let the prompt decline when no passage answers the question.",
    "unsupported": "Let the prompt use nothing but the passages, or drop sentences without evidence.",
    "over_refusal": "Look at the prompt's rule for declining, and at how this passage is cut.",
    "incomplete": "Raise the number of chunks in the prompt, or let it ask for all parts of the answer.",
    "incorrect_specificity": "Let the answer copy figures as they are printed.",
    "not_extracted": "Look at the prompt: the passage was there, among too much else or in a form it misses.",
    "missing_content": "Add the document to the corpus, or look at how this page was cut into chunks.",
    "missed_top_ranked": "Raise recall: another retriever, another cut of the chunks, the users' own words.",
    "not_in_context": "Let more candidates through to the prompt, or fix the order of the last stage.",
    "bad_citation": "Let citations name only chunks of the prompt, with the pages of their records.",
    "wrong_format": "Put the template for citations last in the prompt, and require its exact form.",
    "gold_suspect": "Check the expected answer against its page.",
    "none": "",
}
_UNSEEN_STEP = "Look whether the prompt held the answer: gold names no passage to look for in the trace."
_ASK_AGAIN = "Ask the question again with this prompt: its answer is not known."
_CUT_STEP = "Keep a passage in one chunk with its heading: this one is cut where the answer is."


#: A notice that an answer may leave out.
Omitted = Attachment | SafetyOmission


class Case(NamedTuple):
    """An answer with all that the verdict on it depends on.

    `checked` is None where its claims were not checked. `follows` says whether any answer of the run follows
    the template; where none does, no single answer is to blame. `omitted` are the safety notices of the cited
    sections that it leaves out.
    """

    trace: Trace
    row: ReportRow
    profile: Profile
    checked: CheckedAnswer | None
    gold: GoldQuestion | None
    correctness: Correctness
    trail: GoldTrail | None
    places: Places
    omitted: Sequence[Omitted] = ()
    follows: bool = True


class _Finding(NamedTuple):
    cause: Cause | None
    certainty: Certainty
    sentence: str
    evidence: tuple[CauseEvidence, ...] = ()
    step: str = ""


def judge(case: Case) -> Verdict:
    """Return the verdict on an answer: the first of its possible causes that applies."""
    grounded = grounded_of(case.checked)
    found = next(_findings(case, grounded))
    return Verdict(
        grounded,
        case.correctness,
        found.cause,
        found.certainty,
        found.sentence,
        found.step or (CAUSE_STEPS[found.cause] if found.cause else _ASK_AGAIN),
        _harm(found.cause, case.correctness, grounded),
        found.evidence[:_MOST_EVIDENCE],
        case.trail,
    )


def grounded_of(checked: CheckedAnswer | None) -> Grounded | None:
    """Return whether the claims of an answer have evidence; None without a claim that can be decided."""
    claims = checked.claims if checked is not None else ()
    return grounded_by([each.status for each in claims], is_noted=any(each.note for each in claims))


def grounded_by(statuses: Sequence[ClaimStatus], *, is_noted: bool) -> Grounded | None:
    """Return whether claims of these statuses have evidence; `is_noted`: a note limits what one says."""
    if "differs" in statuses:
        return "contradicted"
    decided = [status for status in statuses if status != "other_language"]
    if not decided:
        return "yes" if statuses and not is_noted else None
    backed = sum(status != "unsupported" for status in decided)
    return "yes" if backed == len(decided) else "partly" if backed else "no"


def _harm(cause: Cause | None, correctness: Correctness, grounded: Grounded | None) -> int:
    """Return the position in a list by harm; what is wrong, or has no evidence, is near the top."""
    position = _OF_CAUSE[cause] if cause else _OPEN
    if grounded == "no":
        position = min(position, _UNBACKED)
    if correctness.value == "wrong":
        position = min(position, _FALSE if correctness.is_figure else _UNBACKED)
    elif correctness.value == "partly":
        position = min(position, _PARTIAL)
    if position == _GOOD and correctness.value == "unknown":
        return _OPEN
    return position


def harm_of(cause: Cause) -> int:
    """Return the position of answers with this cause in a list by harm: 0 is the most harmful."""
    return _OF_CAUSE[cause]


def _findings(case: Case, grounded: Grounded | None) -> Iterator[_Finding]:
    """Yield the causes that apply, first things first; the last always does."""
    value = case.correctness.value
    if (made_from := from_another_prompt(case.trace)) is not None:
        yield from _of_other_prompt(case, made_from, grounded)
        return
    if value in ("declined_rightly", "declined_wrongly") or declines(case.trace, case.row):
        yield _of_refusal(case)
        return
    yield from _of_safety(case)
    yield from _of_contradiction(case)
    if case.gold is not None and not case.gold.answerable:
        evidence = tuple(_proofs(case, ("supported", "derived")))
        place = f"; it rests on {_place(evidence[0])}" if evidence else ""
        yield _Finding(
            "answered_unanswerable",
            "certain",
            f"The documents do not answer this, yet an answer is given{place}.",
            evidence,
        )
    if value in ("wrong", "partly"):
        yield from _of_wrong_source(case, grounded)
        yield from _of_expectation(case, grounded)
    if grounded == "no":
        yield from _of_support(case, grounded)
    yield from _of_form(case)
    if grounded == "partly":
        yield from _of_support(case, grounded)
    if value == "unknown":
        yield from _of_trail(case, "likely")
    if value in ("wrong", "partly"):
        reason = case.correctness.reason
        sentence = f"Not what is expected{f': {reason}' if reason else ''}."
        yield _Finding("not_extracted", "likely", sentence, step=_UNSEEN_STEP)
    if value == "unknown":
        reason = case.correctness.reason or "there is no expected answer"
        yield _Finding("none", "likely", f"No failure was found; whether it is right is unknown: {reason}.")
    yield _Finding("none", "certain", "Right by the expected answer.")


def _of_other_prompt(case: Case, made_from: AnswerFrom, grounded: Grounded | None) -> Iterator[_Finding]:
    """Yield the cause of an answer that was made from another prompt: nothing blames it for this one.

    What it contradicts it contradicts anyway, and what was lost before this prompt would be missing in any
    answer to it.
    """
    yield from _of_contradiction(case)
    yield from _of_trail(case, "certain")
    if case.correctness.value in RIGHT and grounded != "no":
        found = next(_of_safety(case), None) or next(_of_form(_as_answered(case, made_from)), None)
        if found is None:
            yield _Finding("none", "likely", "Right by the expected answer, though made from another prompt.")
    named = f" in {_cut(made_from.run_id)}" if made_from.run_id else ""
    yield _Finding(None, "likely", f"Answered{named} from another prompt: ask again to know its answer.")


def _as_answered(case: Case, made_from: AnswerFrom) -> Case:
    """Return the case with the prompt that its answer was made from."""
    trace = replace(case.trace, chunk_ids=made_from.chunks)
    cited = counted_ids(trace.ids_in_text, payload_ids(trace), case.profile)
    suspicions = set(case.row.suspicions) - {_OUTSIDE}
    if not set(cited) <= set(made_from.chunks):
        suspicions.add(_OUTSIDE)
    return case._replace(trace=trace, row=replace(case.row, suspicions=tuple(sorted(suspicions))))


def _of_refusal(case: Case) -> _Finding:
    value = case.correctness.value
    if value == "declined_rightly":
        return _Finding("none", "certain", "Declines, and the documents do not answer the question.")
    lost = next(_of_trail(case, "certain"), None)
    if lost is not None:
        return lost
    if (held := _held(case.trail, "over_refusal", "the answer declines")) is not None:
        return held
    if value == "declined_wrongly":
        return _Finding("over_refusal", "likely", "Declines, and an answer is expected.")
    return _Finding(
        "none", "likely", "Declines; without an expected answer rules cannot decide whether rightly."
    )


def _of_safety(case: Case) -> Iterator[_Finding]:
    """Yield a warning that an instruction leaves out.

    It is about the instruction if its first sentence, which names what is dangerous, shares words with the
    instruction or the question. What instructs nobody, or answers something else, needs none.
    """
    if not case.omitted or case.correctness.value == "wrong" or case.checked is None:
        return
    asked = set(_content_forms(case.trace.q))
    for each in case.omitted:
        if each.kind != "warning":  # a caution is about damage to things
            continue
        start, end = next(sentences(each.text), (0, 0))
        about = set(_content_forms(each.text[start:end]))
        for one in case.checked.claims:
            words = asked.union(_content_forms(one.claim.text))
            if len(about & words) >= _SHARED_WITH_NOTICE and instructs(one.claim.text):
                section = f" of section {_cut(each.section_id)}" if each.section_id else ""
                lead = f"Gives an instruction and leaves out the WARNING{section}"
                place = CauseEvidence(None, each.doc_id, each.page_idx, 0, 0)
                yield _Finding("unsafe_omission", "likely", f"{lead}: {_quoted(each.text)}", (place,))


def _content_forms(text: str) -> list[str]:
    language = language_of(text, guess=True)
    stops = stop_forms(language)
    return [
        form for form in forms_in(text, language) if len(form) > 2 and form.isalpha() and form not in stops
    ]


def _of_contradiction(case: Case) -> Iterator[_Finding]:
    for number, each in _claims(case, ("differs",)):
        difference = each.differences[0]
        claimed, found = _cut(difference.claimed), _cut(difference.found)
        lead = _DIFFERENT[difference.kind]
        where = f" ({_place_of(each)})" if each.evidence else ""
        if claimed and found:
            sentence = f"{lead}: the answer says {claimed}; its evidence says {found}{where}."
        elif found:
            sentence = f"{lead}: the answer leaves out “{found}”, which its evidence says{where}."
        else:
            sentence = f"{lead}: the answer says “{claimed}”, its evidence does not{where}."
        yield _Finding("contradicted", "certain", sentence, tuple(_proofs(case, ("differs",), first=number)))


def _of_wrong_source(case: Case, grounded: Grounded | None) -> Iterator[_Finding]:
    """Yield an answer that is about something else: that of another section, period or edition."""
    evidence = tuple(_proofs(case, ("supported", "derived")))
    if case.row.why == NOT_ALIGNED[1]:
        asked = ", ".join(token for token in query_tokens(case.trace.q) if is_content(token))
        about = f" It rests on {_place(evidence[0])}." if evidence else ""
        sentence = f"No passage of the prompt names what is asked ({_cut(asked)}).{about}"
        yield _Finding("wrong_source", "certain" if evidence else "likely", sentence, evidence)
        return
    if not case.correctness.is_figure or grounded not in ("yes", "partly") or not evidence:
        return
    reason = f": {case.correctness.reason}" if case.correctness.reason else ""
    if _is_gold_suspect(case, evidence):
        sentence = (
            f"The answer matches its page ({_place(evidence[0])}), the expected answer does not{reason}."
        )
        yield _Finding("gold_suspect", "likely", sentence, evidence)
        return
    wanted = {part.doc_id for part in case.trail.parts} - {None} if case.trail else set()
    other = next((each for each in evidence if each.doc_id and wanted and each.doc_id not in wanted), None)
    if other is not None:
        named = " and ".join(sorted(_cut(each) for each in wanted))
        sentence = f"The figure is that of {_cut(other.doc_id)} ({_place(other)}), not of {named}{reason}."
        first = (other, *(each for each in evidence if each is not other))
        yield _Finding("wrong_source", "certain", sentence, first)
    years = set(_YEAR.findall(case.trace.q))
    for number, each in _claims(case, ("supported", "derived")):
        found = set(_YEAR.findall(each.evidence.text)) if each.evidence else set()
        if years and found and years.isdisjoint(found):
            asked, given = ", ".join(sorted(years)), ", ".join(sorted(found))
            sentence = (
                f"The figure is that of {given} ({_place_of(each)}), the question asks for {asked}{reason}."
            )
            first = tuple(_proofs(case, ("supported", "derived"), first=number))
            yield _Finding("wrong_source", "likely", sentence, first)


def _is_gold_suspect(case: Case, evidence: Sequence[CauseEvidence]) -> bool:
    """Return whether the answer's evidence is the gold passage itself."""
    if case.trail is None or case.trail.by != "text":
        return False
    for part in case.trail.parts:
        place = part.places.get("prompt")
        if place is None or not has_passage(place):
            continue
        for each in evidence:
            if each.chunk_id == place.chunk_id and each.start < place.end and place.start < each.end:
                return True
    return False


def _of_expectation(case: Case, grounded: Grounded | None) -> Iterator[_Finding]:
    """Yield why an answer is not the expected one: its passage was lost, or not used."""
    correctness = case.correctness
    reason = f": {correctness.reason}" if correctness.reason else ""
    for lost in _of_trail(case, "certain"):
        if correctness.value == "partly" and _is_one_there(case.trail):
            yield lost._replace(cause="incomplete", step=CAUSE_STEPS["incomplete"])
        if correctness.is_rounded:
            yield lost._replace(
                cause="incorrect_specificity",
                sentence=f"Rounded{reason}. {lost.sentence}",
                step=CAUSE_STEPS["incorrect_specificity"],
            )
        unbacked = " Nothing in the prompt supports the answer either." if grounded == "no" else ""
        yield lost._replace(sentence=lost.sentence + unbacked)
    if correctness.is_rounded:
        yield _Finding("incorrect_specificity", "certain", f"Less exact than expected{reason}.")
    if correctness.missing and correctness.value == "partly":
        parts = "; ".join(f"“{_cut(each)}”" for each in correctness.missing[:3])
        there = ", which the prompt held" if _is_one_there(case.trail) else ""
        yield _Finding("incomplete", "likely", f"Leaves out {parts}{there}.")
    if grounded == "no":
        return
    held = _held(case.trail, "not_extracted", f"the answer says something else{reason}")
    if held is not None:
        yield held


def _held(trail: GoldTrail | None, cause: Cause, instead: str) -> _Finding | None:
    """Return that the prompt held what is expected, and what the answer does `instead`.

    None where that is not known. For a trail of which nothing was lost.
    """
    if trail is None:
        return None
    for part in trail.parts:
        if (place := part.places.get("prompt")) is None:
            continue
        by = "" if trail.by == "text" else f", by its {trail.by} only"
        words = f" (“{_needed(part)}”)" if part.text else ""
        rank = f" at rank {place.rank}" if place.rank else ""
        evidence = (CauseEvidence(place.chunk_id, part.doc_id, part.page_idx, place.start, place.end),)
        sentence = f"The prompt held the answer{rank}{words}{by}; {instead}."
        return _Finding(cause, "certain" if trail.by == "text" else "likely", sentence, evidence)
    return None


def _is_one_there(trail: GoldTrail | None) -> bool:
    """Return whether the prompt has one of the passages."""
    places = [part.places.get("prompt") for part in trail.parts] if trail is not None else []
    return any(place is not None and has_passage(place) for place in places)


def _of_trail(case: Case, certainty: Certainty) -> Iterator[_Finding]:
    """Yield the first loss of each gold passage that is not whole in the prompt."""
    if case.trail is not None:
        most = max(sum(1 for _ in listed(case.trace, name)) for name in STAGES)
        yield from _losses(case.trail, most, certainty)


def lost_cause(trail: GoldTrail | None) -> Cause | None:
    """Return the cause that lies before the prompt; None where nothing was lost, or no trail is known."""
    found = next(_losses(trail, 0, "certain"), None) if trail is not None else None
    return found.cause if found is not None else None


def _losses(trail: GoldTrail, most: int, certainty: Certainty) -> Iterator[_Finding]:
    """Yield the losses of a trail; `most` counts the longest list."""
    if trail.by != "text":
        certainty = "likely"
    for part in trail.parts:
        prompt = part.places.get("prompt")
        if prompt is None or has_passage(prompt):
            continue
        yield _lost(part, trail, most, certainty)


def _lost(part: GoldPart, trail: GoldTrail, most: int, certainty: Certainty) -> _Finding:
    """Return where a passage that is not in the prompt was lost; `most` counts the longest list."""
    place = _part_place(part)
    name = f"the passage on {place}" if place else "the expected passage"
    lead = f"Needs {len(trail.parts)} passages; " if len(trail.parts) > 1 else ""
    name = name if lead else _opened(name)
    held = [stage for stage in TRAIL_STAGES[1:4] if (at := part.places.get(stage)) and has_passage(at)]
    evidence: tuple[CauseEvidence, ...] = (CauseEvidence(None, part.doc_id, part.page_idx, 0, 0),)
    if held:
        at = part.places[held[-1]]
        following: TrailStage = next(
            (stage for stage in TRAIL_STAGES[TRAIL_STAGES.index(held[-1]) + 1 :] if stage in part.places),
            "prompt",
        )
        ended = "left out of the prompt" if following == "prompt" else f"dropped before the {following} ones"
        evidence = (CauseEvidence(at.chunk_id, part.doc_id, part.page_idx, at.start, at.end),)
        return _Finding(
            "not_in_context",
            certainty,
            f"{lead}{name} was at rank {at.rank} of the {held[-1]} chunks, then {ended}.",
            evidence,
        )
    for holding in ("part", "same_page"):
        stage = next(
            (s for s in reversed(TRAIL_STAGES[1:5]) if (p := part.places.get(s)) and p.holding == holding),
            None,
        )
        if stage is None:
            continue
        at = part.places[stage]
        where = f"at rank {at.rank} of the {stage} chunks, and not in the prompt"
        if stage == "prompt":
            where = f"in the prompt, at rank {at.rank}" if at.rank else "in the prompt"
        evidence = (CauseEvidence(at.chunk_id, part.doc_id, part.page_idx, at.start, at.end),)
        if holding == "part":
            share = max(at.share, at.together)
            if share > at.share:  # several candidates hold pieces
                where = (
                    "in the prompt"
                    if stage == "prompt"
                    else f"among the {stage} chunks, and not in the prompt"
                )
            cut = f"{lead}of {name[0].lower()}{name[1:]} only a part ({share:.0%}) was {where}."
            return _Finding("not_in_context", certainty, _opened(cut), evidence, _CUT_STEP)
        if part.places.get("corpus") is None or has_passage(part.places["corpus"]):
            other = f"{lead}a chunk of {place or 'its page'} was {where}, with other text than the passage."
            return _Finding("not_in_context", certainty, _opened(other), evidence)
    corpus = part.places.get("corpus")
    if corpus is not None and not has_passage(corpus) and trail.by == "text":
        nearest = f"; the nearest has {corpus.share:.0%} of it" if corpus.share else ""
        return _Finding(
            "missing_content", "likely", f"{lead}{name} is in no chunk of its page{nearest}.", evidence
        )
    lost = "is not in the prompt"
    if any(stage in part.places for stage in TRAIL_STAGES[1:4]):
        lost = f"is not among the {most} candidates" if most else "was never retrieved"
    by = "" if trail.by == "text" else f" (by its {trail.by} only)"
    return _Finding("missed_top_ranked", certainty, f"{lead}{name} {lost}{by}.", evidence)


def _of_form(case: Case) -> Iterator[_Finding]:
    """Yield what is wrong with the citations of an answer that may be right."""
    if case.follows and lacks_template(case.trace, case.row, case.profile):
        yield _Finding(
            "wrong_format", "certain", "The answer does not have the citations that the template asks for."
        )
    is_outside = _OUTSIDE in case.row.suspicions and bool(case.trace.chunk_ids)
    if not (is_outside or case.trace.payload):  # only a payload names pages
        return
    for each in citations(case.trace):
        chunk_id = each.chunk_id
        if is_outside and chunk_id is not None and chunk_id not in case.trace.chunk_ids:
            sentence = f"Cites a chunk that was not in the prompt ({_where(case.places, chunk_id)})."
            yield _Finding("bad_citation", "certain", sentence, (_cited_evidence(each),))
        place = case.places.get(chunk_id) if chunk_id is not None else None
        if place is None or None in (place.page_idx, each.page_idx) or each.page_idx == place.page_idx:
            continue
        # A chunk may run on to the next page, so only a trace that gives its chunk another page is wrong.
        entries = (entry for _, listed_id, entry in listed(case.trace, "chunks") if listed_id == chunk_id)
        if any(page_of(entry)[0] == each.page_idx for entry in entries):
            own = f"is on {_page(place.page_idx)} by its own record"
            sentence = f"Cites {_page(each.page_idx)} for a chunk that {own}."
            yield _Finding("bad_citation", "certain", sentence, (_cited_evidence(each),))


def _of_support(case: Case, grounded: Grounded) -> Iterator[_Finding]:
    lost = list(_claims(case, ("unsupported",)))
    count = len(case.checked.claims) if case.checked else 0
    first = _quoted(lost[0][1].claim.text) if lost else ""
    if grounded == "no":
        sentence = (
            f"Nothing that was retrieved says this: {first}"
            if count == 1
            else f"None of its {counted(count, 'claim')} has evidence in what was retrieved: {first}"
        )
        yield _Finding("unsupported", "certain", sentence, tuple(_proofs(case, ("unsupported",))))
    elif case.correctness.value != "correct":
        has = "has" if len(lost) == 1 else "have"
        sentence = f"{len(lost)} of {count} claims {has} no evidence in what was retrieved: {first}"
        yield _Finding("unsupported", "likely", sentence, tuple(_proofs(case, ("unsupported",))))


def _claims(case: Case, statuses: Sequence[str]) -> Iterator[tuple[int, CheckedClaim]]:
    """Yield the claims of these statuses with their numbers from 1, the least supported first."""
    claims = (
        []
        if case.checked is None
        else [(n, c) for n, c in enumerate(case.checked.claims, start=1) if c.status in statuses]
    )
    yield from sorted(claims, key=lambda each: (each[1].support, each[0]))


def _proofs(case: Case, statuses: Sequence[str], *, first: int = -1) -> Iterator[CauseEvidence]:
    for number, each in sorted(_claims(case, statuses), key=lambda one: one[0] != first):
        if (found := each.evidence) is not None:
            yield CauseEvidence(found.chunk_id, found.doc_id, found.page_idx, found.start, found.end, number)


def _where(places: Places, chunk_id: str) -> str:
    """Return the section and page of a chunk, its id where neither is known."""
    place = places.get(chunk_id)
    section = f"section {_cut(place.section_id)}" if place and place.section_id else ""
    page = _page(place.page_idx) if place and place.page_idx is not None else ""
    return ", ".join(filter(None, (section, page))) or _cut(chunk_id)


def _cited_evidence(each: Citation) -> CauseEvidence:
    return CauseEvidence(each.chunk_id, each.doc_id, each.page_idx, 0, 0)


def _first_place(trail: GoldTrail | None) -> str:
    return next((place for part in trail.parts if (place := _part_place(part))), "") if trail else ""


def _needed(part: GoldPart) -> str:
    """Return what the expected answer rests on of a passage, else how the passage begins."""
    return _cut(" ".join(part.text[start:end] for start, end in part.needed) or part.text)


def _part_place(part: GoldPart) -> str:
    if part.page_idx is None:
        return _cut(part.doc_id) if part.doc_id else ""
    return _page(part.page_idx)


def _place_of(each: CheckedClaim) -> str:
    found = each.evidence
    return "" if found is None else _place(CauseEvidence(found.chunk_id, found.doc_id, found.page_idx, 0, 0))


def _place(each: CauseEvidence) -> str:
    if each.page_idx is not None:
        return _page(each.page_idx)
    return _cut(each.chunk_id or each.doc_id or "its evidence")


def _page(page_idx: int | None) -> str:
    return "an unknown page" if page_idx is None else f"PDF page {page_idx + 1}"


def _opened(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _quoted(text: str) -> str:
    """Return text of others in quotation marks at the end of a sentence, with one mark that ends it."""
    cut = _cut(text)
    return f"“{cut}”" if cut.endswith((".", "!", "?", "…")) else f"“{cut}”."


def _cut(text: str | None) -> str:
    """Return text of others on one line, cut for a sentence."""
    line = " ".join((text or "").split())
    return line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1].rstrip()}…"
