"""Pair runs of a quote's tokens with runs of a page's tokens that are the same words, or are not.

Split, joined and misread words are paired between the tokens that are equal. Numbers, with the marks between
them, are either the same or different: that is where a misquoted number is detected.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, pairwise

from rapidfuzz.distance import OSA

from proofspan.evidence.text.tokens import Tokens

#: Two words that share this much of their letters are one, misread: one letter in three may differ.
NEAR = 0.62
#: Longer stretches (product of both lengths) are not repaired word by word.
MAX_REPAIR = 400


@dataclass(frozen=True, slots=True)
class Unit:
    """A run of quote tokens paired with a run of page tokens (half open), and their likeness, 0–1."""

    quote: tuple[int, int]
    page: tuple[int, int]
    likeness: float

    @property
    def agrees(self) -> bool:
        """Whether both sides are the same words."""
        return self.likeness > 0

    def holds_same(self, quote: Tokens, page: Tokens) -> bool:
        """Return whether both sides have the same letters and digits, however they are cut: 110 and 1:10."""
        return quote.part(*self.quote) == page.part(*self.page)


def weight(key: str) -> float:
    """Return how significant a token is: short words little, a number as much as a long word."""
    if len(key) >= 4 or key[-1].isdigit() or key[-1] == "%":
        return 1.0
    return 0.6 if len(key) == 3 else 0.35


def repaired(quote: Tokens, page: Tokens, q0: int, q1: int, p0: int, p1: int) -> list[Unit]:
    """Return the units of a stretch in which tokens differ: split, joined and misread words are paired."""
    has_number = any(quote.is_number[q0:q1]) or any(page.is_number[p0:p1])
    if not has_number and q0 < q1 and p0 < p1 and _is_same(quote, (q0, q1), page, (p0, p1)):
        return [Unit((q0, q1), (p0, p1), 1.0)]  # the same words with other breaks between them
    units: list[Unit] = []
    q, p = q0, p0
    if 0 < (q1 - q0) * (p1 - p0) <= MAX_REPAIR:
        for unit in _pairings(quote, page, q0, q1, p0, p1):
            units += (*_unmatched(page, q, unit.quote[0], p, unit.page[0]), unit)
            q, p = unit.quote[1], unit.page[1]
    return [*units, *_unmatched(page, q, q1, p, p1)]


def _unmatched(page: Tokens, q0: int, q1: int, p0: int, p1: int) -> list[Unit]:
    """The unit of a stretch without agreement; none for an empty stretch.

    Footnote marks of the page that the quote leaves out are no difference.
    """
    if q0 == q1:
        return [Unit((q0, q1), (p0, p1), float(all(page.is_footnote[p0:p1])))] if p0 < p1 else []
    return [Unit((q0, q1), (p0, p1), 0.0)]


def _pairings(quote: Tokens, page: Tokens, q0: int, q1: int, p0: int, p1: int) -> list[Unit]:
    """The units of highest total likeness, in order, that pair runs of one, two or three tokens.

    Likeness is expensive: it is computed only for runs that could be alike, by length and letters, and count.
    """
    rows, columns = q1 - q0 + 1, p1 - p0 + 1
    score = [[0.0] * columns for _ in range(rows)]
    choice: list[list[Unit | None]] = [[None] * columns for _ in range(rows)]
    ours, theirs = quote.offsets[q0 : q1 + 1], page.offsets[p0 : p1 + 1]
    our_letters, their_letters = _run_letters(quote, q0, q1), _run_letters(page, p0, p1)
    for i in range(1, rows):
        for j in range(1, columns):
            best, unit = max(score[i - 1][j], score[i][j - 1]), None
            for m, n in _SHAPES:
                if m > i or n > j or score[i - m][j - n] + m <= best:
                    continue
                left, right = ours[i] - ours[i - m], theirs[j] - theirs[j - n]
                longer = left if left > right else right
                if left + right - longer < NEAR * longer:
                    continue  # their lengths differ too much
                own, other = our_letters[m - 1][i], their_letters[n - 1][j]
                most = (1 - NEAR) * longer + 1e-9  # an edit changes one letter of each
                if (own & ~other).bit_count() > most or (other & ~own).bit_count() > most:
                    continue
                alike = likeness(quote, (q0 + i - m, q0 + i), page, (p0 + j - n, p0 + j))
                if alike > 0 and score[i - m][j - n] + alike * m > best:
                    best = score[i - m][j - n] + alike * m
                    unit = Unit((q0 + i - m, q0 + i), (p0 + j - n, p0 + j), alike)
            score[i][j], choice[i][j] = best, unit
    units: list[Unit] = []
    i, j = rows - 1, columns - 1
    while i > 0 and j > 0:
        unit = choice[i][j]
        if unit is not None:
            units.append(unit)
            i -= unit.quote[1] - unit.quote[0]
            j -= unit.page[1] - unit.page[0]
        elif score[i - 1][j] >= score[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return units[::-1]


_SHAPES = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 2))


def _run_letters(tokens: Tokens, start: int, end: int) -> list[list[int]]:
    """The letters of the runs of one, two and three tokens, by their end in the range."""
    ones = [0, *(_letters(tokens.part(number, number + 1)) for number in range(start, end))]
    twos = [0, *(left | right for left, right in pairwise(ones))]
    return [ones, twos, [0, 0, *(left | right for left, right in zip(ones, twos[2:], strict=False))]]


@lru_cache(maxsize=65_536)
def _letters(text: str) -> int:
    """A text's letters and digits as bits; several characters share one."""
    bits = 0
    for character in text:
        bits |= 1 << (ord(character) & 63)
    return bits


