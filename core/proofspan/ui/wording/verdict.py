"""Wording of a verdict: the chips of its two axes, its cause, and the way of the gold passages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from proofspan.diagnosis.verdicts.types import (
    CAUSES,
    CORRECT,
    GROUNDED,
    TRAIL_STAGES,
    Cause,
    CauseEvidence,
    Certainty,
    Correct,
    Correctness,
    GoldPart,
    GoldTrail,
    Grounded,
    PartPlace,
    TrailStage,
    Verdict,
)
from proofspan.display_names import CAUSE_NAMES, CORRECT_NAMES, GROUNDED_NAMES, LABEL_NAMES
from proofspan.metrics.statistics import percent
from proofspan.services.question.verdict_signs import CORRECT_SIGNS, FORMAL, GROUNDED_SIGNS, Tone, in_short
from proofspan.services.question.view import QuestionView
from proofspan.ui.widgets.markup import Kind, Piece, Stop
from proofspan.ui.widgets.table import Chip, Look
from proofspan.ui.widgets.text import shortened
from proofspan.ui.wording.safety import notice_ways
from proofspan.wording import Labels, counted, no_labels, page_words, with_printed

Range = tuple[int, int]
KINDS: Mapping[Tone, Kind] = {"fail": "fail", "warn": "warn", "pass": "pass", "open": "no-label"}
CERTAINTIES: Mapping[Certainty, str] = {
    "certain": "The passages and figures that the trace records show it.",
    "likely": "It rests on words alone, or on pages where gold has no words.",
}

#: The name of the cause of an answer that was made from another prompt.
UNKNOWN_CAUSE = "Cause unknown: made from another prompt"


def chips(grounded: Grounded | None, correct: Correct) -> list[Piece]:
    """Return the chips of both axes; one alone for an answer without claims."""
    named = [(GROUNDED_SIGNS[grounded], GROUNDED_NAMES[grounded], f"grounded.{grounded}")] if grounded else []
    named.append((CORRECT_SIGNS[correct], CORRECT_NAMES[correct], f"correct.{correct}"))
    return [
        Piece(f"{sign.sign} {name}", KINDS[sign.tone], tip=sign.means, term=term)
        for sign, name, term in named
    ]


def tone(grounded: Grounded | None, correct: Correct, cause: Cause | None) -> Tone:
    """Return the tone of a verdict as a whole, the worst of its parts: only what has no fault passes."""
    if cause is None:
        return "open"
    tones = {CORRECT_SIGNS[correct].tone, *([GROUNDED_SIGNS[grounded].tone] if grounded else [])}
    tones |= {"pass"} if cause == "none" else {"warn"} if cause in FORMAL else {"fail"}
    worst: tuple[Tone, ...] = ("fail", "warn", "open", "pass")
    return next(each for each in worst if each in tones)


def verdict_chip(grounded: Grounded | None, correct: Correct, cause: Cause | None) -> Chip:
    """Return a verdict in a word or two with its sign, the worst part first: `✕ Contradicted`."""
    axes = (GROUNDED_NAMES[grounded] if grounded else "", CORRECT_NAMES[correct], _named(cause))
    word, look, term = in_short(grounded, correct, cause)
    return Chip(word, look, " · ".join(filter(None, axes)), term)


def _named(cause: Cause | None) -> str:
    return CAUSE_NAMES[cause] if cause else UNKNOWN_CAUSE


class RunChip(NamedTuple):
    """A run's verdict on a question as a sign, its colour, and the verdict in words."""

    sign: str
    look: Look
    words: str


def run_chip(label: object, grounded: object, correct: object, cause: object) -> RunChip:
    """Return the chip of an indexed run; without a verdict, its claims are not checked or it has no label."""
    known = next((each for each in CAUSES if each == cause), None)
    judged = next((each for each in CORRECT if each == correct), None)
    if judged is None:
        name = LABEL_NAMES.get(str(label))
        return RunChip("·", "gray", f"{name}, not judged yet" if name else "no label")
    based = next((each for each in GROUNDED if each == grounded), None)
    word, look, _ = in_short(based, judged, known)
    named = [GROUNDED_NAMES[based]] if based else []
    named += [CORRECT_NAMES[judged], *([_named(known)] if known != "none" else [])]
    return RunChip(word[0], look, " · ".join(named))


