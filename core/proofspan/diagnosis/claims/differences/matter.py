"""Decide whether a claim and its source are about the same thing, so that they can contradict each other.

A source has many statements that are built alike: the front tyres need 2.4 bar, the rear ones 2.2; sales grew
by 5 % in 2019, by 7 % in 2020. Where the source lacks the one that a claim is true of, its siblings must not
accuse the claim. So the subject, the time and the size have to agree beside the words at odds.
"""

from __future__ import annotations

from collections.abc import Iterator

from proofspan.diagnosis.claims.differences.aligned import SURELY_SAME, Found, WordsOf
from proofspan.diagnosis.claims.differences.parts import JOINS
from proofspan.diagnosis.claims.figures import Figure, alike, could_agree, digits_of
from proofspan.diagnosis.claims.figures.dates import Date, contradicts

#: The least share of a claim's words that the source's sentence has; and where only the nearest words agree.
_LEAST_SHARE = 0.1
_SHARE = 0.3
#: The nearest name this many words before a word of the claim is what it is about: the source must have half
#: of its words in the sentence, or in the few before it.
_NAME_REACH = 8
_SENTENCES_BACK = 3
#: Of this many content words nearest to a figure or name, at most one may be new to the source's sentence.
_NEAREST = 3
#: A figure with as many digits of which one differs is a slip of the other.
_TELLING_DIGITS = 3
#: Who mistakes a figure keeps its size, or its digits.
_TIMES = 10

#: Words that begin with as many letters alike are not each other's alternatives; a verb behind "to" is free.
_ALIKE = 4
_INFINITIVE = frozenset(("to", "zu"))
#: Kinds of differences of which the source has many alike. Of a unit or a scale the digits are the same.
_OF_VALUES = frozenset(("number", "name"))
_PRONOUNS = frozenset("it they he she er sie es il elle ils elles".split())  # noqa: SIM905
_PERIODS = frozenset("quarter quarters half quartal quartals halbjahr halbjahrs trimestre semestre".split())  # noqa: SIM905


def is_same_matter(claim: WordsOf, source: WordsOf, found: Found) -> bool:
    """Return whether the sentences around two words are about the same thing at the same time."""
    at, there = found.claimed[0], found.align.at
    share = _share(claim, at, source, there)
    is_sure = found.align.score >= SURELY_SAME and found.kind != "date"
    if share < _LEAST_SHARE or (share < _SHARE and not is_sure):
        return False
    if not _has_subject(claim, at, source, there):
        return False
    if found.kind != "date" and _is_at_another_time(claim, found.claimed, source, found.found):
        return False
    if found.kind in _OF_VALUES and not _is_worded_alike(claim, source, found):
        return False
    return not _is_sibling(claim, source, found)


def is_of_another_size(figure: Figure, other: Figure) -> bool:
    """Return whether a figure is many times another one, and not by a slip of its scale or of a digit."""
    one, two = (abs(each.value * each.unit.factor) for each in (figure, other))
    if figure.kind != "number" or other.kind != "number" or not one or not two:
        return False
    return max(one, two) >= _TIMES * min(one, two) and digits_of(figure) != digits_of(other)


def _share(claim: WordsOf, at: int, source: WordsOf, there: int) -> float:
    """Return the share of the other content words of a claim's sentence that its context has."""
    ours = {claim.forms[each] for each in range(*claim.sentence_of(at)) if claim.is_content[each]}
    ours.discard(claim.forms[at])
    known = _context(source, there)
    return len(ours.intersection(source.forms[known.start : known.stop])) / len(ours) if ours else 0.0


def _context(source: WordsOf, at: int) -> range:
    """Return the words of a word's sentence; behind a pronoun, also of the one before, which names it."""
    first, behind = source.sentence_of(at)
    if first and any(
        source.lower[place] in _PRONOUNS and (place == first or _joins(source, place))
        for place in range(first, at)
    ):
        first = source.sentence_of(first - 1)[0]
    return range(first, behind)


def _has_subject(claim: WordsOf, at: int, source: WordsOf, there: int) -> bool:
    """Return whether the source has the nearest name before a word of the claim near a word of its own."""
    if claim.language == "de":
        return True
    for name in range(at - 1, max(-1, at - 1 - _NAME_REACH), -1):
        if claim.sentences[name] != claim.sentences[at]:
            break
        if claim.is_name(name):
            run = next((range(first, last + 1) for first, last in claim.names if first <= name <= last), ())
            known = [
                place
                for place in run
                if any(
                    0 <= source.sentences[there] - source.sentences[each] <= _SENTENCES_BACK
                    for each in source.places.get(claim.forms[place], ())
                )
            ]
            return name in known and 2 * len(known) >= len(run)
    return True


def _is_at_another_time(claim: WordsOf, own: tuple[int, int], source: WordsOf, its: tuple[int, int]) -> bool:
    """Return whether the nearest period to a word of the claim contradicts all of the source's sentence.

    A word's period is in its clause, a figure's may be in another: "in 2031, growing by 4 %".
    """
    is_figure = own[0] in claim.figure_words
    within = range(*claim.sentence_of(own[0])) if is_figure else _clause(claim, own)
    ours = sorted(_periods(claim, own, within), key=lambda each: each[0])
    theirs = list(_periods(source, its, range(*source.sentence_of(its[0])))) if ours else []
    return bool(theirs) and all(contradicts(ours[0][1], date) for _, date in theirs)


def _periods(words: WordsOf, besides: tuple[int, int], within: range) -> Iterator[tuple[int, Date]]:
    """Yield the dates beside a word, quarters and halves without a year too, with their distance."""
    for figure, first, last in words.figures:
        if first not in within or (first <= besides[1] and last >= besides[0]):
            continue
        distance = max(first - besides[1], besides[0] - last)
        if figure.kind == "ordinal" and not _PERIODS.isdisjoint(words.lower[last + 1 : last + 2]):
            yield distance, Date(quarter=int(figure.value))
        elif len(figure.dates) == 1:
            yield distance, figure.dates[0]


