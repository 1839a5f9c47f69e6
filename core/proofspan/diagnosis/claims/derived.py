"""Figures that follow by arithmetic from the evidence: sums, differences, ratios, changes, averages.

With enough figures, some two of them give any small number. So operands are tried in an order, and only as
many as would hit the claimed figure by chance at most once in a hundred times, or in ten where the words of
the claim announce the operation: first the figures that the answer names, then those nearest to the claim's
words, then neighbours in the text. The chance of a single result is the width of the claimed figure's
rounding over its magnitude or, of sums and differences, over that of their operands; among round numbers
it is as much larger as they are rounder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Literal, NamedTuple

from proofspan.diagnosis.claims.figures import Figure, agrees
from proofspan.diagnosis.claims.figures.reading import rough_step, step_of
from proofspan.diagnosis.claims.figures.units import may_be_same
from proofspan.diagnosis.words import form, tokens

#: The most figures of the evidence that are tried.
MOST_OPERANDS = 60
#: How often a formula may come about by chance: with and without words that announce it.
CHANCE_ANNOUNCED, CHANCE = 0.1, 0.01
#: Characters of a line that are read for words.
_LINE = 400
_LINE_END = re.compile(r"\n|(?<=[.!?])\s")
#: As many words beside a figure show that it has the place of another; characters that are read for them.
_SAME_WORDS, _BESIDE = 3, 60
#: Numbers up to this one that count nothing are added to no figure.
_MOST_COUNT = 99
#: Significant digits that a figure needs whose operation no word announces.
DIGITS = 3

Operation = Literal["sum", "difference", "ratio", "change", "average"]

_ANNOUNCED: dict[Operation, re.Pattern[str]] = {
    "sum": re.compile(
        r"\b(?:total(?:s|ed|ing)?|sum|combined|together|in all|altogether|aggregate|adds? up|added up|both"
        r"|insgesamt|zusammen|summe|gesamt\w*|beide\w*|au total|somme|ensemble|les deux)\b",
        re.IGNORECASE,
    ),
    "difference": re.compile(
        r"\b(?:differ\w*|than|more|less|fewer|higher|lower|larger|smaller|earlier|later|before|until"
        r"|increas\w+|decreas\w+|declin\w+|drop\w*|fell|fall\w*|rose|rise\w*|grew|grow\w*|chang\w+|gap"
        r"|net of|minus|subtract\w*|reduc\w+|exceed\w*|remain\w*|leaves?|left|adds?|added|gain\w*|saves?"
        r"|saved|extra|margin|spread|gross profit|working capital|differenz|unterschied|als|mehr|weniger"
        r"|höher|niedriger|länger|kürzer|später|früher|stieg\w*|sank\w*|gestiegen|gesunken|zunahme|abnahme|rückgang"
        r"|anstieg|spart|bleib\w+|différence|écart|plus|moins|augment\w+|diminu\w+|hausse|baisse|recul\w*"
        r"|rest\w+)\b",
        re.IGNORECASE,
    ),
    "ratio": re.compile(
        r"\b(?:ratio|times|(?<!per )share|proportion|percentage|margin|of (?:the )?total|turnover|yield"
        r"|represent\w*|account\w*|verhältnis|anteil|quote|marge|rapport|fois|taux|représent\w+)\b",
        re.IGNORECASE,
    ),
    "change": re.compile(
        r"\b(?:more|less|fewer|mehr|weniger|plus|moins|increas\w+|decreas\w+|declin\w+|drop\w*|fell|fall\w*"
        r"|rose|rise\w*|grew|grow\w*|chang\w+|reduc\w+|higher|lower"
        r"|up|down|gain\w*|stieg\w*|sank\w*|gestiegen|gesunken|zunahme|abnahme|rückgang|anstieg|wachstum|wuchs"
        r"|augment\w+|diminu\w+|hausse|baisse|recul\w*|croissance|progress\w+)\b",
        re.IGNORECASE,
    ),
    "average": re.compile(
        r"\b(?:average\w*|mean|avg|durchschnitt\w*|mittelwert|im mittel|moyenne?s?)\b", re.IGNORECASE
    ),
}


class Formula(NamedTuple):
    """How a figure follows, with the printed texts: "12,480 − 8,120 = 4,360"; and the figures used."""

    text: str
    operation: Operation
    operands: tuple[Figure, ...]


def derivation(
    claimed: Figure, printed: Sequence[Figure], *, claim: str = "", stated: Sequence[Figure] = ()
) -> Formula | None:
    """Return how a claimed figure follows from two or three printed ones; None where it may be by chance.

    `printed` are figures of one text, best those nearest to the claim's words first; at most `MOST_OPERANDS`
    are tried. `claim` is the text in which an operation may be announced, `stated` are the other figures of
    the answer: what is derived from figures that the answer names is no chance.
    """
    if claimed.kind != "number" or not claimed.value:
        return None
    operands = _operands(printed)
    if len(operands) < 2:
        return None
    announced = announced_in(claim)
    named = _named(operands, stated)
    in_text = sorted(operands, key=lambda figure: figure.start)
    if len(named) == len(operands):
        operands = in_text = []  # there are no others
    kind = claimed.unit.dimension
    same_unit = [figure for figure in operands if kind and figure.unit.dimension == kind]
    for figures, order in (
        (named, _growing),
        (same_unit, _growing),
        (operands, _growing),
        (in_text, _neighbours),
    ):
        for operations, limit in ((announced, CHANCE_ANNOUNCED), (_UNANNOUNCED, CHANCE)):
            if operations is _UNANNOUNCED and claimed.digits < (
                DIGITS if figures is not named else DIGITS - 1
            ):
                continue
            possible = [operation for operation in operations if _may_give(operation, claimed)]
            if not possible:
                continue
            tried = figures
            if operations is _UNANNOUNCED and abs(claimed.value) > _MOST_COUNT:
                tried = [each for each in figures if each.unit.name or abs(each.value) > _MOST_COUNT]
            formula = _first(claimed, tried, order(len(tried)), possible, limit, figures is named)
            if formula is not None:
                return formula
    return None


def announced_in(claim: str) -> list[Operation]:
    """Return the operations that the words of a claim announce."""
    return [operation for operation, words in _ANNOUNCED.items() if words.search(claim)]


def is_in_place(claim: str, figure: Figure, text: str, printed: Figure) -> bool:
    """Return whether a claim repeats a text but for one figure: the same words are before and behind both.

    Such a figure computes nothing: it is printed otherwise.
    """
    if figure.unit.dimension != printed.unit.dimension:
        return False
    before = _common(
        tokens(claim[max(0, figure.start - _BESIDE) : figure.start])[::-1],
        tokens(text[max(0, printed.start - _BESIDE) : printed.start])[::-1],
    )
    behind = _common(
        tokens(claim[figure.end : figure.end + _BESIDE]), tokens(text[printed.end : printed.end + _BESIDE])
    )
    return min(before, behind) > 0 and before + behind >= _SAME_WORDS


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two texts begin with alike."""
    pairs = enumerate(zip(map(form, one), map(form, other), strict=False))
    return next((place for place, (mine, its) in pairs if mine != its), min(len(one), len(other)))


