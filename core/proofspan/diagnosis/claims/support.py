"""How well sources support a claim, in 0–1, and the sentence, list item or table row that does it best.

The measure needs no model. It adds what a reader looks for, each in 0–1: how much of the claim's content,
weighted by rarity, is found close together; how many of all its words are there, little words too; how many
runs of three words are the source's own; how many neighbouring words with content share a sentence there; and
how many of its names and figures are found at all. A figure or a name that no source has, or people whom
nobody names, cost a share of the whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from proofspan.diagnosis.claims.figures import Figure, FigureIndex
from proofspan.diagnosis.claims.figures.first_digits import first_digits_of
from proofspan.diagnosis.claims.figures.index import Sameness, sameness_of
from proofspan.diagnosis.claims.read_claim import ReadClaim
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.types import Origin
from proofspan.diagnosis.claims.units import Unit
from proofspan.diagnosis.claims.word_forms import forms, forms_in
from proofspan.traces.records.chunks import Places
from proofspan.traces.records.trace_record import place_by_id

#: Figures of all passages that are compared.
MOST_FIGURES = 20_000
#: Figures of a claim that are in words, or have words such as "about" before them.
MOST_IN_WORDS = 20
#: Neighbouring units count as close together up to this many words: about three sentences.
_CLOSE_WORDS = 80
#: In the choice of the best unit a figure counts this much of its weight, since a wrong one may be in any
#: row, and a little word this much of an unknown word's.
_FIGURE_CHOOSES = 0.5
_LITTLE_WORD_CHOOSES = 0.05
#: A heading of as few words, or a key before the text, only names the subject.
_LABEL_WORDS, _LABEL_CHOOSES = 5, 0.25
#: The best units that are named.
_MOST_CLOSE = 4
#: A word with another ending than the source's counts this much, if they begin alike.
_ALIKE = 0.7
_ALIKE_SHARE = 0.65
_ALIKE_LETTERS = 4
#: A unit with this share of the weight that the best one has is about the same: if it has more of the claim's
#: figures with as many characters, which are not there by chance, the claim rests on it.
_SAME_SUBJECT, _TELLING_DIGITS = 0.4, 4
#: Weights of the parts, which add up to 1, and the share that remains where a figure or a name is lost; they
#: were chosen on the development files that docs/measurements.md names.
_CONTENT, _ALL_WORDS, _RUNS, _TOGETHER, _ENTITIES = 0.25, 0.3, 0.25, 0.1, 0.1
WITHOUT_FIGURE, _WITHOUT_NAME = 0.3, 0.85
#: A hyphen makes a figure the name of a kind.
_SIZE = re.compile(r"(\d{1,4})-[^\W\d_]")


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


class Evidence:
    """Passages that are read one after the other; their units are numbered through."""

    def __init__(self, sources: Sequence[EvidenceSource], *, given: Sequence[Figure] = ()) -> None:
        """`given` are figures that need no source, such as those of the question.

        `note` says afterwards what was left out.
        """
        self.sources = sources
        self.note = ""
        self._given = FigureIndex(given)
        self._left = MOST_FIGURES - len(given)
        self._agreeing: dict[tuple[Sameness, bool], int | None] = {}

    @cached_property
    def bases(self) -> list[int]:
        """Return the number of each passage's first unit."""
        return list(accumulate([len(source.text.units) for source in self.sources], initial=0))[:-1]

    @cached_property
    def _words(self) -> list[int]:
        """Return the number of each passage's first word."""
        return list(accumulate([source.text.length for source in self.sources], initial=0))[:-1]

    @cached_property
    def line(self) -> str:
        """Return the forms of all passages."""
        return "\n".join([source.text.line for source in self.sources])

    @cached_property
    def documents(self) -> frozenset[str]:
        """Return the forms of the documents' names: what a document is about is not on each page."""
        named = {(source.chunk_id or "").partition("|")[0] for source in self.sources}
        named.update([source.doc_id or "" for source in self.sources])
        return frozenset([form for name in named for form in forms_in(name, None)])

    @cached_property
    def _with_figures(self) -> list[tuple[int, SourceText]]:
        """Return the passages whose figures are compared, each with the number of its first unit."""
        found, left = [], self._left
        for source, base in zip(self.sources, self.bases, strict=True):
            if left <= 0:
                self.note = f"only the first {MOST_FIGURES:,} figures of the passages were compared"
                break
            left -= source.text.digits.runs
            if source.text.digits.first:
                found.append((base, source.text))
        return found

    def units_agreeing(self, figure: Figure, *, is_bound: bool = False) -> int | None:
        """Return the units with a figure that agrees with a claimed one, as bits; None where none does.

        The given figures are in no unit. With `is_bound` the figure must agree as a bound: "below 50" is one
        of "less than 50" and of 48, not of 50.
        """
        key = sameness_of(figure), is_bound
        if key not in self._agreeing:
            self._agreeing[key] = self._units_agreeing(figure, is_bound=is_bound)
        return self._agreeing[key]

    def _units_agreeing(self, figure: Figure, *, is_bound: bool) -> int | None:
        units = 0
        is_met = self._given.agreeing(figure) is not None
        digits = first_digits_of(figure)
        for base, text in self._with_figures:
            if not text.digits.first & digits:
                continue
            for printed, places in text.figure_index.all_agreeing(figure):
                is_met = True
                if not (
                    is_bound
                    and figure.bound != "~"
                    and printed.bound != figure.bound
                    and abs(printed.value) == abs(figure.value)
                ):
                    for place in places:
                        units |= 1 << base + text.unit_of(text.figures[place].start)
        return units if is_met else None

    def place(self, unit: int) -> tuple[int, int]:
        """Return the numbers of a unit's source and of the unit there."""
        number = bisect_right(self.bases, unit) - 1
        return number, unit - self.bases[number]

    def unit(self, unit: int) -> Unit:
        """Return a unit by its number."""
        number, own = self.place(unit)
        return self.sources[number].text.units[own]

    def words_of(self, unit: int) -> tuple[int, int]:
        """Return the numbers of a unit's first word and of the one behind its last."""
        number, own = self.place(unit)
        text = self.sources[number].text
        end = text.offsets[own + 1] if own + 1 < len(text.offsets) else text.length
        return self._words[number] + text.offsets[own], self._words[number] + end


