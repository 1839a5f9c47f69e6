"""Match a citation of a table with a page's cells: label, head and value belong to one row and column.

A value elsewhere in the table does not satisfy a citation. Where the label's row and the head's column meet
in another value, that is what differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from rapidfuzz.distance import Hamming

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import union
from proofspan.evidence.tables.citations import TableCitation, has_digit, is_filler, is_small
from proofspan.evidence.tables.grid import Grid, is_figure
from proofspan.evidence.tables.phrases import Part, Phrase, Placed, Run, find, find_parts
from proofspan.evidence.tables.relations import RIGHT_TO_LEFT, SLACK, is_beside, is_over, segments_beside
from proofspan.evidence.text.page_text import QuoteText, text_of
from proofspan.evidence.text.tokens import Tokens
from proofspan.evidence.types import Difference

#: Of a cited table this share of the cells is on the page, or it is not this table.
MOST_CELLS = 0.7
#: Cells that are named where the citation does not say which one it means.
MAX_NAMED = 6
MAX_COMBINATIONS = 20_000


@dataclass(frozen=True, slots=True)
class CellMatch:
    """Cells of a page that a citation names, as tokens of the page's grid.

    `labels`, `heads` and `values` have the tokens of one cell each. `explained` is the share of the quote's
    letters that they have, 0–1; `blemishes` count cells that are part of a segment only.
    """

    labels: tuple[tuple[int, ...], ...]
    heads: tuple[tuple[int, ...], ...]
    values: tuple[tuple[int, ...], ...]
    explained: float
    blemishes: int = 0
    differences: tuple[Difference, ...] = ()
    distance: float = 0.0

    @property
    def cells(self) -> tuple[tuple[int, ...], ...]:
        """Return all cells, labels first."""
        return (*self.labels, *self.heads, *self.values)

    @property
    def merit(self) -> tuple[bool, float, int, float]:
        """The key that matches are ranked by."""
        return not self.differences, self.explained, -self.blemishes, -round(self.distance, -1)


def matches_of(citation: TableCitation, grid: Grid, *, is_text: bool = True) -> list[CellMatch]:
    """Return the best match of a citation on a page, and others that are as good, from the top down.

    Without `is_text` rows and columns of words alone are left out.
    """
    if citation.rows:
        found = list(_tables(citation, grid))
    else:
        found = list(_sequences(citation.quote, grid, is_text=is_text))
        if any(map(has_digit, citation.quote.tokens.keys)):
            found += _named_cells(citation, grid)
            found = found or list(_other_values(citation, grid))
    if not found:
        return []
    best = max(found, key=lambda match: match.merit)
    same: dict[frozenset[int], CellMatch] = {}
    for match in [best, *found]:
        if match.merit[:3] == best.merit[:3]:
            same.setdefault(frozenset(token for cell in match.cells for token in cell), match)
    return list(same.values())


# Rows and columns whose cells follow one another in the quote.


def _sequences(quote: QuoteText, grid: Grid, *, is_text: bool) -> Iterator[CellMatch]:
    """Rows and columns that the quote lists from their label or head on.

    Words alone are a row or column only if nothing between them is left out: they may be a sentence's.
    """
    phrase = Phrase.of(quote.tokens, 0, len(quote.tokens))
    for run in (Run.ROW, Run.COLUMN):
        for placed in find(grid, phrase, run):
            at = [placed.tokens.index(cell) for cell in placed.cells]
            if len(at) == 1 and run is Run.COLUMN:  # lines of text, which one cell could have as well
                at += _line_starts(grid, placed.tokens)
            first, *rest = (placed.tokens[start:end] for start, end in pairwise([*at, len(placed.tokens)]))
            if not rest or not all(_is_closed(grid, cell) for cell in (first, *rest)):
                continue
            figures = sum(_is_figure(grid, cell) for cell in rest)
            if 2 * figures < len(rest) and not (
                is_text and placed.is_whole and _is_complete(grid, placed, (first, *rest), run)
            ):
                continue
            labels, heads = ((first,), ()) if run is Run.ROW else ((), (first,))
            yield CellMatch(
                labels,
                heads,
                tuple(rest),
                1.0,
                placed.blemishes,
                distance=_extent(grid, placed.tokens, run, rest),
            )


def _is_figure(grid: Grid, cell: Sequence[int]) -> bool:
    return all(map(is_figure, map(grid.words.__getitem__, grid.words_of(cell))))


def _is_complete(grid: Grid, placed: Placed, cells: Sequence[Sequence[int]], run: Run) -> bool:
    """Whether no words lie between the cells of a row, or between the lines of a column."""
    own = {grid.of_token[token] for token in placed.tokens}
    if run is Run.COLUMN:
        starts = [0, *_line_starts(grid, placed.tokens), len(placed.tokens)]
        cells = [placed.tokens[start:end] for start, end in pairwise(starts)]
    for box, following in pairwise([_box(grid, cell) for cell in cells]):
        if run is Run.ROW:
            between = (box[2], following[1], following[0], following[3])
        else:
            between = (min(box[0], following[0]), box[3], max(box[2], following[2]), following[1])
        for segment in grid.between(between[1], between[3]):
            x, y = (segment.box[0] + segment.box[2]) / 2, (segment.box[1] + segment.box[3]) / 2
            is_between = between[0] < x < between[2] and between[1] < y < between[3]
            if is_between and segment.number not in own and segment.tokens[0] < segment.tokens[1]:
                return False
    return True


def _line_starts(grid: Grid, tokens: Sequence[int]) -> list[int]:
    """The tokens that begin a line, by their number, without the first."""
    lines = [grid.segments[grid.of_token[token]].line for token in tokens]
    return [number for number, (one, other) in enumerate(pairwise(lines), start=1) if one != other]


def _extent(grid: Grid, tokens: Sequence[int], run: Run, values: Sequence[Sequence[int]]) -> float:
    """The length of a row or column, in points: of several that agree the shortest skips least.

    One value may be in several columns of its row. The last of them is taken: that is where totals and
    results are. The others are alternatives.
    """
    if run is Run.ROW and len(values) == 1:
        return -grid.token_boxes[values[0][0]][0]
    side = 0 if run is Run.ROW else 1
    boxes = [grid.token_boxes[token] for token in tokens]
    return max(box[side + 2] for box in boxes) - min(box[side] for box in boxes)


def _is_closed(grid: Grid, cell: Sequence[int]) -> bool:
    """Whether a cell's figure does not go on in its segment: 20 is not the cell 20 083."""
    following = cell[-1] + 1
    if following >= len(grid.pieces) or grid.of_token[following] != grid.of_token[cell[-1]]:
        return True
    return grid.tokens.is_footnote[following] or not (
        has_digit(grid.pieces[following]) and has_digit(grid.pieces[cell[-1]])
    )


