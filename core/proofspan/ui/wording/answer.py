"""The answer and the question with their marks: phrases, unsupported numbers, citations."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from proofspan.diagnosis.claims.types import CheckedClaim
from proofspan.diagnosis.types import PhraseMatch
from proofspan.services.question.view import QuestionView
from proofspan.ui.widgets.markup import Kind, Piece

Range = tuple[int, int]

UNEXPECTED, EXPECTED = "differs from the expected answer", "not what the answer says"
#: `citations: [id, id]` at the end of an answer. Bounded, so that a list which never closes costs no time.
_TAIL = re.compile(r"citations\s?:\s?\[[^\]]{0,2000}\]\s{0,9}\Z", re.IGNORECASE)


def answer_pieces(
    answer: str,
    *,
    phrases: Iterable[Range] = (),
    unsupported: Iterable[Range] = (),
    numbers_after: Mapping[int, Sequence[int]] | None = None,
    instead: Mapping[Range, int] | None = None,
    chosen: int | None = None,
    held_by: Mapping[Range, int] | None = None,
    aside: Range | None = None,
    claims: Sequence[Range] = (),
    claimed: Sequence[Range] = (),
    unexpected: Sequence[Range] = (),
) -> list[Piece]:
    """Return the answer with its marks; ranges are half-open characters of it and may overlap.

    An unsupported number takes precedence over its phrase. `numbers_after` puts citation numbers behind a
    place; `instead` shows a citation's number instead of the id in the text. `held_by` is the citation of
    each phrase that belongs to one; `aside` is set in small print. `claims` are in order and do not overlap;
    `claimed` are their words that differ from the evidence, which takes precedence over other marks, then
    those of `unexpected`, which differ from the expected answer.
    """
    phrases, unsupported = list(phrases), list(unsupported)
    numbers_after, instead, held_by = numbers_after or {}, instead or {}, held_by or {}
    asides = [aside] if aside else []
    edges = {0, len(answer), *numbers_after}
    marks = (phrases, unsupported, instead, asides, claims, claimed, unexpected)
    edges |= {edge for marked in marks for each in marked for edge in each}
    claim_starts = [start for start, _ in claims]

    def claim_of(start: int, end: int) -> int | None:
        """Return the number of the claim that holds a part, or that ends where an empty part is."""
        place = (bisect_right if start < end else bisect_left)(claim_starts, start) - 1
        return place + 1 if place >= 0 and end <= claims[place][1] else None

    is_claimed, is_unsupported, is_unexpected = map(_marker, (claimed, unsupported, unexpected))
    places = sorted(edge for edge in edges if 0 <= edge <= len(answer))
    pieces: list[Piece] = []
    for start, end in zip(places, [*places[1:], len(answer)], strict=True):
        holder = claim_of(start, start)
        pieces += (_number(n, chosen, claim=holder) for n in numbers_after.get(start, ()))
        if start == end:
            continue
        holder, replaced = claim_of(start, end), _covering(instead, start, end)
        if replaced is not None:
            if replaced[0] == start:
                tip = answer[slice(*replaced)]
                pieces.append(_number(instead[replaced], chosen, tip=tip, claim=holder))
            continue
        phrase = _covering(phrases, start, end)
        cite = held_by.get(phrase) if phrase else None
        if is_claimed(start, end):
            piece = Piece(answer[start:end], "claimed", cite=cite, claim=holder)
        elif is_unexpected(start, end):
            piece = Piece(answer[start:end], "unexpected", UNEXPECTED, cite, holder)
        elif is_unsupported(start, end):
            piece = Piece(answer[start:end], "unsupported", "not in the evidence", cite, holder)
        else:
            kind: Kind = "phrase" if phrase else "aside" if _covering(asides, start, end) else "plain"
            piece = Piece(answer[start:end], kind, cite=cite, claim=holder)
        if pieces and replace(pieces[-1], text="") == replace(piece, text=""):
            piece = replace(piece, text=pieces.pop().text + piece.text)  # one mark
        pieces.append(piece)
    return pieces


def marked_answer(
    view: QuestionView,
    *,
    chosen: int | None,
    claims: Sequence[CheckedClaim] = (),
    unexpected: Sequence[Range] = (),
) -> list[Piece]:
    """Return the answer with its phrases, unsupported numbers, citations and claims marked.

    A quote of the payload that is in answer and evidence is marked whole, with its citation's number behind
    it. Any other phrase has the numbers of the citations whose chunk contains it; an id in the answer is
    shown as the number of its citation.
    """
    numbers: dict[str, int] = {}
    for item in view.citations:
        if item.citation.chunk_id is not None:
            numbers.setdefault(item.citation.chunk_id, item.citation.number)
    # The payload's quotes that answer and evidence contain, and none that overlaps an earlier one.
    texts = list(seen_texts(view).values())
    quoted: dict[Range, list[int]] = {}
    for item in view.citations:
        quote = item.citation.quote if item.quote_from == "payload" else None
        start = view.trace.answer.find(quote) if quote else -1
        if quote and start >= 0 and any(quote in text for text in texts):
            place = (start, start + len(quote))
            if place in quoted or not any(low < place[1] and place[0] < high for low, high in quoted):
                quoted.setdefault(place, []).append(item.citation.number)
    # Each phrase outside of quotes, with the numbers of the citations whose chunk contains it.
    phrases: dict[Range, list[int]] = {}
    for phrase in matched_phrases(view):
        place = (phrase.answer_start, phrase.answer_end)
        if not any(start < place[1] and place[0] < end for start, end in quoted):
            phrases[place] = [number for chunk_id, number in numbers.items() if chunk_id in phrase.chunk_ids]
    unsupported = [(number.start, number.end) for number in view.explanation.numbers]
    after = _numbers_after(phrases, unsupported) | {end: cited for (_, end), cited in quoted.items()}
    return answer_pieces(
        view.trace.answer,
        phrases=sorted([*quoted, *phrases]),
        unsupported=unsupported,
        numbers_after=after,
        instead={
            place: numbers[chunk_id]
            for place, chunk_id in view.explanation.cited.items()
            if chunk_id in numbers
        },
        chosen=chosen,
        held_by={place: cited[0] for place, cited in (phrases | quoted).items() if cited},
        aside=citation_tail(view.trace.answer),
        claims=[(each.claim.start, each.claim.end) for each in claims],
        claimed=[
            (difference.claimed_start, difference.claimed_end)
            for each in claims
            for difference in each.differences
            if difference.claimed_start < difference.claimed_end
        ],
        unexpected=unexpected,
    )


def marked_expected(expected: str, marks: Sequence[Range]) -> list[Piece]:
    """Return the expected answer with what the answer does not say marked; ranges are characters of it."""
    edges = sorted({0, len(expected), *(edge for each in marks for edge in each if edge <= len(expected))})
    is_marked = _marker(marks)
    return [
        Piece(expected[start:end], "expected", EXPECTED)
        if is_marked(start, end)
        else Piece(expected[start:end])
        for start, end in pairwise(edges)
    ]


def matched_phrases(view: QuestionView) -> tuple[PhraseMatch, ...]:
    """Return the answer's matched phrases, widened or narrowed to whole words and numbers."""
    return whole_phrases(view.trace.answer, view.explanation.phrases, list(seen_texts(view).values()))