def likeness(quote: Tokens, q: tuple[int, int], page: Tokens, p: tuple[int, int]) -> float:
    """Return how alike two short runs of tokens are: 1 the same words, 0 different ones.

    1 also when only word breaks differ (a hyphen at a line's end). Numbers are the same or different; white
    space that a page puts into one (`$1 2`, touching) or loses beside it (`net92`) does not change it.
    """
    if q[1] - q[0] == 1 and p[1] - p[0] == 1 and quote.keys[q[0]] == page.keys[p[0]]:
        return 1.0
    if any(quote.is_number[q[0] : q[1]]) or any(page.is_number[p[0] : p[1]]):
        return float(_is_same(quote, q, page, p)) or _misread_figure(quote, q, page, p)
    left, right = quote.part(*q), page.part(*p)
    if left == right:
        return float(_is_same(quote, q, page, p))
    alike = OSA.normalized_similarity(left, right, score_cutoff=NEAR)
    if alike < NEAR or min(len(left), len(right)) < 2:
        return 0.0
    our_digits, their_digits = ([c for c in text if c.isdigit()] for text in (left, right))
    if our_digits and their_digits and our_digits != their_digits:
        return 0.0  # 5mm is not a misread 6mm
    our_signs, their_signs = (
        [c for key in tokens.keys[slice(*run)] for c in key if not c.isalnum()]
        for tokens, run in ((quote, q), (page, p))
    )
    return alike if our_signs == their_signs else 0.0


def _is_same(quote: Tokens, q: tuple[int, int], page: Tokens, p: tuple[int, int]) -> bool:
    """Whether both sides are the same words, signs and separators included, apart from harmless breaks.

    A break that only one side has is harmless between letters. Beside a digit it must not be a mark: 1:10 is
    not 110. Between two digits it must separate nothing (see `Bond`), and one side must be a single token:
    "12 34" is not "123 4", since both sides show where their numbers end. A quote of numbers alone has no
    word that would confirm such a repair.
    """
    text = "".join(quote.keys[q[0] : q[1]])
    if text != "".join(page.keys[p[0] : p[1]]):
        return False
    ours, theirs = _breaks(quote, q), _breaks(page, p)
    if any(quote.joints[ours[place]] != page.joints[theirs[place]] for place in ours.keys() & theirs.keys()):
        return False
    may_join = 1 in (q[1] - q[0], p[1] - p[0]) and not all(quote.is_number)
    for tokens, breaks, others in ((quote, ours, theirs), (page, theirs, ours)):
        for offset in breaks.keys() - others.keys():
            beside = sum(not character.isalpha() for character in text[offset - 1 : offset + 1])
            bond = tokens.bonds[breaks[offset]]
            if (beside and bond == "mark") or (beside == 2 and not (may_join and bond == "none")):
                return False
    return True


def _breaks(tokens: Tokens, run: tuple[int, int]) -> dict[int, int]:
    """The tokens of a run after the first, by their offset in the run's joined keys."""
    ends = accumulate(len(key) for key in tokens.keys[run[0] : run[1] - 1])
    return {end: run[0] + number for number, end in enumerate(ends, start=1)}


def _misread_figure(quote: Tokens, q: tuple[int, int], page: Tokens, p: tuple[int, int]) -> float:
    """The likeness of a number and a figure with letters for some digits (4,869 and 4,8b9); else 0."""
    if q[1] - q[0] != 1 or p[1] - p[0] != 1:
        return 0.0
    left, right = quote.keys[q[0]], page.keys[p[0]]
    if len(left) != len(right):
        return 0.0
    differing = [(ours, theirs) for ours, theirs in zip(left, right, strict=True) if ours != theirs]
    if any((ours + theirs).isdigit() or not (ours + theirs).isalnum() for ours, theirs in differing):
        return 0.0
    alike = 1 - len(differing) / len(left)
    return alike if alike >= NEAR else 0.0


def with_marks(quote: Tokens, page: Tokens, units: Iterable[Unit]) -> list[Unit]:
    """Join two units into one that differs where other marks connect their figures: 3/4 is not 3-4.

    A figure in another currency differs too.
    """
    joined: list[Unit] = []
    for unit in units:
        (q0, q1), (p0, p1) = unit.quote, unit.page
        if unit.agrees:
            ours, theirs = "".join(quote.currencies[q0:q1]), "".join(page.currencies[p0:p1])
            if ours and theirs and set(ours).isdisjoint(theirs):
                unit = replace(unit, likeness=0.0)
        last = joined[-1] if joined else None
        is_paired = (
            last and q0 < q1 and p0 < p1 and last.quote[0] < last.quote[1] and last.page[0] < last.page[1]
        )
        if last and is_paired and quote.joints[q0] != page.joints[p0]:
            joined[-1] = Unit((last.quote[0], q1), (last.page[0], p1), 0.0)
        else:
            joined.append(unit)
    return joined
