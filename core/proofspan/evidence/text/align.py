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
        return self.matched / self.total if self.total else 0.0

    @property
    def agreement(self) -> float:
        """Found words against all words of quote and stretch (Dice), by weight."""
        return min(1.0, 2 * self.matched / (self.total + self.spanned)) if self.total else 0.0

    @property
    def inner_agreement(self) -> float:
        """The agreement of the aligned part of the quote alone."""
        return min(1.0, 2 * self.matched / (self.aligned + self.spanned)) if self.aligned else 0.0

    @property
    def is_whole(self) -> bool:
        """Whether every word agrees and the page has none in between."""
        return all(unit.likeness == 1.0 for unit in self.units)


def occurrences(quote: Tokens, page: Tokens) -> Iterator[tuple[int, int]]:
    """Yield token ranges (half open) of the page that have the quote letter by letter, without overlap."""
    needle = quote.squeezed
    position = page.squeezed.find(needle) if needle else -1
    while position >= 0:
        yield page.token_at(position), page.token_at(position + len(needle) - 1) + 1
        position = page.squeezed.find(needle, position + len(needle))


def in_step(quote: Tokens, page: Tokens) -> Iterator[tuple[int, int]]:
    """Yield token ranges (half open) of the page, as long as the quote, with at most one other token."""
    count = len(quote)
    for start in range(len(page) - count + 1):
        if Hamming.distance(quote.keys, page.keys[start : start + count], score_cutoff=1) <= 1:
            yield start, start + count


def past_footnotes(quote: Tokens, page: Tokens) -> Iterator[tuple[int, int]]:
    """Yield token ranges (half open) that have the quote letter by letter between footnote marks."""
    squeezed, tokens = page.without_footnotes()
    needle = quote.squeezed
    position = squeezed.find(needle) if needle else -1
    while position >= 0:
        yield tokens[position], tokens[position + len(needle) - 1] + 1
        position = squeezed.find(needle, position + len(needle))


