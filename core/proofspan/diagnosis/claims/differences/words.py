"""Differences in words: opposites, and words of which only one can be right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator

from proofspan.diagnosis.claims.differences.aligned import (
    FULLY_SAME,
    MOST_PLACES,
    NOWHERE,
    SAME,
    SURELY_SAME,
    Alignment,
    Around,
    Found,
    WordsOf,
    acquits,
    alignment,
    best_alignment,
)
from proofspan.diagnosis.claims.differences.lists import CALENDAR, WordLists
from proofspan.diagnosis.numbers import NUMBER_WORDS

#: Words that deny a condition which follows within so few words: "not unless it is cold" forbids it hot.
_INVERTS, _INVERTED = frozenset("unless until till bis sauf".split()), 8  # noqa: SIM905
#: Words of a claim beside a word that may be opposed to what it is about.
_RIVALS = 6
_BEFORE_FIGURES = frozenset("$ € £ ¥ by from um von de".split())  # noqa: SIM905


def opposites(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield words whose opposite the source says of the same thing: rose and fell, profit and loss."""
    for pair, here in claim.pairs.items():
        there = source.pairs.get(pair, ())
        for at, side in here[:MOST_PLACES] if there else ():
            if claim.is_negated[at] or not _may_oppose(claim, at):
                continue
            around = claim.around(at)
            # What another word of the claim says of the same pair is no contradiction of this one.
            rivals = [claim.around(place) for place, other in here[:_RIVALS] if other != side]
            opposed = [
                place
                for place, other in there[:MOST_PLACES]
                if other != side
                and not source.is_negated[place]
                and _may_oppose(source, place)
                and _is_alike(claim, at, source, place)
                and not any(
                    alignment(rival, source, place).score >= alignment(around, source, place).score
                    for rival in rivals
                )
            ]
            if pair in claim.lists.attributes:
                noun = claim.forms[at + 1 : at + 2]
                opposed = [place for place in opposed if noun and source.forms[place + 1 : place + 2] == noun]
            best = _same_compound(claim, at, around, source, opposed)
            if not (best.adjacent or best.score >= FULLY_SAME) or (
                pair in claim.lists.converse
                and best.crossed
                and not _is_same_limit(claim, at, source, best.at)
            ):
                continue
            share = claim.share_in(at, source, best.at)
            agreeing = [
                place
                for place, other in there[: 4 * MOST_PLACES]
                if (other == side or source.is_negated[place])
                and not _goes_elsewhere(claim, at, source, place)
                and claim.share_in(at, source, place) >= 0.5 * share
            ]
            least = SURELY_SAME if claim.forms[at] in source.places else SAME
            if best.score >= least and not acquits(best_alignment(around, source, agreeing), best):
                yield Found("direction", (at, at), (best.at, best.at), best)


#: Small words that turn a statement into another; two such changes cancel each other.
_WAYS = ("in out", "on off", "up down", "rein raus", "ein aus", "auf ab")
_WAY_OF = {
    word: (number, side) for number, pair in enumerate(_WAYS) for side, word in enumerate(pair.split())
}
#: The least share of a claim that the source has where a limit is compared on its own.
_SHARE_LIMITED = 0.6


def _goes_elsewhere(claim: WordsOf, at: int, source: WordsOf, place: int) -> bool:
    """Return whether a word follows another way than in the claim: "out clockwise" and "in clockwise"."""
    if not at or not place:
        return False
    own, other = _WAY_OF.get(claim.lower[at - 1]), _WAY_OF.get(source.lower[place - 1])
    return own is not None and other is not None and own[0] == other[0] and own[1] != other[1]


