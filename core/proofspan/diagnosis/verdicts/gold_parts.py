"""The passages that a gold question's answer needs, prepared to be looked for in many texts.

They are the quotes of its spans, else the texts of its chunks, else its anchor. Each is weighed word by word:
figures most, headings and little words least. Where the anchor or the expected answer shows which of a
passage's words the answer rests on, a text that has those is enough.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, takewhile
from operator import attrgetter
from typing import NamedTuple

from proofspan.contracts.records.records import GoldQuestion
from proofspan.diagnosis.claims.derived import derivation
from proofspan.diagnosis.claims.figures import Figure, FigureIndex, figures_of, scale_of
from proofspan.diagnosis.claims.figures.dates import MONTHS
from proofspan.diagnosis.claims.figures.index import sameness_of
from proofspan.diagnosis.claims.units import Unit, units_of
from proofspan.diagnosis.claims.word_forms import forms_in, language_of, stop_forms, stop_words
from proofspan.diagnosis.verdicts.runs_of_words import Passage, Piece, Run, Squeezed, clusters, pieces_of
from proofspan.traces.records.chunks import Places
from proofspan.traces.records.trace_record import place_by_id

#: A page of a document: its doc_id and 0-based index.
Page = tuple[str | None, int]

#: Passages of one question, and characters of one, that are followed.
MOST_PARTS, MOST_QUOTE = 40, 20_000
#: A text with this share has a passage: one word in ten may be read otherwise by another program.
WHOLE = 0.9
#: Figures of a table for each that may be lost.
_LONG_TABLE = 30
#: The share of a sentence or row that says what it does, and the weight from which a whole one is telling.
_STATEMENT, _STATEMENT_LEAST = 0.8, 4.0
#: A text of another page than gold's must have this share of the words and of the figures, as pages share
#: headings and standing phrases.
_ELSEWHERE = 0.5
#: The weight of words that follow one another without which they are a phrase that any text has: a short
#: sentence. Of a shorter passage half, or a quarter where the text begins or ends within the passage.
_TELLING, _UNCUT_SHARE, _CUT_SHARE = 8.0, 0.5, 0.25
#: The weight of words in a row, none of them other, that no two texts have by chance.
_UNBROKEN = 10.0
#: Letters before or behind words that begin or end a text, which may be cut there within a sentence or word.
#: Elsewhere few words of a long sentence are a phrase.
_EDGE = 10
#: What a word counts: numbers must be there, headings are on many pages.
_FIGURE, _WORD, _LITTLE, _HEADING = 2.0, 1.0, 0.25, 0.25
#: Words of a label that names one row, figures of an expected answer, and places of one in the passages: of
#: more, any may be meant.
_NAMING, _MOST_CLAIMED, _MOST_PLACES = 2, 20, 8
#: The share of an expected answer's words that its figures' rows and the question need not have.
_MOST_UNKNOWN = 1 / 3
#: Sums that are remembered of a passage.
_MOST_SUMS = 1_000
#: A line with a page's number at either end of a passage, and the number of a footnote.
_PAGE_NUMBER = re.compile(r"(?:\A\s*(?=\d+\s*\n)|\n\s*(?=\d+\s*\Z))(\d{1,4})\b")
_NOTE_NUMBER = re.compile(r"[(\[](\d)[)\]]")
_ITEM_NUMBER = re.compile(r"^[ \t]*\(?(\d{1,3})[.)]\s", re.MULTILINE)
_ENDS = re.compile(r"[.!?:;。！？…]\W*\Z")
#: Years and days say when; tables have them in their heads.
_YEAR, _MONTHS = re.compile(r"(?:19|20)\d\d"), frozenset(map(str.casefold, MONTHS))
#: Zeros that only say how exact a figure is; behind a separator of thousands they say more.
_LAST_ZEROS = re.compile(r"(\d\.(?!\d{3}(?!\d))\d*?)0+(?!\d)")


class Held(NamedTuple):
    """The words of a passage that a text has, as bits, their share in 0–1, and their characters there."""

    words: int
    share: float
    start: int
    end: int


class _Needed(NamedTuple):
    """Words of which most must be there, and figures all of which must, as bits."""

    words: int
    figures: int


class PreparedPart:
    """A passage with the pages that gold names for it, ready to be looked for in many texts."""

    def __init__(self, quote: str, pages: Iterable[Page]) -> None:
        self.text = quote
        self.pages = tuple(pages)
        self.doc_id: str | None = self.pages[0][0] if self.pages else None
        self.page_idx = self.pages[0][1] if self.pages else None
        self.pieces: list[Piece] = list(pieces_of(quote[:MOST_QUOTE]))
        self.passage = Passage([piece.key for piece in self.pieces])
        # What the expected answer rests on: each in one of several places; empty where nothing shows that.
        self._needed: list[list[_Needed]] = []
        self._sums: dict[int, tuple[float, bool | None]] = {}

    @property
    def words(self) -> int:
        """Return all words as bits."""
        return (1 << len(self.pieces)) - 1

    def held_in(self, text: str, squeezed: Squeezed, *, on_page: bool) -> Held | None:
        """Return what a text has of the passage, None for nothing but phrases that any text may have.

        `on_page`: it is on the gold page, or nobody knows.
        """
        runs = self.passage.runs_in(squeezed)
        words = 0
        best, start, end = (False, -1.0), 0, 0
        for cluster in clusters(runs):
            found = sum(((1 << run.last) - (1 << run.first)) for run in cluster)
            weight = self._weight(found)
            if self._is_telling(cluster, found, text, squeezed) or self.sums(found)[1]:
                words |= found
                if (key := (self.sums(found)[1] is True, weight)) > best:
                    best, start, end = key, cluster[0].start, cluster[-1].end
        if not words:
            return None
        share, has_answer = self.sums(words)
        if not (on_page or has_answer) and (share < _ELSEWHERE or not self._has_figures(words)):
            return None
        first, last = squeezed.word_at(start), squeezed.word_at(end) - 1
        there = list(islice(pieces_of(text), last + 1))
        return Held(words, share, there[first].start, there[last].end)

    def _is_cut(self, cluster: Sequence[Run], text: str, squeezed: Squeezed) -> bool:
        """Return whether a text begins or ends within a sentence or row of the passage."""
        first, last = cluster[0], cluster[-1]
        if first.first > 0:
            head = max((unit.end for unit in takewhile(_is_key, units_of(text))), default=0)
            above = sum(1 for _ in pieces_of(text[:head]))
            begins = squeezed.starts[above] if above < len(squeezed.starts) else 0
            if first.start <= begins + _EDGE and not text[head:].lstrip()[:1].isupper():
                return True
        ends_inside = last.last < len(self.pieces) and last.end >= len(squeezed.line) - _EDGE
        return ends_inside and not _ENDS.search(text.rstrip()[-_EDGE:])

    def sums(self, words: int) -> tuple[float, bool | None]:
        """Return the share of words given as bits, and whether what the expected answer rests on is there."""
        known = self._sums.get(words)
        if known is None:
            if len(self._sums) >= _MOST_SUMS:
                self._sums.clear()
            has_answer = None
            if self._needed:
                has_answer = all(any(self._has(each, words) for each in group) for group in self._needed)
            share = min(1.0, self._weight(words) / self.total) if self.total else 0.0
            known = self._sums[words] = round(share, 4), has_answer
        return known

    def with_repeated(self, words: int) -> int:
        """Return words as bits with those of sentences and rows that repeat one that is there."""
        for repeated in self.repeated:
            if any(each & ~words == 0 for each in repeated):
                for each in repeated:
                    words |= each
        return words

    def is_whole(self, words: int) -> bool:
        """Return whether words given as bits are the passage, with its figures and what the answer rests on.

        Of a long table one figure may be cut in two, or read otherwise.
        """
        lost = (self.figures & ~words).bit_count()
        share, has_answer = self.sums(words)
        return lost * _LONG_TABLE <= self.figures.bit_count() and share >= WHOLE and has_answer is not False

    def _is_telling(self, cluster: Sequence[Run], words: int, text: str, squeezed: Squeezed) -> bool:
        """Return whether words that follow one another are more than a phrase: most of a sentence or row.

        Where the text is cut within the passage, the rest may be in another.
        """
        weight = self._weight(words)
        if any(sum(self.weights[run.first : run.last]) >= _UNBROKEN for run in cluster):
            return True
        if weight >= min(_TELLING, self.total * _CUT_SHARE) and self._is_cut(cluster, text, squeezed):
            return True
        is_long = weight >= min(_TELLING, self.total * _UNCUT_SHARE)
        return any(
            self._weight(words & statement) >= total * (_STATEMENT if is_long else WHOLE)
            for statement, total in self.statements
            if words & statement and (is_long or total >= _STATEMENT_LEAST)
        )

    def _has_figures(self, words: int) -> bool:
        return (self.figures & words).bit_count() >= _ELSEWHERE * self.figures.bit_count()

    def _has(self, needed: _Needed, words: int) -> bool:
        if needed.figures & ~words:
            return False
        return self._weight(needed.words & words) >= _STATEMENT * self._weight(needed.words)

    def _weight(self, words: int) -> float:
        return sum(self.weights[number] for number in _numbers(words))

    @cached_property
    def units(self) -> list[Unit]:
        """Return the sentences, rows and headings of the passage."""
        return list(units_of(self.text[:MOST_QUOTE]))

    @cached_property
    def statements(self) -> list[tuple[int, float]]:
        """Return the words of each sentence and row as bits, and their weight; of headings alone all."""
        found = [
            _bits(self._within(unit.start, unit.end))
            for unit in self.units
            if unit.role not in ("label", "key")
        ]
        return [(words, self._weight(words)) for words in found if words] or [(self.words, self.total)]

    @cached_property
    def repeated(self) -> list[list[int]]:
        """Return the sentences and rows that are in the passage several times, as bits."""
        found: dict[tuple[str, ...], list[int]] = {}
        for unit in self.units:
            within = self._within(unit.start, unit.end)
            keys = tuple(self.pieces[number].key for number in within)
            if keys:
                found.setdefault(keys, []).append(_bits(within))
        return [each for each in found.values() if len(each) > 1]

    @cached_property
    def weights(self) -> list[float]:
        """Return what each word counts."""
        text = self.text[:MOST_QUOTE]
        stops = stop_words(language_of(text))
        keys = ["", *(piece.key for piece in self.pieces), ""]
        weights = []
        for number, (key, start, end) in enumerate(self.pieces):
            if not key[0].isdigit():
                weights.append(_LITTLE if text[start:end].lower() in stops else _WORD)
            elif start in self._marks or _YEAR.fullmatch(key):
                weights.append(_LITTLE)
            else:
                is_day = len(key) <= 2 and not {keys[number], keys[number + 2]}.isdisjoint(_MONTHS)
                weights.append(_LITTLE if is_day else _FIGURE)
        for unit in self.units:
            if unit.role in ("label", "key"):
                for number in self._within(unit.start, unit.end):
                    weights[number] *= _HEADING
        return weights

    @cached_property
    def _marks(self) -> set[int]:
        """Return where numbers are that count pages, footnotes or items, and so claim nothing."""
        text = self.text[:MOST_QUOTE]
        patterns = _PAGE_NUMBER, _NOTE_NUMBER, _ITEM_NUMBER
        return {match.start(1) for pattern in patterns for match in pattern.finditer(text)}

    @cached_property
    def total(self) -> float:
        """Return the weight of all words."""
        return sum(self.weights)

    @cached_property
    def figures(self) -> int:
        """Return the figures without which the passage is not whole, as bits."""
        pairs = enumerate(self.pieces)
        return _bits(
            number for number, piece in pairs if piece.key[0].isdigit() and piece.start not in self._marks
        )

    @cached_property
    def read_figures(self) -> list[Figure]:
        """Return the figures of the passage by value."""
        text = self.text[:MOST_QUOTE]
        return figures_of(text, language=language_of(text) or "")

    def rests_on(self, start: int, end: int) -> None:
        """Note that the expected answer rests on characters of the passage."""
        words = self._within(start, end)
        if words:
            self._needed.append([_Needed(_bits(words), _bits(words) & self.figures)])

    def rests_on_one_of(self, figures: Iterable[Figure]) -> None:
        """Note that the expected answer rests on the row or sentence of one of these figures."""
        group = []
        for figure in figures:
            unit = self.unit_of(figure)
            words = _bits(self._within(unit.start, unit.end))
            group.append(_Needed(words, _bits(self._within(figure.start, figure.end)) & self.figures))
        if group:
            self._needed.append(group)

    def row_figures(self, words: frozenset[str], language: str | None) -> list[Figure]:
        """Return the figures of the one row whose label has no other words; none if several rows have."""
        rows: dict[tuple[int, int], list[Figure]] = {}
        for figure in self.read_figures:
            unit = self.unit_of(figure)
            if unit.role == "row":
                rows.setdefault((unit.start, unit.end), []).append(figure)
        stops = stop_forms(language)
        named = []
        for (start, _), figures in rows.items():
            label = frozenset(forms_in(self.text[start : figures[0].start], language)) - stops
            if len(label) >= _NAMING and label <= words:
                named.append(figures)
        return named[0] if len(named) == 1 else []

    @cached_property
    def needed(self) -> tuple[tuple[int, int], ...]:
        """Return the characters that the expected answer rests on, of each in several places the first."""
        pieces = self.pieces
        spans = {
            (pieces[next(_numbers(group[0].words))].start, pieces[group[0].words.bit_length() - 1].end)
            for group in self._needed
        }
        return tuple(sorted(spans))

    def unit_of(self, figure: Figure) -> Unit:
        """Return the sentence, row or heading in which a figure begins."""
        at = max(bisect_right(self.units, figure.start, key=attrgetter("start")) - 1, 0)
        return self.units[at]

    def _within(self, start: int, end: int) -> range:
        """Return the numbers of the words that begin within characters of the passage."""
        first = bisect_left(self.pieces, start, key=attrgetter("start"))
        return range(first, bisect_left(self.pieces, end, key=attrgetter("start")))


#: A figure of a passage.
_Printed = tuple[PreparedPart, Figure]


def prepared_parts(gold: GoldQuestion, texts: Mapping[str, str], places: Places) -> list[PreparedPart]:
    """Return the passages that a question's answer needs; none where gold has no words.

    A quote that repeats another, or is part of it, is no passage of its own. At most `MOST_PARTS` are
    followed.
    """
    found: dict[str, tuple[str, list[Page]]] = {}
    squeezed: dict[str, Squeezed] = {}
    for quote, page in _quotes(gold, texts, places):
        keys = [piece.key for piece in pieces_of(quote[:MOST_QUOTE])]
        if not keys:
            continue
        text = Squeezed(keys)
        line = text.line
        if line not in found:
            if len(found) == MOST_PARTS:
                break
            found[line] = quote, []
            squeezed[line] = text
        if page is not None and page not in found[line][1]:
            found[line][1].append(page)
    parts = [
        PreparedPart(*found[line])
        for line in found
        if not any(len(line) < len(other) and text.find(line) >= 0 for other, text in squeezed.items())
    ]
    _find_needed(parts, gold)
    return parts


def _quotes(
    gold: GoldQuestion, texts: Mapping[str, str], places: Places
) -> Iterator[tuple[str, Page | None]]:
    quoted = False
    for span in gold.spans:
        if span.quote.strip():
            quoted = True
            yield span.quote, None if span.page_idx is None else (span.doc_id, span.page_idx)
    if quoted:
        return
    for chunk_id in gold.chunks:
        if text := texts.get(chunk_id, "").strip():
            quoted = True
            place = places.get(chunk_id) or place_by_id(chunk_id)
            yield text, None if place.page_idx is None else (place.doc_id, place.page_idx)
    if not quoted and gold.anchor and not gold.chunks:
        pages = dict.fromkeys(
            (span.doc_id, span.page_idx) for span in gold.spans if span.page_idx is not None
        )
        yield gold.anchor, next(iter(pages)) if len(pages) == 1 else None


def _find_needed(parts: Sequence[PreparedPart], gold: GoldQuestion) -> None:
    """Note what the expected answer rests on: the anchor, else its figures, else what they follow from."""
    if gold.anchor and _has_anchor(parts, gold.anchor):
        return
    if not gold.answer or not any(map(str.isdigit, gold.answer)):
        return
    asked = FigureIndex(figures_of(gold.q[:MOST_QUOTE]))
    answer = _LAST_ZEROS.sub(r"\1", gold.answer[:MOST_QUOTE])
    scale = scale_of(gold.q[:MOST_QUOTE])  # "answer in USD billions"
    claimed = [
        each._replace(value=each.value.scaleb(scale.power), scale=scale.power, scaled="own")
        if scale is not None
        and each.kind == "number"
        and not each.scaled
        and each.unit.dimension in ("", "currency")
        else each
        for each in figures_of(answer)
        if asked.agreeing(each) is None
    ]
    claimed = list({sameness_of(each): each for each in claimed}.values())
    if not claimed or len(claimed) > _MOST_CLAIMED:
        return
    printed = [(part, FigureIndex(part.read_figures)) for part in parts]
    places = [
        [
            (part, [part.read_figures[place] for _, numbers in index.all_agreeing(each) for place in numbers])
            for part, index in printed
        ]
        for each in claimed
    ]
    if all(map(_is_clear, places)):
        first = [next(pair for pair in found if pair[1]) for found in places]
        if _says_more(gold, claimed, [(part, figures[0]) for part, figures in first]):
            return
        for found in places:
            for part, figures in found:
                part.rests_on_one_of(figures)
    elif len(claimed) == 1 and not any(figures for _, figures in places[0]):
        language = language_of(gold.q)
        words = frozenset(forms_in(gold.q, language))
        for part in parts:
            row = part.row_figures(words, language)
            if row and (formula := derivation(claimed[0], row, claim=gold.answer)) is not None:
                for figure in formula.operands:
                    part.rests_on_one_of([figure])


def _is_clear(places: Sequence[tuple[PreparedPart, Sequence[Figure]]]) -> bool:
    """Return whether a figure is in one sentence or in few rows: of several sentences any may be meant."""
    units = {(part.text, part.unit_of(figure)) for part, figures in places for figure in figures}
    if len(units) > 1 and any(unit.role == "sentence" for _, unit in units):
        return False
    return 1 <= sum(len(figures) for _, figures in places) <= _MOST_PLACES


def _says_more(gold: GoldQuestion, figures: Iterable[Figure], places: Iterable[_Printed]) -> bool:
    """Return whether an expected answer has much that is neither the question's nor beside its figures.

    Then it rests on more than the rows and sentences of its figures.
    """
    answer = gold.answer or ""
    language = language_of(answer) or language_of(gold.q)
    known = set(forms_in(gold.q, language)) | stop_forms(language)
    known.update(each for figure in figures for each in forms_in(figure.text, language))
    for part, figure in places:
        unit = part.unit_of(figure)
        known.update(forms_in(part.text[unit.start : unit.end], language))
    words = [each for each in forms_in(answer, language) if not each[0].isdigit()]
    content = [each for each in words if each not in stop_forms(language)]
    return sum(each not in known for each in content) > _MOST_UNKNOWN * len(content)


def _has_anchor(parts: Sequence[PreparedPart], anchor: str) -> bool:
    """Note where an anchor is; return whether a passage has it."""
    keys = [piece.key for piece in pieces_of(anchor[:MOST_QUOTE])]
    line = Squeezed(keys).line
    if not line:
        return False
    is_there = False
    for part in parts:
        squeezed = part.passage.squeezed
        at = squeezed.find(line)
        if at >= 0:
            first, last = squeezed.word_at(at), squeezed.word_at(at + len(line)) - 1
            part.rests_on(part.pieces[first].start, part.pieces[last].end)
            is_there = True
    return is_there


def _is_key(unit: Unit) -> bool:
    return unit.role == "key"


def _bits(numbers: Iterable[int]) -> int:
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def _numbers(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
