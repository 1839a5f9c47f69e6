"""Find a phrase among a page's cells: on one line, wrapped over a cell's lines, or along a row or column.

Letters and digits are compared, so that spaces lost in or added by an extractor do not matter; figures must
be equal with their signs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import union
from proofspan.evidence.tables.grid import Grid
from proofspan.evidence.tables.relations import goes_on, is_over, is_under
from proofspan.evidence.text.tokens import Tokens

#: Lines of one cell are at most this many line heights apart; the values of a column may be further apart.
LINE_GAP, ROW_GAP = 1.6, 14.0
#: Words of one cell on a line are at most this many line heights apart.
WORD_GAP = 3.0
#: Steps of one search, and places that it returns: a column of a thousand zeros has many.
MAX_STEPS, MAX_PLACES, MAX_PARTS = 60_000, 200, 500
#: Steps that a comparison with the other heads of a line counts as.
COST_OF_HEAD = 20
#: Ways to go on from one beginning that are returned.
MAX_CONTINUATIONS = 8
#: Segments of a label or head, one for each of its lines.
MAX_CELL_LINES = 12
#: Words with which a quote may name a longer label.
MIN_BEGINNING = 3
#: A token or a phrase is first looked up by at most this many letters.
MAX_PIECE = 60


Figures = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Budget:
    """The steps that are left for the searches of one citation on one page."""

    left: int = MAX_STEPS


class Run(Enum):
    """How a phrase may go on after a segment: in the same cell, in the next cells of the row or column."""

    CELL = "cell"
    ROW = "row"
    COLUMN = "column"


@dataclass(frozen=True, slots=True)
class Phrase:
    """The letters of a phrase, where its tokens begin among them, and its figures."""

    letters: str
    starts: frozenset[int]
    figures: Figures

    @classmethod
    def of(cls, tokens: Tokens, start: int, end: int) -> Phrase:
        """Return the tokens `start` to `end` (half open) of a quote as a phrase."""
        base = tokens.offsets[start]
        starts = frozenset(offset - base for offset in tokens.offsets[start : end + 1])
        return cls(tokens.part(start, end), starts, figures_of(tokens, range(start, end)))


@dataclass(frozen=True, slots=True)
class Placed:
    """A phrase on the page: its tokens in order, the box around them, and how it fills its segments.

    `opens`: it begins a segment; `closes`: it ends one, apart from footnote marks; `breaks` counts the places
    where it leaves or enters a segment in the middle. `cells` has the first token of each cell along a row or
    column.
    """

    tokens: tuple[int, ...]
    box: Box
    opens: bool
    closes: bool
    breaks: int
    cells: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether it is the whole text of its segments."""
        return self.opens and self.closes and not self.breaks

    @property
    def blemishes(self) -> int:
        """Return how many ends and breaks are within a segment."""
        return self.breaks + (not self.opens) + (not self.closes)

    @property
    def middle(self) -> float:
        """Return the height of its middle on the levelled page."""
        return (self.box[1] + self.box[3]) / 2


def figures_of(tokens: Tokens, numbers: Sequence[int]) -> Figures:
    """Return the figures of tokens with their signs, each after the mark that joins it to the one before."""
    figures: list[tuple[str, str]] = []
    for place, number in enumerate(numbers):
        if any(map(str.isdigit, tokens.keys[number])):
            follows = place and numbers[place - 1] == number - 1
            figures.append((tokens.joints[number] if follows else "", tokens.keys[number]))
    return tuple(figures)


def same_figures(ours: Figures, theirs: Figures) -> bool:
    """Return whether figures are equal: 3/4 is not 3-4, but a dash may fill a cell or be lost between two."""
    return len(ours) == len(theirs) and all(
        one == other and (not mark or not joint or mark == joint)
        for (mark, one), (joint, other) in zip(ours, theirs, strict=True)
    )


