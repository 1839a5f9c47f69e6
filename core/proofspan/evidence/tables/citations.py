"""Read how a quote cites a table: rows with separators, `label: value`, `label, head: value`, sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proofspan.evidence.text.page_text import QuoteText
from proofspan.evidence.text.tokens import Tokens, fold

#: Longer quotes cite no row, column or cell; tables with separators may be longer.
MAX_TOKENS = 60
#: A longer run of tokens is a row or column where this share of them are figures.
MAX_FIGURES, SHARE_OF_FIGURES = 400, 0.5
#: Rows and cells of a cited table that are looked for.
MAX_ROWS, MAX_CELLS = 60, 400
#: A row of two cells says what `label: value` says.
LABEL_AND_VALUE = 2
RULE = re.compile(r"[\s|:=+-]*-[\s|:=+-]*")
PIPE = re.compile(r"(?<!\\)\|")
BREAK = re.compile(r"<br ?/?>|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}")
COLON = re.compile(r":\s+(?=\S)")
#: Words that no cell consists of, and others of a sentence that say how label, head and value belong
#: together.
_SMALL = """
    a an the of for in on at as by to and was were is are been be had has have with from it its that which
    im in der die das des den dem ein eine für zum zur von am war waren ist sind und bei
    le la les l de du d des un une en au aux pour était étaient est sont et à
"""
_JOINING = """
    amounted came stood equals equal totaled totalled reads shows showed listed reported recorded given
    value figure table row column year fiscal fy according per cell under both during ended end
    betrug betrugen lag lagen belief élève élevait
"""
SMALL_WORDS = frozenset(map(fold, _SMALL.split()))
FILLER = SMALL_WORDS | frozenset(map(fold, _JOINING.split()))


@dataclass(frozen=True, slots=True)
class TableCitation:
    """A quote as a citation of a table.

    `rows` are the cells of a Markdown or tabbed table, empty for other wordings, and `heads` its header row
    if it has one. `values` are the tokens after a colon, where the value of `label: value` may begin; there
    are none in other wordings.
    """

    quote: QuoteText
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    values: tuple[int, ...] = ()
    note: str = ""

    @property
    def has_separators(self) -> bool:
        """Return whether the quote shows where its cells end."""
        return bool(self.rows)


def read_citation(text: str) -> TableCitation | None:
    """Return a quote as a citation of a table; None if it does not look like one."""
    quote = QuoteText.of(text)
    if not quote.tokens:
        return None
    if "|" in text or "\t" in text:
        return _with_separators(text, quote)
    count, figures = len(quote.tokens), sum(has_digit(key) for key in quote.tokens.keys)
    if count > MAX_TOKENS and not (count <= MAX_FIGURES and figures >= SHARE_OF_FIGURES * count):
        return None
    before = [len(QuoteText.of(text[: colon.start()]).tokens) for colon in COLON.finditer(text)]
    return TableCitation(quote, values=tuple(number for number in before if 0 < number < count))


def has_digit(key: str) -> bool:
    """Return whether a token has a digit."""
    return any(map(str.isdigit, key))


def is_filler(tokens: Tokens, number: int) -> bool:
    """Return whether a token of a sentence may be on the page or not."""
    return tokens.keys[number] in FILLER


def is_small(tokens: Tokens, number: int) -> bool:
    """Return whether a token names nothing."""
    return tokens.keys[number] in SMALL_WORDS


def _with_separators(text: str, quote: QuoteText) -> TableCitation | None:
    lines = [line.strip("\r\n ") for line in text.splitlines() if line.strip()]
    by_pipe = sum("|" in line for line in lines) >= sum("\t" in line for line in lines)
    rows: list[tuple[str, ...]] = []
    heads: tuple[str, ...] = ()
    note = ""
    for line in lines:
        if by_pipe and "|" in line and RULE.fullmatch(line):
            if len(rows) == 1 and not heads:
                heads = rows.pop()
            continue
        cells = _cells(line, by_pipe=by_pipe)
        if len(rows) >= MAX_ROWS or len(cells) > MAX_CELLS:
            note = f"only the first {MAX_ROWS} rows of {MAX_CELLS} cells of the table were searched for"
        if len(rows) < MAX_ROWS:
            rows.append(cells[:MAX_CELLS])
    rows = [row for row in rows if any(map(str.strip, row))]
    if not rows or max(map(len, rows)) < 2:
        return None
    counts = [count for cell in rows[0] if (count := len(QuoteText.of(cell).tokens))]
    if not heads and len(rows) == 1 and len(counts) == LABEL_AND_VALUE:
        return TableCitation(quote, values=(counts[0],))
    return TableCitation(quote, heads, tuple(rows), note=note)


def _cells(line: str, *, by_pipe: bool) -> tuple[str, ...]:
    if not by_pipe:
        return tuple(cell.strip() for cell in line.split("\t"))
    cells = PIPE.split(line)
    if line.startswith("|"):
        cells = cells[1:]
    if line.endswith("|") and cells:
        cells = cells[:-1]
    return tuple(BREAK.sub(" ", cell).replace("\\|", "|").strip() for cell in cells)