def _is_worded_alike(claim: WordsOf, source: WordsOf, found: Found) -> bool:
    """Return whether the words nearest to a figure or a name are the source's, or another figure is."""
    known = _context(source, found.align.at)
    nearest = _nearest(claim, found.claimed)
    new = [
        at for at in nearest if not any(place in known for place in source.places.get(claim.forms[at], ()))
    ]
    if len(new) * _NEAREST <= len(nearest):
        return True
    if len(new) == 1 and nearest[0] not in new and claim.is_name(nearest[0]):
        return True  # a name leaves little open: "reaching Bern at 6:40"
    begin, end = claim.sentence_of(found.claimed[0])
    if not any(
        place in known
        for at in range(begin, end)
        if claim.is_content[at] and at not in claim.figure_words
        for place in source.places.get(claim.forms[at], ())
    ):
        return False
    theirs = [figure for figure, first, _ in source.figures if first in known and figure.kind == "number"]
    slip = next((each for each, first, _ in source.figures if first == found.found[0]), None)
    for figure, first, _ in claim.figures:
        if first == found.claimed[0]:
            if slip is not None and alike(figure, slip) >= _TELLING_DIGITS:
                return True
        elif (
            begin <= first < end
            and figure.kind == "number"
            and any(could_agree(figure, other) for other in theirs)
        ):
            return True
    return False


def _is_sibling(claim: WordsOf, source: WordsOf, found: Found) -> bool:
    """Return whether two sentences differ in two points: the rear tyres need 2.2 bar, the front ones 2.4.

    What the claim has in another place is exchanged, and no sibling's.
    """
    last = found.claimed[1]
    its = range(found.found[0], found.found[1] + 1)
    is_word = found.kind in ("direction", "name")
    if any(source.forms[at] in claim.places for at in its if is_word or source.lower[at].isdigit()):
        return False
    is_attribute = found.kind == "direction" and (
        claim.forms[last + 1 : last + 2] == source.forms[found.found[1] + 1 : found.found[1] + 2]
        and any(claim.is_content[last + 1 : last + 2])
    )
    if found.kind in ("name", "date") or is_attribute:
        ours = _numbers(claim, range(*claim.sentence_of(last)), found.claimed)
        theirs = _numbers(source, range(*source.sentence_of(its.start)), found.found)
        is_met = any(could_agree(one, other) for one in ours for other in theirs)
        if theirs and not is_met and _numbers(claim, _clause(claim, found.claimed), found.claimed):
            return True
    return found.kind in ("number", "name", "date") and _has_other_word(claim, source, found)


def _numbers(words: WordsOf, within: range, besides: tuple[int, int]) -> list[Figure]:
    """Return the figures of a clause or sentence that count something."""
    return [
        figure
        for figure, first, _ in words.figures
        if figure.kind in ("number", "time") and first in within and not besides[0] <= first <= besides[1]
    ]


def _has_other_word(claim: WordsOf, source: WordsOf, found: Found) -> bool:
    """Return whether the source's sentence replaces one more word of the claim's, between the same two."""
    ours, theirs = _telling(claim, found.claimed), _telling(source, found.found)
    there = {_between(source, at): word for word, at in theirs.items() if word not in ours}
    return any(
        (other := there.get(_between(claim, at))) is not None
        and word[:_ALIKE] != other[:_ALIKE]
        and claim.lower[max(0, at - 1)] not in _INFINITIVE
        for word, at in ours.items()
        if word not in theirs
    )


def _telling(words: WordsOf, besides: tuple[int, int]) -> dict[str, int]:
    """Return what a sentence is about: its content words by form, and letters as in "plant B"."""
    found: dict[str, int] = {}
    for at in range(*words.sentence_of(besides[0])):
        is_letter = len(words.lower[at]) == 1 and words.text[words.starts[at]].isupper()
        if (words.is_content[at] or is_letter) and not (
            besides[0] <= at <= besides[1] or at in words.figure_words
        ):
            found[words.lower[at].upper() if is_letter else words.forms[at]] = at
    return found


def _between(words: WordsOf, at: int) -> tuple[str, str]:
    """Return the forms before and behind a word, "" at an end of its sentence."""
    first, behind = words.sentence_of(at)
    return words.forms[at - 1] if at > first else "", words.forms[at + 1] if at + 1 < behind else ""


def _nearest(words: WordsOf, besides: tuple[int, int]) -> list[int]:
    """Return the content words nearest to some words: of their clause, else of their sentence."""
    begin, end = words.sentence_of(besides[0])
    within = _clause(words, besides)
    for low, high in ((within.start, within.stop), (begin, end)):
        found = [
            at
            for at in range(low, high)
            if words.is_content[at] and at not in words.figure_words and not besides[0] <= at <= besides[1]
        ]
        if found:
            break
    found.sort(key=lambda at: max(at - besides[1], besides[0] - at))
    return found[:_NEAREST]


def _clause(words: WordsOf, besides: tuple[int, int]) -> range:
    """Return the words of the clause that some words are in."""
    begin, end = words.sentence_of(besides[0])
    first, behind = besides[0], besides[1] + 1
    while first > begin and not _joins(words, first):
        first -= 1
    while behind < end and not _joins(words, behind):
        behind += 1
    return range(first, behind)


def _joins(words: WordsOf, at: int) -> bool:
    """Return whether a clause may begin with a word."""
    return words.lower[at] in JOINS or "," in words.text[words.ends[at - 1] : words.starts[at]]
