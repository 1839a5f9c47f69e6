"""Typed differences between a claim and its source: where the one says what the other contradicts.

Precision comes first. Words count as opposed only if a list or a prefix says that they exclude each other, if
the words next to them are the same on both sides, if neither is negated, and if no other place of the source
agrees with the claim. What a source merely does not say is no difference; it lowers the claim's support.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from proofspan.diagnosis.claims.differences.aligned import SAME, Found, WordsOf, best_alignment
from proofspan.diagnosis.claims.differences.exchanges import (
    exchanged_changes,
    exchanged_figures,
    exchanged_names,
)
from proofspan.diagnosis.claims.differences.lists import WordLists, word_lists
from proofspan.diagnosis.claims.differences.matter import is_same_matter
from proofspan.diagnosis.claims.differences.parts import JOINS, exchanged_parts
from proofspan.diagnosis.claims.differences.statements import (
    dropped_qualifiers,
    modals,
    negations,
    quantifiers,
)
from proofspan.diagnosis.claims.differences.values import figures, names
from proofspan.diagnosis.claims.differences.words import (
    alternatives,
    exchanged_words,
    opposites,
    prefixed,
    unprefixed,
)
from proofspan.diagnosis.claims.figures.units import SCALES, UNITS
from proofspan.diagnosis.claims.types import ClaimDifference
from proofspan.diagnosis.numbers import NUMBER_WORDS
from proofspan.diagnosis.words import tokens

#: Characters of a claim, of a source around the evidence and beside the claim that are compared.
MOST_CLAIM = 4_000
MOST_SOURCE = 10_000
#: Differences of one claim that are named.
MOST_DIFFERENCES = 8

#: Characters behind the evidence in which it may be denied: "It does not …", "There is no …".
_BEHIND = 250
#: What has changed places is known from words: at most a quarter of a claim may be new.
_MOST_NEW = 4


def differences_of(
    claim: str,
    source: str,
    start: int = 0,
    end: int | None = None,
    *,
    language: str | None = "en",
    source_language: str | None = "en",
    beside: str = "",
    elsewhere: Iterable[str] = (),
) -> tuple[ClaimDifference, ...]:
    """Return the differences between a claim and its evidence, the first `MOST_DIFFERENCES` of the claim.

    The evidence is `source[start:end]`; the rest of the source, its chunk, may agree with the claim or
    contradict it as well. Places are those of `claim` and `source`. `beside` is the question and the answer
    that the claim is from: a qualifier that they name is not left out. `elsewhere` are further texts that may
    agree with the claim where the source does not. Languages are two letters, None where not known; words are
    compared within English, German and French, figures and names within any.
    """
    end = len(source) if end is None else end
    claim = claim[:MOST_CLAIM]
    own = language or source_language or "en"
    other = source_language or own
    offset = 0
    if len(source) > MOST_SOURCE:
        offset = max(0, min(start, (start + end - MOST_SOURCE) // 2))
        source, start, end = source[offset : offset + MOST_SOURCE], start - offset, end - offset
    evidence = source[start:end]
    rules = _rules(claim, source, evidence, source[end : end + _BEHIND], own, other)
    lists = word_lists(own)
    has_limits = own == other and (lists.qualifier.search(evidence) or lists.up_to.search(evidence))
    if not rules and not has_limits:
        return ()
    ours, theirs = WordsOf(claim, own), _words_of_source(source, other)
    found: dict[tuple[int, int], ClaimDifference] = {}
    further: tuple[str, ...] | None = None
    for rule in rules:
        if rule is exchanged_parts and found:
            continue  # the same exchange, by the words that are opposed
        for each in islice(rule(ours, theirs), 4 * MOST_DIFFERENCES):
            if is_same_matter(ours, theirs, each):
                further = tuple(elsewhere) if further is None else further
                difference = _difference(ours, theirs, each)
                if _is_stated(ours, theirs, each, further, least=_LEAST_STATED.get(rule, 0.0)):
                    continue
                found.setdefault((difference.claimed_start, difference.claimed_end), difference)
    if has_limits:
        for difference in dropped_qualifiers(ours, theirs, start, end, beside[:MOST_SOURCE]):
            found.setdefault((difference.claimed_start, difference.claimed_end), difference)
    ordered = sorted(found.values(), key=lambda each: each.claimed_start)[:MOST_DIFFERENCES]
    return tuple([_moved(each, offset) for each in ordered])


#: Reading a chunk takes about 2 µs a word; claims that may differ often come in a row from the same chunk.
_words_of_source = lru_cache(maxsize=128)(WordsOf)

_Rule = Callable[[WordsOf, WordsOf], Iterator[Found]]


def _difference(claim: WordsOf, source: WordsOf, found: Found) -> ClaimDifference:
    start, end = claim.starts[found.claimed[0]], claim.ends[found.claimed[1]]
    begin, stop = source.starts[found.found[0]], source.ends[found.found[1]]
    return ClaimDifference(
        found.kind, claim.text[start:end], start, end, source.text[begin:stop], begin, stop
    )


def _moved(difference: ClaimDifference, offset: int) -> ClaimDifference:
    if not offset:
        return difference
    return difference._replace(
        found_start=difference.found_start + offset,
        found_end=difference.found_end + offset,
    )


#: The least share of a claim that a sentence of another text must have to agree with it, beside the share of
#: the sentence that contradicts it: small words are of many things, and what is exchanged is in any text.
_LEAST_STATED: dict[_Rule, float] = {
    quantifiers: 0.5,
    modals: 0.5,
    exchanged_words: 1.0,
    exchanged_parts: 1.0,
}


def _is_stated(
    claim: WordsOf, source: WordsOf, found: Found, elsewhere: Iterable[str], *, least: float
) -> bool:
    """Return whether another text has the claim's word, or the last one of several, in like surroundings."""
    if found.kind == "negation":
        return False
    first, last = found.claimed
    written = claim.text[claim.starts[last] : claim.ends[last]]
    around = claim.around(first, last)
    least *= claim.share_in(first, source, found.align.at) if least else 0.0
    for text in elsewhere:
        if written in text:
            other = _words_of_source(text[:MOST_SOURCE], claim.language)
            best = best_alignment(around, other, other.places.get(claim.forms[last], ()))
            if best.score >= SAME and (not least or claim.share_in(first, other, best.at) >= least):
                return True
    return False


