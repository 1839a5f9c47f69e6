"""How sure a share of a few questions is."""

from __future__ import annotations

from math import sqrt

#: Two-sided 95 % of the normal distribution.
Z_95 = 1.959963984540054


def wilson(part: int, whole: int, *, z: float = Z_95) -> tuple[float, float]:
    """The Wilson score interval of `part` of `whole`: (low, high) in 0–1.

    Unlike the plain normal interval it stays inside 0–1 and holds for small counts. Nothing is known of an
    empty whole: (0, 1). Source: E. B. Wilson, JASA 22 (1927), equation for the limits of p.
    """
    if not 0 <= part <= whole:
        raise ValueError(f"{part} of {whole} is no share")
    if whole == 0:
        return (0.0, 1.0)
    share = part / whole
    spread = z * sqrt(share * (1 - share) / whole + z * z / (4 * whole * whole))
    centre = share + z * z / (2 * whole)
    scale = 1 + z * z / whole
    return (max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale))


def percent(share: float) -> str:
    """A share of 0–1 in whole percent; what is neither none nor all never reads as 0 or 100."""
    rounded = round(100 * share)
    if rounded == 0 and share > 0:
        return "<1 %"
    if rounded == 100 and share < 1:
        return ">99 %"
    return f"{rounded} %"


def share_in_words(part: int, whole: int) -> str:
    """`70 % (54–83 %)`: the share of a whole that is not empty, with its 95 % Wilson interval."""
    low, high = wilson(part, whole)
    return f"{percent(part / whole)} ({round(100 * low)}–{round(100 * high)} %)"