def near_words(figures: Sequence[Figure], text: str, words: set[str]) -> list[Figure]:
    """Return the figures of a text, those first whose line has most of these words (in lower case).

    A line of figures alone has the words of the last line that has any.
    """
    shared: list[int] = []
    line, weight, at = -1, 0, 0
    lines, words_in = _lines_of(text)
    for figure in figures:
        while at + 1 < len(words_in) and lines[at + 1] <= figure.start:
            at += 1
        if at > line:
            for other in range(max(line + 1, at - 5), at + 1):
                if has := words_in[other]:
                    weight = len(words & has)
            line = at
        shared.append(weight)
    order = sorted(range(len(figures)), key=[-each for each in shared].__getitem__)
    return [figures[place] for place in order]


@lru_cache(maxsize=1 << 12)
def _lines_of(text: str) -> tuple[list[int], list[frozenset[str]]]:
    """Return where the lines of a text begin, and the words of each that has any, for many claims alike."""
    lines = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]
    words = []
    for start, end in pairwise(lines):
        found = tokens(text[start : min(end, start + _LINE)])
        words.append(frozenset(found if any(map(str.isalpha, found)) else ()))
    return lines, words


def _operands(printed: Sequence[Figure]) -> list[Figure]:
    """The figures that may be operands: numbers with more than one digit or a unit."""
    fit = (
        figure
        for figure in printed
        if figure.kind == "number" and figure.value and (figure.unit.name or len(str(figure.value)) > 1)
    )
    return list(islice(fit, MOST_OPERANDS))


