"""Figures that a claim computes: how they follow from the figures of its evidence.

Where a claim compares ("15 kW more", "4 % lower", "twice as much") and names the rows of a table, nothing has
to be searched: of the one pair of figures there that count the same, the result agrees or does not. Any other
figure is looked for by `derivation`, which bounds what comes about by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from proofspan.diagnosis.claims.cells import WITHOUT
from proofspan.diagnosis.claims.derived import Operation, derivation, is_in_place, near_words, shown
from proofspan.diagnosis.claims.figures import Figure, agrees
from proofspan.diagnosis.claims.figures.units import NO_UNIT
from proofspan.diagnosis.claims.read_claim import ReadClaim
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.support import Evidence, Support
from proofspan.diagnosis.claims.word_forms import forms_in
from proofspan.diagnosis.words import tokens

#: Figures of one claim for which a formula is looked for, and rows that a claim may name.
MOST_DERIVED, MOST_ROWS = 10, 50

_MORE = frozenset(
    """
    more longer higher wider heavier larger bigger greater taller deeper thicker farther further later older
    warmer hotter stronger dearer mehr länger höher breiter schwerer größer tiefer dicker weiter später älter
    wärmer stärker teurer
    """.split()  # noqa: SIM905 - a word list reads best as text
)
_LESS = frozenset(
    """
    less fewer shorter lower narrower lighter smaller thinner nearer closer earlier sooner younger colder
    cooler weaker cheaper weniger kürzer niedriger schmaler leichter kleiner dünner näher früher jünger kälter
    schwächer billiger
    """.split()  # noqa: SIM905
)
#: What is "faster" takes fewer seconds or goes more kilometres; French puts an adjective behind these.
_EITHER = frozenset("quicker faster slower better worse schneller langsamer besser plus moins".split())  # noqa: SIM905
_BEHIND = re.compile(r"\s+(?:(de)\s+)?([^\W\d_]+)(?:\s+([^\W\d_]+))?")
_MULTIPLE = re.compile(
    r"\b(twice|double|half|triple|doppelt|halb|dreimal|deux fois|trois fois)\s+"
    r"(?:as|the|that|so|plus|moins|what)\b",
    re.IGNORECASE,
)
_TIMES = {"triple": 3, "dreimal": 3, "trois fois": 3}
_HALVES = frozenset(("half", "halb"))
#: How far from two "twice" may be.
_MULTIPLE_SLACK = Decimal("0.05")
#: All words of which a comparison needs one.
_WORDS = (
    _MORE | _LESS | _EITHER | frozenset("twice double half triple doppelt halb dreimal deux trois".split())  # noqa: SIM905
)
_THAN = re.compile(r"\b(?:than|als|que|qu['’]|as (?=one|the|an?|that))", re.IGNORECASE)


class Computed(NamedTuple):
    """How a claim's figures follow, and the row that they follow from: the numbers of its source and unit.

    `source` is -1 where no row is named.
    """

    formula: str
    source: int = -1
    unit: int = -1


_THE_OTHER_WAY_ROUND = Computed("")


class _Comparison(NamedTuple):
    """A figure that a claim gives as a difference, or a multiple of 2 or 3 (`figure` has no unit).

    `sign` is 1 where what the claim is about has more, -1 where less, 0 where the words leave it open.
    """

    figure: Figure
    operation: Operation
    sign: int


class _Row(NamedTuple):
    """A row that a claim names by its whole label."""

    source: int
    unit: int
    label: frozenset[str]
    figures: tuple[Figure, ...]


def computed(claim: ReadClaim, best: Support, evidence: Evidence) -> Computed | None:
    """Return how all figures that the best passage lacks follow from others; None where one does not.

    A figure that a claim gives as a difference is lacking as well where its digits occur in another row only.
    """
    open_figures = tuple(dict.fromkeys((*best.lost, *best.elsewhere)))
    if len(open_figures) > MOST_DERIVED:
        return None
    found: dict[Figure, Computed] = {}
    for comparison in _comparisons(claim):
        figure = comparison.figure
        if figure in open_figures or not _is_stated(comparison, best, evidence):
            formula = _from_rows(claim, comparison, evidence)
            if formula == _THE_OTHER_WAY_ROUND:
                return None
            if formula is not None:
                found[figure] = formula
    for figure in open_figures:
        if figure not in found:
            text = _searched(claim, figure, open_figures, best, evidence)
            if text is None:
                return None
            found[figure] = Computed(text)
    if not found:
        return None
    row = next((each for each in found.values() if each.source >= 0), Computed(""))
    return row._replace(formula="; ".join([each.formula for each in found.values()]))


def _searched(
    claim: ReadClaim, figure: Figure, open_figures: Sequence[Figure], best: Support, evidence: Evidence
) -> str | None:
    """Return how a figure follows from those of the best passage.

    The fewer figures are tried, the less comes about by chance: first those of the best unit, then those
    of the units that come next, then those of the passage, nearest first.
    """
    source = evidence.sources[best.source].text
    units = (best.unit, *best.close)
    if any(is_in_place(claim.text, figure, source.text, each) for each in _within(source, units)):
        return None
    stated = [each for each in claim.figures.values() if each not in open_figures]
    has = set(tokens(source.text_of(best.unit)))  # "the average price" computes nothing where both say it
    words = " ".join([word for word in claim.text.split() if has.isdisjoint(tokens(word))])
    for printed in (
        *(_within(source, units[:more]) for more in range(1, len(units) + 1)),
        near_words(source.figures, source.text, set(tokens(claim.text))),
    ):
        formula = derivation(figure, printed, claim=words, stated=stated)
        if formula is not None:
            return formula.text
    return None


def _within(source: SourceText, units: Sequence[int]) -> list[Figure]:
    """Return the figures within some units, in the order of the text."""
    return [each for number in sorted(units) for each in source.figures_in(number)]


def _comparisons(claim: ReadClaim) -> Iterator[_Comparison]:
    """Yield what a claim gives as a difference or a multiple: "15 kW more", "twice as much"."""
    if _WORDS.isdisjoint(tokens(claim.text)):
        return
    for figure in dict.fromkeys(claim.figures.values()):
        sign = _sign_behind(claim.text, figure) if figure.kind == "number" else None
        if sign is not None and figure.value > 0:
            yield _Comparison(figure, "difference", sign)
    multiple = _MULTIPLE.search(claim.text)
    if multiple is not None:
        word = multiple[1].lower()
        times = _TIMES.get(word, 2)
        is_less = word in _HALVES or multiple[0].lower().endswith("moins")
        figure = Figure(str(times), *multiple.span(1), "number", Decimal(times))
        yield _Comparison(figure, "ratio", -1 if is_less else 1)


def _sign_behind(text: str, figure: Figure) -> int | None:
    """Return the direction of the comparison behind a figure; None where there is no comparison."""
    behind = _BEHIND.match(text, figure.end)
    if behind is None:
        return None
    if behind[1]:  # de plus, de moins
        return {"plus": 1, "moins": -1}.get(behind[2].lower())
    words = behind.groups("")[1:] if figure.unit is NO_UNIT else (behind[2],)  # 300 cycles more
    for word in map(str.lower, words):
        if word in _MORE or word in _LESS or word in _EITHER:
            return (word in _MORE) - (word in _LESS)
    return None


def _is_stated(comparison: _Comparison, best: Support, evidence: Evidence) -> bool:
    """Return whether the best unit has a compared figure, or any passage compares by it as well."""
    figure = comparison.figure
    text = evidence.sources[best.source].text
    if comparison.operation == "ratio":
        return _MULTIPLE.search(text.text_of(best.unit)) is not None
    if any(agrees(figure, each) for each in text.figures_in(best.unit)):
        return True
    return any(
        _sign_behind(source.text.text, source.text.figures[place]) is not None
        for source in evidence.sources
        for _, places in source.text.figure_index.all_agreeing(figure)
        for place in places
    )


def _from_rows(claim: ReadClaim, comparison: _Comparison, evidence: Evidence) -> Computed | None:
    """Return how a compared figure follows from the one pair of figures in the rows that the claim names.

    `_THE_OTHER_WAY_ROUND` where that has less which the claim says has more.
    """
    rows = list(_named_rows(claim, evidence))
    pairs = [(row, row, *pair) for row in rows for pair in combinations(_counted(comparison, row.figures), 2)]
    if not pairs:
        pairs = [
            (one, other, *pair)
            for one, other in combinations(rows, 2)
            if one.source == other.source
            for pair in zip(
                _counted(comparison, one.figures), _counted(comparison, other.figures), strict=False
            )
        ]
    distinct = {
        (first.value, second.value): (one, other, first, second)
        for one, other, first, second in pairs
        if first.value != second.value and first.unit.name == second.unit.name
    }
    if len(distinct) != 1:
        return None
    one, other, first, second = next(iter(distinct.values()))
    is_second = _is_second(claim, one, other, evidence.sources[one.source].text)
    if is_second is not None and comparison.sign:
        has_more = (abs(second.value) > abs(first.value)) == is_second
        if has_more != (comparison.sign > 0):
            return _THE_OTHER_WAY_ROUND
    large, small = sorted((first, second), key=lambda each: -abs(each.value))
    formula = _formula(comparison, large, small)
    subject = other if is_second else one
    return None if formula is None else Computed(formula, subject.source, subject.unit)


def _named_rows(claim: ReadClaim, evidence: Evidence) -> list[_Row]:
    """Return the rows whose whole labels a claim has, without those that a longer label contains."""
    rows: list[_Row] = []
    for number, source in enumerate(evidence.sources):
        text = source.text
        units = 0
        for form in set(claim.content):
            units |= text.index.get(form, 0)
        while units and len(rows) < MOST_ROWS:
            low = units & -units
            units ^= low
            unit = low.bit_length() - 1
            if text.units[unit].role == "row" and claim.names_all(label := text.label_of(unit)):
                rows.append(_Row(number, unit, label, tuple(text.figures_in(unit))))
    return [row for row in rows if not any(row.label < other.label - WITHOUT for other in rows)]


def _counted(comparison: _Comparison, figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures that may be compared: those that count what the compared one does."""
    numbers = [each for each in figures if each.kind == "number" and each.value]
    unit = comparison.figure.unit
    if comparison.operation == "ratio" or unit.name == "%":
        return numbers
    return (
        [each for each in numbers if each.unit.name == unit.name]
        or [each for each in numbers if each.unit.dimension == unit.dimension]
        or [each for each in numbers if each.unit is NO_UNIT]
    )


