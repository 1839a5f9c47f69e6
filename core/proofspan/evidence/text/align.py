"""Align a quote's tokens with a page's tokens: where the quote is and how well it agrees, word by word.

Letters are compared to *find* a place (a squeezed search finds a quote whatever its spaces and hyphens); only
words *confirm* it. An alignment starts from the window of the page that shares the most of the quote's words,
pairs them by edit distance (Levenshtein 1966, rapidfuzz), repairs split, joined and misread words, and is
then cut to the stretch with the most agreement (Kadane's maximum subarray).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Hamming, LCSseq, Levenshtein, Opcode

from proofspan.evidence.text.token_pairs import Unit, repaired, weight, with_marks
from proofspan.evidence.text.tokens import Tokens

#: Costs of a word of the quote that is missing on the page, and of a word of the page that the quote lacks.
MISSING_COST = 0.8
EXTRA_COST = 0.5
#: Likeness of a figure with the same digits on both sides, but another point, mark or separator.
SAME_DIGITS = 0.5
#: This many tokens at an end of the quote are kept although more of them differ than agree.
MAX_TAIL = 3
#: From this coverage on the pairing by edit distance is used without trying another.
WELL_COVERED = 0.9


@dataclass(frozen=True, slots=True)
class Alignment:
    """A stretch of a page aligned with a quote; ranges are half open, in tokens.

    Weights: `matched` of the quote's words that were found, `total` of all its words, `aligned` of those in
    `quote`, `spanned` of the page's words in the stretch. `longest_run` counts consecutive equal tokens.
    """

    units: tuple[Unit, ...]
    quote: tuple[int, int]
    page: tuple[int, int]
    matched: float
    total: float
    aligned: float
    spanned: float
    longest_run: int

    @property
    def coverage(self) -> float:
        """The share of the quote that was found."""
        return self.matched / self.total

    @property
    def agreement(self) -> float:
        """Found words against all words of quote and stretch (Dice), by weight."""
        return min(1.0, 2 * self.matched / (self.total + self.spanned))

    @property
    def inner_agreement(self) -> float:
        """The agreement of the aligned part of the quote alone."""
        return min(1.0, 2 * self.matched / (self.aligned + self.spanned)) if self.aligned else 0.0

    @property
    def is_whole(self) -> bool:
        """Whether every word agrees and the page has none in between."""
        return all(unit.likeness == 1.0 for unit in self.units)


def occurrences(quote: Tokens, page: Tokens, *, past_footnotes: bool = False) -> Iterator[tuple[int, int]]:
    """Yield token ranges (half open) of the page that have the quote letter by letter, without overlap.

    `past_footnotes` leaves out the footnote marks of the page.
    """
    squeezed, needle = page.squeezed, quote.squeezed
    tokens: list[int] | None = None
    if past_footnotes:
        kept = [number for number in range(len(page)) if not page.is_footnote[number]]
        squeezed = "".join(page.part(number, number + 1) for number in kept)
        tokens = [number for number in kept for _ in page.part(number, number + 1)]
    position = squeezed.find(needle) if needle else -1
    while position >= 0:
        ends = position, position + len(needle) - 1
        first, last = (tokens[end] if tokens else page.token_at(end) for end in ends)
        yield first, last + 1
        position = squeezed.find(needle, position + len(needle))


def in_step(quote: Tokens, page: Tokens) -> Iterator[tuple[int, int]]:
    """Yield token ranges (half open) of the page, as long as the quote, with at most one other token."""
    count = len(quote)
    for start in range(len(page) - count + 1):
        if Hamming.distance(quote.keys, page.keys[start : start + count], score_cutoff=1) <= 1:
            yield start, start + count


def windows(
    quote: Tokens, page: Tokens, *, limit: int, share: float, within: tuple[int, int] | None = None
) -> list[tuple[int, int]]:
    """Return at most `limit` stretches of the page that share most of the quote's words, best first.

    They share at least `share` of the quote's weight; `within` bounds them to a token range. Linear in the
    length of the page.
    """
    low, high = within or (0, len(page))
    keys, wanted = page.keys[low:high], Counter(quote.keys)
    size, slack = len(quote) + max(4, len(quote) // 4), max(6, len(quote) // 5)
    held: Counter[str] = Counter()
    score, scores = 0.0, []  # the weight of the wanted words in each window of `size` tokens, by its end
    for end, key in enumerate(keys):
        if key in wanted:
            if held[key] < wanted[key]:
                score += weight(key)
            held[key] += 1
        if end >= size and (gone := keys[end - size]) in wanted:
            held[gone] -= 1
            if held[gone] < wanted[gone]:
                score -= weight(gone)
        scores.append(score)
    total = sum(weight(key) * count for key, count in wanted.items())
    ends = [end for end, score in enumerate(scores, start=1) if score >= share * total]
    starts: list[int] = []
    for end in sorted(ends, key=lambda end: (-scores[end - 1], end)):
        start = max(0, end - size)
        if all(abs(start - other) > size // 2 for other in starts):
            starts.append(start)
        if len(starts) == limit:
            break
    return [(max(low, low + start - slack), min(high, low + start + size + slack)) for start in starts]


def in_order(quote: Tokens, page: Tokens, window: tuple[int, int]) -> float:
    """Return the share of the quote's tokens that a window has in order, others between them, 0–1."""
    return LCSseq.similarity(quote.keys, page.keys[slice(*window)]) / len(quote)


