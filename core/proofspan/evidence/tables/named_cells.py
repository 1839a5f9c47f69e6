"""Cells that a citation names by label and heads: `label, head: value`, and sentences about a cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from proofspan.contracts.records.records import Box
from proofspan.evidence.tables.cell_match import CellMatch, box_of, is_head
from proofspan.evidence.tables.citations import (
    MAX_CELLS,
    MAX_TOKENS,
    TableCitation,
    has_digit,
    is_filler,
    is_small,
)
from proofspan.evidence.tables.grid import Grid, is_figure
from proofspan.evidence.tables.phrases import Budget, Part, Phrase, find, find_parts
from proofspan.evidence.tables.relations import (
    RIGHT_TO_LEFT,
    YEAR,
    is_beside,
    is_heading,
    segments_beside,
)
from proofspan.evidence.tables.values import alike, amounts_to, figures_in, is_near
from proofspan.evidence.text.page_text import text_of
from proofspan.evidence.types import Difference

if TYPE_CHECKING:
    from proofspan.diagnosis.claims.figures import Figure

#: Cells that are named where the citation does not say which one it means.
MAX_NAMED = 6
#: Pairs of cells that are tried in all.
MAX_PAIRS = 30_000
#: Groups of digits of a figure, and values that a citation may have.
MAX_GROUPS, MAX_VALUES = 5, 40

Cell = tuple[int, ...]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Named:
    """A label with its sections and heads, the cells where they meet, and the tokens `own` of their value."""

    own: Span
    label: Part
    sections: tuple[Part, ...]
    heads: tuple[Part, ...]
    cells: tuple[Cell, ...]
    is_exact: bool = True

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self.label, *self.sections, *self.heads)

    @property
    def covered(self) -> frozenset[int]:
        """The tokens of the quote that it explains."""
        spans = [self.own, *((part.start, part.end) for part in self.parts)]
        return frozenset(number for start, end in spans for number in range(start, end))

    @property
    def blemishes(self) -> int:
        return sum(part.placed.blemishes for part in self.parts) + (not self.is_exact)


def named_cells(citation: TableCitation, grid: Grid, *, may_differ: bool) -> list[CellMatch]:
    """Return the cells that a citation names, else, if `may_differ`, several with a value each, or cells with
    another value.
    """
    if len(citation.quote.tokens) > MAX_TOKENS:
        return []
    search = _Search(citation, grid)
    named = [each for own in search.spans() for each in search.with_value(own)]
    found = [search.match(each) for each in named if search.may_be_left(each.covered, bool(each.heads))]
    if not found and not citation.values and may_differ:
        together = search.together(named)
        found = [together] if together else []
    if not found and may_differ:
        found = list(search.differing())
    return found


class _Search:
    """The search for the cells of one citation on one page."""

    def __init__(self, citation: TableCitation, grid: Grid) -> None:
        self.citation, self.grid = citation, grid
        self.quote = citation.quote.tokens
        self.pairs = MAX_PAIRS
        self.budget = Budget()
        found = find_parts(grid, self.quote, self.budget)
        #: The runs of the quote that are cells, or begin a longer label, and name something.
        self.parts = [p for p in found if not all(is_small(self.quote, n) for n in range(p.start, p.end))]
        self.whole = [part for part in self.parts if part.placed.is_whole]

    @cached_property
    def figures(self) -> list[tuple[Span, Figure]]:
        """The figures of the quote by value."""
        return figures_in(self.citation.quote)

    def spans(self) -> list[Span]:
        """Return the runs of tokens that may be a value: after a colon, figures, or a last cell."""
        tokens = self.quote
        if self.citation.values:
            runs = [(start, len(tokens)) for start in self.citation.values]
        else:
            runs = [own for own, _ in self.figures]
            for number in range(len(tokens)):
                end = number + 1 if has_digit(tokens.keys[number]) else number
                limit = min(len(tokens), number + MAX_GROUPS)
                while number < end < limit and tokens.is_number[end] and tokens.bonds[end] != "mark":
                    runs.append((number, end))
                    end += 1
                runs += [(number, end)] if end > number else []
        last = [(part.start, part.end) for part in self.whole if part.end == len(tokens) and part.start]
        runs += sorted(own for own in last if any(map(has_digit, tokens.keys[slice(*own)])))
        return list(dict.fromkeys(sorted(runs, key=lambda run: (run[0] - run[1], -run[0]))))[:MAX_VALUES]

    def with_value(self, own: Span) -> Iterator[_Named]:
        """Yield the cells of the page with these tokens, or with their value, that a label names."""
        values = [each for each in find(self.grid, Phrase.of(self.quote, *own), self.budget) if each.is_whole]
        parts = [part for part in self.parts if part.end <= own[0] or part.start >= own[1]]
        found = False
        for value in values:
            self.pairs -= len(parts)
            if self.pairs < 0:
                return
            over = [part for part in parts if self._is_head(part, value.box)]
            named = [
                _Named(own, label, self._sections(label, parts), heads, (value.tokens,))
                for label in parts
                if self._is_label(label, value.box)
                for heads in [_chosen([part for part in over if _are_apart(part, label)], value.box)]
            ]
            if named:
                found = True
                yield max(named, key=lambda each: (len(each.covered), -each.blemishes, -self._distance(each)))
        claimed = [figure for (start, end), figure in self.figures if own[0] <= start and end <= own[1]]
        if not found and len(claimed) == 1:
            for each in self._meetings(own):
                row = each.label.placed.tokens
                same = [cell for cell in each.cells if amounts_to(claimed[0], self.grid, row, cell)]
                if same:
                    yield replace(each, cells=(same[0],), is_exact=False)

    def _meetings(self, own: Span) -> Iterator[_Named]:
        """Yield the labels with the cells of their rows that the heads are over, all without a head."""
        parts = [part for part in self.whole if part.end <= own[0] or part.start >= own[1]]
        for label in parts:
            self.pairs -= 1 + len(parts) // MAX_NAMED
            if self.pairs < 0:
                return
            above = [p for p in parts if p.placed.box[3] <= label.placed.box[3] and _are_apart(p, label)]
            cells = self._row_cells(label)
            self.pairs -= 1 + len(cells) * (1 + len(above))
            if self.pairs < 0:
                return
            over = [(p, [c for c in cells if self._is_head(p, box_of(self.grid, c))]) for p in above]
            heads: tuple[Part, ...] = ()
            if cells:
                heads = _chosen([part for part, under in over if under], box_of(self.grid, cells[0]))
            kept = [c for c in cells if all(c in under for part, under in over if part in heads)]
            if kept:
                yield _Named(own, label, self._sections(label, parts), heads, tuple(kept))

    def differing(self) -> Iterator[CellMatch]:
        """Yield the cells that the citation contradicts, those with most heads.

        A figure that is nearly the same shows which of several rows or columns is meant. A sentence without
        a head may be about something else.
        """
        for own in self.spans():
            named = [each for each in self._meetings(own) if not self.left(each.covered)]
            near = [
                replace(each, cells=(cell,))
                for each in named
                for cell in each.cells
                if is_near(self.quote, own, self.grid, cell)
            ]
            best = near or named
            most = max((len(each.heads) + len(each.sections) for each in best), default=0)
            best = [each for each in best if len(each.heads) + len(each.sections) == most]
            if best and (self.citation.values or most or near):
                keys = self.quote.keys[slice(*own)]
                cells = alike(self.grid, (cell for each in best for cell in each.cells), keys)
                shown = " | ".join(self.grid.text(self.grid.words_of(cell)) for cell in cells[:MAX_NAMED])
                shown += " | …" if len(cells) > MAX_NAMED else ""
                differs = Difference(text_of(self.citation.quote, *own), shown, "number")
                first = replace(best[0], cells=tuple(alike(self.grid, best[0].cells, keys)[:MAX_NAMED]))
                share = self._share(number for number in first.covered if not own[0] <= number < own[1])
                yield replace(self.match(first), explained=share, differences=(differs,))

    def together(self, named: Sequence[_Named]) -> CellMatch | None:
        """Return the cells of a sentence with several values; None if it does not name them all.

        Each has a label or a head of its own, in the order of the values.
        """
        best: dict[Span, _Named] = {}
        for each in sorted(named, key=lambda each: (-len(each.covered), each.blemishes)):
            taken = [span for span in best if span[0] < each.own[1] and each.own[0] < span[1]]
            inside = {number for span in best for number in range(*span)}
            named_by = {number for part in each.parts for number in range(part.start, part.end)}
            parts = [part for one in best.values() for part in one.parts]
            names = {number for part in parts for number in range(part.start, part.end)}
            if not taken and inside.isdisjoint(named_by) and names.isdisjoint(range(*each.own)):
                best[each.own] = each
        chosen = [best[own] for own in sorted(best)]
        covered = {number for one in chosen for number in one.covered}
        labels = list(dict.fromkeys(each.label for each in chosen))
        heads = list(dict.fromkeys(head for each in chosen for head in each.heads))
        if len(chosen) < 2 or not self.may_be_left(covered, bool(heads)):
            return None
        own_label, own_head = len(labels) == len(chosen), len(heads) == len(chosen)
        label_spans = {(part.start, part.end) for part in labels}
        is_clear = label_spans.isdisjoint((part.start, part.end) for part in heads) and (
            own_label or own_head
        )
        for parts, mine in (
            (labels, [(each.label,) for each in chosen]),
            (heads, [each.heads for each in chosen]),
        ):
            in_order = sorted(parts, key=lambda part: part.start)
            is_clear &= len(parts) < 2 or (
                len(parts) == len(chosen)
                and all(part in own for part, own in zip(in_order, mine, strict=True))
            )
        if not is_clear:
            return None
        matches = [self.match(each) for each in chosen]
        return CellMatch(
            tuple(dict.fromkeys(cell for match in matches for cell in match.labels)),
            tuple(dict.fromkeys(cell for match in matches for cell in match.heads)),
            tuple(dict.fromkeys(cell for match in matches for cell in match.values)),
            self._share(covered),
            sum(match.blemishes for match in matches),
        )

    def left(self, covered: Iterable[int]) -> list[int]:
        """Return the tokens of the quote that nothing explains."""
        own = frozenset(covered)
        return [n for n in range(len(self.quote)) if n not in own and not is_filler(self.quote, n)]

    def may_be_left(self, covered: Iterable[int], has_heads: bool) -> bool:
        """Return whether the other tokens may be explained by nothing.

        None of `label, head: value`. Of a sentence a third, without figures: it names label and value.
        """
        left = self.left(covered)
        if not left:
            return True
        if self.citation.values or any(self.quote.is_number[number] for number in left):
            return False
        return (3 if has_heads else 4) * len(left) <= len(self.quote)

    def match(self, named: _Named) -> CellMatch:
        """Return named cells as a match."""
        return CellMatch(
            tuple(part.placed.tokens for part in (*named.sections, named.label)),
            tuple(part.placed.tokens for part in named.heads),
            named.cells,
            self._share(n for n in range(len(self.quote)) if n not in self.left(named.covered)),
            named.blemishes,
            distance=self._distance(named),
        )

    def _share(self, explained: Iterable[int]) -> float:
        letters = sum(len(self.quote.part(number, number + 1)) for number in explained)
        return letters / max(1, len(self.quote.squeezed))

    def _distance(self, named: _Named) -> float:
        """How far label and heads are from the value, in points."""
        box = box_of(self.grid, named.cells[0])
        return sum(
            max(0.0, box[0] - part.placed.box[2], part.placed.box[0] - box[2])
            + max(0.0, box[1] - part.placed.box[3])
            for part in named.parts
        )

    def _is_label(self, part: Part, value: Box) -> bool:
        """Whether a cell is beside a value, on the side where its script begins; a figure opens its row."""
        box = part.placed.box
        if not is_beside(box, value, self.grid.height):
            return False
        if self._is_figure(part) and any(s.box[0] < box[0] for s in segments_beside(self.grid, box)):
            return False
        from_right = RIGHT_TO_LEFT.search(self.grid.text(self.grid.words_of(part.placed.tokens)))
        return box[0] >= value[2] if from_right else box[2] <= value[0]

    def _is_head(self, part: Part, value: Box) -> bool:
        """Whether a cell is over a value; a figure that a sentence names is a head if it is a year."""
        if self._is_figure(part) and not self.citation.values:
            words = self.grid.words_of(part.placed.tokens)
            if not YEAR.match(self.grid.words[words[0]]):
                return False
        return is_head(self.grid, part.placed.tokens, value)

    def _is_figure(self, part: Part) -> bool:
        return all(is_figure(self.grid.words[word]) for word in self.grid.words_of(part.placed.tokens))

    def _sections(self, label: Part, parts: Iterable[Part]) -> tuple[Part, ...]:
        """The headings above a label that the quote names, the nearest of the same words."""
        own = {self.grid.of_token[token] for token in label.placed.tokens}
        box = label.placed.box
        parts = list(parts)
        self.pairs -= len(parts)
        if self.pairs < 0:
            return ()
        headings = [
            part
            for part in parts
            if _are_apart(part, label) and is_heading(self.grid, part.placed.box, own, box)
        ]
        return _chosen(headings, box)

    def _row_cells(self, label: Part) -> list[Cell]:
        """The cells with figures beside a label, in the order of the line."""
        beside = list(segments_beside(self.grid, label.placed.box))
        self.pairs -= len(beside) // MAX_NAMED
        is_first = not beside or not self._is_figure(label) or beside[0].box[0] >= label.placed.box[0]
        cells = [
            tuple(range(*segment.tokens))
            for segment in (beside if is_first and self.pairs > 0 else ())
            if self._is_label(label, segment.box)
        ]
        with_figures = [cell for cell in cells if any(has_digit(self.grid.pieces[n]) for n in cell)]
        return sorted(with_figures, key=lambda cell: self.grid.token_boxes[cell[0]][0])[:MAX_CELLS]


def _are_apart(part: Part, other: Part) -> bool:
    return part.end <= other.start or part.start >= other.end


def _chosen(parts: Sequence[Part], below: Box) -> tuple[Part, ...]:
    """Parts of different words: the longest first, of the same words the nearest above a box."""
    chosen: list[Part] = []
    order = sorted(parts, key=lambda p: (p.start - p.end, p.placed.blemishes, below[1] - p.placed.box[3]))
    for part in order:
        if all(_are_apart(part, other) for other in chosen):
            chosen.append(part)
    return tuple(sorted(chosen, key=lambda part: part.placed.box[1]))
