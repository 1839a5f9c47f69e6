"""Differences in figures, dates and names: the source does not have them, but others in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from proofspan.diagnosis.claims.derived import derivation, is_in_place
from proofspan.diagnosis.claims.differences.aligned import (
    MOST_PLACES,
    NOWHERE,
    SAME,
    SURELY_SAME,
    Alignment,
    Found,
    WordsOf,
    alignment,
    best_alignment,
)
from proofspan.diagnosis.claims.differences.lists import CALENDAR
from proofspan.diagnosis.claims.differences.matter import is_of_another_size
from proofspan.diagnosis.claims.figures import Figure, alike, could_agree, scale_differs, unit_differs
from proofspan.diagnosis.claims.figures.dates import contradicts
from proofspan.diagnosis.claims.types import DifferenceKind

#: Figures of a claim that are looked for.
MOST_FIGURES = 20
#: Names of a claim that are looked for.
MOST_NAMES = 20
#: Of counts up to a dozen there are many in any text.
_SMALL, _SMALL_SAME = 12, 2.0
#: Enough for a number in which only a digit differs.
_ALIKE = 0.3
#: A figure that the source has elsewhere is contradicted if hardly any word around it is the same there, but
#: nearly all are where another one is in its place, and most of the sentence.
_ELSEWHERE, _ENTIRELY, _MOSTLY = 0.5, 2.5, 0.5


def figures(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield figures that agree with none of the source, or only with some of other things."""
    known = source.figures
    claimed = claim.figures[:MOST_FIGURES] if known else ()
    for figure, first, last in claimed:
        if not _is_sure(figure) or _is_pointer(claim, first):
            continue
        around = claim.around(first, last)
        agreeing = [begin for other, begin, _ in known if other.text == figure.text]
        if not agreeing:
            agreeing = [begin for other, begin, _ in known if _agrees(figure, other)]
        if agreeing and (figure.dates or best_alignment(around, source, agreeing).score > _ELSEWHERE):
            continue
        aligned = [
            (alignment(around, source, begin), place)
            for place, (other, begin, _) in enumerate(known)
            if _is_comparable(figure, other)
        ]
        aligned.sort(key=lambda each: -each[0].score)
        for align, place in aligned[:MOST_FIGURES]:
            other, begin, stop = known[place]
            if align.score < _least(figure, other, is_elsewhere=bool(agreeing)):
                continue
            if any(_agrees(each, other) for each, _, _ in claimed):
                continue  # another figure of the claim says it
            if _contradicts(claim, source, (figure, first), place, align, is_elsewhere=bool(agreeing)):
                yield Found(_kind(figure, other), (first, last), (begin, stop), align)
            break


def _least(figure: Figure, other: Figure, *, is_elsewhere: bool) -> float:
    """Return the least score at which a figure takes the place of another."""
    if is_elsewhere:
        return _ENTIRELY
    digits = alike(figure, other)
    if digits:
        return _ALIKE if digits > 2 else 2 * _ALIKE
    is_small = figure.kind == "number" and not figure.unit.dimension and abs(figure.value) <= _SMALL
    return _SMALL_SAME if is_small else SAME


def _contradicts(
    claim: WordsOf,
    source: WordsOf,
    own: tuple[Figure, int],
    place: int,
    align: Alignment,
    *,
    is_elsewhere: bool,
) -> bool:
    """Return whether a figure in the place of another contradicts it, and follows from none."""
    figure, first = own
    other, begin, _ = source.figures[place]
    has_same_unit = bool(figure.unit.dimension) and figure.unit.name == other.unit.name
    if not (align.adjacent or has_same_unit or alike(figure, other)):
        return False
    if is_elsewhere and claim.share_in(first, source, begin) < _MOSTLY:
        return False
    printed = [each for each, _, _ in source.figures]
    beside = printed[max(0, place - _OPERANDS) : place + _OPERANDS]
    if is_in_place(claim.text, figure, source.text, other):
        return not _may_follow(claim, figure, first, beside)
    return derivation(figure, printed, claim=claim.text) is None and not _may_follow(
        claim, figure, first, beside
    )


#: Words by which a claim computes; figures beside a contradicted one that it may compute with.
_COMPUTED = re.compile(
    r"\b(?:by|difference|total|sum|combined|together|average|mean|than|times|half|double|ratio|share|margin|grew"
    r"|growth|rose|rise|increas\w+|decreas\w+|fell|fall|declin\w+|drop\w*|chang\w+|reduc\w+|um|insgesamt"
    r"|zusammen|summe|differenz|durchschnitt\w*|anteil|mehr|weniger|anstieg|rückgang|de|au total|somme|écart"
    r"|moyenne|hausse|baisse)\b",
    re.IGNORECASE,
)
_OPERANDS = 8
_LEVEL = frozenset("to auf à".split())  # noqa: SIM905


def _may_follow(claim: WordsOf, figure: Figure, first: int, printed: Sequence[Figure]) -> bool:
    """Return whether a figure may be computed from two printed ones, also by chance: then it is not accused.

    What rose "to" a figure is no computed change.
    """
    if (
        figure.kind != "number"
        or (first and claim.lower[first - 1] in _LEVEL)
        or not _COMPUTED.search(claim.text)
    ):
        return False
    target, slack = abs(float(figure.value)), float(figure.tolerance) * 1.01
    is_share = figure.unit.dimension == "share"
    values = [
        float(each.value)
        for each in printed
        if each.kind == "number" and (is_share or each.unit.dimension == figure.unit.dimension)
    ]
    for one, other in permutations(values, 2):
        results = [one + other, one - other, (one + other) / 2]
        if other and (is_share or not figure.unit.dimension):
            results += [one / other, (one - other) / other]
            results += [100 * each for each in results[3:]]
        if any(abs(abs(result) - target) <= slack for result in results):
            return True
    return False


