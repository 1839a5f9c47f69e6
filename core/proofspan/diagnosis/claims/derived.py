"""Figures that follow by arithmetic from the evidence: sums, differences, ratios, changes, averages.

With enough figures, some two of them give any small number. So the count of results that are tried is limited
to what would hit the claimed figure by chance at most once in a hundred times (twenty, where the words of
the claim announce the operation): first the figures that the claim itself names, then neighbours, as in a
row or in neighbouring rows, then all. The chance of a single result is the width of the claimed figure's
rounding over its magnitude or, of sums and differences, over that of their operands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import permutations
from typing import Literal, NamedTuple

from proofspan.diagnosis.claims.figures import Figure, agrees

#: The most figures of the evidence that are tried, and how far apart neighbours are.
MOST_OPERANDS = 60
NEAR = 4
#: How often a formula may come about by chance: with and without words that announce it.
CHANCE_ANNOUNCED, CHANCE = 0.05, 0.01

Operation = Literal["sum", "difference", "ratio", "change", "average"]

_ANNOUNCED: dict[Operation, re.Pattern[str]] = {
    "sum": re.compile(
        r"\b(?:total(?:s|ed|ing)?|sum|combined|together|in all|altogether|aggregate|insgesamt|zusammen|summe"
        r"|gesamt\w*"
        r"|au total|somme|ensemble)\b",
        re.IGNORECASE,
    ),
    "difference": re.compile(
        r"\b(?:difference|differ(?:s|ed)?|more than|less than|fewer|higher|lower|increas\w+|decreas\w+"
        r"|declin\w+|drop\w*|fell|fall\w*|rose|rise\w*|grew|grow\w*|chang\w+|gap|net of|minus|subtract\w*"
        r"|reduc\w+|exceed\w*|remain\w*|margin|spread|gross profit|working capital|differenz|unterschied"
        r"|mehr als|weniger als|höher|niedriger|stieg\w*|sank\w*|gestiegen|gesunken|zunahme|abnahme|rückgang"
        r"|anstieg|différence|écart|augment\w+|diminu\w+|hausse|baisse|recul\w*)\b",
        re.IGNORECASE,
    ),
    "ratio": re.compile(
        r"\b(?:ratio|times|share|proportion|percentage|per|margin|of (?:the )?total|turnover|yield"
        r"|represent\w*|account\w*|verhältnis|anteil|quote|marge|mal|pro|rapport|part|fois|taux|représent\w+)\b|%",
        re.IGNORECASE,
    ),
    "change": re.compile(
        r"\b(?:increas\w+|decreas\w+|declin\w+|drop\w*|fell|fall\w*|rose|rise\w*|grew|grow\w*|chang\w+|reduc\w+|higher|lower"
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


class _Result(NamedTuple):
    operation: Operation
    value: Decimal
    operands: tuple[Figure, ...]


def derivation(
    claimed: Figure, printed: Sequence[Figure], *, claim: str = "", stated: Sequence[Figure] = ()
) -> Formula | None:
    """Return how a claimed figure follows from two or three printed ones; None where it may be by chance.

    `printed` are figures of the evidence in the order of the text, best those near the words of the claim; at
    most `MOST_OPERANDS` are tried. `claim` is the text in which an operation may be announced, `stated` are
    the other figures of the answer: what is derived from figures that the answer names is no chance.
    """
    if claimed.kind != "number" or not claimed.value:
        return None
    operands = _operands(claimed, printed)
    if len(operands) < 2:
        return None
    announced = {operation for operation, words in _ANNOUNCED.items() if claim and words.search(claim)}
    named = _named(operands, stated)
    for figures, reach in ((named, len(named)), (operands, 1), (operands, NEAR), (operands, len(operands))):
        if len(figures) < 2:
            continue
        for limit, wanted in ((CHANCE, None), (CHANCE_ANNOUNCED, announced)):
            if figures is named:
                limit = 4 * limit
            hit = _first_hit(claimed, figures, reach, wanted, limit)
            if hit is not None:
                return Formula(_shown(hit, claimed), hit.operation, hit.operands)
    return None


def _operands(claimed: Figure, printed: Sequence[Figure]) -> list[Figure]:
    """The figures that may be operands: numbers, each place once, not the claimed figure itself."""
    found: list[Figure] = []
    for figure in printed:
        if figure.kind == "number" and figure.value and not (figure.digits < 2 and not figure.unit.name):
            found.append(figure)
            if len(found) == MOST_OPERANDS:
                break
    return found


def _named(operands: Sequence[Figure], stated: Sequence[Figure]) -> list[Figure]:
    """The operands that the answer names; of several that agree, the first."""
    named = []
    for figure in stated[:MOST_OPERANDS]:
        if figure.kind == "number":
            match = next((operand for operand in operands if agrees(figure, operand)), None)
            if match is not None and match not in named:
                named.append(match)
    return named


def _first_hit(
    claimed: Figure,
    figures: Sequence[Figure],
    reach: int,
    wanted: set[Operation] | None,
    limit: float,
) -> _Result | None:
    """The first result that is the claimed figure, if results would hit it by chance seldom enough."""
    operations = _OPERATIONS if wanted is None else [each for each in _OPERATIONS if each in wanted]
    for operation in operations:
        if not _may_give(operation, claimed):
            continue
        expected, hit = 0.0, None
        for result in _results(operation, figures, reach):
            expected += _chance(claimed, result)
            if expected > limit:
                hit = None
                break
            if hit is None and _is_claimed(claimed, result):
                hit = result
        if hit is not None:
            return hit
    return None


_OPERATIONS: tuple[Operation, ...] = ("difference", "sum", "change", "ratio", "average")


def _may_give(operation: Operation, claimed: Figure) -> bool:
    is_share = claimed.unit.dimension == "share"
    if operation == "change":
        return is_share
    if operation == "ratio":
        return is_share or claimed.unit.dimension in ("", "times")
    return True


def _results(operation: Operation, figures: Sequence[Figure], reach: int) -> Iterator[_Result]:
    count = len(figures)
    for i in range(count):
        for j in range(i + 1, min(i + reach + 1, count)):
            one, other = figures[i], figures[j]
            if not _alike(one, other):
                continue
            a, b = abs(one.value), abs(other.value)
            if operation == "sum":
                yield _Result("sum", a + b, (one, other))
                if j + 1 < count and _alike(one, figures[j + 1]) and (reach == 1 or reach == count):
                    yield _Result("sum", a + b + abs(figures[j + 1].value), (one, other, figures[j + 1]))
            elif operation == "difference":
                high, low = (one, other) if a >= b else (other, one)
                yield _Result("difference", abs(a - b), (high, low))
                if j + 1 < count and reach in (1, count):
                    third = figures[j + 1]
                    if _alike(one, third) and a > b:
                        yield _Result("difference", abs(a - b - abs(third.value)), (one, other, third))
            elif operation == "average":
                yield _Result("average", (a + b) / 2, (one, other))
                if j + 1 < count and _alike(one, figures[j + 1]) and (reach == 1 or reach == count):
                    yield _Result(
                        "average", (a + b + abs(figures[j + 1].value)) / 3, (one, other, figures[j + 1])
                    )
            else:
                for top, base in permutations((one, other)):
                    value = abs(top.value) / abs(base.value)
                    if operation == "change":
                        yield _Result("change", abs(value - 1), (top, base))
                    else:
                        yield _Result("ratio", value, (top, base))


def _alike(one: Figure, other: Figure) -> bool:
    """Return whether two figures count the same, as far as they say what."""
    if one.unit.dimension and other.unit.dimension:
        return one.unit.name == other.unit.name
    return "share" not in (one.unit.dimension, other.unit.dimension)


def _claimed_value(claimed: Figure) -> Decimal:
    """The claimed magnitude: of a percentage the share."""
    return (
        abs(claimed.value) * claimed.unit.factor if claimed.unit.dimension == "share" else abs(claimed.value)
    )


def _step_of(claimed: Figure) -> Decimal:
    step = claimed.tolerance * 2
    return step * claimed.unit.factor if claimed.unit.dimension == "share" else step


def _is_claimed(claimed: Figure, result: _Result) -> bool:
    value = result.value
    if result.operation in ("ratio", "change"):
        return abs(value - _claimed_value(claimed)) <= _step_of(claimed) / 2
    return any(
        agrees(claimed, result.operands[0]._replace(value=value.scaleb(power), others=()))
        for power in (
            (0,) if claimed.scaled or not result.operands[0].scaled else (0, -result.operands[0].scale)
        )
    )


def _chance(claimed: Figure, result: _Result) -> float:
    """The chance that a result hits the claimed figure: its rounding's width over the range of results."""
    width = float(_step_of(claimed))
    if result.operation in ("ratio", "change"):
        return width / max(float(_claimed_value(claimed)), 0.05)
    return min(width / float(max(abs(operand.value) for operand in result.operands)), 1.0)


def _shown(result: _Result, claimed: Figure) -> str:
    texts = [
        operand.text.strip("()+-−– ") if operand.value < 0 else operand.text for operand in result.operands
    ]
    claimed_text = claimed.text.lstrip("-−–")
    if result.operation == "sum":
        return f"{' + '.join(texts)} = {claimed_text}"
    if result.operation == "difference":
        return f"{' − '.join(texts)} = {claimed_text}"
    if result.operation == "average":
        return f"({' + '.join(texts)}) / {len(texts)} = {claimed_text}"
    if result.operation == "change":
        return f"({texts[0]} − {texts[1]}) / {texts[1]} = {'−' if _falls(result) else ''}{claimed_text}"
    return f"{texts[0]} / {texts[1]} = {claimed_text}"


def _falls(result: _Result) -> bool:
    return abs(result.operands[0].value) < abs(result.operands[1].value)
