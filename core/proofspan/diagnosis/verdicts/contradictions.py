"""Where an answer says the opposite of the expected one, or another thing in its place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from proofspan.diagnosis.claims.check import OF_ANY_LANGUAGE, check_answer
from proofspan.diagnosis.claims.differences.aligned import WordsOf
from proofspan.diagnosis.claims.figures import FigureIndex
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.split import claims_in
from proofspan.diagnosis.claims.support import EvidenceSource
from proofspan.diagnosis.claims.types import Claim, ClaimDifference
from proofspan.diagnosis.claims.word_forms import stop_words, words_of
from proofspan.diagnosis.verdicts.compared_answer import (
    FEW_WORDS,
    MOST_CLAIMS,
    MOST_PLACES,
    MUCH,
    PART,
    PRONOUNS,
    ComparedAnswer,
)
from proofspan.diagnosis.verdicts.compared_values import Wanted
from proofspan.diagnosis.verdicts.types import Correctness

#: The share of the words of gold's passages in an answer that quotes them.
QUOTED = 0.8
_ASKS_KIND = re.compile(r"\b(?:which|what|welche[rsnm]?|quel(?:le)?s?) (\w+(?: \w+)?)", re.IGNORECASE)
#: Kinds of differences by which one text says the opposite of the other.
_OPPOSED = frozenset(("negation", "direction", "name", *OF_ANY_LANGUAGE))
_OR = frozenset(("or", "oder", "ou"))


def reversed_word(compared: ComparedAnswer) -> int | None:
    """Return the number of the answer's word that says the opposite of a word of the question."""
    asked, theirs = compared.asked.words, compared.answer.words
    if asked.negations or compared.answer.negations:
        return None
    for pair, sides in asked.pairs.items():
        known = {side for _, side in sides}
        stated = theirs.pairs.get(pair, [])
        if len(known) == 1 and stated and known.isdisjoint([side for _, side in stated]):
            at, word = stated[0][0], asked.lower[sides[0][0]]
            lists = asked.lists
            if pair in lists.converse | lists.attributes or word in lists.weak:
                continue
            form = asked.forms[sides[0][0]]
            others = {each: weight for each, weight in compared.asked.new_beside().items() if each != form}
            places = compared.answer.sentence(at)
            if (
                theirs.lower[places.start] in PRONOUNS
                or not others
                or compared.answer.share_within(others, places) >= MUCH
            ):
                return at
    return None


def changed_modifier(compared: ComparedAnswer) -> Correctness | None:
    """Return the verdict where the answer has another word before the same one: "the passenger's side".

    It may be another word for the same thing, so the answer is not wrong.
    """
    ours, theirs = compared.expected.words, compared.answer.words
    if len(compared.wanted) > 2 * FEW_WORDS:
        return None
    for one in sorted(compared.required):
        two = one + 1
        if (
            two not in compared.required
            or ours.sentences[one] != ours.sentences[two]
            or ours.forms[one] not in compared.wanted
            or compared.answer.has(ours.forms[one])
        ):
            continue
        places = [
            place
            for place in theirs.places.get(ours.forms[two], ())[:MOST_PLACES]
            if place and theirs.starts[place] - theirs.ends[place - 1] == 1
        ]
        others = [place - 1 for place in places if compared.is_new(place - 1)]
        if places and len(others) == len(places):
            start, end = theirs.starts[others[0]], theirs.ends[places[0]]
            at = ours.starts[one], ours.ends[two]
            stated = written(theirs.text[start:end])
            reason = f"it says {stated} where {written(ours.text[slice(*at)])} is expected"
            return Correctness("partly", reason, ((start, end),), (at,))
    return None


