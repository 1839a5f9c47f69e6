"""A text as words with their surroundings, and how alike the surroundings of two words are.

A word of a claim can contradict a word of its source only where both are used of the same thing. They are if
the content words next to them are the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from proofspan.diagnosis.claims.differences.lists import word_lists
from proofspan.diagnosis.claims.figures import Figure, figures_of
from proofspan.diagnosis.claims.types import DifferenceKind
from proofspan.diagnosis.claims.word_forms import forms, stop_words

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*|[%‰$€£¥]")
#: Between two words: the end of a sentence, of a table's cell, of a paragraph, or of a line before a capital.
_STOP = re.compile(
    r"[.!?;:。！？…][\"'”’»›)\]]*\s|[|\t]"
    r"|\n\s*(?:\n|[-*+•‣◦▪–—]\s|\(?\d+[.)]\s)|\n(?=[^\Wa-zäöüàéèêç])"
)
_ELIDED = re.compile(r"^(?:l|d|j|m|n|s|t|c|qu|jusqu|lorsqu|puisqu)'(?=\w\w)")

#: What is between most words, and ends no sentence.
_GAPS = frozenset([" ", "-", "", ", "])
#: Forms of a verb that endings do not bring together.
_OF_GO = frozenset(["goes", "gone", "going", "went"])
#: How much the nearest content words on one side count, by rank, and how many words away they may be.
_RANKS = (1.0, 0.7, 0.5)
_REACH = 8
#: A word of the source counts in full within this many words, less within the second number, else little.
_CLOSE, _NEAR = 4, 10
#: Places of a source with which a word of a claim is compared.
MOST_PLACES = 100
#: A negation reaches over this many words.
_NEGATED = 3

#: The forms of content words left and right of a word, nearest first.
Around = tuple[Sequence[str], Sequence[str]]


class Alignment(NamedTuple):
    """How alike the surroundings of a claim's word and of word `at` of the source are.

    `score` sums up the content words around the one that are also around the other, at most 4.4. `adjacent`
    counts those of the two nearest that are close to the other, `crossed` those on the other side of it.
    """

    score: float
    adjacent: int
    crossed: int
    at: int


NOWHERE = Alignment(0.0, 0, 0, -1)
#: The least score at which two words are about the same thing: the nearest content word on one side is the
#: same. More is asked for where the claim's word is also elsewhere in the source, and where a name, or a
#: negation, is all that differs.
SAME = 1.0
SURELY_SAME = 1.5
#: Enough where the nearest content words differ.
FULLY_SAME = 2.0
#: An agreeing place acquits if it is at least this much as well aligned as the contradicting one.
_ACQUITS = 0.4


class Found(NamedTuple):
    """A difference by the numbers of its first and last words in the claim and in the source."""

    kind: DifferenceKind
    claimed: tuple[int, int]
    found: tuple[int, int]
    align: Alignment


def _bare(word: str, language: str) -> str:
    """Return a word with a typewriter's apostrophe, without the ending or article that it joins."""
    bare = word.replace("’", "'").removesuffix("'s")
    return _ELIDED.sub("", bare) if language == "fr" else bare