class Support(NamedTuple):
    """The support of a claim in 0–1, and its best unit: number of the source and of the unit there.

    `close` are units of that source that come next, best first. `entities` is the share of the claim's
    figures and names that are found, None without any; `lost` are the figures that no source has, by value,
    `elsewhere` those that only other sources have.
    """

    score: float
    source: int
    unit: int
    close: tuple[int, ...] = ()
    entities: float | None = None
    lost: tuple[Figure, ...] = ()
    elsewhere: tuple[Figure, ...] = ()


NO_SUPPORT = Support(0.0, -1, -1)


def best_support(claim: ReadClaim, evidence: Evidence) -> Support:
    """Return how well passages support a claim together, and the best unit of all."""
    if not claim.has_content:
        return NO_SUPPORT
    number = verbatim_source(claim, evidence)
    if number is not None:
        text = evidence.sources[number].text
        return Support(1.0, number, text.unit_at(text.line.index(claim.line)), entities=1.0)
    found = _places_of(claim, evidence)
    lost = _add_by_value(claim, found, evidence)
    window = _window(claim, found, evidence)
    if window is None:
        return NO_SUPPORT
    near = ((2 << window.last) - 1) >> window.first << window.first
    met = sum([form in found and found[form][1] & near != 0 for form in claim.forms])
    content = window.weight / sum([claim.weights[form] for form in claim.content])
    credit = {form: found[form][0] for form in (*claim.figures, *claim.names) if form in found}
    for form, figure in claim.figures.items():
        if figure in lost:
            credit.pop(form, None)
    wanted = sum([claim.weights[form] for form in (*claim.figures, *claim.names)])
    kept = sum([claim.weights[form] * share for form, share in credit.items()])
    entities = kept / wanted if wanted else None
    score = (
        _CONTENT * content
        + _ALL_WORDS * met / len(claim.forms)
        + _RUNS * _runs(claim, found, evidence)
        + _TOGETHER * _together(claim, found, content)
        + _ENTITIES * (1.0 if entities is None else entities)
    )
    if lost:
        score *= WITHOUT_FIGURE
    if claim.of_nobody or any(name not in found and name not in evidence.documents for name in claim.names):
        score *= _WITHOUT_NAME
    number, unit = evidence.place(window.best[0])
    places = map(evidence.place, window.best[1:])
    close = tuple(own for where, own in places if where == number)
    own = ((1 << len(evidence.sources[number].text.units)) - 1) << evidence.bases[number]
    elsewhere = [each for form, each in claim.figures.items() if form in found and not found[form][1] & own]
    return Support(
        min(1.0, score),
        number,
        unit,
        close,
        entities,
        tuple(dict.fromkeys(lost)),
        tuple(dict.fromkeys(elsewhere)),
    )