def align(quote: Tokens, page: Tokens, window: tuple[int, int]) -> Alignment | None:
    """Align the quote with one window of the page, cut to the stretch that agrees; None if nothing does.

    Edit distance pairs what was misread; where half of the quote is elsewhere it pairs unrelated words, and
    the longest common subsequence does better. The one that agrees more is used.
    """
    ours, theirs = quote.keys, page.keys[window[0] : window[1]]
    by_edits = _cut(quote, page, _units(quote, page, window, Levenshtein.opcodes(ours, theirs)))
    if by_edits is not None and by_edits.coverage >= WELL_COVERED:
        return by_edits
    in_common = _cut(quote, page, _units(quote, page, window, LCSseq.opcodes(ours, theirs)))
    if by_edits is None or in_common is None:
        return by_edits or in_common
    return in_common if in_common.agreement > by_edits.agreement else by_edits


def _units(quote: Tokens, page: Tokens, window: tuple[int, int], steps: Iterable[Opcode]) -> list[Unit]:
    """The steps of an alignment in a window as units, one for each token that is equal."""
    units: list[Unit] = []
    low, high = window
    q, p = 0, low
    for step in steps:
        if step.tag != "equal":
            continue
        equal_p = low + step.dest_start
        units.extend(repaired(quote, page, q, step.src_start, p, equal_p))
        for offset in range(step.src_end - step.src_start):
            q, p = step.src_start + offset, equal_p + offset
            units.append(Unit((q, q + 1), (p, p + 1), 1.0))
        q, p = step.src_end, low + step.dest_end
    # The stretch after the last equal tokens is bounded by what is left of the quote.
    end = min(high, p + 2 * (len(quote) - q))
    units.extend(repaired(quote, page, q, len(quote), p, end))
    # Units at the ends without agreement take no more of the page than of the quote.
    for place in (0, -1) if units else ():
        (q0, q1), (p0, p1) = units[place].quote, units[place].page
        if not units[place].agrees and p1 - p0 > q1 - q0 > 0:
            own = (p1 - (q1 - q0), p1) if place == 0 else (p0, p0 + q1 - q0)
            units[place] = Unit((q0, q1), own, 0.0)
    return with_marks(quote, page, units)


def _cut(quote: Tokens, page: Tokens, units: Sequence[Unit]) -> Alignment | None:
    """The stretch of units with the highest gain, as an alignment."""
    best, first, end = 0.0, 0, 0
    score, start = 0.0, 0
    for position, unit in enumerate(units):
        lost = max(MISSING_COST * _weight(quote, unit.quote), EXTRA_COST * _weight(page, unit.page))
        score += _found(quote, page, unit) or -lost
        if score <= 0:
            score, start = 0.0, position + 1
        elif score > best:
            best, first, end = score, start, position + 1
    if best <= 0:
        return None
    before, after = _tail(quote, page, units[:first][::-1], 0), _tail(quote, page, units[end:], len(quote))
    kept = with_marks(quote, page, _grown(quote, page, [*before[::-1], *units[first:end], *after]))
    matched, run, longest = 0.0, 0, 0
    for unit in kept:
        run = run + unit.quote[1] - unit.quote[0] if unit.likeness == 1.0 else 0
        longest = max(longest, run)
        matched += _found(quote, page, unit)
    q, p = (kept[0].quote[0], kept[-1].quote[1]), (kept[0].page[0], kept[-1].page[1])
    total, aligned, spanned = _weight(quote, (0, len(quote))), _weight(quote, q), _weight(page, p)
    return Alignment(tuple(kept), q, p, matched, total, aligned, spanned, longest)


def _tail(quote: Tokens, page: Tokens, units: Sequence[Unit], end: int) -> list[Unit]:
    """The units up to this end of the quote, figure by figure or token by token, if they are few."""
    taken: list[Unit] = []
    tokens = 0
    for unit in units:
        tokens += unit.quote[1] - unit.quote[0]
        in_step = unit.quote[1] - unit.quote[0] == unit.page[1] - unit.page[0]
        if not (in_step or unit.holds_same(quote, page)) or tokens > MAX_TAIL:
            return []
        taken.append(unit)
        if end in unit.quote:
            return taken
    return []


def _grown(quote: Tokens, page: Tokens, units: list[Unit]) -> list[Unit]:
    """The units and the equal words right beside them.

    Edit distance may pair the quote's first or last words with the same ones further off ("the", above all);
    the cut then leaves them out, although they are next to the stretch. A misquoted figure at an end of the
    quote belongs in the box and among the differences too, although it adds no evidence.
    """
    q, p = units[0].quote[0], units[0].page[0]
    while q and p and quote.keys[q - 1] == page.keys[p - 1]:
        q, p = q - 1, p - 1
        units.insert(0, Unit((q, q + 1), (p, p + 1), 1.0))
    if q == 1 and p > 0 and quote.is_number[0] and page.is_number[p - 1]:
        units.insert(0, Unit((0, 1), (p - 1, p), 0.0))
    q, p = units[-1].quote[1], units[-1].page[1]
    while q < len(quote) and p < len(page) and quote.keys[q] == page.keys[p]:
        units.append(Unit((q, q + 1), (p, p + 1), 1.0))
        q, p = q + 1, p + 1
    if q == len(quote) - 1 and p < len(page) and quote.is_number[q] and page.is_number[p]:
        units.append(Unit((q, q + 1), (p, p + 1), 0.0))
    return units


def _weight(tokens: Tokens, run: tuple[int, int]) -> float:
    return sum(map(weight, tokens.keys[run[0] : run[1]]))


def _found(quote: Tokens, page: Tokens, unit: Unit) -> float:
    """The weight of the quote's words in a unit, scaled by likeness."""
    alike = unit.likeness or (SAME_DIGITS if unit.holds_same(quote, page) else 0.0)
    return alike * _weight(quote, unit.quote) if alike else 0.0
