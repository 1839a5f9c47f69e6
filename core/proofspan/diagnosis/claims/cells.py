"""Figures of a claim that are not those of its evidence: of another row, or beside words of another language.

Words decide which row a claim is about, and the row which figures it has. So a figure that is printed in
another row of the table does not support the claim.
"""

from __future__ import annotations

from itertools import combinations

from proofspan.diagnosis.claims.figures import Figure, could_agree
from proofspan.diagnosis.claims.read_claim import ReadClaim
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.types import ClaimDifference

#: Figures of a source of which sums and differences are tried.
MOST_TRIED = 30


def other_figures(
    claim: ReadClaim, source: SourceText, number: int, *, is_foreign: bool
) -> tuple[ClaimDifference, ...]:
    """Return the figures of a claim in whose place its evidence, a unit of a source, has others.

    Of a unit that is no row, or a row whose whole label the claim does not have, nothing is known. Where
    the unit has one of the claim's figures of a kind, the others of that kind may belong elsewhere.
    """
    unit = source.units[number]
    printed = [each for each in source.figures if unit.start <= each.start < unit.end]
    if not printed or not (is_foreign or unit.role == "row"):
        return ()
    rows = [number] if is_foreign else _rows_like(claim, source, number)
    if not rows:
        return ()
    spans = [source.units[row] for row in rows]
    beside = [each for each in source.figures if any(row.start <= each.start < row.end for row in spans)]
    claimed = list(dict.fromkeys(claim.figures.values()))
    found = []
    for figure in claimed:
        kind = _kind(figure)
        others = [each for each in printed if _kind(each) == kind]
        alike = [each for each in claimed if _kind(each) == kind]
        is_met = any(could_agree(each, other) for each in alike for other in beside)
        if kind is None or not others or is_met or (is_foreign and (not kind or _may_follow(figure, source))):
            continue
        other = others[0]
        found.append(
            ClaimDifference(
                "number", figure.text, figure.start, figure.end, other.text, other.start, other.end
            )
        )
    return tuple(found)


def _may_follow(figure: Figure, source: SourceText) -> bool:
    """Return whether a figure is the difference or the sum of two that a source counts alike."""
    alike = [each for each in source.figures if _kind(each) == _kind(figure)][:MOST_TRIED]
    return any(
        could_agree(figure, one._replace(value=result, others=()))
        for one, other in combinations(alike, 2)
        for result in (abs(one.value - other.value), one.value + other.value)
        if one.unit.name == other.unit.name
    )


def _kind(figure: Figure) -> str | None:
    """Return what a figure counts: the dimension of its unit; None where it is no number."""
    if figure.kind != "number":
        return None
    return "" if figure.unit.dimension == "currency" else figure.unit.dimension


def _rows_like(claim: ReadClaim, source: SourceText, number: int) -> list[int]:
    """Return the rows that have as much of the claim's words as a row, itself among them.

    Empty where another row has more, or the claim has not the whole label.
    """
    if not claim.names_all(source.label_of(number)):
        return []
    words = set(claim.forms) - claim.figures.keys()
    weights: dict[int, tuple[float, int]] = {}
    for row, unit in enumerate(source.units):
        if unit.role == "row":
            has = words.intersection(source.forms_of(row))
            weights[row] = sum(claim.weights.get(form, 0) for form in has), len(has)
    if weights[number] < max(weights.values()):
        return []
    return [row for row, weight in weights.items() if weight == weights[number]]