#: What differs is not marked in a text that differs as a whole: from this share of its letters and digits on.
_WHOLE = 0.9


def telling(correctness: Correctness, marks: Sequence[Range], text: str) -> Sequence[Range]:
    """Return the marks of a text that point at something: a figure, or less than nearly all of the text."""
    if correctness.is_figure:
        return marks
    marked = sum(map(str.isalnum, "".join(text[start:end] for start, end in marks)))
    return marks if marked < _WHOLE * sum(map(str.isalnum, text)) else ()


# The cause, in a sentence after its name.

#: `Wrong date: ` of a sentence that begins with a name of its own: three words at most.
_OWN_LEAD = re.compile(r"((?:[A-Za-z-]+ ){0,2}[A-Za-z-]+): (?=\S)")


def cause_pieces(verdict: Verdict) -> list[Piece]:
    """Return the cause's sentence after its name in bold; a name that the sentence begins with comes once."""
    return cause_words(verdict.cause, verdict.sentence)


def cause_words(cause: Cause | None, sentence: str) -> list[Piece]:
    """Return the same of the columns of the index."""
    own = _OWN_LEAD.match(sentence)
    term = f"cause.{cause}" if cause else ""
    if own is not None:
        return [Piece(f"{own[1]}: ", "strong", term=term), Piece(sentence[own.end() :])]
    if cause in (None, "none") and sentence:
        return [Piece(sentence)]
    name = _named(cause)
    if not sentence:
        return [Piece(name, "strong", term=term)]
    return [Piece(f"{name}: ", "strong", term=term), Piece(sentence)]


def cause_sentence(row: Mapping[Any, object], labels: Labels) -> str:
    """Return the cause of an indexed answer in a sentence, pages by their printed numbers; "" without one."""
    sentence, doc_id = row.get("cause_sentence"), row.get("cause_doc")
    if not isinstance(sentence, str) or not sentence:
        return ""
    return with_printed(sentence, labels(doc_id if isinstance(doc_id, str) else None))


def row_pieces(row: Mapping[str, object], labels: Labels) -> list[Piece]:
    """Return both chips and the cause of an indexed answer; [] while its claims are not checked."""
    judged = next((each for each in CORRECT if each == row.get("correct")), None)
    if judged is None:
        return []
    based = next((each for each in GROUNDED if each == row.get("grounded")), None)
    cause = next((each for each in CAUSES if each == row.get("cause")), None)
    return [
        *chips(based, judged),
        Piece(" "),
        *cause_words(cause, cause_sentence(row, labels)),
    ]


def certainty_piece(verdict: Verdict) -> Piece:
    """Return `certain` or `likely` with what that means; nothing where there is no cause to be certain of."""
    certainty = verdict.certainty
    shown = "" if verdict.cause in (None, "none") else certainty
    return Piece(shown, "muted", tip=CERTAINTIES[certainty], term=f"certainty.{certainty}")


#: The most ways to a cause's evidence.
MAX_WAYS = 4
Change = dict[str, int | str | None]


def evidence_ways(
    view: QuestionView, verdict: Verdict, *, claims: Iterable[int] = (), labels: Labels = no_labels
) -> list[tuple[str, Change]]:
    """Return for each passage that proves the cause the label of a button, and the change that shows it.

    `claims` are the numbers of the claims whose evidence a page can show, `labels` name a document's pages.
    """
    notices: list[tuple[str, Change]] = []
    if verdict.cause == "unsafe_omission":
        notices += notice_ways(view, labels)
    if notices:
        return [(label.removeprefix("Show the "), change) for label, change in notices[:MAX_WAYS]]
    shown_claims, ways = frozenset(claims), dict[str, Change]()
    names_document = len({each.doc_id for each in verdict.evidence}) > 1
    for each in verdict.evidence:
        change = _way(view, each, shown_claims)
        if change is not None:
            place = _place(each.page_idx, each.doc_id if names_document else None)
            place = with_printed(place, labels(each.doc_id))
            ways.setdefault(place or each.chunk_id or each.doc_id or "the passage", change)
    return list(ways.items())[:MAX_WAYS]