def _is_same_limit(claim: WordsOf, at: int, source: WordsOf, place: int) -> bool:
    """Return whether the same figure follows two opposites in sentences that say the same: "above 50"."""
    behind = claim.lower[at + 1 : at + 2]
    if not behind or not behind[0][0].isdigit() or behind != source.lower[place + 1 : place + 2]:
        return False
    own, other = claim.sentence_of(at), source.sentence_of(place)
    ours, theirs = set(claim.lower[slice(*own)]), set(source.lower[slice(*other)])
    if any(own[0] <= number < own[1] for number in claim.negations) or any(
        other[0] <= number < other[1] for number in source.negations
    ):
        return False
    if (ours ^ theirs) & _WAY_OF.keys() & (theirs if ours & _WAY_OF.keys() else ours | theirs):
        return False
    return claim.share_in(at, source, place) >= _SHARE_LIMITED


def _may_oppose(words: WordsOf, at: int) -> bool:
    """Return whether a word can contradict: it is no part of a name, no mere particle, no "close to"."""
    if words.is_capital[at] and words.language != "de":
        return False
    if any(
        words.lower[place] in _INVERTS and words.sentences[place] == words.sentences[at]
        for place in range(max(0, at - _INVERTED), at)
    ):
        return False
    lower, behind = words.lower[at], words.lower[at + 1 : at + 2]
    if words.lists.key(lower) in words.lists.weak:
        return bool(behind) and (behind[0][0].isdigit() or behind[0] in _BEFORE_FIGURES)
    return not (lower == "close" and behind == ["to"])


_COMPARATIVES = frozenset(
    """
    higher lower greater larger bigger smaller more less fewer höher niedriger größer kleiner geringer mehr
    weniger supérieur inférieur plus moins
    """.split()  # noqa: SIM905 - a word list reads best as text
)


def _is_alike(claim: WordsOf, at: int, source: WordsOf, place: int) -> bool:
    """Return whether two words are both of a level or both of a change.

    What rose from 2018 to 2019 was lower in 2018.
    """
    if (claim.lower[at] in _COMPARATIVES) == (source.lower[place] in _COMPARATIVES):
        return True
    return not any(figure.dates for figure, _, _ in claim.figures)


def _same_compound(
    claim: WordsOf, at: int, around: Around, source: WordsOf, places: Iterable[int]
) -> Alignment:
    """Return the best alignment with a word that hyphens join to the same words: long-term and short-term."""
    joined = claim.joined(at)
    return best_alignment(around, source, [place for place in places if source.joined(place) == joined])