# `label, head: value`, and sentences.


def _named_cells(citation: TableCitation, grid: Grid) -> Iterator[CellMatch]:
    """Cells whose label, heads and value are the citation's."""
    quote = citation.quote.tokens
    parts = _parts(grid, quote)
    total = sum(len(quote.part(n, n + 1)) for n in range(len(quote)))
    combinations = MAX_COMBINATIONS
    for start, end in [*_values(citation), *_last_parts(quote, parts)]:
        values = [each for each in find(grid, Phrase.of(quote, start, end)) if each.is_whole]
        others = [part for part in parts if part.end <= start or part.start >= end]
        for value in values:
            combinations -= len(others)
            if combinations < 0:
                return
            match = _named(citation, grid, others, value, (start, end))
            if match is not None:
                explained, labels, heads = match
                blemishes = sum(part.placed.blemishes for part in (labels, *heads))
                yield CellMatch(
                    (labels.placed.tokens,),
                    tuple(part.placed.tokens for part in heads),
                    (value.tokens,),
                    explained / total,
                    blemishes,
                    distance=_distance(value.box, [labels, *heads]),
                )


def _parts(grid: Grid, quote: Tokens) -> list[Part]:
    """The runs of a quote that are cells and name something."""
    return [
        part
        for part in find_parts(grid, quote)
        if not all(is_small(quote, number) for number in range(part.start, part.end))
    ]