def _way(view: QuestionView, each: CauseEvidence, claims: frozenset[int]) -> Change | None:
    if each.claim in claims:
        return {"at_claim": each.claim, "cite": None, "chunk": None, "page": None}
    if each.chunk_id is not None:
        return {"chunk": each.chunk_id, "cite": None, "page": None}
    for number, span in enumerate(view.gold.spans if view.gold else (), start=1):
        if (span.doc_id, span.page_idx) == (each.doc_id, each.page_idx):
            return {"chunk": f"gold:{number}", "cite": None, "page": None}
    return None


def _place(page_idx: int | None, doc_id: str | None) -> str:
    """Return `PDF page 59 of manual`, as much of it as is known."""
    page = page_words(page_idx) if page_idx is not None else ""
    return " of ".join(filter(None, (page, shortened(doc_id, 60) if doc_id else "")))


# The way of the gold passages through the pipeline.

STAGE_WORDS: Mapping[TrailStage, str] = {
    "corpus": "in the corpus",
    "retrieved": "retrieved",
    "fused": "fused",
    "reranked": "reranked",
    "prompt": "in the prompt",
    "cited": "cited",
}
_BY: Mapping[str, str] = {
    "chunk": "by chunk: the gold has no words",
    "section": "by section only: the gold has no words",
    "page": "by page only: the gold has no words",
}
#: Characters shown of a passage.
MAX_PASSAGE = 110


def trail_note(trail: GoldTrail) -> str:
    """Return how many passages the answer needs, and by what they are followed where not by their text."""
    needs = f"the answer needs {counted(len(trail.parts), 'passage')}" if len(trail.parts) > 1 else ""
    return " · ".join(filter(None, (needs, _BY.get(trail.by, ""))))


def part_pieces(
    part: GoldPart, number: int, parts: int, *, names_document: bool, labels: Sequence[str] = ()
) -> list[Piece]:
    """Return what a passage is: `1 of 2 · p. 51 (PDF 59) · “Total current assets …”`.

    `labels` are the printed page numbers of its document.
    """
    place = with_printed(_place(part.page_idx, part.doc_id if names_document else None), labels)
    words = f"“{shortened(part.text, MAX_PASSAGE)}”" if part.text.strip() else ""
    named = [f"{number} of {parts}" if parts > 1 else "", place, words]
    return [Piece(" · ".join(filter(None, named)), "muted", tip=part.text)]


def part_name(part: GoldPart, number: int, parts: int) -> str:
    """Return a passage's name for screen readers: `The way of passage 1 of 2, PDF page 59`."""
    name = f"passage {number} of {parts}" if parts > 1 else "the right passage"
    return ", ".join(filter(None, (f"The way of {name}", _place(part.page_idx, None))))


def is_in_prompt(part: GoldPart) -> bool:
    """Return whether the prompt holds the whole passage."""
    place = part.places.get("prompt")
    return place is not None and place.holding == "held"


def stops_of(part: GoldPart) -> Sequence[Stop]:
    """Return the stages that the trace lists; the corpus only where no chunk of it holds the passage."""
    return [
        Stop(STAGE_WORDS[stage], _holding_words(stage, place), place.holding)
        for stage in TRAIL_STAGES
        if (place := part.places.get(stage)) is not None and (stage != "corpus" or place.holding != "held")
    ]


def _holding_words(stage: TrailStage, place: PartPlace) -> str:
    """Return `rank 3`, `60 % at rank 3`, `same page, other text` or `no`; without a rank `yes` or a share."""
    if place.holding == "same_page":
        return "same page, other text"
    if place.holding == "absent":
        return "no"
    rank = f"rank {place.rank:,}" if place.rank is not None and stage not in ("corpus", "cited") else ""
    if place.holding == "held":
        return rank or "yes"
    return " at ".join(filter(None, (percent(place.share), rank)))