def prefixed(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield words that only a negative prefix makes another: adjusted and unadjusted."""
    for at, lower in enumerate(claim.lower):
        if claim.forms[at] in source.places or claim.is_negated[at] or not claim.is_content[at]:
            continue
        other = unprefixed(lower, claim.lists, source.known)
        if other:
            places = [
                place
                for place in source.places.get(source.form_of[other], ())
                if source.lower[place] == other and not source.is_negated[place]
            ]
            best = _same_compound(claim, at, claim.around(at), source, places)
            if best.score >= SURELY_SAME:
                yield Found("direction", (at, at), (best.at, best.at), best)


def unprefixed(word: str, lists: WordLists, known: Collection[str]) -> str:
    """Return the known word that differs by a negative prefix alone, "" without one."""
    if len(word) >= 4:
        for prefix in lists.prefixes:
            bare = word.removeprefix(prefix)
            other = bare if bare != word else prefix + word
            if other in known and len(bare) >= 4 and bare not in lists.unprefixed:
                return other
    return ""


def alternatives(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield days, months, colours and such in whose place the source has another one."""
    kinds = claim.lists.others
    there: dict[int, list[int]] = {}
    for place, word in enumerate(source.lower):
        if word in kinds and source.forms[place] not in claim.places and _is_of(source, place, kinds[word]):
            there.setdefault(kinds[word], []).append(place)
    for at, lower in enumerate(claim.lower):
        kind = kinds.get(lower)
        if kind is None or claim.forms[at] in source.places or not _is_of(claim, at, kind):
            continue
        places = there.get(kind, ())
        best = _same_compound(claim, at, claim.around(at), source, places)
        if best.score >= SAME and best.adjacent:
            yield Found("date" if kind < CALENDAR else "name", (at, at), (best.at, best.at), best)


def _is_of(words: WordsOf, at: int, kind: int) -> bool:
    """Return whether a word is meant as one of its set: "may" is no month."""
    return kind >= CALENDAR or words.language == "fr" or words.text[words.starts[at]].isupper()


#: Content words that both sentences have in the same order but for an exchange; the most that are compared.
_FEWEST, _MOST = 4, 60
_TO = frozenset("to into zu nach auf à".split())  # noqa: SIM905
_COUNTS = frozenset().union(*NUMBER_WORDS.values())


def exchanged_words(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield two opposites, colours or counts that a sentence of the source has in each other's place.

    Nothing else may differ in the order of the words that both sentences have.
    """
    for ours in _sentences(claim, source.places):
        theirs = list(_sentences(source, {claim.forms[at] for at in ours}))
        partners = _partners(claim, ours)
        for one, other in partners if theirs else ():
            found, length, agreed = NOWHERE, 0, 0
            for its in theirs:
                mine, yours = _in_common(claim, ours, source, its)
                order, wanted = [claim.forms[at] for at in mine], [source.forms[at] for at in yours]
                if len(mine) < _FEWEST or one not in mine or other not in mine:
                    continue
                if order == wanted:
                    agreed = max(agreed, len(order))
                    continue
                first, second = mine.index(one), mine.index(other)
                order[first], order[second] = order[second], order[first]
                if (
                    order == wanted
                    and len(order) > length
                    and (second - first > 1 or _leads_to(claim, one, other))
                ):
                    length = len(order)
                    found = Alignment(FULLY_SAME, 1, 0, yours[first])
            if length > agreed:  # what has fewer words of the claim in its order is about something else
                yield Found("direction", (one, one), (found.at, found.at), found)
                return


def _sentences(words: WordsOf, known: Container[str]) -> Iterator[list[int]]:
    """Yield the words of each sentence that carry its content, or count, and are known."""
    places: dict[int, list[int]] = {}
    for at, form in enumerate(words.forms):
        if form in known and (words.is_content[at] or words.lower[at] in _COUNTS):
            places.setdefault(words.sentences[at], []).append(at)
    for found in places.values():
        if _FEWEST <= len(found) <= _MOST:
            yield found


def _partners(claim: WordsOf, places: Collection[int]) -> list[tuple[int, int]]:
    """Return the words of a sentence that exclude each other."""
    kinds: dict[object, list[int]] = {}
    for at in places:
        lower = claim.lower[at]
        for pair, _ in claim.lists.sides_of[lower]:
            kinds.setdefault(pair, []).append(at)
        if claim.lists.others.get(lower, -1) >= CALENDAR:
            kinds.setdefault("others", []).append(at)
        if lower in _COUNTS:
            kinds.setdefault("counts", []).append(at)
    return [
        (one, other)
        for found in kinds.values()
        for number, one in enumerate(found[:_FEWEST])
        for other in found[number + 1 : _FEWEST]
        if claim.forms[one] != claim.forms[other]
    ]


def _in_common(
    claim: WordsOf, ours: Iterable[int], source: WordsOf, its: Iterable[int]
) -> tuple[list[int], list[int]]:
    """Return the words that two sentences have equally often, in the order of each."""
    own, other = Counter([claim.forms[at] for at in ours]), Counter([source.forms[at] for at in its])
    return (
        [at for at in ours if own[claim.forms[at]] == other[claim.forms[at]]],
        [at for at in its if own[source.forms[at]] == other[source.forms[at]]],
    )


def _leads_to(words: WordsOf, one: int, other: int) -> bool:
    """Return whether one word leads to another: "from white to green", not "white and green"."""
    return other - one == 2 and words.lower[one + 1] in _TO