def _is_label(grid: Grid, part: Part, value: Box) -> bool:
    """Whether a cell is beside a value, on the side where its script begins."""
    box = part.placed.box
    if not is_beside(box, value, grid.height):
        return False
    from_right = RIGHT_TO_LEFT.search(grid.text(grid.words_of(part.placed.tokens)))
    return box[0] >= value[2] if from_right else box[2] <= value[0]


def _is_head(grid: Grid, placed: Placed, value: Box) -> bool:
    return is_over(grid, placed.box, {grid.of_token[token] for token in placed.tokens}, value)


def _distance(box: Box, parts: Iterable[Part]) -> float:
    return sum(
        max(0.0, box[0] - part.placed.box[2], part.placed.box[0] - box[2])
        + max(0.0, box[1] - part.placed.box[3])
        for part in parts
    )


def _values(citation: TableCitation) -> list[tuple[int, int]]:
    """The runs of tokens that may be the value: after the colon, or the figures of a sentence."""
    tokens = citation.quote.tokens
    if citation.values:
        return [(start, len(tokens)) for start in citation.values]
    runs: list[tuple[int, int]] = []
    for number in range(len(tokens)):
        if not has_digit(tokens.keys[number]):
            continue
        runs.append((number, number + 1))
        end = number + 1
        while end < len(tokens) and tokens.is_number[end] and tokens.bonds[end] != "mark":
            end += 1
            runs.append((number, end))
    return sorted(runs, key=lambda run: (run[0] - run[1], -run[0]))


def _last_parts(quote: Tokens, parts: Iterable[Part]) -> list[tuple[int, int]]:
    """The cells with words and figures that the quote ends with, which may be a value of several lines."""
    ends = {(part.start, part.end) for part in parts if part.end == len(quote) and part.start}
    return sorted(each for each in ends if any(map(has_digit, quote.keys[slice(*each)])))


def _named(
    citation: TableCitation, grid: Grid, parts: Sequence[Part], value: Placed, own: tuple[int, int]
) -> tuple[float, Part, list[Part]] | None:
    """The letters that are explained, the label and the heads of a value; None without a label."""
    quote = citation.quote.tokens
    labels = [part for part in parts if _is_label(grid, part, value.box)]
    over = [part for part in parts if _is_head(grid, part.placed, value.box)]
    best: tuple[tuple[float, int, float], Part, list[Part]] | None = None
    for label in labels:
        heads = _chosen([part for part in over if _are_apart(part, label)], value.box)
        used = [own, (label.start, label.end), *((part.start, part.end) for part in heads)]
        covered = {number for start, end in used for number in range(start, end)}
        left = [n for n in range(len(quote)) if n not in covered and not is_filler(quote, n)]
        if not _may_be_left(citation, left, bool(heads)):
            continue
        explained = float(sum(len(quote.part(n, n + 1)) for n in range(len(quote)) if n not in left))
        blemishes = sum(part.placed.blemishes for part in (label, *heads))
        key = (explained, -blemishes, -_distance(value.box, [label, *heads]))
        if best is None or key > best[0]:
            best = key, label, heads
    return (best[0][0], best[1], best[2]) if best else None


def _may_be_left(citation: TableCitation, left: Sequence[int], has_heads: bool) -> bool:
    """Whether these tokens of a citation may be explained by nothing.

    None of `label, head: value`. Of a sentence that names label, head and value a third, without figures.
    """
    if not left:
        return True
    tokens = citation.quote.tokens
    if citation.values or not has_heads or any(has_digit(tokens.keys[n]) for n in left):
        return False
    return 3 * len(left) <= len(tokens)


def _are_apart(part: Part, other: Part) -> bool:
    return part.end <= other.start or part.start >= other.end