class WordsOf:
    """The words of a text by number: lower case, form, place, number of the sentence."""

    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.language = language
        self.lists = lists = word_lists(language)
        self.form_of = forms(language)
        spans = [match.span() for match in _WORD.finditer(text)]
        self.starts = [start for start, _ in spans]
        self.ends = [end for _, end in spans]
        self.lower = lower = [text[start:end].lower() for start, end in spans]
        if "'" in text or "’" in text:
            lower[:] = [_bare(word, language) if len(word) > 2 else word for word in lower]
        self.forms = list(map(self.form_of.__getitem__, lower))
        if language == "en" and not _OF_GO.isdisjoint(lower):
            self.forms = [
                "go" if word in _OF_GO else form for word, form in zip(lower, self.forms, strict=True)
            ]
        firsts = self._find_sentences()
        #: Whether a capital begins the word though no sentence begins there.
        self.is_capital = [text[start].isupper() for start in self.starts]
        for at in firsts:
            self.is_capital[at] = False
        denials = lists.negations
        self.negations = [
            at
            for at, word in enumerate(lower)
            if (word in denials or word.endswith("n't")) and text[self.ends[at] : self.ends[at] + 1] != "-"
        ]
        stops = stop_words(language)
        self.is_content = [word not in stops and (len(word) > 1 or word.isdigit()) for word in lower]
        self.is_negated = [False] * len(lower)
        for negation in self.negations:
            self.is_content[negation] = False
            for at in range(negation + 1, min(negation + _NEGATED + 1, len(lower))):
                if self.sentences[at] == self.sentences[negation]:
                    self.is_negated[at] = True
        #: Form → the words with it.
        self.places: dict[str, list[int]] = {}
        for at, form in enumerate(self.forms):
            self.places.setdefault(form, []).append(at)
        #: Pair of opposites → its words here, each with its side.
        self.pairs: dict[int, list[tuple[int, int]]] = {}
        sides_of = lists.sides_of
        for at, word in enumerate(lower):
            for pair, side in sides_of[word]:
                self.pairs.setdefault(pair, []).append((at, side))

    def _find_sentences(self) -> list[int]:
        """Number the sentences of the words; return the first words of all."""
        self.sentences: list[int] = []
        firsts: list[int] = []
        last = 0
        for at, start in enumerate(self.starts):
            if not at or (self.text[last:start] not in _GAPS and _STOP.search(self.text, last, start + 1)):
                firsts.append(at)
            self.sentences.append(len(firsts) - 1)
            last = self.ends[at]
        return firsts

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The first four letters of all words, by which names count as known however they go on."""
        return frozenset([lower[:4] for lower in self.lower])

    @cached_property
    def known(self) -> frozenset[str]:
        """The words in lower case."""
        return frozenset(self.lower)

    @cached_property
    def names(self) -> Sequence[tuple[int, int]]:
        """The first and last words of the runs of words with capitals within sentences."""
        found = []
        at, count = 0, len(self.lower)
        while at < count:
            first = at
            while at < count and self.is_name(at) and (at == first or self._is_next(at)):
                at += 1
            if at > first:
                found.append((first, at - 1))
            else:
                at += 1
        return found

    @cached_property
    def names_at_begin(self) -> Sequence[tuple[int, int]]:
        """The names, and capitalised words that begin sentences and are in no list."""
        first = [
            (at, at)
            for at, lower in enumerate(self.lower)
            if (not at or self.sentences[at - 1] != self.sentences[at])
            and self.is_content[at]
            and len(lower) > 2
            and self.text[self.starts[at]].isupper()
        ]
        names = list(self.names)
        for at, _ in first:
            follows = next((run for run in names if run[0] == at + 1), None)
            if follows is not None and self._is_next(at + 1):
                names.remove(follows)
                names.append((at, follows[1]))
            else:
                names.append((at, at))
        return sorted(names)

    def is_name_at(self, at: int, *, beside: int) -> bool:
        """Return whether a name is at this place, directly before or behind the word `beside`."""
        return 0 <= at < len(self.lower) and self.is_name(at) and self._is_next(max(at, beside))

    def is_name(self, at: int) -> bool:
        """Return whether a word within a sentence has a capital, and looks like a name."""
        if not self.is_capital[at] or len(self.lower[at]) < 3 or not self.lower[at].isalpha():
            return False
        rest = self.text[self.starts[at] + 1 : self.starts[at] + len(self.lower[at])]
        return rest.islower() or rest.isupper()  # no "InterestsThe", which a PDF has glued

    def _is_next(self, at: int) -> bool:
        return self.starts[at] - self.ends[at - 1] == 1 and self.sentences[at] == self.sentences[at - 1]

    @cached_property
    def figures(self) -> Sequence[tuple[Figure, int, int]]:
        """The figures, each with the numbers of its first and last word."""
        found = []
        for figure in figures_of(self.text, language=self.language):
            first, behind = bisect_left(self.starts, figure.start), bisect_left(self.starts, figure.end)
            if first < behind:
                found.append((figure, first, behind - 1))
        return found

    @cached_property
    def figure_words(self) -> frozenset[int]:
        """The numbers of the words that figures consist of."""
        return frozenset([at for _, first, last in self.figures for at in range(first, last + 1)])

    def around(self, first: int, last: int | None = None) -> Around:
        """Return the nearest content words beside a word, or a run of words, in its sentence."""
        last = first if last is None else last
        left = range(first - 1, max(-1, first - 1 - _REACH), -1)
        return self._beside(left, first), self._beside(
            range(last + 1, min(len(self.forms), last + 1 + _REACH)), last
        )

    def _beside(self, numbers: Iterable[int], at: int) -> list[str]:
        found: list[str] = []
        for number in numbers:
            if self.sentences[number] != self.sentences[at] or len(found) == len(_RANKS):
                break
            if self.is_content[number]:
                found.append(self.forms[number])
        return found

    def joined(self, at: int) -> tuple[str, str]:
        """Return the words that hyphens join to a word, left and right."""
        before = at and self.text[self.starts[at] - 1] in "-‐" and self.ends[at - 1] == self.starts[at] - 1
        behind = self.text[self.ends[at] : self.ends[at] + 1] in ("-", "‐") and at + 1 < len(self.forms)
        return self.lower[at - 1] if before else "", self.lower[at + 1] if behind else ""

    def share_in(self, at: int, other: WordsOf, there: int) -> float:
        """Return the share of the other content words of a word's sentence that a sentence of `other` has."""
        words = {self.forms[each] for each in self._sentence(at) if self.is_content[each]} - {self.forms[at]}
        if not words:
            return 0.0
        its = other._sentence(there)
        return len(words.intersection(other.forms[its.start : its.stop])) / len(words)

    def _sentence(self, at: int) -> range:
        """Return the words of a word's sentence."""
        return range(*self.sentence_of(at))

    def sentence_of(self, at: int) -> tuple[int, int]:
        """Return the first word of a word's sentence, and the one behind its last."""
        number = self.sentences[at]
        return bisect_left(self.sentences, number), bisect_right(self.sentences, number)


