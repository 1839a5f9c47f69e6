"""A quote's tokens against a page's tokens: where the quote stands and how well it agrees, word by word.

Letters may be compared to *find* a place (a squeezed search finds a quote whatever its spaces and hyphens);
only words *confirm* it. An alignment starts from the window of the page that shares the most of the quote's
words, pairs them by edit distance (Levenshtein 1966, rapidfuzz), repairs split, joined and misread words,
and is then cut to the stretch in which what agrees outweighs what does not (Kadane's maximum subarray).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq, Levenshtein, Opcode

from proofspan.evidence.text.token_pairs import Unit, repaired, weight, with_marks
from proofspan.evidence.text.tokens import Tokens

#: What a word of the quote that is not there, and a word of the page that the quote lacks, cost its stretch.
MISSING_COST = 0.8
EXTRA_COST = 0.5
#: What a figure counts that has the same digits on both sides, but another point, mark or separator.
SAME_DIGITS = 0.5
#: So many tokens at an end of the quote stay with it though more of them differ than agree.
MAX_TAIL = 3
#: From this coverage on the pairing by edit distance is taken without trying another.
WELL_COVERED = 0.9


@dataclass(frozen=True, slots=True)
class Alignment:
    """A stretch of a page that a quote was aligned with; ranges are half open, in tokens.

    `matched` is the weight of the quote's words that were found, `total` of all its words, `spanned` of the
    page's words in the stretch. `longest_run` counts equal tokens without interruption.
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
        """The same, of the part of the quote that was aligned only."""
        return min(1.0, 2 * self.matched / (self.aligned + self.spanned)) if self.aligned else 0.0

    @property
    def is_whole(self) -> bool:
        """Whether every word agrees and no word of the page comes between."""
        return all(unit.likeness == 1.0 for unit in self.units)


def occurrences(quote: Tokens, page: Tokens) -> Iterator[tuple[int, int]]:
    """Token ranges (half open) of the page that hold the quote letter by letter, without overlap."""
    needle = quote.squeezed
    position = page.squeezed.find(needle) if needle else -1
    while position >= 0:
        yield page.token_at(position), page.token_at(position + len(needle) - 1) + 1
        position = page.squeezed.find(needle, position + len(needle))


def in_step(quote: Tokens, page: Tokens) -> Iterator[tuple[int, int]]:
    """Token ranges (half open) of the page, as long as the quote, in which at most one token differs."""
    count = len(quote)
    for start in range(len(page) - count + 1):
        differing = 0
        for offset, key in enumerate(quote.keys, start=start):
            differing += key != page.keys[offset]
            if differing > 1:
                break
        else:
            yield start, start + count


def past_footnotes(quote: Tokens, page: Tokens) -> Iterator[tuple[int, int]]:
    """The same where footnote marks of the page, which the quote leaves out, stand in between."""
    squeezed, tokens = page.without_footnotes()
    needle = quote.squeezed
    position = squeezed.find(needle) if needle else -1
    while position >= 0:
        yield tokens[position], tokens[position + len(needle) - 1] + 1
        position = squeezed.find(needle, position + len(needle))


def windows(
    quote: Tokens, page: Tokens, *, limit: int, share: float, within: tuple[int, int] | None = None
) -> list[tuple[int, int]]:
    """Stretches of the page that share most of the quote's words, best first, at most `limit`.

    Only those that share at least `share` of the quote's weight; `within` bounds them to a token range.
    Linear in the length of the page.
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
    """For every end of a window of `size` tokens: the weight of the wanted words in it."""
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
    """The share of the quote's tokens that a window holds in the quote's order, others between them, 0–1."""
    return LCSseq.similarity(quote.keys, page.keys[slice(*window)]) / len(quote)


def align(quote: Tokens, page: Tokens, window: tuple[int, int]) -> Alignment | None:
    """The quote against one window of the page, cut to the stretch that agrees; None if nothing does.

    Edit distance pairs what was misread; where half of the quote is elsewhere it pairs anything with
    anything, and the longest common subsequence does better. The one that agrees more is taken.
    """
    ours, theirs = quote.keys, page.keys[window[0] : window[1]]
    by_edits = _cut(quote, page, _units(quote, page, window, Levenshtein.opcodes(ours, theirs)))
    if by_edits is not None and by_edits.coverage >= WELL_COVERED:
        return by_edits
    in_common = _cut(quote, page, _units(quote, page, window, LCSseq.opcodes(ours, theirs)))
    found = [alignment for alignment in (by_edits, in_common) if alignment is not None]
    return max(found, key=lambda alignment: alignment.agreement, default=None)


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
    # What follows the last equal tokens reaches no further than the quote could.
    end = min(high, p + 2 * (len(quote) - q))
    units.extend(repaired(quote, page, q, len(quote), p, end))
    return with_marks(quote, page, _with_close_ends(units))


def _with_close_ends(units: list[Unit]) -> list[Unit]:
    """The units; those at the ends that agree in nothing take no more of the page than of the quote."""
    if units and not units[0].agrees and units[0].page[1] - units[0].page[0] > _size(units[0]) > 0:
        units[0] = Unit(units[0].quote, (units[0].page[1] - _size(units[0]), units[0].page[1]), 0.0)
    if units and not units[-1].agrees and units[-1].page[1] - units[-1].page[0] > _size(units[-1]) > 0:
        units[-1] = Unit(units[-1].quote, (units[-1].page[0], units[-1].page[0] + _size(units[-1])), 0.0)
    return units


def _size(unit: Unit) -> int:
    """How many tokens of the quote a unit has."""
    return unit.quote[1] - unit.quote[0]


def _cut(quote: Tokens, page: Tokens, units: Sequence[Unit]) -> Alignment | None:
    """The stretch of units whose gains outweigh its costs the most, as an alignment."""
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
    """The units that lead on, figure by figure or token by token, to this end of the quote, if few remain."""
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
    the cut then leaves these out, although they stand next to the stretch.
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
    """The units and, where the quote opens or closes with a number that differs, the number beside them.

    A misquoted figure belongs in the box and among the differences, though it adds nothing to the proof.
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
    """What a unit adds to its stretch: the weight of what agrees, less the cost of what does not."""
    ours = sum(map(weight, quote.keys[slice(*unit.quote)]))
    theirs = sum(map(weight, page.keys[slice(*unit.page)]))
    return _found(quote, page, unit) or -max(MISSING_COST * ours, EXTRA_COST * theirs)


def _found(quote: Tokens, page: Tokens, unit: Unit) -> float:
    """The weight of the quote's words that a unit holds, less for the less alike."""
    alike = unit.likeness or (SAME_DIGITS if unit.holds_same(quote, page) else 0.0)
    return alike * sum(map(weight, quote.keys[slice(*unit.quote)])) if alike else 0.0


def alignment_of(quote: Tokens, page: Tokens, units: Sequence[Unit]) -> Alignment:
    """The figures of a run of units; there is at least one."""
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
