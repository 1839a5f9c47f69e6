"""How well sources support a claim, in 0–1, and the sentence, list item or table row that does it best.

The measure needs no model. It adds what a reader looks for, each in 0–1: how much of the claim's content,
weighted by rarity, is found close together; how many of all its words are there, little words too; how many
runs of three words are the source's own; and how many of its names and figures are found at all. A figure or
a name that no source has costs a share of the whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.types import Origin
from proofspan.diagnosis.claims.word_forms import WORD, forms, forms_in, stop_forms, stop_words, words_of
from proofspan.diagnosis.corpus import Survey
from proofspan.traces.records.chunks import Places
from proofspan.traces.records.trace_record import place_by_id

#: Words of one claim that are looked at.
MOST_WORDS = 400
#: Neighbouring units count as close together up to this many words: about three sentences.
_CLOSE_WORDS = 80
#: A word with another ending than the source's counts this much, if they begin alike.
_ALIKE = 0.7
_ALIKE_SHARE = 0.65
_ALIKE_LETTERS = 4
#: Weights of the parts, which add up to 1, and the share that remains where a figure or a name is lost; they
#: were chosen on the development files that docs/measurements.md names.
_CONTENT, _ALL_WORDS, _RUNS, _ENTITIES = 0.35, 0.35, 0.2, 0.1
_WITHOUT_FIGURE, _WITHOUT_NAME = 0.5, 0.85
#: The end of what precedes a word that opens a sentence, a quotation or a list item.
_OPENS = re.compile(r"(?:^|[.:!?•*–—-]\s|[\"“”‘«(\[*])[\s\"“‘«(\[*]*$")
#: A text of as many words may be in title case.
_TITLE_WORDS = 4


class EvidenceSource(NamedTuple):
    """A passage that may support a claim, and where it was found."""

    origin: Origin
    chunk_id: str | None
    text: SourceText
    doc_id: str | None = None
    page_idx: int | None = None


_NOTHING = SourceText("")


class Sources(dict[str, EvidenceSource]):
    """Chunk id → its source in the prompt, prepared on first use; one without text for an unknown id.

    The oldest half is dropped when `cache_bytes` are reached.
    """

    def __init__(self, texts: Mapping[str, str], places: Places, *, cache_bytes: int = 250_000_000) -> None:
        super().__init__()
        self._texts = texts
        self._places = places
        self._bound = cache_bytes
        self._spent = 0

    def __missing__(self, chunk_id: str) -> EvidenceSource:
        text = self._texts.get(chunk_id)
        if text is None:
            return EvidenceSource("prompt", chunk_id, _NOTHING)
        place = self._places.get(chunk_id) or place_by_id(chunk_id)
        source = EvidenceSource("prompt", chunk_id, SourceText(text), place.doc_id, place.page_idx)
        self._spent += source.text.cost
        if self._spent > self._bound:
            for oldest in list(self):
                if self._spent <= self._bound // 2:
                    break
                self._spent -= self.pop(oldest).text.cost
        self[chunk_id] = source
        return source


class ReadClaim:
    """A claim's words: `forms` in order and as `line`; those with content, and what each weighs, on demand.

    `figures` and `names` are forms too.
    """

    def __init__(self, text: str, language: str | None, survey: Survey) -> None:
        self.text = text
        self.language = language
        self.forms = forms_in(text, language)[:MOST_WORDS]
        self.line = f" {' '.join(self.forms)} "
        self._survey = survey

    @cached_property
    def has_content(self) -> bool:
        """Return whether a word says something about a subject."""
        stops = stop_forms(self.language)
        return any(form not in stops for form in self.forms)

    @cached_property
    def _words(self) -> list[tuple[str, str]]:
        """Return the words with content, as written and as forms."""
        written = words_of(self.text)[:MOST_WORDS]
        form_of, stops = forms(self.language).__getitem__, stop_words(self.language)
        return [(word, form_of(word)) for word in written if word.lower() not in stops]

    @cached_property
    def content(self) -> list[str]:
        """Return the forms of words with content, in order."""
        return [form for _, form in self._words]

    @cached_property
    def weights(self) -> dict[str, float]:
        """Return how rare each word with content is; numbers and short words weigh half of an unknown one."""
        rarity, unseen = self._survey.rarity, self._survey.unseen or 1
        weight_of: dict[str, float] = {}
        for word, form in self._words:
            if form not in weight_of:
                rare = rarity.get(word.lower())
                weight_of[form] = float(rare if rare else unseen if rare is None else unseen / 2)
        return weight_of

    @cached_property
    def figures(self) -> frozenset[str]:
        """Return the numbers in digits."""
        return frozenset(form for word, form in self._words if word[0].isdigit())

    @cached_property
    def names(self) -> frozenset[str]:
        """Return capitalised words that do not open a sentence; none of a text in title case.

        All nouns of German have capitals, so of German only words in capitals count.
        """
        words = list(WORD.finditer(self.text))[:MOST_WORDS]
        capitals = [match for match in words if match[0][0].isupper()]
        letters = sum(match[0][0].isalpha() for match in words)
        if letters >= _TITLE_WORDS and 2 * len(capitals) > letters:
            return frozenset()
        form_of = forms(self.language).__getitem__
        named = {
            form_of(match[0])
            for match in capitals
            if (len(match[0]) > 1 and match[0].isupper())
            or (
                self.language != "de"
                and not _OPENS.search(self.text[max(0, match.start() - 6) : match.start()])
            )
        }
        return frozenset(named.intersection(self.weights)) - self.figures


class Support(NamedTuple):
    """The support of a claim in 0–1, and its best unit: number of the source and of the unit there."""

    score: float
    source: int
    unit: int


NO_SUPPORT = Support(0.0, -1, -1)


def best_support(claim: ReadClaim, sources: Sequence[EvidenceSource]) -> Support:
    """Return how well the sources support a claim together, and the best unit of all."""
    if not claim.has_content:
        return NO_SUPPORT
    for number, source in enumerate(sources):
        if claim.line in source.text.line:
            return Support(1.0, number, source.text.unit_at(source.text.line.index(claim.line)))
    bases, units = [], 0
    for source in sources:
        bases.append(units)
        units += len(source.text.units)
    found = _places_of(claim, sources, bases)
    window = _window(claim, found, sources, bases)
    if window is None:
        return NO_SUPPORT
    near = ((2 << window.last) - 1) >> window.first << window.first
    met = sum([form in found and found[form][1] & near != 0 for form in claim.forms])
    entities = claim.figures | claim.names
    kept = sum([claim.weights[form] * found[form][0] for form in entities if form in found])
    wanted = sum([claim.weights[form] for form in entities])
    content = window.weight / sum([claim.weights[form] for form in claim.content])
    score = (
        _CONTENT * content
        + _ALL_WORDS * met / len(claim.forms)
        + _RUNS * _runs(claim, found, sources, bases)
        + _ENTITIES * (kept / wanted if wanted else 1.0)
    )
    if any(figure not in found for figure in claim.figures):
        score *= _WITHOUT_FIGURE
    if any(name not in found for name in claim.names):
        score *= _WITHOUT_NAME
    number = bisect_right(bases, window.best) - 1
    return Support(min(1.0, score), number, window.best - bases[number])


class _Window(NamedTuple):
    """Neighbouring units with the most of a claim's weight, and the unit that has the most by itself."""

    weight: float
    first: int
    last: int
    best: int


