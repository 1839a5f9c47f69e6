"""Differences in who or what comes in which place: the source has the same figures or names, exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

from proofspan.diagnosis.claims.differences.aligned import (
    NOWHERE,
    SAME,
    Alignment,
    Found,
    WordsOf,
    alignment,
)
from proofspan.diagnosis.claims.figures import Figure

#: Figures of a text and pairs of names that are looked at, and the most words between two names.
MOST_FIGURES = 200
_MOST_PAIRS = 20
_MOST_SAME = 20
_BETWEEN = 8

_FROM = frozenset("from von de d'".split())  # noqa: SIM905
_TO = frozenset("to auf bis à".split())  # noqa: SIM905
#: Words with which figures are listed apart from what they are of.
_RESPECTIVELY = frozenset("respectively beziehungsweise bzw jeweils respectivement".split())  # noqa: SIM905
#: Words between two names of which neither acts on the other, or the second on the first.
_NO_ACT = frozenset(
    """
    and or with by between than as like from meet met marry married merge merged share both versus vs und oder
    mit von zwischen als wie et ou avec par entre que comme
    """.split()  # noqa: SIM905 - a word list reads best as text
)


def exchanged_changes(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield "from 5 to 7" where the source has "from 7 to 5"."""
    there = list(_changes(source))[: 2 * _MOST_PAIRS]
    for one, two in islice(_changes(claim), _MOST_PAIRS) if there else ():
        ours = claim.figures[one], claim.figures[two]
        is_agreed, best, found = False, NOWHERE, (-1, -1)
        for first, second in there:
            theirs = source.figures[first], source.figures[second]
            if _is_same(ours[0][0], theirs[0][0]) and _is_same(ours[1][0], theirs[1][0]):
                is_agreed = True
            elif _is_same(ours[0][0], theirs[1][0]) and _is_same(ours[1][0], theirs[0][0]):
                align = alignment(claim.around(ours[0][1], ours[1][2]), source, theirs[0][1])
                if align.score > best.score:
                    best, found = align, (theirs[0][1], theirs[1][2])
        if best.score >= SAME and not is_agreed:
            yield Found("direction", (ours[0][1], ours[1][2]), found, best)


def _is_same(one: Figure, other: Figure) -> bool:
    """Return whether two figures are the same; rounded ones are not looked for."""
    return _key(one) == _key(other)


def _key(figure: Figure) -> tuple[object, ...]:
    return figure.kind, figure.value, figure.unit.name


def _changes(words: WordsOf) -> Iterator[tuple[int, int]]:
    """Yield the numbers of two figures between which something changed."""
    for number in range(min(len(words.figures), MOST_FIGURES) - 1):
        (_, first, last), (_, second, _) = words.figures[number], words.figures[number + 1]
        if (
            first
            and words.lower[first - 1] in _FROM
            and second - last <= 6
            and words.lower[second - 1] in _TO
        ):
            yield number, number + 1


def exchanged_figures(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield figures that the source has each with the other's words before it: profit 5 and loss 7."""
    if not _RESPECTIVELY.isdisjoint(claim.lower):
        return
    theirs: dict[tuple[object, ...], list[int]] = {}
    for figure, at, _ in source.figures[:MOST_FIGURES]:
        same = theirs.setdefault(_key(figure), [])
        if len(same) < _MOST_SAME:
            same.append(at)
    for (one, first, last), (two, second, stop) in pairwise(claim.figures[:_MOST_PAIRS]):
        if claim.sentences[first] != claim.sentences[second] or _is_same(one, two):
            continue
        before = _label(claim, first), _label(claim, second)
        own, other = before[0] - before[1], before[1] - before[0]
        if not own or not other:
            continue
        places = [
            (at, their)
            for at in theirs.get(_key(one), ())
            for their in theirs.get(_key(two), ())
            if source.sentences[their] == source.sentences[at]
        ]
        labels = [(_label(source, at), _label(source, their)) for at, their in places]
        if not labels or any(own & mine or other & its for mine, its in labels):
            continue
        for (at, their), (mine, its) in zip(places, labels, strict=True):
            if own & its and other & mine:
                sure = Alignment(2.0, 2, 0, their)
                yield Found("number", (first, last), (their, _last(source, their)), sure)
                yield Found("number", (second, stop), (at, _last(source, at)), sure._replace(at=at))
                return


def _label(words: WordsOf, at: int) -> set[str]:
    """Return the content words before a figure, back to the figure before or to the sentence's begin."""
    found: set[str] = set()
    for before in range(at - 1, -1, -1):
        if words.sentences[before] != words.sentences[at] or before in words.figure_words:
            break
        if (
            words.is_content[before] and before - 1 not in words.figure_words
        ):  # not what the figure before counts
            found.add(words.forms[before])
    return found


def _last(words: WordsOf, first: int) -> int:
    return next(last for _, at, last in words.figures if at == first)


def exchanged_names(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield a name that acts on another where the source has the other act on it: Norda bought Vesta."""
    there = list(_acts(source))
    for one, two, act in islice(_acts(claim), _MOST_PAIRS) if there else ():
        ours = _names(claim, one), _names(claim, two)
        if not set(ours[0]).isdisjoint(ours[1]):
            continue
        same = []
        for begin, end, its in there:
            theirs = _names(source, begin), _names(source, end)
            if not act.isdisjoint(its) and theirs in (ours, ours[::-1]):
                same.append((begin, theirs))
        if same and all(theirs != ours for _, theirs in same):
            begin = same[0][0]
            yield Found("name", one, begin, Alignment(2.0, 2, 0, begin[0]))


def _names(words: WordsOf, run: tuple[int, int]) -> tuple[str, ...]:
    return tuple(words.forms[run[0] : run[1] + 1])


def _acts(words: WordsOf) -> Iterator[tuple[tuple[int, int], tuple[int, int], set[str]]]:
    """Yield two neighbouring names of a sentence and the content words between them."""
    runs = words.names_at_begin
    for one, two in pairwise(runs[: 10 * _MOST_PAIRS]):
        between = range(one[1] + 1, two[0])
        if words.sentences[one[0]] != words.sentences[two[0]] or not 0 < len(between) <= _BETWEEN:
            continue
        if _NO_ACT.isdisjoint([words.lower[at] for at in between]):
            act = {words.forms[at] for at in between if words.is_content[at]}
            if act:
                yield one, two, act