def _chosen(parts: Sequence[Part], value: Box) -> list[Part]:
    """Heads of different words: the longest first, of the same words the nearest above the value."""
    chosen: list[Part] = []
    order = sorted(
        parts,
        key=lambda p: (p.start - p.end, p.placed.blemishes, value[1] - p.placed.box[3]),
    )
    for part in order:
        if all(_are_apart(part, other) for other in chosen):
            chosen.append(part)
    return sorted(chosen, key=lambda part: part.placed.box[1])


# Citations of a cell that has another value.


def _other_values(citation: TableCitation, grid: Grid) -> Iterator[CellMatch]:
    """Cells that label and heads name and that have another value."""
    quote = citation.quote.tokens
    parts = _parts(grid, quote)
    total = sum(len(quote.part(n, n + 1)) for n in range(len(quote)))
    combinations = MAX_COMBINATIONS
    for start, end in _values(citation):
        others = [part for part in parts if part.end <= start or part.start >= end]
        found: list[tuple[CellMatch, bool]] = []
        for label in others:
            above = [part for part in others if part.placed.box[3] <= label.placed.box[3]]
            heads = [part for part in above if _are_apart(part, label)]
            combinations -= 1 + len(heads)
            if combinations < 0:
                return
            chosen, cells = _meeting(grid, heads, _row_cells(grid, label.placed))
            used = [(start, end), (label.start, label.end), *((part.start, part.end) for part in chosen)]
            covered = {number for low, high in used for number in range(low, high)}
            left = [n for n in range(len(quote)) if n not in covered and not is_filler(quote, n)]
            if left or not cells:
                continue
            near = [cell for cell in cells if _is_near(quote, (start, end), grid, cell)]
            letters = sum(len(quote.part(n, n + 1)) for n in range(len(quote)) if n < start or n >= end)
            match = CellMatch(
                (label.placed.tokens,),
                tuple(part.placed.tokens for part in chosen),
                tuple((near[:1] or cells)[:MAX_NAMED]),
                letters / total,
                distance=_distance(_box(grid, cells[0]), [label, *chosen]),
            )
            found.append((match, bool(near)))
        # A figure that is nearly the same shows which of several rows or columns is meant.
        best = [match for match, is_near in found if is_near] or [match for match, _ in found]
        most = max((len(match.heads) for match in best), default=0)
        best = [match for match in best if len(match.heads) == most]
        if best and (bool(citation.values) or most or any(is_near for _, is_near in found)):
            cells = list(dict.fromkeys(cell for match in best for cell in match.values))
            yield replace(best[0], differences=(_difference(citation.quote, (start, end), grid, cells),))


def _row_cells(grid: Grid, label: Placed) -> list[tuple[int, ...]]:
    """The cells with figures beside a label, from left to right."""
    cells = [
        tuple(range(*segment.tokens))
        for segment in segments_beside(grid, label.box)
        if is_beside(label.box, segment.box, grid.height)
    ]
    with_figures = [cell for cell in cells if any(has_digit(grid.pieces[token]) for token in cell)]
    return sorted(with_figures, key=lambda cell: grid.token_boxes[cell[0]][0])


def _meeting(
    grid: Grid, heads: Sequence[Part], cells: Sequence[tuple[int, ...]]
) -> tuple[list[Part], list[tuple[int, ...]]]:
    """The heads over cells of a row, and the cells that all of them are over; all cells without a head."""
    over = [
        (part, [cell for cell in cells if _is_head(grid, part.placed, _box(grid, cell))]) for part in heads
    ]
    over = [(part, own) for part, own in over if own]
    if not over:
        return [], list(cells)
    chosen = _chosen([part for part, _ in over], _box(grid, cells[0]))
    kept = [cell for cell in cells if all(cell in own for part, own in over if part in chosen)]
    return chosen, kept


def _box(grid: Grid, cell: Sequence[int]) -> Box:
    return union([grid.token_boxes[token] for token in cell])


