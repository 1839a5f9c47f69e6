"""Read a page's tables from its words: heads, sections, row labels and cells, ruled or not.

A row is a line with a label and figures, or with several figures; a dash fills a cell. Columns are where the
cells of the rows overlap, heads the words above them, nearest first by column. Lines without figures between
rows are sections or the beginning of a label that is wrapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import union
from proofspan.evidence.tables.grid import CACHED_PAGES, Grid, Segment, grid_of, is_figure
from proofspan.evidence.tables.relations import YEAR, is_over
from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.tokens import DASHES

#: A table has this many rows at least, and lines without figures follow one another up to this often.
MIN_ROWS, MAX_TEXT_LINES = 2, 3
#: Rows are at most this many line heights apart; heads and a caption are within `HEAD_LINES` above them.
ROW_GAP, HEAD_LINES = 4.0, 8
#: A line of one segment with more words is a sentence, not a heading.
MAX_HEADING_WORDS = 14
#: A head that is alone on its line begins at most this many line heights left of the columns.
TITLE_INDENT = 6.0
#: Rows and cells of one page that are read.
MAX_ROWS, MAX_CELLS = 2_000, 40_000
#: Marks that fill an empty cell.
EMPTY = frozenset(("-", "--", "n/a", "na", "nm", "*", "\u2021"))


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell's value with its column's head ("" without one), and boxes in points of the unrotated page."""

    value: str
    head: str
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row: its label, the heading of its section ("" without one), and its cells from left to right."""

    label: str
    section: str
    cells: tuple[TableCell, ...]
    label_boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table. `caption` has the lines above its rows that are no heads, such as "(in thousands)"."""

    caption: str
    rows: tuple[TableRow, ...]
    box: Box


def read_tables(page: PageText) -> tuple[Table, ...]:
    """Return the tables of a page, from the top down; none for a page with too many words, or none."""
    grid = grid_of(page)
    return tuple(each.table for each in tables_of(grid)) if grid is not None else ()


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table with the segments that its heads were read from, by the segment of each cell."""

    table: Table
    heads: dict[int, tuple[Segment, ...]]


@lru_cache(maxsize=CACHED_PAGES)
def tables_of(grid: Grid) -> tuple[ReadTable, ...]:
    """Return the tables of a page's grid, from the top down."""
    lines = [list(own) for _, own in groupby(grid.segments, key=lambda segment: segment.line)]
    found: list[ReadTable] = []
    cells = 0
    for start, end in _blocks(grid, lines):
        table = _table(grid, lines, start, end)
        cells += sum(len(row.cells) for row in table.table.rows)
        if cells > MAX_CELLS:
            break
        found.append(table)
    return tuple(found)


def head_of(grid: Grid, token: int) -> str:
    """Return the head of the column that a token's cell is in, "" where its table shows none."""
    number = grid.of_token[token]
    for each in tables_of(grid):
        if number in each.heads:
            return _text(grid, each.heads[number])
    return ""


def _blocks(grid: Grid, lines: Sequence[Sequence[Segment]]) -> Iterator[tuple[int, int]]:
    """The lines of each table's rows, half open: they begin and end with a row."""
    start, last, rows = 0, -1, 0
    for number, line in enumerate(lines):
        if not _is_row(grid, line):
            continue
        gap = line[0].box[1] - union([each.box for each in lines[last]])[3] if rows else 0.0
        between = lines[last + 1 : number]
        if rows and (
            len(between) > MAX_TEXT_LINES
            or gap > (ROW_GAP + 2 * len(between)) * grid.height
            or any(_is_sentence(each) for each in between)
            or rows >= MAX_ROWS
        ):
            if rows >= MIN_ROWS:
                yield start, last + 1
            rows = 0
        start = start if rows else number
        last, rows = number, rows + 1
    if rows >= MIN_ROWS:
        yield start, last + 1


def _is_sentence(line: Sequence[Segment]) -> bool:
    return len(line) == 1 and line[0].words[1] - line[0].words[0] > MAX_HEADING_WORDS


def _is_row(grid: Grid, line: Sequence[Segment]) -> bool:
    """Whether a line has cells with figures: beside a label, or several; years alone are heads."""
    cells = [each for each in line if _is_value(grid, each)]
    figures = [each for each in cells if any(map(is_figure, _words(grid, each)))]
    if not figures or len(line) < 2 or all(YEAR.match(_words(grid, each)[0]) for each in figures):
        return False
    # A figure alone that opens its line numbers a list.
    return len(cells) >= 2 or line[0] not in cells


def _is_value(grid: Grid, segment: Segment) -> bool:
    """Whether a segment is a cell of figures, or a mark that fills one."""
    words = _words(grid, segment)
    return all(is_figure(word) or not any(map(str.isalpha, word)) for word in words) or (
        len(words) == 1 and words[0].translate(DASHES).lower() in EMPTY
    )