def other_of_kind(compared: ComparedAnswer) -> Correctness | None:
    """Return the verdict where the answer names another thing of the kind that is asked for.

    "Which segment …" expects "the consumer segment", and the answer says "the industrial segment".
    """
    match = _ASKS_KIND.search(compared.question)
    if match is None:
        return None
    asked = compared.asked.words
    stops = stop_words(asked.language)
    kinds = {
        asked.form_of[word.lower()]
        for word in takewhile(lambda word: word.lower() not in stops, words_of(match[1]))
    }
    ours, theirs = compared.expected.words, compared.answer.words
    for kind in sorted(kinds & ours.places.keys() & theirs.places.keys()):
        at = ours.places[kind][0] - 1
        if at < 0 or ours.forms[at] not in compared.wanted or compared.answer.has(ours.forms[at]):
            continue
        others = [
            place - 1
            for place in theirs.places[kind][:MOST_PLACES]
            if place and theirs.is_content[place - 1] and not compared.asked.has(theirs.forms[place - 1])
        ]
        if others and not any(compared.expected.has(theirs.forms[place]) for place in others):
            stated = theirs.starts[others[0]], theirs.ends[others[0]]
            return contradicted("name", theirs.text, stated, ours.text, (ours.starts[at], ours.ends[at]))
    return None


def contradiction(compared: ComparedAnswer, figures: Sequence[Wanted]) -> Correctness | None:
    """Return the verdict where a claim of the one text contradicts the other."""
    expected, answer = compared.expected.without_polarity, compared.answer.without_polarity
    for difference in _differences(compared, expected, answer):
        at = difference.claimed_start, difference.claimed_end
        stated = difference.found_start, difference.found_end
        if _counts(compared, difference, figures, at, stated):
            return contradicted(difference.kind, answer, stated, expected, at)
    for difference in _differences(compared, answer, expected):
        at = difference.found_start, difference.found_end
        stated = difference.claimed_start, difference.claimed_end
        if _counts(compared, difference, figures, at, stated) and not _is_also_stated(compared, difference):
            return contradicted(difference.kind, answer, stated, expected, at)
    if compared.quoted >= QUOTED:
        for difference in _differences(compared, compared.quotes.text, answer):
            if difference.kind in _OPPOSED:
                stated = difference.found_start, difference.found_end
                return contradicted(difference.kind, answer, stated, difference.claimed)
    return None


def opposite_word(compared: ComparedAnswer) -> Correctness | None:
    """Return the verdict where few words are expected, and the answer says the opposite of one."""
    words, theirs = compared.expected.words, compared.answer.words
    if not 0 < len(compared.wanted) <= FEW_WORDS or compared.expected.negations or compared.answer.negations:
        return None
    for at in sorted(compared.required):
        if words.forms[at] not in compared.wanted or compared.answer.has(words.forms[at]):
            continue
        place = _opposite_of(compared, words.lower[at])
        if place is not None:
            stated = theirs.starts[place], theirs.ends[place]
            return contradicted(
                "direction",
                compared.answer.text,
                stated,
                compared.expected.text,
                (words.starts[at], words.ends[at]),
            )
    return None


def _opposite_of(compared: ComparedAnswer, word: str) -> int | None:
    """Return the number of the answer's word that says the opposite of one."""
    lists, theirs = compared.expected.words.lists, compared.answer.words
    for prefix in lists.prefixes:
        for other in (prefix + word, word.removeprefix(prefix)):
            if other != word and other in theirs.known and len(other) > FEW_WORDS:
                return theirs.lower.index(other)
    for pair, side in lists.sides_of[word]:
        if pair not in lists.attributes and pair not in lists.converse and word not in lists.weak:
            sides = theirs.pairs.get(pair, ())
            if sides and all(its != side for _, its in sides):
                return sides[0][0]
    return None


def choice(compared: ComparedAnswer) -> Correctness | None:
    """Return the verdict where the question offers two things, and both texts choose one.

    Where both choose the same, the rest decides if anything else is expected.
    """
    asked, expected, answer = compared.asked.words, compared.expected.words, compared.answer.words
    if compared.expected.negations or compared.answer.negations:
        return None
    for one, two in _offered(asked):
        ours = [form for form in (one, two) if form in expected.places]
        theirs = [form for form in (one, two) if form in answer.places]
        if len(ours) != 1 or len(theirs) != 1:
            continue
        at, place = expected.places[ours[0]][0], answer.places[theirs[0]][0]
        if ours != theirs:
            stated = answer.starts[place], answer.ends[place]
            at_both = expected.starts[at], expected.ends[at]
            return contradicted("direction", answer.text, stated, expected.text, at_both)
        if not compared.wanted:
            return Correctness("correct", f"it says {written(expected.lower[at])}")
    return None


