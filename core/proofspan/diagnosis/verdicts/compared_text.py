"""A text read for the comparison of an answer with the expected one: its content, names and polarity."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import pairwise
from typing import Literal

from proofspan.diagnosis.claims.differences.aligned import WordsOf
from proofspan.diagnosis.corpus import Survey

#: A word begins like another if they share more letters, and as large a share of the longer one, or if one is
#: the other with a letter more.
_ALIKE_LETTERS, _ALIKE_SHARE = 4, 0.65

Polarity = Literal["yes", "no"]
_MARKS: dict[str, Polarity] = {
    "yes": "yes",
    "ja": "yes",
    "oui": "yes",
    "no": "no",
    "nein": "no",
    "non": "no",
}
#: "Yes", and what may be before it. "No specific parts are named" and "Non-magnetic" do not answer.
_LEAD = (
    r"(?:(?:sure|based on|according to|laut|gemäß|d'après|selon|in short)\b[^.,:!\n]{0,200}[.,:!]\s*){0,3}"
)
_POLAR = re.compile(
    rf"^[\W_]*{_LEAD}[\W_]*(?:(yes|ja|oui)\b|(no|nein|non)(?=\s*(?:[,.;:!–—]|- |$|\n)"
    r"|\s+(?:it|they|you|he|she|there|the|this|that|we|i|es|sie|er|das|man|il|elle|on|vous|ce)\b))",
    re.IGNORECASE,
)


class ComparedText:
    """A text's words, what they weigh, and how it answers a question of yes or no."""

    def __init__(self, text: str, language: str, survey: Survey) -> None:
        self.text = text
        self.words = WordsOf(text, language)
        self._survey = survey

    @cached_property
    def polarity(self) -> Polarity | None:
        """Return the yes or no that the text opens with."""
        match = _POLAR.match(self.text[:1_000])
        return _MARKS[(match[1] or match[2]).lower()] if match is not None else None

    @cached_property
    def polarity_range(self) -> tuple[int, int]:
        """Return where that yes or no is."""
        match = _POLAR.match(self.text[:1_000])
        return (0, 0) if match is None else match.span(1 if match[1] else 2)

    @property
    def without_polarity(self) -> str:
        """Return the text with spaces in the place of that yes or no, which denies nothing behind it."""
        start, end = self.polarity_range
        return self.text[:start] + " " * (end - start) + self.text[end:]

    @cached_property
    def content(self) -> list[int]:
        """Return the numbers of the words that say something, without figures and the yes or no."""
        start, end = self.polarity_range
        words = self.words
        return [
            at
            for at, says in enumerate(words.is_content)
            if says and at not in words.figure_words and not start <= words.starts[at] < end
        ]

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for form in self.words.places:
            if len(form) >= _ALIKE_LETTERS:
                found.setdefault(form[:_ALIKE_LETTERS], []).append(form)
        return found

    def has(self, form: str) -> bool:
        """Return whether the text has a word with this form, or one that begins alike."""
        return form in self.words.places or form in self._joined or bool(self._alike(form))

    @cached_property
    def _joined(self) -> frozenset[str]:
        """Return the forms of every two neighbouring words in one: "South East" is "Southeast"."""
        words = self.words.lower[:_MOST_WORDS]
        return frozenset([self.words.form_of[one + two] for one, two in pairwise(words) if len(one) > 2])

    def _alike(self, form: str) -> list[str]:
        if len(form) < _ALIKE_LETTERS or form[0].isdigit():
            return []
        found = []
        for other in self._by_beginning.get(form[:_ALIKE_LETTERS], ()):
            common, shorter, longer = _common(form, other), *sorted((len(form), len(other)))
            if common == shorter == longer - 1 or (
                common > _ALIKE_LETTERS and common >= _ALIKE_SHARE * longer
            ):
                found.append(other)
        return found

    def places_of(self, form: str) -> list[int]:
        """Return the numbers of the words with a form, or of those that begin alike."""
        places = self.words.places
        if form in places:
            return places[form]
        return [at for other in self._alike(form) for at in places[other]]

    def weight(self, at: int) -> float:
        """Return how rare a word is; short words weigh half of an unknown one."""
        unseen = self._survey.unseen or 1
        rare = self._survey.rarity.get(self.words.lower[at])
        return float(rare if rare else unseen if rare is None else unseen / 2)

    def new_beside(self, *others: ComparedText, within: Collection[int] | None = None) -> dict[str, float]:
        """Return the forms of the content that other texts do not have, each with its weight."""
        found: dict[str, float] = {}
        for at in self.content:
            form = self.words.forms[at]
            if (within is None or at in within) and not any(other.has(form) for other in others):
                found.setdefault(form, self.weight(at))
        return found

    @cached_property
    def negations(self) -> list[int]:
        """Return the numbers of the words that deny, without the "no" that the text opens with."""
        start, end = self.polarity_range
        return [at for at in self.words.negations if not start <= self.words.starts[at] < end]

    @cached_property
    def denied(self) -> frozenset[int]:
        """Return the numbers of the words that are denied: the first ones with content behind a negation."""
        words = self.words
        found = set()
        for negation in self.negations:
            for at in range(negation + 1, min(negation + 1 + _NEGATED, len(words.lower))):
                if words.sentences[at] != words.sentences[negation]:
                    break
                if words.is_content[at]:
                    found.add(at)
                    break
        return frozenset(found)

    def share_of(self, wanted: dict[str, float]) -> float:
        """Return the share of some weighted forms that the text has, 0 without any."""
        total = sum(wanted.values())
        return sum(weight for form, weight in wanted.items() if self.has(form)) / total if total else 0.0

    @cached_property
    def named(self) -> list[int]:
        """Return the numbers of words in names, also at the beginning of the text and of its sentences.

        All nouns of German have capitals, so none of German is counted.
        """
        words = self.words
        if words.language == "de":
            return []
        runs = words.names_at_begin if len(words.lower) < _MOST_WORDS else words.names
        return [
            at
            for first, last in runs
            for at in range(first, last + 1)
            if last > first or self._is_within(first) or len(words.lower) <= _FEW_WORDS
        ]

    def _is_within(self, at: int) -> bool:
        words = self.words
        return at > 0 and words.sentences[at - 1] == words.sentences[at]

    def sentence(self, at: int, *, beside: int = 0) -> range:
        """Return the numbers of the words of a word's sentence, and of as many sentences on each side."""
        first, behind = self.words.sentence_of(at)
        for _ in range(beside):
            if first:
                first = self.words.sentence_of(first - 1)[0]
            if behind < len(self.words.lower):
                behind = self.words.sentence_of(behind)[1]
        return range(first, behind)

    def share_within(self, wanted: dict[str, float], places: range) -> float:
        """Return the share of some weighted forms that a run of words has."""
        total = sum(wanted.values())
        if not total:
            return 0.0
        met = [
            weight
            for form, weight in wanted.items()
            if any(at in places for at in self.places_of(form)[:_MOST_PLACES])
        ]
        return sum(met) / total

    def range_of(self, places: Iterable[int]) -> tuple[int, int]:
        """Return the characters of some words, from the first to the last."""
        numbers = sorted(places)
        return self.words.starts[numbers[0]], self.words.ends[numbers[-1]]


#: A negation reaches over this many words.
_NEGATED = 4
#: Names that open sentences are looked for in texts of as many words; a bare name has few words; places of
#: one word that are looked at.
_MOST_WORDS, _FEW_WORDS, _MOST_PLACES = 2_000, 3, 500


def _common(one: str, other: str) -> int:
    count = 0
    for here, there in zip(one, other, strict=False):
        if here != there:
            break
        count += 1
    return count
