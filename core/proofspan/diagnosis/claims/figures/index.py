"""Figures by magnitude, to find those that agree with a claimed one without trying all."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from proofspan.diagnosis.claims.figures.agreement import POWERS, agrees, is_written_out
from proofspan.diagnosis.claims.figures.reading import Figure, rough_step, step_of
from proofspan.diagnosis.claims.figures.units import METRIC

#: Distinct figures of a like size that are compared with a claimed one: of more, one agrees by chance.
MOST_TRIED = 500
#: Significant digits up to which a figure of another scale must be the same, not rounded.
_FEW_DIGITS = 2

#: What a figure is apart from its place; two with the same agree with the same figures.
Sameness = tuple[object, ...]


def sameness_of(figure: Figure) -> Sameness:
    """Return what decides with which figures one agrees."""
    return (figure.text, *figure[3:]) if figure.kind in ("label", "ratio", "time") else figure[3:]


class FigureIndex:
    """The figures of evidence, each distinct one once, by magnitude, by date, and by how it is written."""

    def __init__(self, figures: Iterable[Figure]) -> None:
        numbers: dict[Sameness, int] = {}
        self._distinct: list[Figure] = []
        self._places: list[list[int]] = []
        for place, figure in enumerate(figures):
            number = numbers.setdefault(sameness_of(figure), len(self._distinct))
            if number == len(self._distinct):
                self._distinct.append(figure)
                self._places.append([])
            self._places[number].append(place)
        by_size: list[tuple[float, int]] = []
        #: By kind and text, by time of the day, or by one part of a date.
        self._others: dict[tuple[str | int, object], list[int]] = {}
        scales = set()
        for number, figure in enumerate(self._distinct):
            for date in figure.dates:
                for key in enumerate(date):
                    if key[1]:
                        self._others.setdefault(key, []).append(number)
            if figure.kind in ("label", "ratio"):
                self._others.setdefault((figure.kind, figure.text), []).append(number)
            elif figure.kind == "time":
                self._others.setdefault((figure.kind, figure.value), []).append(number)
            elif figure.kind != "date":
                scales.add(figure.scale)
                unit = figure.unit
                for reading in figure.readings:
                    by_size.append((float(reading), number))
                    if unit.factor != 1 or unit.offset:
                        by_size.append((float(reading * unit.factor + unit.offset), number))
        by_size.sort()
        self._sizes = [size for size, _ in by_size]
        self._numbers = [number for _, number in by_size]
        self._scales = tuple(scales.difference(POWERS, (0,)))

    def agreeing(self, claimed: Figure) -> Figure | None:
        """Return a figure that agrees with the claimed one; None also if too many would have to be tried."""
        return next((figure for figure, _ in self.all_agreeing(claimed)), None)

    def all_agreeing(self, claimed: Figure) -> Iterator[tuple[Figure, Sequence[int]]]:
        """Yield the distinct figures that agree with a claimed one, and the numbers of each among all."""
        if not self._distinct:
            return
        tried: set[int] = set()
        for number in self._like(claimed):
            if number not in tried:
                tried.add(number)
                if agrees(claimed, self._distinct[number]):
                    yield self._distinct[number], self._places[number]

    def _like(self, claimed: Figure) -> Iterator[int]:
        """Yield the numbers of the figures that may agree, some of them several times."""
        if claimed.kind in ("label", "ratio"):
            yield from self._others.get((claimed.kind, claimed.text), ())
        elif claimed.kind == "time":
            for value in (claimed.value, claimed.value - 720, claimed.value + 720):
                yield from self._others.get((claimed.kind, value), ())
        else:
            for date in claimed.dates:
                first = next((key for key in enumerate(date) if key[1]), None)
                if first is not None:
                    yield from self._others.get(first, ())[:MOST_TRIED]
            if claimed.kind != "date" and self._sizes:
                for low, high in sizes_of(claimed, self._scales):
                    begin = bisect_left(self._sizes, low)
                    for place in range(begin, min(begin + MOST_TRIED, len(self._sizes))):
                        if self._sizes[place] > high:
                            break
                        yield self._numbers[place]


def sizes_of(claimed: Figure, scales: Sequence[int] = ()) -> Iterator[tuple[float, float]]:
    """Yield the ranges of magnitudes in which a figure can lie that agrees by any rule of `agrees`.

    `scales` are the scales of the printed figures other than thousands, millions and so on.
    """
    unit = claimed.unit
    powers: list[int] = []
    if unit.dimension in ("", "currency") and claimed.kind == "number":
        powers += [-power for power in POWERS] if claimed.scaled or is_written_out(claimed) else []
        powers += POWERS if not claimed.scaled else ()
    has_few_digits = bool(powers) and claimed.digits <= _FEW_DIGITS
    for reading in claimed.readings:
        step = rough_step(reading) if claimed.bound else step_of(reading) / 2
        low, high = float(reading - step), float(reading + step)
        low, high = low - abs(low) * 1e-3, high + abs(high) * 1e-3
        yield low, high
        if unit.factor != 1 or unit.offset:
            factor, offset = float(unit.factor), float(unit.offset)
            yield low * factor + offset, high * factor + offset
        for power in powers:
            if not has_few_digits:
                yield low * 10.0**power, high * 10.0**power
            elif power > 0 or power == -claimed.scale:
                yield _exactly(reading.scaleb(power))
        for power in METRIC.get(unit.name, ()):
            yield low * 10.0**power, high * 10.0**power
        for power in scales if powers and not claimed.scaled else ():
            yield _exactly(reading.scaleb(power))
        if claimed.scaled and -claimed.scale not in powers:
            yield _exactly(reading.scaleb(-claimed.scale))


def _exactly(size: Decimal) -> tuple[float, float]:
    return float(size), float(size)
