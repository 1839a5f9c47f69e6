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
from typing import Literal, NamedTuple

from proofspan.diagnosis.claims.figures import Figure, agrees
from proofspan.diagnosis.claims.figures.units import may_be_same

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
        r"\b(?:ratio|times|share|proportion|percentage|margin|of (?:the )?total|turnover|yield"
        r"|represent\w*|account\w*|verhältnis|anteil|quote|marge|rapport|fois|taux|représent\w+)\b",
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
            if claimed.digits < (3 if figures is operands else 2 if wanted is None else 1):
                continue
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
    named, known = [], set(operands)
    for figure in stated[:MOST_OPERANDS]:
        if figure.kind == "number":
            same = figure if figure in known else None
            match = same or next((operand for operand in operands if agrees(figure, operand)), None)
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
    operations = _UNANNOUNCED if wanted is None else [each for each in _OPERATIONS if each in wanted]
    sizes = [abs(float(figure.value)) for figure in figures]
    for operation in operations:
        if not _may_give(operation, claimed):
            continue
        expected, hit = 0.0, None
        is_share = operation in ("ratio", "change")
        share = float(claimed.unit.factor) if claimed.unit.dimension == "share" and is_share else 1.0
        value, width = abs(float(claimed.value)) * share, float(claimed.tolerance) * 2 * share
        for places in _places(operation, claimed, figures, reach):
            operands = [sizes[place] for place in places]
            expected += width / max(value, 0.05) if is_share else min(width / max(operands), 1.0)
            if expected > limit:
                hit = None
                break
            if hit is None:
                result = _result(operation, operands)
                printed = figures[places[0]]
                powers = (
                    (0, -printed.scale) if printed.scaled and not claimed.scaled and not is_share else (0,)
                )
                if any(abs(result * 10.0**power - value) <= width * 0.5000001 for power in powers):
                    hit = _Result(operation, tuple(figures[place] for place in places))
        if hit is not None:
            return hit
    return None


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


_OPERATIONS: tuple[Operation, ...] = ("difference", "sum", "change", "ratio", "average")
#: A ratio or an average that no word announces is chance: any two amounts have one.
_UNANNOUNCED: tuple[Operation, ...] = ("difference", "sum")


def _may_give(operation: Operation, claimed: Figure) -> bool:
    is_share = claimed.unit.dimension == "share"
    if operation == "change":
        return is_share
    if operation == "ratio":
        return is_share or claimed.unit.dimension in ("", "times")
    return True


def _places(
    operation: Operation, claimed: Figure, figures: Sequence[Figure], reach: int
) -> Iterator[tuple[int, ...]]:
    """Yield the places of two or three operands, in the order of a formula, at most `reach` apart."""
    count = len(figures)
    is_share = operation in ("ratio", "change")
    fits = [is_share or _alike(figure, claimed) for figure in figures]
    for i in range(count):
        if not fits[i]:
            continue
        for j in range(i + 1, min(i + reach + 1, count)):
            one, other = figures[i], figures[j]
            if one.value == other.value or not fits[j] or not _alike(one, other):
                continue
            first = (
                (i, j) if abs(one.value) >= abs(other.value) or operation in ("sum", "average") else (j, i)
            )
            yield first
            if is_share:
                yield first[::-1]
            elif j + 1 < count and reach in (1, count) and fits[j + 1] and _alike(one, figures[j + 1]):
                yield (*first, j + 1)


def _alike(one: Figure, other: Figure) -> bool:
    """Return whether two figures count the same, as far as they say what; percent only goes with percent."""
    if "share" in (one.unit.dimension, other.unit.dimension):
        return one.unit.dimension == other.unit.dimension and one.unit.factor == other.unit.factor
    return not (one.unit.dimension and other.unit.dimension) or may_be_same(one.unit.name, other.unit.name)


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