def verbatim_source(claim: ReadClaim, evidence: Evidence) -> int | None:
    """Return the number of the first passage that has a claim word for word, None without any."""
    for number, source in enumerate(evidence.sources):
        if claim.line in source.text.line:
            return number
    return None


class _Window(NamedTuple):
    """Neighbouring units with the most of a claim's weight, and the `best` units by themselves."""

    weight: float
    first: int
    last: int
    best: list[int]


def _places_of(claim: ReadClaim, evidence: Evidence) -> dict[str, tuple[float, int]]:
    """Return for each form that any source has how well it is met, and the units that have it as bits."""
    wanted = set(claim.forms)
    bits: dict[str, int] = {}
    for source, base in zip(evidence.sources, evidence.bases, strict=True):
        index, tables = source.text.index, source.text.tables
        for form in index.keys() & wanted:
            units = index[form]
            for head, rows in tables:  # a table's head is about all of its rows
                if units & head:
                    units |= rows
            bits[form] = bits.get(form, 0) | (units << base)
    found = {form: (1.0, units) for form, units in bits.items()}
    for form in claim.weights.keys() - bits.keys():
        if len(form) > _ALIKE_LETTERS and not form[0].isdigit() and (units := _alike(form, evidence)):
            found[form] = (_ALIKE, units)
    _add_joined(claim, found, evidence)
    return found


def _add_joined(claim: ReadClaim, found: dict[str, tuple[float, int]], evidence: Evidence) -> None:
    """Add two lost words that a passage writes as one, as names in file names are."""
    lost = claim.weights.keys() - found.keys()
    if len(lost) < 2:
        return
    form_of = forms(claim.language).__getitem__
    for (word, form), (after, following) in pairwise(claim.words):
        if form in lost and following in lost:
            joined, units = form_of(word.lower() + after.lower()), 0
            if f" {joined} " not in evidence.line:
                continue
            for source, base in zip(evidence.sources, evidence.bases, strict=True):
                units |= source.text.index.get(joined, 0) << base
            if units:
                found[form] = found[following] = 1.0, units


def _add_by_value(claim: ReadClaim, found: dict[str, tuple[float, int]], evidence: Evidence) -> list[Figure]:
    """Add the units that have a claim's figures in other digits to the places; return the lost figures."""
    lost = []
    for form, figure in claim.figures.items():
        if form in found and not figure.unit.dimension:  # the same digits of another unit are another figure
            continue
        units = evidence.units_agreeing(figure)
        if units is None:
            if form not in found or not _is_in_code(figure, evidence):
                lost.append(figure)
            continue
        for part in forms_in(figure.text, claim.language):  # its unit too: 1.2 tonnes are 1,200 kg
            found[part] = 1.0, units | found.get(part, (0.0, 0))[1]
    for figure in claim.spelled[:MOST_IN_WORDS]:  # these are never lost: many are no figures
        units = evidence.units_agreeing(figure)
        if units is not None:
            for part in forms_in(figure.text, claim.language):
                found[part] = 1.0, units | found.get(part, (0.0, 0))[1]
    hedged = [each for each in claim.all_figures if each.bound and each not in lost]
    for figure in hedged[:MOST_IN_WORDS]:
        if units := evidence.units_agreeing(figure, is_bound=True):
            for part in claim.hedges(figure):
                found[part] = 1.0, units | found.get(part, (0.0, 0))[1]
    return lost


def _is_in_code(figure: Figure, evidence: Evidence) -> bool:
    """Return whether a size that names a kind is part of a code: "15-inch" of "195/65 R15"."""
    size = _SIZE.match(figure.text)
    return size is not None and any(
        re.search(rf"(?<![^\W_])[A-Za-z]{{1,2}}{size[1]}(?!\w|[.,]\d)", source.text.text)
        for source in evidence.sources
    )