def find(grid: Grid, phrase: Phrase, budget: Budget, run: Run = Run.CELL) -> list[Placed]:
    """Return the places of a phrase, from the top of the page down, within a budget."""
    found: dict[tuple[int, ...], Placed] = {}
    search = _Search(grid, phrase, run, budget)
    for token in _next_tokens(grid, phrase.letters, 0):
        # The nearest continuations of this beginning; a value may be in several columns of its row.
        nearest = islice(search.walk((token,), len(grid.pieces[token]), 0, (token,)), MAX_CONTINUATIONS)
        found |= {placed.tokens: placed for placed in nearest}
        if len(found) >= MAX_PLACES or budget.left <= 0:
            break
    return list(found.values())


def _next_tokens(
    grid: Grid, letters: str, offset: int, between: tuple[float, float] | None = None
) -> Iterator[int]:
    """The tokens whose letters come next, `between` two heights of the page and a little more."""
    for end in range(offset + 1, min(len(letters), offset + MAX_PIECE) + 1):
        piece = letters[offset:end]
        yield from grid.by_piece.get(piece, ()) if between is None else grid.tokens_between(piece, *between)


@dataclass(frozen=True, slots=True)
class Part:
    """A run of a quote's tokens (half open) that is a cell's text, and its place."""

    start: int
    end: int
    placed: Placed


def find_parts(grid: Grid, quote: Tokens, budget: Budget) -> list[Part]:
    """Return the runs of a quote's tokens that are the whole text of a cell of the page, or begin it."""
    parts: list[Part] = []
    for start in range(len(quote)):
        search = _Search(grid, Phrase.of(quote, start, len(quote)), Run.CELL, budget)
        ends = {offset - quote.offsets[start]: end for end, offset in enumerate(quote.offsets) if end > start}
        found: dict[tuple[int, ...], Part] = {}
        for token in _next_tokens(grid, search.phrase.letters, 0):
            if grid.segments[grid.of_token[token]].tokens[0] != token:
                continue
            if budget.left <= 0 or len(found) >= MAX_PLACES:
                break
            for offset, path in search.prefixes((token,), len(grid.pieces[token])):
                if offset in ends and (search.closes(path[-1]) or search.is_beginning(path, offset)):
                    wanted = figures_of(quote, range(start, ends[offset]))
                    placed = search.placed(path, 0, (token,), wanted)
                    if placed is not None:
                        found.setdefault(path, Part(start, ends[offset], placed))
        parts += found.values()
        if budget.left <= 0 or len(parts) >= MAX_PARTS:
            break
    return parts