def seen_texts(view: QuestionView) -> dict[int, str]:
    """Return the texts in the prompt, by rank."""
    seen = next((stage.candidates for stage in view.stages if stage.name == "chunks"), ())
    return {item.candidate.rank: item.candidate.text for item in seen if item.candidate.text}


def _numbers_after(phrases: Mapping[Range, list[int]], unsupported: Sequence[Range]) -> dict[int, list[int]]:
    """Return citation numbers by their place in the answer, once behind consecutive phrases.

    A place inside a number moves behind it, so that no number is split.
    """
    after: dict[int, list[int]] = {}
    cited_before, last = None, 0
    for (_, phrase_end), cited in phrases.items():
        if cited == cited_before:
            after.pop(last, None)
        last = next((end for start, end in unsupported if start < phrase_end < end), phrase_end)
        if cited:
            after[last] = cited
        cited_before = cited
    return after


def citation_tail(answer: str) -> Range | None:
    """Return the range of the citation line at the answer's end, which is meant for machines."""
    match = _TAIL.search(answer)
    return match.span() if match else None


def _number(number: int, chosen: int | None, *, tip: str = "", claim: int | None = None) -> Piece:
    return Piece(str(number), "number-chosen" if number == chosen else "number", tip=tip, claim=claim)


def _marker(ranges: Iterable[Range]) -> Callable[[int, int], bool]:
    """Return whether a part is marked that no range begins or ends inside; an answer may have thousands."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(ranges):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)

    def is_marked(start: int, end: int) -> bool:
        place = bisect_right(starts, start) - 1
        return place >= 0 and end <= ends[place]

    return is_marked


def _covering(ranges: Iterable[Range], start: int, end: int) -> Range | None:
    return next((each for each in ranges if each[0] <= start and end <= each[1]), None)


# The answer's matched phrases in whole words.
#
# The reference's phrases are runs of ASCII letters, digits, hyphens and white space: one ends in the middle
# of "15,000" and begins after the first letter of "Öldruck". That decides a label; a mark that a person reads
# has to cover the whole word if the evidence contains it, or none of it.

#: Letters and digits, with what joins them to one number ("15,000", "12:30") or word ("driver's", "km/h").
_WHOLE = re.compile(r"\w+(?:(?<=\d)[.,:](?=\d)\w+|['’](?=[^\W\d_])\w+|/\w+)*")


def whole_phrases(
    answer: str, phrases: Sequence[PhraseMatch], evidence: Sequence[str]
) -> tuple[PhraseMatch, ...]:
    """Return the phrases widened to whole words if a text of `evidence` contains them, else narrowed.

    An empty one is dropped.
    """
    lower = [text.lower() for text in evidence]
    words = [match.span() for match in _WHOLE.finditer(answer)]

    def is_in_evidence(start: int, end: int) -> bool:
        return any(answer[start:end].lower() in text for text in lower)

    widened = []
    for phrase in phrases:
        start, end = phrase.answer_start, phrase.answer_end
        if inside := next((word for word in words if word[0] < start < word[1]), None):
            start = inside[0] if is_in_evidence(inside[0], end) else inside[1]
        if inside := next((word for word in words if word[0] < end < word[1]), None):
            end = inside[1] if is_in_evidence(start, inside[1]) else inside[0]
        text = answer[start:end].strip()
        if text:
            start += len(answer[start:end]) - len(answer[start:end].lstrip())
            widened.append(replace(phrase, phrase=text, answer_start=start, answer_end=start + len(text)))
    return tuple(widened)
