"""The word lists of a language, read from its module.

An entry of opposites has two sides with a bar between them; near-synonyms are on the same side, so that a
paraphrase agrees with its source. "!" opens an entry that counts only directly before the same noun: "next
year" and "last year". "~" opens one whose sides say the same of exchanged partners: "A is above B", "B is
below A". A word behind "?" confirms its side, but contradicts only before a figure: "up 4 %". Inflections
that `form` brings together are listed once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from proofspan.diagnosis.claims.differences import english, french, german
from proofspan.diagnosis.claims.word_forms import forms
from proofspan.diagnosis.words import form

#: For each pair of opposites that a word belongs to, the pair's number and the word's side.
Sides = tuple[tuple[int, int], ...]


class _SidesOf(dict[str, Sides]):
    """Word in lower case → its sides, remembered."""

    def __init__(self, lists: WordLists) -> None:
        super().__init__()
        self._lists = lists

    def __missing__(self, word: str) -> Sides:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        found = self[word] = self._lists.sides.get(self._lists.key(word), ())
        return found


_MOST_REMEMBERED = 1 << 16


@dataclass(frozen=True)
class WordLists:
    """The word lists of one language, by `key` of the words, else by words in lower case."""

    #: The form of a lower-case word by which `sides` and `weak` have it.
    key: Callable[[str], str]
    #: Word → (pair of opposites, its side) for each pair.
    sides: Mapping[str, Sides]
    #: Words that contradict only before a figure.
    weak: frozenset[str]
    #: Word → set of words of which only one can be right, by number.
    others: Mapping[str, int]
    #: Pairs whose sides say the same of exchanged partners.
    converse: frozenset[int]
    #: Pairs that contradict only directly before the same noun.
    attributes: frozenset[int]
    negations: frozenset[str]
    #: Words behind a negation with which it denies nothing: "not only", "no more than".
    undenied: frozenset[str]
    #: Word → "all", "some" or "none".
    quantifiers: Mapping[str, str]
    #: Word → "must", "may", "will" or "can".
    modals: Mapping[str, str]
    #: Finds that by which a sentence limits what it says.
    qualifier: re.Pattern[str]
    #: Words by which a claim says itself that it has limits.
    hedges: frozenset[str]
    #: Prefixes that make a word its opposite, and what they only seem to be put before.
    prefixes: tuple[str, ...]
    unprefixed: frozenset[str]
    #: Finds "up to" before a figure, and a claim's own words of that kind.
    up_to: re.Pattern[str]
    says_up_to: re.Pattern[str]

    @cached_property
    def sides_of(self) -> Mapping[str, Sides]:
        """The sides of words in lower case."""
        return _SidesOf(self)


#: The first sets of `others` are days and months, whose names begin with a capital in English.
CALENDAR = 2

_LANGUAGES = {"en": english, "de": german, "fr": french}


@lru_cache
def word_lists(language: str) -> WordLists:
    """Return the word lists of a language, empty ones of a language that is not known."""
    lists = _LANGUAGES.get(language)
    never = re.compile(r"(?!)")
    if lists is None:
        none: frozenset[str] = frozenset()
        return WordLists(
            str,
            {},
            none,
            {},
            frozenset(),
            frozenset(),
            none,
            none,
            {},
            {},
            never,
            none,
            (),
            none,
            never,
            never,
        )
    key = form if language == "en" else forms(language).__getitem__
    sides: dict[str, dict[tuple[int, int], None]] = {}
    weak: set[str] = set()
    marked: dict[str, set[int]] = {"~": set(), "!": set()}
    for pair, entry in enumerate(lists.OPPOSITES.split(";")):
        for side, words in enumerate(entry.split("|")):
            for word in words.lower().split():
                if word in marked:
                    marked[word].add(pair)
                    continue
                if word[0] == "?":
                    weak.add(key(word[1:]))
                sides.setdefault(key(word.removeprefix("?")), {})[pair, side] = None
    return WordLists(
        key=key,
        # A form of both sides says nothing.
        sides={
            word: tuple([each for each in found if (each[0], 1 - each[1]) not in found])
            for word, found in sides.items()
        },
        weak=frozenset(weak),
        others={
            word: at
            for at, line in enumerate(lists.ALTERNATIVES.split(";"))
            for each in line.lower().split()
            for word in (each, *(each + ending for ending in lists.PLURALS))
        },
        converse=frozenset(marked["~"]),
        attributes=frozenset(marked["!"]),
        negations=frozenset(lists.NEGATIONS.split()),
        undenied=frozenset(lists.UNDENIED.split()),
        quantifiers=_classes(lists.QUANTIFIERS, ("all", "some", "none")),
        modals=_classes(lists.MODALS, ("must", "may", "will", "can")),
        qualifier=re.compile(rf"\b(?:{lists.QUALIFIER})\b", re.IGNORECASE),
        hedges=frozenset(lists.HEDGES.split()),
        prefixes=tuple(lists.PREFIXES.split()),
        unprefixed=frozenset(lists.UNPREFIXED.split()),
        up_to=re.compile(rf"\b(?:{lists.UP_TO})\s(?=\W{{0,2}}\d)", re.IGNORECASE),
        says_up_to=re.compile(rf"\b(?:{lists.SAYS_UP_TO})\b", re.IGNORECASE),
    )


def _classes(lists: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    return {word: name for name, words in zip(names, lists, strict=True) for word in words.split()}
