"""Whether a claim's figure is in the cell of a table that the claim names, or in another one.

A figure that is somewhere in a table does not support a claim about another row or column of it. A passage's
text has no columns: the row is found by the words of its label, the column by a head of dates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from proofspan.diagnosis.claims.differences.parts import JOINS
from proofspan.diagnosis.claims.figures import Figure, agrees
from proofspan.diagnosis.claims.figures.dates import covers
from proofspan.diagnosis.claims.figures.units import NO_UNIT
from proofspan.diagnosis.claims.read_claim import ReadClaim
from proofspan.diagnosis.claims.source import SourceText, TableRow
from proofspan.diagnosis.claims.types import ClaimDifference
from proofspan.diagnosis.claims.word_forms import forms_in, stop_forms
from proofspan.diagnosis.words import tokens

#: Rows of one table that are compared, around the best.
MOST_ROWS = 200
#: A claim with more figures than these names no single cell.
MOST_FIGURES = 12
#: Words that make a label the opposite of the one without them; no stop words here.
WITHOUT = frozenset("without ohne sans".split())  # noqa: SIM905
#: What a row is called by: E7, F21, P-104.
_CODE = re.compile(r"(?<![\w-])[A-Z]{1,3}-?\d{1,4}(?![\w-])")
#: Words of a row that say nothing about its subject.
_TOTALS = frozenset("total sum overall insgesamt gesamt summe".split())  # noqa: SIM905


class WrongCell(NamedTuple):
    """A claim's figure, the one that the cell has, and the number of the cell's row among the units."""

    claimed: Figure
    found: Figure
    unit: int


class _Row(NamedTuple):
    """A row: its words that the claim has, its label as written and its words, and its figures."""

    unit: int
    shared: frozenset[str]
    written: str
    label: frozenset[str]
    figures: tuple[Figure, ...]


def wrong_cell(claim: ReadClaim, source: SourceText, unit: int) -> WrongCell | None:
    """Return the first figure of a claim that is in another cell than the one that the claim names.

    None where the table leaves it open: several rows are as good, the label says more than the claim, or the
    cell has no figure of the same kind.
    """
    if source.units[unit].role != "row":
        return None
    figures = list(dict.fromkeys(each for each in claim.figures.values() if each.kind == "number"))
    if not 0 < len(figures) <= MOST_FIGURES:
        return None
    table = _table_of(source, unit)
    rows: list[_Row] = []
    for figure in figures:
        agreeing = {
            source.figures[place].start
            for _, places in source.figure_index.all_agreeing(figure)
            for place in places
        }
        begin, end = source.units[table[0]].start, source.units[table[-1]].end
        if not any(begin <= start < end for start in agreeing):
            continue
        rows = rows or [_row(claim, source, number) for number in table]
        holders = [row for row in rows if any(each.start in agreeing for each in row.figures)]
        if not holders:
            continue
        best = _named(claim, rows, figure, frozenset.intersection(*(row.label for row in holders)))
        if best is None:
            continue
        if best in holders:
            found = _other_column(claim, source, best, figure, figures)
        else:
            found = _other_row(best, holders, figure)
        if found is not None:
            return WrongCell(figure, found, best.unit)
    return None


def wrong_code(claim: ReadClaim, source: SourceText, unit: int) -> ClaimDifference | None:
    """Return the code of a row that a claim names together with what another row says: fuse E7, fuel pump.

    The claim has one code of the table, and all words of the other row's label, which no other row has, but
    none of those that only its own row has. With "and" it may say two things.
    """
    if source.units[unit].role != "row":
        return None
    codes = {match[0]: match.start() for match in _CODE.finditer(claim.text)}
    if not codes or not JOINS.isdisjoint(tokens(claim.text)):
        return None
    rows = {
        match[0]: (number, match.start())
        for number in _table_of(source, unit)
        if (match := _CODE.match(source.text, source.units[number].start)) is not None
    }
    named = [code for code in rows if code in codes]
    its = next((code for code, (number, _) in rows.items() if number == unit), None)
    if len(named) != 1 or its is None or its in codes:
        return None
    words = {code: _words_of_row(claim, source, number, code) for code, (number, _) in rows.items()}
    own, other = words[named[0]] - words[its], words[its] - words[named[0]]
    others = frozenset[str]().union(*[words[code] for code in rows if code not in (named[0], its)])
    has_all = bool(other - others) and other <= others.union(claim.forms)
    if not has_all or not own or not own.isdisjoint(claim.forms):
        return None
    claimed, start, found = named[0], codes[named[0]], rows[its][1]
    return ClaimDifference("name", claimed, start, start + len(claimed), its, found, found + len(its))


def _words_of_row(claim: ReadClaim, source: SourceText, number: int, code: str) -> frozenset[str]:
    """Return the words of a row but its code, its figures and little ones."""
    found = [form for form in source.forms_of(number) if form.isalpha() and len(form) > 1]
    return frozenset(found) - stop_forms(claim.language) - frozenset(forms_in(code, source.language))


def _table_of(source: SourceText, unit: int) -> range:
    """Return the units of the rows beside a row."""
    first = last = unit
    units = source.units
    while first > max(0, unit - MOST_ROWS) and units[first - 1].role == "row":
        first -= 1
    while last < min(len(units), unit + MOST_ROWS) - 1 and units[last + 1].role == "row":
        last += 1
    return range(first, last + 1)


def _row(claim: ReadClaim, source: SourceText, number: int) -> _Row:
    key = number, claim.language
    if key not in source.rows:
        source.rows[key] = _read_row(source, number, claim.language)
    words, written, label = source.rows[key]
    shared = words.intersection(claim.forms) - stop_forms(claim.language).difference(WITHOUT)
    return _Row(number, shared, written, label, tuple(source.figures_in(number)))


def _read_row(source: SourceText, number: int, language: str | None) -> TableRow:
    figures, unit = source.figures_in(number), source.units[number]
    words = forms_in(source.text_of(number), source.language)
    digits = {word for figure in figures for word in forms_in(figure.text, source.language)}
    stops = stop_forms(language) - WITHOUT
    label: list[str] = []
    for word in words:
        if word in digits:
            if label:
                break
        elif word not in stops and word not in _TOTALS:
            label.append(word)
    first = next((each.start for each in figures if each.kind != "label"), unit.end)
    written = source.text[unit.start : first].strip(" \t$€£(|:.").casefold()
    return TableRow(frozenset(words), written, frozenset(label))


def _named(claim: ReadClaim, rows: Sequence[_Row], figure: Figure, common: frozenset[str]) -> _Row | None:
    """Return the row that a claim names.

    The claim has its label word for word, and that of no other row; or it has all words of the label, except
    those that are `common` to the rows with its figure, and more words of the row than of any other.
    """
    text = claim.text.casefold()
    exact = [row for row in rows if row.written and _has_phrase(text, row.written)]
    if exact:
        longest = max(exact, key=lambda row: len(row.written))
        if all(row is longest or row.written in longest.written != row.written for row in exact):
            return longest
    own = set(forms_in(figure.text, claim.language))
    known = common.union(claim.forms)
    named = [row for row in rows if row.label and row.label <= known]
    if not named:
        return None
    best = max(named, key=lambda row: sum([claim.weights.get(word, 0.0) for word in row.shared - own]))
    rivals = [row for row in rows if row is not best and not row.shared - own < best.shared - own]
    return None if rivals else best


def _has_phrase(text: str, phrase: str) -> bool:
    return phrase in text and re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


def _other_row(best: _Row, holders: Sequence[_Row], figure: Figure) -> Figure | None:
    """Return the only figure of the same unit that the named row has, where another row has the claim's.

    Tables may give units in their heads.
    """
    numbers = [each for each in best.figures if each.kind == "number"]
    same = [each for each in numbers if each.unit == figure.unit] or [
        each for each in numbers if each.unit == NO_UNIT
    ]
    is_telling = all(row.label for row in holders)
    return same[0] if len(same) == 1 and is_telling else None


def _other_column(
    claim: ReadClaim, source: SourceText, row: _Row, figure: Figure, figures: Sequence[Figure]
) -> Figure | None:
    """Return the row's figure in the column that the claim names, where the claim has another column's."""
    cells = [each for each in row.figures if each.kind == "number"]
    first = row.unit
    while first and source.units[first].role == "row":
        first -= 1
    named = _by_date(claim, source, first, len(cells)) if len(figures) == 1 else None
    if named is None:
        cells = [each for each in cells if each.unit == figure.unit]
        named = _by_words(claim, source, first, row, len(cells))
    held = [place for place, cell in enumerate(cells) if agrees(figure, cell)]
    return cells[named] if named is not None and held and named not in held else None


def _by_date(claim: ReadClaim, source: SourceText, head: int, columns: int) -> int | None:
    """Return the number of the column whose head is the claim's only date."""
    dates = list(dict.fromkeys(date for each in claim.figures.values() for date in each.dates))
    heads = [each.dates for each in source.figures_in(head) if each.dates]
    if len(dates) != 1 or len(heads) != columns:
        return None
    named = [place for place, at in enumerate(heads) if any(covers(dates[0], date) for date in at)]
    return named[0] if len(named) == 1 else None


def _by_words(claim: ReadClaim, source: SourceText, head: int, row: _Row, columns: int) -> int | None:
    """Return the number of the column whose head the claim has, if heads can be cut into equal parts.

    A head without its columns is a run of words: one for the labels, then as many for each column.
    """
    words = forms_in(source.text_of(head), source.language)[1:]
    size, left = divmod(len(words), columns) if columns > 1 else (0, 0)
    if not size or left:
        return None
    parts = [frozenset(words[place * size : (place + 1) * size]) for place in range(columns)]
    common = frozenset.intersection(*parts)
    known = frozenset(claim.forms) - row.label - common
    parts = [part - common for part in parts]
    named = [place for place, part in enumerate(parts) if part and part <= known]
    touched = [place for place, part in enumerate(parts) if part & known]
    return named[0] if len(named) == 1 and named == touched else None