def _places_of(
    claim: ReadClaim, sources: Sequence[EvidenceSource], bases: Sequence[int]
) -> dict[str, tuple[float, int]]:
    """Return for each form that any source has how well it is met, and the units that have it as bits."""
    wanted = set(claim.forms)
    bits: dict[str, int] = {}
    for source, base in zip(sources, bases, strict=True):
        index = source.text.index
        for form in index.keys() & wanted:
            bits[form] = bits.get(form, 0) | (index[form] << base)
    found = {form: (1.0, units) for form, units in bits.items()}
    for form in claim.weights.keys() - bits.keys():
        if len(form) > _ALIKE_LETTERS and not form[0].isdigit() and (units := _alike(form, sources, bases)):
            found[form] = (_ALIKE, units)
    return found


def _alike(form: str, sources: Sequence[EvidenceSource], bases: Sequence[int]) -> int:
    """Return the units with a word that begins as a form does and is not much longer."""
    units = 0
    shared = max(_ALIKE_LETTERS, -int(-_ALIKE_SHARE * len(form) // 1))
    opening = " " + form[:shared]
    for source, base in zip(sources, bases, strict=True):
        line = source.text.line
        at = line.find(opening)
        while at >= 0:
            end = line.find(" ", at + 1)
            if shared >= _ALIKE_SHARE * (end - at - 1):
                units |= source.text.index[line[at + 1 : end]] << base
            at = line.find(opening, end)
    return units


def _window(
    claim: ReadClaim,
    found: Mapping[str, tuple[float, int]],
    sources: Sequence[EvidenceSource],
    bases: Sequence[int],
) -> _Window | None:
    """Return the first of the best windows; None where no source has a word of the claim."""
    weights: dict[str, float] = {}
    for form in claim.content:
        if form in found:
            weights[form] = weights.get(form, 0.0) + claim.weights[form] * found[form][0]
    by_unit: dict[int, list[str]] = {}
    for form in weights:
        bits = found[form][1]
        while bits:
            low = bits & -bits
            by_unit.setdefault(low.bit_length() - 1, []).append(form)
            bits ^= low
    if not by_unit:
        return None
    alone = {unit: sum([weights[form] for form in has]) for unit, has in by_unit.items()}
    words = [0]
    for source in sources:
        words.append(words[-1] + source.text.length)
    # Two ends move over the units that have anything, as far apart as `_CLOSE_WORDS` allows.
    order = sorted(by_unit)
    counts = dict.fromkeys(weights, 0)
    total, low = 0.0, 0
    best = -1.0, 0, 0
    spans = [_words_of(unit, sources, bases, words) for unit in order]
    for high, unit in enumerate(order):
        for form in by_unit[unit]:
            counts[form] += 1
            if counts[form] == 1:
                total += weights[form]
        while low < high and spans[high][1] - spans[low][0] > _CLOSE_WORDS:
            for form in by_unit[order[low]]:
                counts[form] -= 1
                if not counts[form]:
                    total -= weights[form]
            low += 1
        if total > best[0] + 1e-6:
            best = total, order[low], unit
    return _Window(*best, max(order, key=lambda unit: (alone[unit], -unit)))


def _words_of(
    unit: int, sources: Sequence[EvidenceSource], bases: Sequence[int], words: Sequence[int]
) -> tuple[int, int]:
    """Return the numbers of a unit's first word and of that behind its last, among all sources' words."""
    number = bisect_right(bases, unit) - 1
    text, own = sources[number].text, unit - bases[number]
    end = text.offsets[own + 1] if own + 1 < len(text.offsets) else text.length
    return words[number] + text.offsets[own], words[number] + end


def _runs(
    claim: ReadClaim,
    found: Mapping[str, tuple[float, int]],
    sources: Sequence[EvidenceSource],
    bases: Sequence[int],
) -> float:
    """Return the share of the claim's runs of three words that a source has, of two if there are no more."""
    words = claim.forms
    length = min(3, len(words))
    bits = [found[form][1] if form in found else 0 for form in words]
    had = 0
    for start in range(len(words) - length + 1):
        units = bits[start]
        for more in bits[start + 1 : start + length]:
            units &= more
        if units and _has_run(f" {' '.join(words[start : start + length])} ", units, sources, bases):
            had += 1
    return had / (len(words) - length + 1)


def _has_run(run: str, units: int, sources: Sequence[EvidenceSource], bases: Sequence[int]) -> bool:
    """Return whether one of some units has a run of forms."""
    while units:
        number = bisect_right(bases, (units & -units).bit_length() - 1) - 1
        text = sources[number].text
        if run in text.line:
            return True
        end = bases[number] + len(text.units)
        units = units >> end << end
    return False