def windows(
    quote: Tokens, page: Tokens, *, limit: int, share: float, within: tuple[int, int] | None = None
) -> list[tuple[int, int]]:
    """Return at most `limit` stretches of the page that share most of the quote's words, best first.

    They share at least `share` of the quote's weight; `within` bounds them to a token range. Linear in the
    length of the page.
    """
    low, high = within or (0, len(page))
    wanted = Counter(quote.keys)
    total = sum(weight(key) * count for key, count in wanted.items())
    size = len(quote) + max(4, len(quote) // 4)
    scores = _window_scores(wanted, page.keys[low:high], size)
    ends = [end for end, score in enumerate(scores, start=1) if score >= share * total]
    ends.sort(key=lambda end: (-scores[end - 1], end))
    starts: list[int] = []
    for end in ends:
        start = max(0, end - size)
        if all(abs(start - other) > size // 2 for other in starts):
            starts.append(start)
        if len(starts) == limit:
            break
    slack = max(6, len(quote) // 5)
    return [(max(low, low + start - slack), min(high, low + start + size + slack)) for start in starts]


def _window_scores(wanted: Counter[str], keys: Sequence[str], size: int) -> list[float]:
    """The weight of the wanted words in each window of `size` tokens, by its end."""
    held: Counter[str] = Counter()
    score, scores = 0.0, []
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
    return scores


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
    alignments = (alignment for alignment in (by_edits, in_common) if alignment is not None)
    return max(alignments, key=lambda alignment: alignment.agreement, default=None)


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
    return with_marks(quote, page, _with_close_ends(units))


def _with_close_ends(units: list[Unit]) -> list[Unit]:
    """The units, where those at the ends without agreement take no more of the page than of the quote."""
    for place in (0, -1) if units else ():
        unit = units[place]
        (q0, q1), (p0, p1) = unit.quote, unit.page
        if not unit.agrees and p1 - p0 > q1 - q0 > 0:
            page = (p1 - (q1 - q0), p1) if place == 0 else (p0, p0 + q1 - q0)
            units[place] = Unit(unit.quote, page, 0.0)
    return units


def _cut(quote: Tokens, page: Tokens, units: Sequence[Unit]) -> Alignment | None:
    """The stretch of units with the highest gain, as an alignment."""
    best = (0.0, 0, 0)
    score, start = 0.0, 0
    for position, unit in enumerate(units):
        score += _gain(quote, page, unit)
        if score <= 0:
            score, start = 0.0, position + 1
        elif score > best[0]:
            best = (score, start, position + 1)
    if best[0] <= 0:
        return None
    kept = _tail(quote, page, units[best[1] - 1 :: -1] if best[1] else [], 0)[::-1]
    kept += units[best[1] : best[2]]
    kept += _tail(quote, page, units[best[2] :], len(quote))
    kept = _with_end_numbers(quote, page, _grown(quote, page, kept))
    return alignment_of(quote, page, with_marks(quote, page, kept))


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


def _grown(quote: Tokens, page: Tokens, units: Sequence[Unit]) -> list[Unit]:
    """The units and the equal words right beside them.

    Edit distance may pair the quote's first or last words with the same ones further off ("the", above all);
    the cut then leaves them out, although they are next to the stretch.
    """
    grown = list(units)
    while (q := grown[0].quote[0]) and (p := grown[0].page[0]) and quote.keys[q - 1] == page.keys[p - 1]:
        grown.insert(0, Unit((q - 1, q), (p - 1, p), 1.0))
    q, p = grown[-1].quote[1], grown[-1].page[1]
    while q < len(quote) and p < len(page) and quote.keys[q] == page.keys[p]:
        grown.append(Unit((q, q + 1), (p, p + 1), 1.0))
        q, p = q + 1, p + 1
    return grown


def _with_end_numbers(quote: Tokens, page: Tokens, units: Sequence[Unit]) -> list[Unit]:
    """The units and, where the quote begins or ends with a number that differs, the number beside them.

    A misquoted figure belongs in the box and among the differences, although it adds no evidence.
    """
    first, last = units[0], units[-1]
    extended = list(units)
    q, p = first.quote[0], first.page[0]
    if q == 1 and p > 0 and quote.is_number[0] and page.is_number[p - 1]:
        extended.insert(0, Unit((0, 1), (p - 1, p), 0.0))
    q, p = last.quote[1], last.page[1]
    if q == len(quote) - 1 and p < len(page) and quote.is_number[q] and page.is_number[p]:
        extended.append(Unit((q, q + 1), (p, p + 1), 0.0))
    return extended


def _gain(quote: Tokens, page: Tokens, unit: Unit) -> float:
    """The weight of a unit that agrees, or the negative cost of one that does not."""
    ours = sum(map(weight, quote.keys[slice(*unit.quote)]))
    theirs = sum(map(weight, page.keys[slice(*unit.page)]))
    return _found(quote, page, unit) or -max(MISSING_COST * ours, EXTRA_COST * theirs)


def _found(quote: Tokens, page: Tokens, unit: Unit) -> float:
    """The weight of the quote's words in a unit, scaled by likeness."""
    alike = unit.likeness or (SAME_DIGITS if unit.holds_same(quote, page) else 0.0)
    return alike * sum(map(weight, quote.keys[slice(*unit.quote)])) if alike else 0.0


def alignment_of(quote: Tokens, page: Tokens, units: Sequence[Unit]) -> Alignment:
    """Return the alignment of one or more units."""
    q = units[0].quote[0], units[-1].quote[1]
    p = units[0].page[0], units[-1].page[1]
    matched, run, longest = 0.0, 0, 0
    for unit in units:
        count = unit.quote[1] - unit.quote[0]
        run = run + count if unit.likeness == 1.0 else 0
        longest = max(longest, run)
        matched += _found(quote, page, unit)
    return Alignment(
        units=tuple(units),
        quote=q,
        page=p,
        matched=matched,
        total=sum(map(weight, quote.keys)),
        aligned=sum(map(weight, quote.keys[q[0] : q[1]])),
        spanned=sum(map(weight, page.keys[p[0] : p[1]])),
        longest_run=longest,
    )
