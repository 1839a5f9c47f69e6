"""Figures of a claim in one language beside evidence in another: all that the two have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from proofspan.diagnosis.claims.differences.matter import is_of_another_size
from proofspan.diagnosis.claims.figures import Figure, agrees, could_agree, unit_differs
from proofspan.diagnosis.claims.figures.dates import contradicts, covers
from proofspan.diagnosis.claims.read_claim import ReadClaim
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.types import ClaimDifference
from proofspan.diagnosis.claims.word_forms import forms_in

#: Year, month, day and quarter: as many must be the same.
_SAME_PARTS = 2
#: Figures of a source of which sums and differences are tried.
MOST_TRIED = 30


def foreign_figures(
    claim: ReadClaim, source: SourceText, number: int, others: Iterable[SourceText] = ()
) -> tuple[ClaimDifference, ...]:
    """Return the figures of a claim in whose place its evidence, a unit of a source, has others.

    The two need something in common that is not compared: a name, another figure, a word of both languages;
    or no other sentence counts the same. Where the unit has one of the claim's figures of a kind, the others
    of that kind may belong elsewhere, and so may a date that the source or one of the `others` has.
    """
    unit = source.units[number]
    printed = [each for each in source.figures if unit.start <= each.start < unit.end]
    claimed = list(dict.fromkeys(claim.figures.values())) if printed else []
    counted = {form for each in claim.all_figures for form in forms_in(each.text, claim.language)}
    is_named = not frozenset(claim.content).difference(counted).isdisjoint(source.forms_of(number))
    is_named = is_named or any(agrees(each, other) for each in claimed for other in printed)
    texts = (source, *others)
    found: list[ClaimDifference] = []
    for figure in claimed:
        if figure.kind == "date":
            if not any(_has_date(figure, text) for text in texts):
                found += _other_date(figure, printed)
            continue
        kind = _kind(figure)
        rivals = [each for each in printed if _kind(each) == kind and not is_of_another_size(figure, each)]
        alike = [each for each in claimed if _kind(each) == kind]
        is_met = any(could_agree(each, other) for each in alike for other in printed)
        if not kind or not rivals or is_met or _may_follow(figure, source):
            continue
        if is_named or _is_only(figure, texts):
            other = rivals[0]
            found.append(
                ClaimDifference(
                    "unit" if unit_differs(figure, other) else "number",
                    figure.text,
                    figure.start,
                    figure.end,
                    other.text,
                    other.start,
                    other.end,
                )
            )
    return tuple(found)


def _has_date(figure: Figure, text: SourceText) -> bool:
    """Return whether a text has a date that agrees with a claimed one, with as many parts or more."""
    return any(covers(one, other) for each in text.figures for one in figure.dates for other in each.dates)


def _is_only(figure: Figure, texts: Iterable[SourceText]) -> bool:
    """Return whether one sentence of all texts counts what a figure does: no other can be meant."""
    kind = _kind(figure)
    units = {
        (place, text.unit_of(each.start))
        for place, text in enumerate(texts)
        for each in text.figures
        if _kind(each) == kind and not is_of_another_size(figure, each)
    }
    return len(units) == 1


def _other_date(figure: Figure, printed: Sequence[Figure]) -> Iterator[ClaimDifference]:
    """Yield the only date of the evidence, where it is of the same day or year as the claim's and differs."""
    dates = [each for each in printed if each.kind == "date"]
    if len(dates) != 1 or len(figure.dates) != 1 or len(dates[0].dates) != 1:
        return
    claimed, (found,) = figure.dates[0], dates[0].dates
    shared = sum(one == other != 0 for one, other in zip(claimed, found, strict=True))
    if contradicts(claimed, found) and shared >= _SAME_PARTS:
        of = dates[0]
        yield ClaimDifference("date", figure.text, figure.start, figure.end, of.text, of.start, of.end)


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
