"""Whether two figures agree, may agree, or are the same digits in another unit or scale."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from proofspan.diagnosis.claims.figures.around import Bound
from proofspan.diagnosis.claims.figures.dates import contradicts, covers
from proofspan.diagnosis.claims.figures.reading import Figure, rough_step, step_of
from proofspan.diagnosis.claims.figures.units import METRIC, NO_UNIT, may_be_same

#: Tests a claimed magnitude against a printed one.
_Test = Callable[[Decimal, Decimal, Bound], bool]


#: How far from the printed figure a rounded one may be, with "over" or "up to" before it or not:
#: "2 billion" is no rounding of 1.67 billion.
_ROUNDED: dict[Bound, Decimal] = {
    "": Decimal("0.05"),
    "~": Decimal("0.05"),
    "<": Decimal("0.1"),
    ">": Decimal("0.1"),
}


def _within(claimed: Decimal, printed: Decimal, bound: Bound) -> bool:
    """Return whether a claimed magnitude is a printed one, rounded as claimed."""
    if claimed == printed:
        return True
    off = printed - claimed
    if abs(off) > claimed * _ROUNDED[bound]:
        return False
    if bound == "~":
        return abs(off) <= rough_step(claimed) / 2
    if abs(off) <= step_of(claimed) / 2:
        return True
    if bound == ">":
        return 0 < off <= rough_step(claimed)
    return bound == "<" and 0 < -off <= rough_step(claimed)


#: Powers of ten that tables count in.
POWERS = (3, 6, 9, 12)
#: Conversions are published rounded: a litre is 0.264 gallons.
_ROUNDED_CONVERSION = Decimal("0.0005")


def agrees(claimed: Figure, printed: Figure) -> bool:
    """Return whether the printed figure, rounded as the claimed one is, is the claimed one by any reading.

    The page may be more precise than the claim, not less: 41,287,512 does not agree with "$41.3 million".
    Signs are left to the caller: a loss of 12,480 agrees with (12,480).
    """
    return _compare(claimed, printed, _within)


def could_agree(claimed: Figure, printed: Figure) -> bool:
    """Return whether two figures agree or may: the page is less precise, or the claim is cut off or rounded.

    41,287,512 and "$41.3 million", 41.2 million and 41,287 thousand, 12,000 and 11,987.
    """
    return _compare(claimed, printed, _could_be)


def _could_be(claimed: Decimal, printed: Decimal, bound: Bound) -> bool:
    if printed > 2 * claimed > 0 or (claimed > 2 * printed > 0 and not bound):
        return False  # no place value is larger than its number
    off = abs(printed - claimed)
    step, printed_step = step_of(claimed), step_of(printed)
    if 2 * off <= max(printed_step, step):
        return True
    if printed_step < step and 0 <= printed - claimed < step:  # cut off instead of rounded
        return True
    rough = rough_step(claimed)
    return off <= rough if bound else rough > 10 * step and 2 * off <= rough and off * 100 <= claimed


def _compare(claimed: Figure, printed: Figure, test: _Test) -> bool:
    if claimed.bound in ("<", ">") and printed.bound == claimed.bound:  # two limits are equal or are not
        claimed = claimed._replace(bound="")
    if claimed.kind != "number" or printed.kind != "number":
        if claimed.dates and printed.dates:
            if test is _could_be:
                return any(not contradicts(one, other) for one in claimed.dates for other in printed.dates)
            return any(covers(one, other) for one in claimed.dates for other in printed.dates)
        kinds = {claimed.kind, printed.kind}
        if kinds & {"date", "label", "ratio", "time"}:
            return len(kinds) == 1 and _as_written(claimed, printed)
        if "ordinal" in kinds and len(kinds) > 1:
            return False
    one, other = claimed.unit, printed.unit
    if one.dimension and other.dimension and one.dimension != other.dimension:
        return may_be_same(one.name, other.name) and _any(
            claimed.readings, printed.readings, claimed.bound, test
        )
    if one.name != other.name and one.dimension and other.dimension:
        if (
            one.dimension == "currency"
            and not may_be_same(one.name, other.name)
            and one.factor == other.factor
        ):
            return False
        if one.factor != other.factor or one.offset != other.offset:
            return _converted(claimed, printed, test)
    if _any(claimed.readings, printed.readings, claimed.bound, test):
        return True
    if one.dimension == "share" != other.dimension:  # 12 % is 0.12
        shares = tuple(each * one.factor for each in claimed.readings)
        return _any(shares, printed.readings, claimed.bound, test)
    if other.dimension == "share" != one.dimension:
        shares = tuple(each * other.factor for each in printed.readings)
        return _any(claimed.readings, shares, claimed.bound, test)
    if other is NO_UNIT and (powers := METRIC.get(one.name)) and claimed.digits > 1:
        # 1.2 t in a column of kg
        counted = [each.scaleb(power) for each in claimed.readings for power in powers]
        return _any(counted, printed.readings, claimed.bound, test)
    return _counted_otherwise(claimed, printed, test)


def _any(claimed: Iterable[Decimal], printed: Sequence[Decimal], bound: Bound, test: _Test) -> bool:
    return any(test(one, other, bound) for one in claimed for other in printed)


def _as_written(claimed: Figure, printed: Figure) -> bool:
    if claimed.kind == "time":
        off = abs(claimed.value - printed.value)
        return off == 0 or (
            off == 720 and not (_MERIDIEM.search(claimed.text) and _MERIDIEM.search(printed.text))
        )
    return claimed.text == printed.text


_MERIDIEM = re.compile(r"[apAP]\.?[mM]")


def _converted(claimed: Figure, printed: Figure, test: _Test) -> bool:
    """Compare two figures of one dimension in the claimed one's unit."""
    one, other = claimed.unit, printed.unit
    for reading in printed.readings:
        there = (reading * other.factor + other.offset - one.offset) / one.factor
        slack = abs(there) * _ROUNDED_CONVERSION
        for each in claimed.readings:
            if test(each, there, claimed.bound) or abs(there - each) <= slack + step_of(each) / 2:
                return True
    return False