# Which rules a claim needs: most need none, and their source is not even read.


class _Known(NamedTuple):
    """The words of a source in lower case, their sides of opposites, and their sets of alternatives."""

    words: frozenset[str]
    sides: frozenset[tuple[int, int]]
    others: frozenset[int]


@lru_cache(maxsize=1024)
def _known(source: str, language: str) -> _Known:
    lists = word_lists(language)
    words = frozenset(tokens(source))
    sides = [side for word in words for side in lists.sides_of[word]]
    return _Known(
        words,
        frozenset(sides),
        frozenset([lists.others[word] for word in words & lists.others.keys()]),
    )


#: A number with the word behind it; words with a capital; words that are numbers.
_COUNTED = re.compile(r"(\d[\d.,]*(?<=\d))(?:[\s-]?(°?[^\W\d_]+|%))?")
_CAPITALISED = re.compile(r"(?<![^\W\d_])[^\W\d_a-zäöüàéèêç][^\W\d_]+")
_NUMBER_WORDS = frozenset(
    """
    thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen half third
    """.split()  # noqa: SIM905 - a word list reads best as text
).union(*NUMBER_WORDS.values())


def _rules(claim: str, source: str, evidence: str, behind: str, own: str, other: str) -> list[_Rule]:
    """Return the rules that can find a difference."""
    known = _known(source, other)
    words = frozenset(tokens(claim))
    new = words - known.words
    rules: list[_Rule] = []
    counted = _COUNTED.findall(claim)
    if counted:
        there = frozenset(_COUNTED.findall(evidence))
        numbers = {number for number, _ in there}
        if sum(number in numbers for number, _ in counted) > 1:
            rules += [exchanged_changes, exchanged_figures]
        if any(each[0] not in numbers or (_is_unit(each[1]) and each not in there) for each in counted):
            rules.append(figures)
    if figures not in rules and not new.isdisjoint(_NUMBER_WORDS):
        rules.append(figures)
    capitals = _CAPITALISED.findall(claim)
    if new and not new.isdisjoint([word.lower() for word in capitals]):
        rules.append(names)
    places = [place for place in map(evidence.find, capitals) if place >= 0] if len(capitals) > 1 else []
    if any(one > two for one, two in pairwise(places)):
        rules.append(exchanged_names)
    lists = word_lists(own)
    if own != other or not lists.sides:
        return rules
    for word in words:
        sides = lists.sides_of[word]
        if any((pair, 1 - side) in known.sides for pair, side in sides):
            rules.append(opposites)
            break
    if 2 * len(new) < len(words) and _may_be_exchanged(words - new, lists):
        rules.append(exchanged_words)
    if _MOST_NEW * len(new) < len(words) and not JOINS.isdisjoint(words):
        rules.append(exchanged_parts)
    if any(unprefixed(word, lists, known.words) for word in new):
        rules.append(prefixed)
    if any(lists.others.get(word) in known.others for word in new):
        rules.append(alternatives)
    stated = frozenset(tokens(evidence))
    if (
        _denies(claim, words, lists.negations)
        or _denies(evidence, stated, lists.negations)
        or (not lists.negations.isdisjoint(known.words) and _denies_behind(behind, lists.negations))
    ):
        rules.append(negations)
    for rule, classes in ((modals, lists.modals), (quantifiers, lists.quantifiers)):
        own_classes = {classes[word] for word in words & classes.keys()}
        if own_classes and not own_classes.issuperset([classes[word] for word in stated & classes.keys()]):
            rules.append(rule)
        elif rule is quantifiers and "all" in own_classes and "of" in stated and stated & _NUMBER_WORDS:
            rules.append(rule)  # "two of its points" are not all
    return rules


def _may_be_exchanged(words: frozenset[str], lists: WordLists) -> bool:
    """Return whether a claim and its source share two words that may have changed places."""
    kinds = [word for word in words if word in lists.others or word in _NUMBER_WORDS]
    pairs = [pair for word in words for pair, _ in lists.sides_of[word]]
    return len(kinds) > 1 or len(set(pairs)) < len(pairs)


def _denies(text: str, words: frozenset[str], denials: frozenset[str]) -> bool:
    return not words.isdisjoint(denials) or "n't" in text or "n’t" in text


def _denies_behind(text: str, denials: frozenset[str]) -> bool:
    return _denies(text, frozenset(tokens(text)), denials)


def _is_unit(word: str) -> bool:
    return word in UNITS or word.lower() in SCALES