def _is_near(quote: Tokens, own: tuple[int, int], grid: Grid, cell: tuple[int, ...]) -> bool:
    """Whether a cell has the value but for one digit."""
    ours = "".join(quote.keys[slice(*own)])
    theirs = "".join(grid.tokens.keys[token] for token in cell)
    return len(ours) == len(theirs) and Hamming.distance(ours, theirs) == 1


def _difference(
    quote: QuoteText, own: tuple[int, int], grid: Grid, cells: Sequence[tuple[int, ...]]
) -> Difference:
    named = [grid.text(grid.words_of(cell)) for cell in cells[:MAX_NAMED]]
    more = " | …" if len(cells) > MAX_NAMED else ""
    return Difference(text_of(quote, *own), " | ".join(named) + more, "number")


# Tables and rows with separators.


@dataclass(frozen=True, slots=True)
class _Row:
    """A cited row on the page: the place of each cell that was found, by its column, and the others."""

    cells: dict[int, Placed]
    missing: tuple[int, ...]

    @property
    def merit(self) -> tuple[int, int]:
        return len(self.cells), -sum(cell.blemishes for cell in self.cells.values())

    @property
    def box(self) -> Box:
        return union([cell.box for cell in self.cells.values()])


def _tables(citation: TableCitation, grid: Grid) -> Iterator[CellMatch]:
    """The places of a cited table: its rows below one another, its heads above them."""
    cache: dict[str, list[Placed]] = {}
    first, *rest = citation.rows
    for candidate in _rows(grid, first, cache):
        rows = [candidate]
        for cells in rest:
            below = [row for row in _rows(grid, cells, cache) if row.box[1] > rows[-1].box[1]]
            if below:
                rows.append(min(below, key=lambda row: row.box[1]))
        heads = {
            column: head
            for column, text in enumerate(citation.heads)
            if (head := _head(grid, text, column, rows, cache)) is not None
        }
        match = _table(citation, grid, rows, heads)
        if match is not None:
            yield match


def _table(
    citation: TableCitation, grid: Grid, rows: Sequence[_Row], heads: dict[int, Placed]
) -> CellMatch | None:
    wanted = [[QuoteText.of(cell) for cell in row] for row in (citation.heads, *citation.rows)]
    count = sum(bool(cell.tokens) for row in wanted for cell in row)
    placed = len(heads) + sum(len(row.cells) for row in rows)
    differences: list[Difference] = []
    values: list[tuple[int, ...]] = []
    labels: list[tuple[int, ...]] = []
    for cells, row in zip(wanted[1:], rows, strict=False):
        for column in sorted(row.cells):
            (labels if column == 0 else values).append(row.cells[column].tokens)
        for column in row.missing:
            own = _between(grid, row, column)
            text = " ".join(cells[column].words)
            if own:
                values.append(own)
            there = grid.text(grid.words_of(own)) if own else ""
            kind = "number" if any(map(has_digit, cells[column].tokens.keys)) else "word"
            differences.append(Difference(text, there, "number" if kind == "number" else "word"))
    for cells in wanted[1 + len(rows) :]:
        differences.append(Difference(" | ".join(" ".join(cell.words) for cell in cells), "", "word"))
    for column, cell in enumerate(wanted[0]):
        if cell.tokens and column not in heads:
            differences.append(Difference(" ".join(cell.words), "", "word"))
    if placed < MOST_CELLS * count or placed < 2:
        return None
    blemishes = sum(cell.blemishes for row in rows for cell in row.cells.values())
    blemishes += sum(head.blemishes for head in heads.values())
    return CellMatch(
        tuple(labels),
        tuple(dict.fromkeys(heads[column].tokens for column in sorted(heads))),
        tuple(values),
        placed / count,
        blemishes,
        tuple(differences),
        distance=sum(rows[0].box[1] - head.box[3] for head in heads.values()),
    )


def _places(grid: Grid, text: str, cache: dict[str, list[Placed]]) -> list[Placed]:
    if text not in cache:
        tokens = QuoteText.of(text).tokens
        cache[text] = find(grid, Phrase.of(tokens, 0, len(tokens))) if tokens else []
    return cache[text]