def _counted_otherwise(claimed: Figure, printed: Figure, test: _Test) -> bool:
    """Compare where one side does not say what it counts in.

    A claim may be in "USD millions" as asked for, a table's caption may be elsewhere. Two digits agree by
    chance too easily, unless the scale is known.
    """
    if any(unit.dimension not in ("", "currency") for unit in (claimed.unit, printed.unit)):
        return False
    if claimed.kind != "number" or printed.kind not in ("number", "year"):
        return False
    if printed.scaled:
        if claimed.scaled:
            return False
    elif not claimed.scaled and not is_written_out(claimed):
        return False
    is_precise = claimed.digits > 2 or (test is _could_be and bool(claimed.scaled))
    powers = POWERS if is_precise and printed.kind == "number" else ()
    if printed.scaled:
        counted = [each.scaleb(power) for each in claimed.readings for power in powers]
        if _any(counted, printed.readings, claimed.bound, test):
            return True
        return any(
            one.scaleb(printed.scale) == other for one in claimed.readings for other in printed.readings
        )
    counted = [each.scaleb(power) for each in printed.readings for power in powers]
    if _any(claimed.readings, counted, claimed.bound, test):
        return True
    return any(one.scaleb(-claimed.scale) == other for one in claimed.readings for other in printed.readings)


def is_written_out(figure: Figure) -> bool:
    """Return whether a figure ends with thousands written out: a table may print 1,577,000,000 as 1,577."""
    return not figure.scaled and abs(figure.value) >= 1000 and rough_step(figure.value) >= 1000


def unit_differs(claimed: Figure, printed: Figure) -> bool:
    """Return whether the digits agree and both units are given, and contradict: 5 kg and 5 g, $5 and €5."""
    one, other = claimed.unit, printed.unit
    if one is NO_UNIT or other is NO_UNIT or may_be_same(one.name, other.name):
        return False
    return _same_digits(claimed, printed) and not could_agree(claimed, printed)


def scale_differs(claimed: Figure, printed: Figure) -> bool:
    """Return whether the digits agree, both say their scale, and contradict: 41.3 million, 41.3 billion."""
    if claimed.scaled != "own" or printed.scaled != "own" or claimed.scale == printed.scale:
        return False
    if not may_be_same(claimed.unit.name, printed.unit.name) and claimed.unit.name and printed.unit.name:
        return False
    return _same_digits(claimed, printed) and not could_agree(claimed, printed)


def _same_digits(claimed: Figure, printed: Figure) -> bool:
    """Return whether two figures are the same number before scale and unit."""
    return claimed.kind == printed.kind == "number" and abs(claimed.value).scaleb(-claimed.scale) == abs(
        printed.value
    ).scaleb(-printed.scale)


def alike(claimed: Figure, printed: Figure) -> int:
    """Return how many digits two numbers have that differ in one digit, or in two exchanged ones; else 0."""
    if claimed.kind != "number" or printed.kind != "number":
        return 0
    one, two = digits_of(claimed), digits_of(printed)
    if len(one) != len(two) or len(one) < 2:
        return 0
    off = [at for at, (here, there) in enumerate(zip(one, two, strict=True)) if here != there]
    if len(off) == 1 or (len(off) == 2 and [one[at] for at in off] == [two[at] for at in reversed(off)]):
        return len(one)
    return 0


def digits_of(figure: Figure) -> tuple[int, ...]:
    """Return the digits of a number without the zeros behind the last."""
    return figure.value.normalize().as_tuple().digits