def _is_also_stated(compared: ComparedAnswer, difference: ClaimDifference) -> bool:
    """Return whether the answer says what is expected as well as what differs."""
    words = words_of(difference.found)
    form_of = compared.expected.words.form_of
    return (
        difference.kind not in ("negation", *OF_ANY_LANGUAGE)
        and bool(words)
        and all(compared.answer.has(form_of[word.lower()]) for word in words)
    )


def _is_expected(compared: ComparedAnswer, stated: tuple[int, int]) -> bool:
    """Return whether the expected answer has the figures in a part of the answer."""
    figures = [
        figure for figure, _, _ in compared.answer.words.figures if stated[0] <= figure.start < stated[1]
    ]
    known = FigureIndex([figure for figure, _, _ in compared.expected.words.figures])
    return bool(figures) and all(known.agreeing(figure) is not None for figure in figures)


def _differences(compared: ComparedAnswer, text: str, source: str) -> Iterator[ClaimDifference]:
    """Yield how the claims of a text differ from another text."""
    whole = Claim(text, 0, len(text), "sentence")
    claims = claims_in(text, compared.question).claims[:MOST_CLAIMS] or (whole,)
    sources = [EvidenceSource("gold", None, SourceText(source))]
    found = check_answer(text, sources, compared.survey, question=compared.question, claims=claims)
    for each in found.claims:
        yield from each.differences


def _counts(
    compared: ComparedAnswer,
    difference: ClaimDifference,
    figures: Sequence[Wanted],
    at: tuple[int, int],
    stated: tuple[int, int],
) -> bool:
    """Return whether a difference shows that the answer is wrong.

    A figure that the answer has all the same is no wrong one, nor is one that is expected elsewhere; and
    what the answer says about something else than the clause of the expected one is no contradiction.
    """
    if difference.kind not in _OPPOSED:
        return False
    start = at[0]
    if difference.kind in OF_ANY_LANGUAGE:
        known = [each for each in figures if each.figure.start <= start < each.figure.end]
        return not any(each.is_held or each.near for each in known) and not _is_expected(compared, stated)
    part = next((part for part in compared.parts if part.start <= start < part.end), None)
    place = bisect_right(compared.answer.words.starts, stated[0]) - 1
    if part is None or place < 0:
        return True
    words = compared.expected.words
    own = {words.forms[each] for each in range(len(words.lower)) if words.starts[each] == start}
    wanted = {form: weight for form, weight in part.wanted.items() if form not in own}
    return not wanted or compared.answer.share_within(wanted, compared.answer.sentence(place)) >= PART


def _offered(words: WordsOf) -> Iterator[tuple[str, str]]:
    """Yield the forms of two words that a question offers: "clockwise or anticlockwise"."""
    for at, word in enumerate(words.lower):
        if word in _OR and 0 < at < len(words.lower) - 1:
            one, two = at - 1, at + 1
            if words.is_content[one] and words.is_content[two]:
                yield words.forms[one], words.forms[two]


def contradicted(
    kind: str, answer: str, stated: tuple[int, int], expected: str, at: tuple[int, int] | None = None
) -> Correctness:
    """Return the verdict on what is stated; `expected` is only the words themselves without `at`."""
    ours, theirs = answer[slice(*stated)], expected[slice(*at)] if at else expected
    if kind == "negation" or not ours or not theirs:
        reason = f"one of the two denies what the other says: “{written(ours or theirs)}”"
    else:
        reason = f"it says {written(ours)} where {written(theirs)} is expected"
    return Correctness(
        "wrong", reason, marked([stated]), marked([at] if at else []), is_figure=kind in OF_ANY_LANGUAGE
    )


def marked(found: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted({(start, end) for start, end in found if start < end}))


def written(text: str) -> str:
    return " ".join(text.split())
