"""Cut a passage into sentences, list items and table rows.

PDFs break lines anywhere and put table cells on lines of their own, other texts put them between bars or side
by side; all become rows, each with the characters that it occupies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from proofspan.diagnosis.claims.figures.dates import MONTHS
from proofspan.diagnosis.claims.sentences import sentences

#: `row`: a table's row with figures; `label`: a line of a few words, such as a heading or a table's head;
#: `key`: "Name: value", as chunkers write above a text; no page has it.
Role = Literal["sentence", "label", "key", "row"]

_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_ITEM = re.compile(r"\s*(?:[-*+•‣◦▪–—]\s+|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]\s+)")
_BARRED = re.compile(r"\s*\|.*\|\s*$")
_BAR_RULE = re.compile(r"[\s|:-]+$")
#: A line of a table that a PDF's text has spread over lines: no letter, but a digit, a dash or a currency.
_CELL = re.compile(r"\s*(?=\S*[\d$€£¥%—–-])[\W\d]*$")
#: Figures side by side, as only the cells of a table are. A number is taken whole or not at all, and looked
#: for from its beginning: in any other way a number of many digits takes hours.
_NUMBER = r"(?>(?:[$€£¥]\s?)?[-–−(]?(?:[$€£¥]\s?)?\d+(?:[.,]\d+)*(?:\s?[)%])*)"
_CELLS = re.compile(
    r"(?<!\d[.,])(?:(?<!\d)|(?!\d))"
    rf"{_NUMBER}(?:\s*[$€£¥(]\s*{_NUMBER}|\s+(?:{_NUMBER}|[—–-](?=\s)))+(?!\d|[.,]\d)"
)
#: What a text has in which they are in three places.
_THREE_FIGURES = re.compile(r"(?<!\d)\d++\D++\d++\D++\d")
_SHORT_ROW = re.compile(r"\s*[^\W\d_]\D{1,80}\d[\d.,]*(?:\s?[^\s.!?]{1,8})?\s*$")
_ENDS_SENTENCE = re.compile(r"[.!?:;。！？…][\"'”’»)\]]*\s*$")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_CAPTION = re.compile(r"\s*(?:table|tabelle|tableau|tab\.)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_WORDS = re.compile(r"[^\W\d_]{3}|[.!?]\s*$")
#: What chunkers write above a text: two or more lines "Company: …" and an empty one.
_KEYS = re.compile(r"(?:[^\W\d_][\w ]{0,30}:[ \t]\S[^\n]{0,200}\n){2,20}[ \t]*\n")
#: The longest line that may be the label of a row, or a label by itself.
_LABEL_MOST = 160
#: A sentence with figures side by side in as many places is a table that lost its line breaks.
_FLAT_ROWS_LEAST = 3
#: A line this much shorter than the widest of its paragraph ends there by intent, not for want of space.
_SHORT_LINE = 0.6
#: Lines side by side are rows, if as many are together, and of them less than a share begins in lower case,
#: as prose that goes on does, and less than a share ends as sentences do.
_ROWS_LEAST, _GOING_ON, _ENDING = 3, 0.25, 0.34


class Unit(NamedTuple):
    """A sentence, list item or table row: `text[start:end]`."""

    start: int
    end: int
    role: Role = "sentence"


class _Line(NamedTuple):
    """A line, or a row of several with its cells; `apart` says whether an empty line is before it."""

    start: int
    end: int
    apart: bool
    is_row: bool


def units_of(text: str) -> Iterator[Unit]:
    """Yield the sentences, list items and table rows of a text, in order, without the space around them."""
    if "\n" not in text and "\r" not in text:
        yield from _sentences(text, 0, len(text))
        return
    keys = _KEYS.match(text)
    above = keys.end() if keys else 0
    for match in _LINE.finditer(text, 0, above):
        yield Unit(*_trimmed(text, *match.span()), "key")
    block: list[_Line] = []
    in_table = False
    for line in _lines(text, above):
        if line.is_row or line.apart:
            yield from _block(text, block)
            block = []
        in_table = line.is_row or (in_table and not line.apart and not block and _is_short_row(text, line))
        if in_table:
            yield _unit(text, line.start, line.end, is_row=True)
        else:
            block.append(line)
    yield from _block(text, block)


def _lines(text: str, above: int) -> Iterator[_Line]:
    spans = [match.span() for match in _LINE.finditer(text, above) if not match[0].isspace()]
    place = behind = 0
    while place < len(spans):
        start, end = spans[place]
        apart = text.count("\n", behind, start) > 1
        line = text[start:end]
        place += 1
        is_row = True
        if _BARRED.match(line):
            if _BAR_RULE.match(line):
                behind = end
                continue
        elif not _ends_with_cells(line):
            last = place
            while last < len(spans) and _CELL.match(text[slice(*spans[last])]):
                last += 1
            cells = last - place
            stands_alone = apart or not behind
            goes_on = not stands_alone and line.lstrip()[:1].islower()
            is_row = cells > (not stands_alone) and not goes_on and end - start <= _LABEL_MOST
            if is_row:
                end, place = spans[last - 1][1], last
        yield _Line(start, end, apart, is_row)
        behind = end


def _ends_with_cells(line: str) -> bool:
    """Return whether a line is a label with figures side by side behind it."""
    first = _CELLS.search(line, 0, 3 * _LABEL_MOST)
    return first is not None and first.start() <= _LABEL_MOST and not _WORDS.search(line, first.start())


def _is_short_row(text: str, line: _Line) -> bool:
    """Return whether a line below a row is a row too: a label, one figure, at most a unit behind it."""
    return _SHORT_ROW.match(text, line.start, line.end) is not None


def _block(text: str, block: Sequence[_Line]) -> Iterator[Unit]:
    """Yield the units of lines without an empty one between."""
    lines = [text[line.start : line.end] for line in block]
    if len(block) >= _ROWS_LEAST and not _ITEM.match(lines[0]):
        going_on = sum(line.lstrip()[:1].islower() for line in lines[1:])
        ending = sum(_ENDS_SENTENCE.search(line) is not None for line in lines)
        if going_on < _GOING_ON * len(lines) and ending < _ENDING * len(lines):
            yield from (_unit(text, line.start, line.end, is_row=True) for line in block)
            return
    first, widest = 0, 0
    for number, line in enumerate(lines):
        if number and (_ITEM.match(line) or _breaks(lines[number - 1], line, widest)):
            yield from _paragraph(text, block[first].start, block[number - 1].end)
            first, widest = number, 0
        widest = max(widest, len(line))
    if block:
        yield from _paragraph(text, block[first].start, block[-1].end)


def _breaks(before: str, line: str, widest: int) -> bool:
    """Return whether a line begins a paragraph of its own behind the one before."""
    if line.lstrip()[:1].islower():
        return False
    return _ENDS_SENTENCE.search(before) is not None or len(before) < _SHORT_LINE * max(widest, len(line))


def _paragraph(text: str, start: int, end: int) -> Iterator[Unit]:
    if end - start <= _LABEL_MOST and "\n" not in text[start:end]:
        unit = _unit(text, start, end, is_row=False)
        if unit.role == "label":
            yield unit
            return
    yield from _sentences(text, start, end)


def _unit(text: str, start: int, end: int, *, is_row: bool) -> Unit:
    """Return a row, or a label: a caption, or a line without sentence end and without figures but years."""
    start, end = _trimmed(text, start, end)
    written = text[start:end]
    figures = _FIGURE.findall(written)
    is_label = _CAPTION.match(written) or (
        not _ENDS_SENTENCE.search(written)
        and not _ITEM.match(written)
        and (all(map(_YEAR.fullmatch, figures)) or _has_dates_alone(written))
    )
    return Unit(start, end, "label" if is_label else "row" if is_row else "sentence")


def _has_dates_alone(line: str) -> bool:
    """Return whether a line has dates and nothing else, as the head of a table may."""
    words = _WORD.findall(line)
    return any(word in MONTHS for word in words) and all(word.isdigit() or word in MONTHS for word in words)


def _sentences(text: str, start: int, end: int) -> Iterator[Unit]:
    """Yield the sentences of a paragraph, and the rows of a table that lost its line breaks."""
    for first, last in sentences(text[start:end]):
        first, last = start + first, start + last
        if last - first > _LABEL_MOST and _THREE_FIGURES.search(text, first, last):
            rows = list(_CELLS.finditer(text, first, last))
            if len(rows) >= _FLAT_ROWS_LEAST:
                for row in rows:
                    unit = _unit(text, first, row.end(), is_row=True)
                    is_head = all(map(_YEAR.fullmatch, _FIGURE.findall(row[0])))
                    yield unit._replace(role="label") if is_head else unit
                    first = row.end()
        first, last = _trimmed(text, first, last)
        if first < last:
            yield Unit(first, last)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