class _Search:
    """Walks over the page's tokens as long as they continue the phrase."""

    def __init__(self, grid: Grid, phrase: Phrase, run: Run, budget: Budget) -> None:
        self.grid, self.phrase, self.run, self.budget = grid, phrase, run, budget

    def prefixes(self, path: tuple[int, ...], offset: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the beginnings of the phrase from this path on: the number of letters, and the tokens."""
        grid, letters = self.grid, self.phrase.letters
        while self.budget.left > 0:
            self.budget.left -= 1
            yield offset, path
            following = path[-1] + 1
            same = following < len(grid.pieces) and grid.of_token[following] == grid.of_token[path[-1]]
            if not (same and letters.startswith(grid.pieces[following], offset)):
                break
            path, offset = (*path, following), offset + len(grid.pieces[following])
        if self.budget.left <= 0 or not self.closes(path[-1]) or self._segments(path) >= MAX_CELL_LINES:
            return
        for token, _ in self._continuations(path, path[:1], offset)[:2]:
            if token not in path and token == grid.segments[grid.of_token[token]].tokens[0]:
                yield from self.prefixes((*path, token), offset + len(grid.pieces[token]))

    def _segments(self, path: tuple[int, ...]) -> int:
        return len({self.grid.of_token[token] for token in path})

    def walk(
        self, path: tuple[int, ...], offset: int, breaks: int, cells: tuple[int, ...]
    ) -> Iterator[Placed]:
        """Yield the places that begin with this path, the nearest continuation first."""
        grid, letters = self.grid, self.phrase.letters
        while True:
            self.budget.left -= 1
            if self.budget.left <= 0:
                return
            if offset == len(letters):
                placed = self.placed(path, breaks, cells, self.phrase.figures)
                if placed is not None:
                    yield placed
                return
            last = path[-1]
            following = last + 1
            same = following < len(grid.pieces) and grid.of_token[following] == grid.of_token[last]
            if same and letters.startswith(grid.pieces[following], offset):
                path, offset = (*path, following), offset + len(grid.pieces[following])
                continue
            break
        own = grid.segments[grid.of_token[last]]
        is_end = self.closes(last)
        for token, is_new in self._continuations(path, cells, offset):
            if token in path:
                continue
            segment = grid.segments[grid.of_token[token]]
            cut = (not is_end) + (token != segment.tokens[0])
            if is_new and cut and own.number != segment.number:
                continue  # a cell of a row or column is a segment of its own
            more = (*cells, token) if is_new else cells
            yield from self.walk((*path, token), offset + len(grid.pieces[token]), breaks + cut, more)

    def _continuations(
        self, path: tuple[int, ...], cells: tuple[int, ...], offset: int
    ) -> list[tuple[int, bool]]:
        """The tokens that may come next, nearest first, and whether they begin another cell."""
        grid, run, height = self.grid, self.run, self.grid.height
        last = grid.token_boxes[path[-1]]
        own = [grid.token_boxes[token] for token in path[path.index(cells[-1]) :]]
        line = union([box for box in own if box[3] > last[1] and box[1] < last[3]])
        cell, whole = union(own), union([grid.token_boxes[token] for token in path])
        self.budget.left -= len(path)
        own_segment = grid.segments[grid.of_token[path[-1]]]
        segments = {grid.of_token[token] for token in path}
        nearest: list[tuple[float, int, bool]] = []
        bottom = whole[3] if run is Run.ROW else line[3] + ROW_GAP * height if run is Run.COLUMN else line[3]
        between = whole[1], bottom + LINE_GAP * height
        for token in _next_tokens(grid, self.phrase.letters, offset, between):
            self.budget.left -= 1
            box = grid.token_boxes[token]
            middle = (box[1] + box[3]) / 2
            right, below = box[0] - line[2], box[1] - line[3]
            is_on_line = line[1] < middle < line[3]
            if is_on_line and -0.3 * height < right <= WORD_GAP * height:
                nearest.append((max(0.0, right), token, False))
            elif (
                middle > line[3]
                and below <= LINE_GAP * height
                and is_under(box, cell)
                and goes_on(grid, own_segment, grid.segments[grid.of_token[token]])
            ):
                nearest.append((height + below, token, False))
            elif (
                run is Run.ROW
                and box[0] >= cell[2]
                and whole[1] - height / 4 < middle < whole[3] + height / 4
            ):
                nearest.append((3 * height + box[0] - cell[2], token, True))
            elif run is Run.COLUMN and middle > cell[3] and below <= ROW_GAP * height:
                self.budget.left -= COST_OF_HEAD
                head = cell if cell[3] - cell[1] <= 2 * MAX_CELL_LINES * height else line
                nearest += [(3 * height + below, token, True)] if is_over(grid, [head], segments, box) else []
        return [(token, is_new) for _, token, is_new in sorted(nearest)[:4]]

    def is_beginning(self, path: tuple[int, ...], offset: int) -> bool:
        """Return whether a path is as much of a longer cell as the phrase has, and enough to name it."""
        following = path[-1] + 1
        goes_on = self.phrase.letters.startswith(self.grid.pieces[following], offset)
        return len(path) >= MIN_BEGINNING and not goes_on

    def closes(self, token: int) -> bool:
        """Return whether the token's segment ends with it, apart from footnote marks and parentheses."""
        grid = self.grid
        rest = range(token + 1, grid.segments[grid.of_token[token]].tokens[1])
        if all(grid.tokens.is_footnote[each] for each in rest):
            return True
        following = grid.tokens.first[token + 1]
        return following > grid.tokens.last[token] and grid.words[following][:1] in ("(", "[", "*", "\u2020")

    def placed(
        self, path: tuple[int, ...], breaks: int, cells: tuple[int, ...], figures: Figures
    ) -> Placed | None:
        """Return the place of a path; None where its figures are others."""
        grid = self.grid
        if not same_figures(figures_of(grid.tokens, path), figures):
            return None
        opens = path[0] == grid.segments[grid.of_token[path[0]]].tokens[0]
        box = union([grid.token_boxes[token] for token in path])
        return Placed(path, box, opens, self.closes(path[-1]), breaks, cells)