def _named(operands: Sequence[Figure], stated: Sequence[Figure]) -> list[Figure]:
    """The operands that the answer names; of several that agree, the first."""
    named, known = [], set(operands)
    for figure in stated[:MOST_OPERANDS]:
        if figure.kind == "number":
            same = figure if figure in known else None
            match = same or next((operand for operand in operands if agrees(figure, operand)), None)
            if match is not None and match not in named:
                named.append(match)
    return named


def _growing(count: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of two, then three operands; those of the first few figures before all others."""
    for last in range(1, count):
        for first in range(last):
            yield first, last
        if last > 1:
            yield last - 2, last - 1, last


def _neighbours(count: int) -> Iterator[tuple[int, ...]]:
    """Yield the places of two or three neighbours."""
    for first in range(count - 1):
        yield first, first + 1
        if first + 2 < count:
            yield first, first + 1, first + 2


def _first(
    claimed: Figure,
    figures: Sequence[Figure],
    order: Iterator[tuple[int, ...]],
    operations: Sequence[Operation],
    limit: float,
    is_named: bool,
) -> Formula | None:
    """The first formula for the claimed figure, before results would hit it by chance too often."""
    sizes = [abs(float(figure.value)) for figure in figures]
    rough = [0.0 if limit > CHANCE else float(rough_step(figure.value)) for figure in figures]
    fits = [_alike(figure, claimed) for figure in figures]
    kinds = [figure.unit.name for figure in figures]
    scales = [figure.scale if _may_count_otherwise(claimed, figure) else 0 for figure in figures]
    targets = {scale: _target(claimed._replace(value=claimed.value.scaleb(scale))) for scale in {0, *scales}}
    # Of two digits, a large figure less a small one is any figure near the large one.
    is_coarse = claimed.digits < DIGITS and not is_named
    expected = 0.0
    for places in order:
        first = places[0]
        if not all(
            sizes[first] != sizes[place] and _same(figures, kinds, first, place) for place in places[1:]
        ):
            continue
        given = [sizes[place] for place in places]
        for operation in operations:
            if operation in _SHARES:
                if len(places) > 2 or kinds[first] != kinds[places[1]]:
                    continue
            elif not all(fits[place] for place in places) or (
                is_coarse and (len(places) > 2 or min(given) * 10 < max(given))
            ):
                continue
            for scale in {0, scales[first]}:
                target = targets[scale]
                chance = _chance(operation, target, given)
                if not chance:
                    continue
                expected += chance * max(
                    min(target.rough, *[rough[place] for place in places]) / target.step, 1.0
                )
                if expected > limit:
                    return None
                for chosen in _arranged(operation, places, sizes):
                    if _hits(operation, target, [sizes[place] for place in chosen]):
                        used = tuple(figures[place] for place in chosen)
                        return Formula(shown(operation, used, claimed), operation, used)
    return None


class _Target(NamedTuple):
    """A claimed magnitude with the place values of its last digit and of its last that is no zero.

    `share` is the factor of a percentage, else 1.
    """

    value: float
    step: float
    rough: float
    share: float


_SHARES = frozenset(("ratio", "change"))


def _target(claimed: Figure) -> _Target:
    value = abs(claimed.value)
    share = float(claimed.unit.factor) if claimed.unit.dimension == "share" else 1.0
    return _Target(float(value), float(step_of(value)), float(rough_step(value)), share)


def _same(figures: Sequence[Figure], kinds: Sequence[str], one: int, other: int) -> bool:
    return kinds[one] == kinds[other] or _alike(figures[one], figures[other])


def _chance(operation: Operation, target: _Target, sizes: Sequence[float]) -> float:
    """The chance that a result of these operands is the target; 0 where their magnitudes rule it out."""
    if operation in _SHARES:
        return 2 * target.step * target.share / max(target.value * target.share, 0.05)
    largest = max(sizes)
    if operation == "sum":
        is_possible = largest <= target.value <= largest * len(sizes) + target.step
    elif operation == "average":
        is_possible = min(sizes) <= target.value <= largest
    else:
        is_possible = target.value <= largest
    return min(target.step / largest, 1.0) if is_possible else 0.0


def _hits(operation: Operation, target: _Target, sizes: Sequence[float]) -> bool:
    """Return whether the result, rounded as the target is, is the target."""
    factor = target.share if operation in _SHARES else 1.0
    return abs(_result(operation, sizes) - target.value * factor) <= target.step / 2 * factor * 1.0000001


def _may_count_otherwise(claimed: Figure, printed: Figure) -> bool:
    """Return whether the answer may count in the thousands or millions that a table counts in."""
    return bool(printed.scaled) and not claimed.scaled and claimed.unit.dimension in ("", "currency")


#: A ratio or an average that no word announces is chance: any two amounts have one.
_UNANNOUNCED: list[Operation] = ["difference", "sum"]


def _may_give(operation: Operation, claimed: Figure) -> bool:
    is_share = claimed.unit.dimension == "share"
    if operation == "change":
        return is_share
    return operation != "ratio" or is_share or claimed.unit.dimension in ("", "times")


def _arranged(
    operation: Operation, places: tuple[int, ...], sizes: Sequence[float]
) -> Sequence[tuple[int, ...]]:
    """The operands in the order of the formula: of a difference the largest first, of a ratio both orders."""
    if operation in ("ratio", "change"):
        return places, places[::-1]
    if operation == "difference":
        return (tuple(sorted(places, key=lambda place: -sizes[place])),)
    return (places,)


def _result(operation: Operation, operands: Sequence[float]) -> float:
    """The result of an operation; the order of the operands is that of the formula."""
    if operation == "sum":
        return sum(operands)
    if operation == "average":
        return sum(operands) / len(operands)
    if operation == "difference":
        return abs(operands[0] - sum(operands[1:]))
    quotient = operands[0] / operands[1]
    return quotient if operation == "ratio" else abs(quotient - 1)


def _alike(one: Figure, other: Figure) -> bool:
    """Return whether two figures count the same, as far as they say what; percent only goes with percent."""
    if "share" in (one.unit.dimension, other.unit.dimension):
        return one.unit.dimension == other.unit.dimension and one.unit.factor == other.unit.factor
    return not (one.unit.dimension and other.unit.dimension) or may_be_same(one.unit.name, other.unit.name)


def shown(operation: Operation, operands: Sequence[Figure], claimed: Figure) -> str:
    """Return the formula of a claimed figure with its operands as printed."""
    texts = [operand.text.strip("()+-−– ") if operand.value < 0 else operand.text for operand in operands]
    claimed_text = claimed.text.lstrip("-−–")
    if operation == "sum":
        return f"{' + '.join(texts)} = {claimed_text}"
    if operation == "difference":
        return f"{' − '.join(texts)} = {claimed_text}"
    if operation == "average":
        return f"({' + '.join(texts)}) / {len(texts)} = {claimed_text}"
    if operation == "change":
        falls = abs(operands[0].value) < abs(operands[1].value)
        return f"({texts[0]} − {texts[1]}) / {texts[1]} = {'−' if falls else ''}{claimed_text}"
    return f"{texts[0]} / {texts[1]} = {claimed_text}"