def _kind(figure: Figure, other: Figure) -> DifferenceKind:
    if figure.dates and other.dates:
        return "date"
    if unit_differs(figure, other):
        return "unit"
    return "scale" if scale_differs(figure, other) else "number"


_POINTERS = frozenset(
    """
    figure fig table section chapter page step note item no type model version part exhibit question class
    appendix rule article paragraph abbildung abb tabelle abschnitt kapitel seite schritt nr tableau étape
    annexe
    """.split()  # noqa: SIM905 - a word list reads best as text
)


def _is_pointer(claim: WordsOf, first: int) -> bool:
    """Return whether a figure numbers a thing, also by parts: "figure 2-39"."""
    before = first - 1
    if before >= 1 and claim.joined(first)[0].isdigit():
        before -= 1
    return before >= 0 and claim.lower[before] in _POINTERS


def _is_sure(figure: Figure) -> bool:
    """Return whether a figure is surely one: no label such as 4.2.1, not "half" or "a fifth" of something."""
    return figure.kind != "label" and (
        figure.value == int(figure.value) or any(map(str.isdigit, figure.text))
    )


def _agrees(figure: Figure, other: Figure) -> bool:
    """Return whether a figure of the source agrees with a claimed one, or may."""
    if figure.dates and other.dates:
        return any(
            not contradicts(one, two)
            and any(part and part == its for part, its in zip(one, two, strict=True))
            for one in figure.dates
            for two in other.dates
        )
    if figure.bound in ("<", ">") and figure.bound == other.bound:
        figure = figure._replace(bound="")  # "below 30" is true of "below 25", but is not what it says
    return could_agree(figure, other)


def _is_comparable(figure: Figure, other: Figure) -> bool:
    if figure.dates and other.dates:
        return all(contradicts(one, two) for one in figure.dates for two in other.dates)
    if figure.kind != other.kind or is_of_another_size(figure, other):
        return False
    return figure.unit.dimension == other.unit.dimension or unit_differs(figure, other)


def names(claim: WordsOf, source: WordsOf) -> Iterator[Found]:
    """Yield names that the source does not have in any form, though another name in their place."""
    for first, last in claim.names[:MOST_NAMES]:
        if claim.lists.others.get(claim.lower[first], CALENDAR) < CALENDAR:
            continue
        absent = [at for at in range(first, last + 1) if not _is_known(claim, at, source)]
        if len(absent) > last - first:
            yield from _other_name(claim, first, last, source)
        elif absent:
            yield from _other_part(claim, first, last, absent, source)


def _is_known(claim: WordsOf, at: int, source: WordsOf) -> bool:
    """Return whether the source has a word, also one that begins alike: "Germany" is known by "German"."""
    return claim.forms[at] in source.places or claim.lower[at][:4] in source.beginnings


def _other_name(claim: WordsOf, first: int, last: int, source: WordsOf) -> Iterator[Found]:
    """Yield the first name with the same word directly before or behind it."""
    around = claim.around(first, last)
    before = claim.lower[first - 1] if first and claim.sentences[first - 1] == claim.sentences[first] else ""
    behind = ""
    if last + 1 < len(claim.forms) and claim.sentences[last + 1] == claim.sentences[last]:
        behind = claim.forms[last + 1]
    for begin, stop in source.names[: 20 * MOST_NAMES]:
        if any(source.forms[place] in claim.places for place in range(begin, stop + 1)):
            continue
        is_in_place = (before and begin and source.lower[begin - 1] == before) or (
            behind and source.forms[stop + 1 : stop + 2] == [behind]
        )
        if is_in_place and not _may_be_same(claim, first, source, begin):
            align = alignment(around, source, begin)
            if align.score >= SURELY_SAME and align.adjacent:
                yield Found("name", (first, last), (begin, stop), align)
                return


def _other_part(claim: WordsOf, first: int, last: int, absent: list[int], source: WordsOf) -> Iterator[Found]:
    """Yield the words of a name that the source has with another word: Bob Hope and Bob Ross."""
    around = claim.around(first, last)
    for at in absent:
        best = NOWHERE
        for beside, step in ((at - 1, 1), (at + 1, -1)):
            if not first <= beside <= last or beside in absent:
                continue
            for place in source.places.get(claim.forms[beside], ())[:MOST_PLACES]:
                other = place + step
                if source.is_name_at(other, beside=place) and source.forms[other] not in claim.places:
                    align = alignment(around, source, other)
                    best = align if align.score > best.score else best
        if best.score >= SURELY_SAME and best.adjacent:
            yield Found("name", (at, at), (best.at, best.at), best)


#: Names of one country, or of its parts, that texts use for one another.
_SAME_NAMES = tuple(
    frozenset(names.split())
    for names in (
        "britain british england english scotland scottish united",
        "america american americans united",
        "holland netherlands dutch",
        "russia russian soviet",
        "ireland irish",
    )
)


def _may_be_same(claim: WordsOf, first: int, source: WordsOf, begin: int) -> bool:
    """Return whether one name is in capitals alone, as abbreviations are, or both name one country."""
    one, other = claim.lower[first], source.lower[begin]
    is_short = (
        claim.text[claim.starts[first] + 1].isupper() != source.text[source.starts[begin] + 1].isupper()
    )
    return is_short or any(one in same and other in same for same in _SAME_NAMES)