def _is_second(claim: ReadClaim, one: _Row, other: _Row, text: SourceText) -> bool | None:
    """Return whether a comparison is about the second of two figures; None where its words leave it open.

    What it is about comes before "than", what that is compared with behind it: words of the rows' labels or,
    in one row, of the columns' heads.
    """
    than = _THAN.search(claim.text)
    if than is None:
        return None
    before = set(forms_in(claim.text[: than.start()], claim.language))
    behind = set(forms_in(claim.text[than.end() :], claim.language))
    about, against = before - behind, behind - before
    if one.unit != other.unit:
        first, second = one.label - other.label, other.label - one.label
        if first & about or second & against:
            return None if first & against or second & about else False
        return True if second & about or first & against else None
    for head, rows in text.tables:
        if rows >> one.unit & 1:
            words = [
                form
                for number in range(head.bit_length())
                if head >> number & 1
                for form in text.forms_of(number)
            ]
            mine = [place for place, form in enumerate(words) if form in about]
            its = [place for place, form in enumerate(words) if form in against]
            if mine and its and (mine[0] > its[-1] or mine[-1] < its[0]):
                return mine[0] > its[-1]
    return None


def _formula(comparison: _Comparison, large: Figure, small: Figure) -> str | None:
    """Return the formula of a comparison where its result agrees with the compared figure."""
    figure = comparison.figure
    high, low = abs(large.value), abs(small.value)
    if comparison.operation == "ratio":
        is_met = abs(high / low / figure.value - 1) <= _MULTIPLE_SLACK
        return shown("ratio", (large, small), figure) if is_met else None
    if figure.unit.dimension != "share" or large.unit.dimension == "share":
        difference = (high - low) * large.unit.factor / figure.unit.factor
        if _has_value(figure, difference):
            return shown("difference", (large, small), figure)
    if figure.unit.name == "%":
        for base, operands in ((low, (large, small)), (high, (small, large))):
            is_possible = comparison.sign == 0 or (comparison.sign > 0) == (base == low)
            if is_possible and _has_value(figure, (high - low) / base / figure.unit.factor):
                return shown("change", operands, figure)
    return None


def _has_value(figure: Figure, value: Decimal) -> bool:
    return agrees(figure, figure._replace(value=value, others=(), bound="", scale=0, scaled=""))