def _alike(form: str, evidence: Evidence) -> int:
    """Return the units with a word that begins as a form does and is not much longer."""
    units = 0
    shared = max(_ALIKE_LETTERS, -int(-_ALIKE_SHARE * len(form) // 1))
    opening = " " + form[:shared]
    line, alike = evidence.line, set()  # one search instead of one in each passage
    at = line.find(opening)
    while at >= 0:
        end = line.find(" ", at + 1)
        if shared >= _ALIKE_SHARE * (end - at - 1):
            alike.add(line[at + 1 : end])
        at = line.find(opening, end)
    for other in alike:
        for source, base in zip(evidence.sources, evidence.bases, strict=True):
            units |= source.text.index.get(other, 0) << base
    return units


def _window(claim: ReadClaim, found: Mapping[str, tuple[float, int]], evidence: Evidence) -> _Window | None:
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
    # Two ends move over the units that have anything, as far apart as `_CLOSE_WORDS` allows.
    order = sorted(by_unit)
    counts = dict.fromkeys(weights, 0)
    total, low = 0.0, 0
    best = -1.0, 0, 0
    spans = list(map(evidence.words_of, order))
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
    return _Window(*best, _best_units(claim, found, weights, by_unit, evidence)[:_MOST_CLOSE])


def _best_units(
    claim: ReadClaim,
    found: Mapping[str, tuple[float, int]],
    weights: Mapping[str, float],
    by_unit: Mapping[int, Sequence[str]],
    evidence: Evidence,
) -> list[int]:
    """Return the units that a claim may rest on, best first, earlier ones before equal ones.

    Words decide, little ones too. The unit with most of the claim's telling figures comes first among those
    that are about the same. Without any, a row whose whole label the claim has is the right one, whatever
    its figures, as a wrong figure may be in any row.
    """
    figures = claim.figures
    words = {
        unit: sum([weights[form] for form in has if form not in figures]) for unit, has in by_unit.items()
    }
    for form in set(claim.forms).difference(weights).intersection(found):
        bits = found[form][1]
        for unit in words:
            if bits >> unit & 1:
                words[unit] += claim.unseen * _LITTLE_WORD_CHOOSES
    for unit in words:
        first, behind = evidence.words_of(unit)
        role = evidence.unit(unit).role
        if role == "key" or (role == "label" and behind - first <= _LABEL_WORDS):
            words[unit] *= _LABEL_CHOOSES
    alone = {
        unit: words[unit] + sum([weights[form] * _FIGURE_CHOOSES for form in has if form in figures])
        for unit, has in by_unit.items()
    }
    most = max(alone.values())
    telling = [
        form
        for form, each in figures.items()
        if each.kind == "number" and form in weights and len(form.strip("0.,")) >= _TELLING_DIGITS
    ]

    def rank(unit: int) -> tuple[float, ...]:
        """Order by the claim's figures in units that are about the same, then by weight."""
        had = sum([form in by_unit[unit] for form in telling]) if alone[unit] >= _SAME_SUBJECT * most else 0
        return -had, -alone[unit], unit

    order = sorted(by_unit, key=rank)
    if figures and not rank(order[0])[0]:
        least = words[max(alone, key=lambda unit: (alone[unit], -unit))]
        for unit in sorted(words, key=lambda unit: (-words[unit], unit)):
            if words[unit] < least:
                break
            number, own = evidence.place(unit)
            text = evidence.sources[number].text
            if text.units[own].role == "row" and claim.names_all(text.label_of(own)):
                return [unit, *(other for other in order if other != unit)]
    return order


def _runs(claim: ReadClaim, found: Mapping[str, tuple[float, int]], evidence: Evidence) -> float:
    """Return the share of the claim's runs of three words that a source has, of two if there are no more."""
    words = claim.forms
    length = min(3, len(words))
    bits = [found[form][1] if form in found else 0 for form in words]
    had = 0
    for start in range(len(words) - length + 1):
        units = bits[start]
        for more in bits[start + 1 : start + length]:
            units &= more
        if units and _has_run(f" {' '.join(words[start : start + length])} ", units, evidence):
            had += 1
    return had / (len(words) - length + 1)


def _together(claim: ReadClaim, found: Mapping[str, tuple[float, int]], alone: float) -> float:
    """Return the share of neighbouring words with content that share a unit; `alone` for a single word."""
    places = [found[form][1] if form in found else 0 for form in claim.content]
    pairs = list(pairwise(places))
    return sum([before & after != 0 for before, after in pairs]) / len(pairs) if pairs else alone


def _has_run(run: str, units: int, evidence: Evidence) -> bool:
    """Return whether a passage with one of some units has a run of forms."""
    while units:
        number, _ = evidence.place((units & -units).bit_length() - 1)
        text = evidence.sources[number].text
        if run in text.line:
            return True
        end = evidence.bases[number] + len(text.units)
        units = units >> end << end
    return False
