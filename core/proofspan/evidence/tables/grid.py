"""The words of a page as segments: runs of words on one line, apart from others by more than a space.

A cell of a table is one segment, or several below one another. A page's own reading order plays no part:
tables are written by row, by column and in any other order. Boxes are levelled, so that lines run to the
right on a page that is turned and in a table that is set sideways.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import median

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import UPRIGHT_RATIO, line_boxes, union
from proofspan.evidence.text.page_lines import levelled_words
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.tokens import Tokens, tokenize

#: A gap of this many line heights separates two cells: a space is about 0.3, in justified text up to 0.7.
CELL_GAP = 0.8
#: A gap of this many separates them where the lines beside it have a wide one.
NARROW_GAP = 0.5
#: Pages with more words are not read as tables. Schedules of 400 columns have fewer.
MAX_WORDS = 20_000
#: Two words of this share of the lower one's height are on one line.
ON_LINE = 0.6
#: Pages whose grids are cached for the quotes that follow.
CACHED_PAGES = 16
#: Segments are looked up by bands of this height, in points; one segment is in at most `MAX_BANDS`.
BAND, MAX_BANDS = 24.0, 200
#: Bands of the page whose segments are cached.
MAX_KNOWN = 2_000
#: So few tokens with the same letters are not narrowed down by their lines.
FEW = 16
LEADER = frozenset("._ \u2026\u00b7\u2024\u2025")


@dataclass(frozen=True, slots=True)
class Segment:
    """Words of one line without a wide gap: `words` and `tokens` are ranges (half open) of the grid."""

    number: int
    line: int
    words: tuple[int, int]
    tokens: tuple[int, int]
    box: Box


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A page's words line by line, from left to right, with their levelled boxes, tokens and segments.

    `order[i]` is the page's own number of word `i`. `pieces` are the letters and digits of each token,
    `by_piece` the tokens by them, `of_token` the segment of each token. `height` is the usual word's. `bands`
    are the segments by bands across the page; `middles` the heights of the lines, downwards, and
    `line_tokens` the first token of each.
    """

    page: PageText
    order: tuple[int, ...]
    words: tuple[str, ...]
    boxes: tuple[Box, ...]
    tokens: Tokens
    pieces: tuple[str, ...]
    token_boxes: tuple[Box, ...]
    of_token: tuple[int, ...]
    segments: tuple[Segment, ...]
    height: float
    by_piece: dict[str, list[int]] = field(default_factory=dict)
    bands: dict[int, list[int]] = field(default_factory=dict)
    middles: tuple[float, ...] = ()
    line_tokens: tuple[int, ...] = ()
    _between: dict[tuple[float, float], list[Segment]] = field(default_factory=dict, repr=False)

    def between(self, top: float, bottom: float) -> list[Segment]:
        """Return the segments that reach into a band of the levelled page."""
        known = self._between.get((top, bottom))
        if known is None:
            first, last = (int(side // BAND) for side in (top, bottom))
            numbers = {number for band in range(first, last + 1) for number in self.bands.get(band, ())}
            own = [self.segments[number] for number in sorted(numbers)]
            known = [segment for segment in own if segment.box[1] < bottom and segment.box[3] > top]
            if len(self._between) < MAX_KNOWN:
                self._between[top, bottom] = known
        return known

    def tokens_between(self, piece: str, top: float, bottom: float) -> Sequence[int]:
        """Return the tokens with these letters on lines from `top` to `bottom`, and a little beyond."""
        own = self.by_piece.get(piece, [])
        if len(own) < FEW:
            return own
        first = bisect_left(self.middles, top - 2 * self.height)
        last = bisect_right(self.middles, bottom + 2 * self.height)
        if first >= len(self.line_tokens):
            return ()
        end = self.line_tokens[last] if last < len(self.line_tokens) else len(self.pieces)
        return own[bisect_left(own, self.line_tokens[first]) : bisect_left(own, end)]

    def text(self, words: Iterable[int]) -> str:
        """Return words as text, in the order given."""
        return " ".join(self.words[number] for number in words)

    def words_of(self, tokens: Iterable[int]) -> list[int]:
        """Return the words that tokens cover, each once, in the order of the tokens."""
        first, last = self.tokens.first, self.tokens.last
        return list(dict.fromkeys(w for token in tokens for w in range(first[token], last[token] + 1)))

    def rects(self, words: Iterable[int]) -> tuple[Box, ...]:
        """Return tight boxes around words, in points of the unrotated page."""
        return line_boxes((self.page.boxes[self.order[n]] for n in words), rotation=self.page.rotation)


@lru_cache(maxsize=CACHED_PAGES)
def _grid_of(words: tuple[str, ...], boxes: tuple[Box, ...], page: _Same) -> Grid:
    turned = levelled_words(words, boxes, rotation=page.page.rotation)
    height = median(box[3] - box[1] for box in turned)
    lines, seeds = _lines(words, turned)
    order = tuple(number for line in lines for number in line)
    ordered = tuple(words[number] for number in order)
    placed = tuple(turned[number] for number in order)
    tokens = tokenize(ordered, touching=[False] * len(ordered))
    pieces = tuple(tokens.part(number, number + 1) for number in range(len(tokens)))
    segments: list[Segment] = []
    cut_words = _all_cuts(ordered, placed, lines)
    start = 0
    for line_number, line in enumerate(lines):
        end = start + len(line)
        cuts = [start, *cut_words[line_number], end]
        for first, last in pairwise(cuts):
            own = bisect_right(tokens.first, first - 1), bisect_right(tokens.first, last - 1)
            box = union(placed[first:last])
            segments.append(Segment(len(segments), line_number, (first, last), own, box))
        start = end
    of_token = [0] * len(tokens)
    for segment in segments:
        for token in range(*segment.tokens):
            of_token[token] = segment.number
    bands: dict[int, list[int]] = defaultdict(list)
    for segment in segments:
        top, bottom = (int(side // BAND) for side in (segment.box[1], segment.box[3]))
        for band in range(top, min(bottom, top + MAX_BANDS) + 1):
            bands[band].append(segment.number)
    line_tokens = [len(pieces)] * len(lines)
    for segment in reversed(segments):
        line_tokens[segment.line] = segment.tokens[0]
    middles = [(turned[seed][1] + turned[seed][3]) / 2 for seed in seeds]
    by_piece: dict[str, list[int]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        if piece:
            by_piece[piece].append(number)
    token_boxes = tuple(
        union(placed[first : last + 1]) for first, last in zip(tokens.first, tokens.last, strict=True)
    )
    return Grid(
        page.page, order, ordered, placed, tokens, pieces, token_boxes, tuple(of_token), tuple(segments),
        height, dict(by_piece), dict(bands), tuple(accumulate(middles, max)), tuple(line_tokens),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Same:
    """A page that the cache compares by rotation alone: its words and boxes are the other keys."""

    page: PageText = field(compare=False)
    rotation: int = 0


def grid_of(page: PageText) -> Grid | None:
    """Return a page's grid, cached; None for a page without boxes, without words, or with too many."""
    if not 0 < len(page.boxes) <= MAX_WORDS or len(page.boxes) != len(page.words):
        return None
    return _grid_of(page.words, page.boxes, _Same(page, page.rotation))


def _lines(words: Sequence[str], boxes: Sequence[Box]) -> tuple[list[list[int]], list[int]]:
    """The words of each line from left to right, lines from top to bottom, and the word that begins each."""
    by_middle = sorted(range(len(boxes)), key=lambda n: (boxes[n][1] + boxes[n][3], boxes[n][0], n))
    lines: list[list[int]] = []
    seeds: list[int] = []
    for number in by_middle:
        top, bottom = boxes[number][1], boxes[number][3]
        if seeds and not _is_upright(words[number], boxes[number]):
            seed = boxes[seeds[-1]]
            shared = min(bottom, seed[3]) - max(top, seed[1])
            if shared >= ON_LINE * min(bottom - top, seed[3] - seed[1]):
                lines[-1].append(number)
                continue
        lines.append([number])
        seeds.append(number)
    return [sorted(line, key=lambda n: (boxes[n][0], n)) for line in lines], seeds


def _is_upright(word: str, box: Box) -> bool:
    return len(word) > 1 and box[3] - box[1] > UPRIGHT_RATIO * (box[2] - box[0])


def _all_cuts(words: Sequence[str], boxes: Sequence[Box], lines: Sequence[Sequence[int]]) -> list[list[int]]:
    """The words of each line that begin another segment.

    A narrow gap separates two cells where a wide one on the line above or below shows the edge of a column.
    """
    ends = [0, *accumulate(map(len, lines))]
    cuts = [_cuts(words, boxes, start, end) for start, end in pairwise(ends)]
    wide = [[(boxes[cut - 1][2], boxes[cut][0]) for cut in own] for own in cuts]
    found: list[list[int]] = []
    for number, own in enumerate(cuts):
        beside = [gap for other in (number - 1, number + 1) if 0 <= other < len(lines) for gap in wide[other]]
        more = set(own)
        for word in range(ends[number] + 1, ends[number + 1]) if beside else ():
            left, right = boxes[word - 1][2], boxes[word][0]
            height = min(boxes[word - 1][3] - boxes[word - 1][1], boxes[word][3] - boxes[word][1])
            if right - left > NARROW_GAP * height and any(
                low < right and high > left for low, high in beside
            ):
                more.add(word)
        found.append(sorted(more))
    return found


def _cuts(words: Sequence[str], boxes: Sequence[Box], start: int, end: int) -> list[int]:
    """The words of a line that begin another segment.

    Two figures side by side are two cells, unless the second is a group of three digits of the first.
    """
    cuts = []
    reached = boxes[start][2] if start < end else 0.0
    for number in range(start + 1, end):
        before, box = boxes[number - 1], boxes[number]
        height = min(before[3] - before[1], box[3] - box[1])
        gap = box[0] - reached
        reached = max(reached, box[2])
        is_cut = gap > CELL_GAP * height
        if not is_cut and is_figure(words[number - 1]) and is_figure(words[number]):
            is_cut = not _is_group(words[number - 1], words[number])
        if not is_cut and _is_leader(words[number - 1]) and not _is_leader(words[number]):
            is_cut = True
        if is_cut:
            cuts.append(number)
    return cuts


def is_figure(word: str) -> bool:
    """Return whether a word is a figure, with its signs: `12,480`, `(5.2)%`, `$41`; not `2nd` or `N2O`."""
    return any(map(str.isdigit, word)) and not any(map(str.isalpha, word))


def _is_group(word: str, following: str) -> bool:
    """Whether a word is the next group of three digits: `22 083`."""
    digits = following.rstrip("%),.;")
    return len(digits.partition(".")[0].partition(",")[0]) == 3 and word[-1:].isdigit() and "." not in word


def _is_leader(word: str) -> bool:
    return len(word) > 1 and LEADER.issuperset(word)