def _table(grid: Grid, lines: Sequence[Sequence[Segment]], start: int, end: int) -> ReadTable:
    rows = [number for number in range(start, end) if _is_row(grid, lines[number])]
    labels = {number: _label(grid, lines[number]) for number in rows}
    values = {
        number: [s for s in lines[number] if s not in labels[number] and not _is_sign(grid, s)]
        for number in rows
    }
    above = _lines_above(grid, lines, start)
    heads = _heads(grid, above, [value for own in values.values() for value in own], labels.values())
    used = {each.number for own in heads.values() for each in own}
    sections = _Sections(grid)
    for line in above:
        if used.isdisjoint(each.number for each in line):
            sections.add(line)
        else:
            sections = _Sections(grid)
    read = []
    for number in range(start, end):
        if number not in values:
            sections.add(lines[number])
            continue
        label, section = sections.of(labels[number])
        cells = tuple(
            TableCell(_text(grid, [each]), _text(grid, heads[each.number]), _rects(grid, [each]))
            for each in values[number]
        )
        read.append(TableRow(_text(grid, label).strip(" :"), section, cells, _rects(grid, label)))
    caption = " ".join(_text(grid, [each]) for line in above for each in line if each.number not in used)
    own = [s for number in range(start, end) for s in lines[number]]
    own += [each for line in above for each in line if each.number in used]
    rects = grid.rects(range(min(s.words[0] for s in own), max(s.words[1] for s in own)))
    return ReadTable(Table(caption, tuple(read), union(rects)), heads)


def _label(grid: Grid, line: Sequence[Segment]) -> list[Segment]:
    return [] if _is_value(grid, line[0]) else [line[0]]


class _Sections:
    """The headings above a row: lines without figures, which a label may begin on as well."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        self.heading: Segment | None = None
        self.text = ""
        self.waiting: list[Segment] = []
        self.is_indented = False

    def add(self, line: Sequence[Segment]) -> None:
        """Read a line without figures; one of several segments is no heading."""
        if len(line) == 1:
            goes_on = _is_wrapped(self.grid, self.waiting, line[0])
            self.waiting = [*self.waiting, line[0]] if goes_on else [line[0]]

    def of(self, label: Sequence[Segment]) -> tuple[list[Segment], str]:
        """Return a row's whole label and its section, which ends where an indent does."""
        whole = list(label)
        if self.waiting and label and _is_wrapped(self.grid, self.waiting, label[0]):
            whole = [*self.waiting, *label]
        elif self.waiting:
            self.heading, self.text = self.waiting[0], _text(self.grid, self.waiting).strip(" :")
            self.is_indented = False
        self.waiting = []
        if self.heading is not None and label:
            is_within = label[0].box[0] > self.heading.box[0] + 1
            if self.is_indented and not is_within:
                self.heading, self.text = None, ""
            self.is_indented = self.is_indented or is_within
        return whole, self.text


def _lines_above(grid: Grid, lines: Sequence[Sequence[Segment]], start: int) -> list[Sequence[Segment]]:
    """The lines above the first row that may be heads or caption: up to a sentence, a row or a wide gap."""
    above: list[Sequence[Segment]] = []
    top = union([each.box for each in lines[start]])[1]
    for number in range(start - 1, max(-1, start - 1 - HEAD_LINES), -1):
        line = lines[number]
        box = union([each.box for each in line])
        if _is_sentence(line) or _is_row(grid, line) or top - box[3] > ROW_GAP * grid.height:
            break
        above.insert(0, line)
        top = box[1]
    return above


def _heads(
    grid: Grid,
    above: Sequence[Sequence[Segment]],
    values: Sequence[Segment],
    labels: Iterable[Sequence[Segment]],
) -> dict[int, tuple[Segment, ...]]:
    """The heads over each value, one of each line, from the top down. A column has the same ones.

    What begins in the column of the labels is a title or the labels' head.
    """
    edges = [label[0].box[0] for label in labels if label]
    edge = max(edges, default=float("-inf")) + grid.height
    left = min(value.box[0] for value in values)
    lines = [
        [s for s in line if s.tokens[0] < s.tokens[1] and (s.box[0] > edge or s.box[0] >= left)]
        for line in above
    ]
    found: dict[int, tuple[Segment, ...]] = {}
    for column in _columns(values):
        box = union([value.box for value in column])
        own = []
        for line in lines:
            over = [each for each in line if is_over(grid, [each.box], (each.number,), box)]
            is_title = len(line) == 1 and line[0].box[0] < left - TITLE_INDENT * grid.height
            own += [] if is_title else over[:1]
        found |= {value.number: tuple(own) for value in column}
    return found


def _columns(values: Sequence[Segment]) -> list[list[Segment]]:
    """The values whose boxes overlap across the page, column by column from the left."""
    columns: list[list[Segment]] = []
    reached = float("-inf")
    for value in sorted(values, key=lambda value: (value.box[0], value.number)):
        if value.box[0] >= reached:
            columns.append([])
        columns[-1].append(value)
        reached = max(reached, value.box[2])
    return columns


def _is_wrapped(grid: Grid, above: Sequence[Segment], label: Segment) -> bool:
    """Whether a label goes on from the line above: it begins in lower case, or that line ends open."""
    if not above or label.box[1] - above[-1].box[3] > grid.height:
        return False
    first, last = _words(grid, label)[0], _words(grid, above[-1])[-1]
    return (
        first[:1].islower()
        or last.endswith((",", "-", "\u2014", "\u2013"))
        or last in ("and", "of", "for", "to")
    )


def _is_sign(grid: Grid, segment: Segment) -> bool:
    """Whether a segment is a currency or percent sign apart from its figure; a dash is a cell."""
    return not any(
        any(map(str.isalnum, word)) or not word.translate(DASHES).strip("-") for word in _words(grid, segment)
    )


def _words(grid: Grid, segment: Segment) -> tuple[str, ...]:
    return grid.words[slice(*segment.words)]


def _text(grid: Grid, segments: Sequence[Segment]) -> str:
    return " ".join(grid.text(range(*segment.words)) for segment in segments)


def _rects(grid: Grid, segments: Sequence[Segment]) -> tuple[Box, ...]:
    return tuple(rect for segment in segments for rect in grid.rects(range(*segment.words)))
