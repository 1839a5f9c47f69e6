"""How well sources support a claim, in 0–1, and the sentence, list item or table row that does it best.

The measure needs no model. It adds what a reader looks for, each in 0–1: how much of the claim's content,
weighted by rarity, is found close together (in three neighbouring units); whether words that are neighbours
in the claim meet in one unit of the source; how many runs of two and of three words are the source's own; and
how many of its names and figures are found at all. A figure or a name that no source has costs extra.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.types import Origin
from proofspan.diagnosis.claims.word_forms import forms, stop_words, words_of
from proofspan.diagnosis.corpus import Survey

#: Words of one claim that are looked at.
MOST_WORDS = 400
#: A word with another ending than the source's counts this much, if they begin alike.
_ALIKE = 0.7
_ALIKE_SHARE = 0.65
_ALIKE_LETTERS = 4
#: Weights of the parts; they were chosen on the development files (see `docs/measurements.md`).
_WINDOW, _NEAR, _PAIRS, _TRIPLES, _ENTITIES = 0.6, 0.15, 0.18, 0.2, 0.17
_LOST_FIGURE, _LOST_NAME = 0.3, 0.06
_ALL = _WINDOW + _NEAR + _PAIRS + _TRIPLES + _ENTITIES


class EvidenceSource(NamedTuple):
    """A passage that may support a claim, and where it was found."""

    origin: Origin
    chunk_id: str | None
    text: SourceText
    doc_id: str | None = None
    page_idx: int | None = None


class ReadClaim(NamedTuple):
    """A claim's words: forms in order, those with content and their weights, its figures and names."""

    forms: list[str]
    content: list[str]
    weights: dict[str, float]
    figures: frozenset[str]
    names: frozenset[str]
    language: str | None


class Support(NamedTuple):
    """The support of a claim in 0–1, and its best unit: number of the source and of the unit there."""

    score: float
    source: int
    unit: int


NO_SUPPORT = Support(0.0, -1, -1)


def read_claim(text: str, language: str | None, survey: Survey) -> ReadClaim:
    """Return the words of a claim with what each weighs."""
    written = words_of(text)[:MOST_WORDS]
    form_of, stops = forms(language).__getitem__, stop_words(language)
    found = list(map(form_of, written))
    content, weight_of = [], {}
    figures, names = set(), set()
    rarity, unseen = survey.rarity, survey.unseen or 1
    for place, (word, form) in enumerate(zip(written, found, strict=True)):
        lower = word.lower()
        if lower in stops:
            continue
        content.append(form)
        if form not in weight_of:
            rare = rarity.get(lower)
            weight_of[form] = float(rare if rare else unseen if rare is None else unseen / 2)
        if form[0].isdigit():
            if word[0].isdigit():
                figures.add(form)
        elif word[0].isupper() and (word.isupper() or (place and language != "de")):
            names.add(form)
    return ReadClaim(found, content, weight_of, frozenset(figures), frozenset(names), language)


def best_support(claim: ReadClaim, sources: Sequence[EvidenceSource]) -> Support:
    """Return how well the sources support a claim together, and the best unit of all."""
    if not claim.content or not sources:
        return NO_SUPPORT
    bases, places = [], 0
    for source in sources:
        bases.append(places)
        places += len(source.text.units)
    found = _places_of(claim, sources, bases)
    total = sum([claim.weights[form] for form in claim.content])
    # Units by number: the weight of the claim's content that each has.
    by_unit: dict[int, float] = {}
    for form in claim.content:
        credit, bits = found.get(form, (0.0, 0))
        weight = claim.weights[form] * credit
        while bits:
            low = bits & -bits
            unit = low.bit_length() - 1
            by_unit[unit] = by_unit.get(unit, 0.0) + weight
            bits ^= low
    if not by_unit:
        return NO_SUPPORT
    best = max(by_unit, key=lambda unit: (by_unit[unit], -unit))
    window = _window(claim, found, by_unit) / total
    near = [
        bool(found[a][1] & found[b][1]) if a in found and b in found else False
        for a, b in pairwise(claim.content)
    ]
    pairs, triples = _runs(claim, sources)
    entities = claim.figures | claim.names
    single = by_unit[best] / total
    kept = sum(claim.weights[form] * found[form][0] for form in entities if form in found)
    wanted = sum(claim.weights[form] for form in entities)
    score = (
        _WINDOW * window
        + _NEAR * (sum(near) / len(near) if near else single)
        + _PAIRS * (single if pairs is None else pairs)
        + _TRIPLES * (single if triples is None else triples)
        + _ENTITIES * (kept / wanted if wanted else 1.0)
    ) / _ALL
    if any(figure not in found for figure in claim.figures):
        score -= _LOST_FIGURE
    if any(name not in found for name in claim.names):
        score -= _LOST_NAME
    number = max(place for place, base in enumerate(bases) if base <= best)
    while not sources[number].text.units:
        number -= 1
    return Support(min(1.0, max(0.0, score)), number, best - bases[number])


def _places_of(
    claim: ReadClaim, sources: Sequence[EvidenceSource], bases: Sequence[int]
) -> dict[str, tuple[float, int]]:
    """Return for each form that any source has how well it is met, and the units that have it as bits."""
    wanted = claim.weights.keys()
    bits: dict[str, int] = {}
    for source, base in zip(sources, bases, strict=True):
        index = source.text.index
        for form in wanted & index.keys():
            bits[form] = bits.get(form, 0) | (index[form] << base)
    found = {form: (1.0, units) for form, units in bits.items()}
    for form in wanted - bits.keys():
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


def _window(claim: ReadClaim, found: Mapping[str, tuple[float, int]], by_unit: Mapping[int, float]) -> float:
    """Return the most of the claim's weight that three neighbouring units have together."""
    sums: dict[int, float] = {}
    for form in claim.content:
        credit, bits = found.get(form, (0.0, 0))
        bits |= bits >> 1 | bits >> 2
        weight = claim.weights[form] * credit
        while bits:
            low = bits & -bits
            place = low.bit_length()
            sums[place] = sums.get(place, 0.0) + weight
            bits ^= low
    return max(sums.values())


def _runs(claim: ReadClaim, sources: Sequence[EvidenceSource]) -> tuple[float | None, float | None]:
    """Return the shares of the claim's runs of two and of three words that a source has."""
    words = claim.forms
    if len(words) < 2:
        return None, None
    pairs = [False] * (len(words) - 1)
    triples = [False] * (len(words) - 2)
    for source in sources:
        index, line = source.text.index, source.text.line
        get = index.get
        masks = [get(form, 0) for form in words]
        for place, (a, b) in enumerate(pairwise(masks)):
            if a & b and f" {words[place]} {words[place + 1]} " in line:
                pairs[place] = True
                if (
                    place < len(triples)
                    and masks[place + 2] & b
                    and not triples[place]
                    and f" {words[place]} {words[place + 1]} {words[place + 2]} " in line
                ):
                    triples[place] = True
    return sum(pairs) / len(pairs), sum(triples) / len(triples) if triples else None