def _rows(grid: Grid, cells: Sequence[str], cache: dict[str, list[Placed]]) -> list[_Row]:
    """The best places of a row, from the top down."""
    wanted = [column for column, cell in enumerate(cells) if QuoteText.of(cell).tokens]
    found: list[_Row] = []
    # The longest cells are the rarest; if the first of them is misquoted, the second shows the row.
    for anchor in sorted(wanted, key=lambda column: (-len(cells[column]), column))[:2]:
        for placed in _places(grid, cells[anchor], cache):
            rows = [_row_at(grid, cells, wanted, anchor, placed, cache, step) for step in (1, -1)]
            found.append(max(rows, key=lambda row: row.merit))
    if not found:
        return []
    best = max(row.merit for row in found)
    kept: dict[tuple[float, ...], _Row] = {}
    for row in sorted((row for row in found if row.merit == best), key=lambda row: row.box[1]):
        kept.setdefault(row.box, row)
    return list(kept.values())


def _row_at(
    grid: Grid,
    cells: Sequence[str],
    wanted: Sequence[int],
    anchor: int,
    placed: Placed,
    cache: dict[str, list[Placed]],
    step: int,
) -> _Row:
    """The row that has its anchor at a place; `step` is -1 where columns run from right to left."""
    own = {anchor: placed}
    for columns, side in (
        ([c for c in wanted if c > anchor], step),
        ([c for c in wanted[::-1] if c < anchor], -step),
    ):
        edge = placed.box
        for column in columns:
            beside = [
                each
                for each in _places(grid, cells[column], cache)
                if is_beside(placed.box, each.box, grid.height)
                and (each.box[0] >= edge[2] - 1 if side > 0 else each.box[2] <= edge[0] + 1)
            ]
            if beside:
                nearest = min(beside, key=lambda each: (each.blemishes, abs(each.box[0] - edge[0])))
                own[column] = nearest
                edge = nearest.box
    return _Row(own, tuple(column for column in wanted if column not in own))


def _between(grid: Grid, row: _Row, column: int) -> tuple[int, ...]:
    """The cell of a row on the page where a cited one was not found: between its neighbours."""
    before = [row.cells[c].box[2] for c in row.cells if c < column]
    after = [row.cells[c].box[0] for c in row.cells if c > column]
    low, high = max(before, default=float("-inf")), min(after, default=float("inf"))
    if not before:
        return ()
    anchor = row.cells[max(c for c in row.cells if c < column)]
    inside = [
        segment
        for segment in segments_beside(grid, anchor.box)
        if segment.box[0] >= low - 1 and segment.box[2] <= high + 1
    ]
    return tuple(range(*min(inside, key=lambda s: s.box[0]).tokens)) if inside else ()


def _head(
    grid: Grid, text: str, column: int, rows: Sequence[_Row], cache: dict[str, list[Placed]]
) -> Placed | None:
    """The place of a head above its column, the nearest one."""
    value = rows[0].cells.get(column)
    top = rows[0].box[1] + SLACK * grid.height
    above = [each for each in _places(grid, text, cache) if each.box[3] <= top]
    if column == 0:  # the label's head may be at the far end of its column
        right = [cell.box[0] for number, cell in rows[0].cells.items() if number]
        above, value = [each for each in above if not right or each.box[2] <= min(right)], None
    if value is not None:
        above = [each for each in above if _is_head(grid, each, value.box)]
    return min(above, key=lambda each: (each.blemishes, top - each.box[3]), default=None)


def without_overlap(match: CellMatch) -> CellMatch:
    """Return a match in which no token is in two cells."""
    seen: set[int] = set()
    kept: list[tuple[tuple[int, ...], ...]] = []
    for group in (match.labels, match.heads, match.values):
        own = []
        for cell in group:
            if seen.isdisjoint(cell):
                own.append(cell)
                seen.update(cell)
        kept.append(tuple(own))
    return replace(match, labels=kept[0], heads=kept[1], values=kept[2])