def alignment(around: Around, source: WordsOf, at: int) -> Alignment:
    """Return how many of the words around a claim's word are around word `at` of the source too."""
    score, adjacent, crossed = 0.0, 0, 0
    sentences = source.sentences
    for is_right, side in enumerate(around):
        for rank, form in enumerate(side):
            places = source.places.get(form)
            if places is None:
                continue
            behind = bisect_left(places, at)
            before = behind - 1
            if behind < len(places) and places[behind] == at:
                behind += 1
            distance = 0
            for number in (before, behind):
                if 0 <= number < len(places) and sentences[places[number]] == sentences[at]:
                    off = places[number] - at
                    if not distance or abs(off) < abs(distance):
                        distance = off
            if distance:
                crossed += (distance > 0) != is_right
                distance = abs(distance)
                score += _RANKS[rank] * (1 if distance <= _CLOSE else 0.6 if distance <= _NEAR else 0.3)
                adjacent += not rank and distance <= _CLOSE
    return Alignment(score, adjacent, crossed, at)


def best_alignment(around: Around, source: WordsOf, places: Iterable[int]) -> Alignment:
    """Return the best alignment with one of some words of the source, the first one of equals."""
    found = [alignment(around, source, at) for at in islice(places, MOST_PLACES)]
    return max(found, key=lambda each: each.score, default=NOWHERE)


def acquits(agreeing: Alignment, contradicting: Alignment) -> bool:
    """Return whether a place that agrees with a claim is aligned well enough beside one that does not."""
    return agreeing.score >= _ACQUITS * contradicting.score
