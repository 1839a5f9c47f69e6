"""An answer beside the expected one: what they share, and what each has of its own."""

from __future__ import annotations

import re
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from proofspan.diagnosis.claims.differences.aligned import WordsOf
from proofspan.diagnosis.claims.word_forms import language_of
from proofspan.diagnosis.corpus import Survey
from proofspan.diagnosis.verdicts.compared_text import ComparedText
from proofspan.diagnosis.verdicts.compared_values import explanations, set_aside

#: Sentences of an answer, and claims of each text, that are looked at.
MOST_CLAIMS = 60
#: The share of the expected answer's own words that an answer has if it says the same, much or part of it.
SAME, MUCH, PART = 0.55, 0.45, 0.3
#: A few words; a short text has at most as many.
FEW_WORDS, SHORT = 3, 12
#: Words that follow each other in one text are as close in the other, at one of as many places.
_CLOSE, MOST_PLACES = 4, 100
#: The share of a question's words that a statement has which answers it.
_STATED = 0.85

_ASKS_THING = re.compile(
    r"\b(?:which|what|who|where|welche[rsnm]?|was|wer|wo|quel(?:le)?s?|qui|où)\b", re.IGNORECASE
)
_ITEM = re.compile(
    r",\s*(?:and\b|or\b|und\b|oder\b|et\b|ou\b)?\s*|\s+(?:and|or|und|oder|et|ou)\s+|\s*[;\n]\s*"
)
#: A number with a decimal comma, by which a text without other signs is not English.
_COMMA = re.compile(r"(?<![\d.,])\d{1,3},\d{1,2}(?![\d,])")
_SAMPLE = 4_000
#: Words that open a sentence whose subject is named, not one that is about what the question names.
_ARTICLES = frozenset("the a an der die das ein eine le la les un une".split())  # noqa: SIM905
#: Words for what the question names.
PRONOUNS = frozenset("it they this that these those you es sie das er il elle ils elles ce".split())  # noqa: SIM905
#: Between the words of a name, or of several names in a row.
_JOINED = re.compile(r"\s+|\s*[,&]\s*(?:and|or|und|oder|et|ou)?\s*|\s+(?:and|or|und|oder|et|ou|of|de|von)\s+")


class Part(NamedTuple):
    """A clause or list item of an expected answer: its characters, its own words, and the share stated."""

    start: int
    end: int
    wanted: dict[str, float]
    share: float


class Names(NamedTuple):
    """The first name that is expected, the share of all in the answer, and another name in the answer.

    The first one includes those that are joined to it. `is_head_held`: the answer has all of it.
    """

    wanted: tuple[int, int, str] | None = None
    share: float = 0.0
    replaced: tuple[int, int, str] | None = None
    is_head_held: bool = False


class ComparedAnswer:
    """An answer beside the expected one, and the passages that gold quotes."""

    def __init__(
        self, answer: str, expected: str, quotes: str, question: str, survey: Survey, language: str | None
    ) -> None:
        known = language or language_of(expected) or language_of(question)
        own = language or language_of(answer)
        self.is_foreign = known is not None and own is not None and known != own
        guessed = known or own or language_of(question, guess=True)
        if guessed is None:
            guessed = "" if _COMMA.search(f"{expected}\n{answer[:_SAMPLE]}") else "en"
        self.language = guessed
        own = own or language_of(answer, guess=True) or guessed
        if own == "en" and _COMMA.search(answer[:_SAMPLE]):
            own = ""
        self.survey = survey
        self.question = question
        self.asked = ComparedText(question, language_of(question) or guessed, survey)
        self.expected = ComparedText(expected, self.language, survey)
        self.answer = ComparedText(answer, own, survey)
        self.quotes = ComparedText(quotes, self.language, survey)
        aside = set_aside(expected)
        starts = self.expected.words.starts
        self.required = {at for at in self.expected.content if not any(a <= starts[at] < b for a, b in aside)}
        self.wanted = self.expected.new_beside(self.asked, within=self.required)
        self.share = self.share_of(self.wanted)
        explained = explanations(expected)
        core = {at for at in self.required if not any(a <= starts[at] < b for a, b in explained)}
        self.has_reason = bool(explained)
        #: What is expected without the reasons for it, where it has any.
        self.core = self.expected.new_beside(self.asked, within=core) if explained else {}

    def share_of(self, wanted: dict[str, float]) -> float:
        """Return the share of some forms of the expected answer that the answer has, denied as there."""
        met = {form: weight for form, weight in wanted.items() if not self._is_reversed(form)}
        total = sum(wanted.values())
        return self.answer.share_of(met) * sum(met.values()) / total if met else 0.0

    def _is_reversed(self, form: str) -> bool:
        """Return whether one text denies a word wherever it is, and the other nowhere."""
        ours, theirs = self.expected.places_of(form), self.answer.places_of(form)
        if not ours or not theirs or not (self.expected.denied or self.answer.denied):
            return False
        denied = {at in self.expected.denied for at in ours}
        return len(denied) == 1 and denied.isdisjoint([at in self.answer.denied for at in theirs])

    def is_about_it(self) -> bool:
        """Return whether the answer is about what is asked."""
        asked = self.asked.new_beside()
        return not asked or self.answer.share_of(asked) >= SAME

    def is_unasked(self) -> bool:
        """Return whether the answer has no word of the question."""
        return not self.answer.share_of(self.asked.new_beside())

    def stated(self) -> str | None:
        """Return what a statement with the words of the question answers: no where it denies, else yes."""
        asked = self.asked.new_beside()
        words = self.answer.words
        for number in range(min(words.sentences[-1] + 1, MOST_CLAIMS) if words.sentences else 0):
            places = self.answer.sentence(words.sentences.index(number))
            least = _STATED if words.lower[places.start] not in PRONOUNS else MUCH
            if asked and self.answer.share_within(asked, places) >= least:
                return "no" if any(at in places for at in self.answer.negations) else "yes"
        return None

    def is_off(self) -> bool:
        """Return whether the answer has no word of what is expected, nor of what is asked."""
        asked = self.asked.new_beside()
        words = self.answer.words
        if self.share or len(asked) < 2 or self.answer.share_of(asked):
            return False
        return words.is_content[0] or words.lower[0] in _ARTICLES

    def denies_same(self) -> bool:
        """Return whether a short expected answer denies something of what is asked, and the answer too."""
        ours = self.expected.words
        if (
            len(ours.lower) > SHORT
            or not self.expected.negations
            or not self.answer.negations
            or self.share < PART
        ):
            return False
        asked = {ours.forms[at]: 1.0 for at in self.required if ours.forms[at] not in self.wanted}
        places = self.answer.sentence(self.answer.negations[0])
        return len(asked) > 1 and self.answer.share_within(asked, places) == 1

    def shares_run(self) -> bool:
        """Return whether two words that follow each other in the expected answer are close in the answer too.

        Neither is of the question, and one may be a figure.
        """
        words = self.expected.words
        run = [at for at in sorted(self.required | words.figure_words) if words.is_content[at]]
        for one, two in pairwise(run):
            new = [at for at in (one, two) if words.forms[at] in self.wanted]
            if len(new) + len({one, two} & words.figure_words) < 2 or not new:
                continue
            for at in self.answer.places_of(words.forms[one])[:MOST_PLACES]:
                if any(
                    0 < abs(at - other) <= _CLOSE
                    for other in self.answer.places_of(words.forms[two])[:MOST_PLACES]
                ):
                    return True
        return False

    @cached_property
    def quoted(self) -> float:
        """Return the share of the own words of gold's passages that the answer has."""
        return self.answer.share_of(self.quotes.new_beside(self.asked))

    @cached_property
    def parts(self) -> list[Part]:
        """Return the clauses and list items of the expected answer that add to the question."""
        expected = self.expected
        found = []
        start = 0
        bounds = [match.span() for match in _ITEM.finditer(expected.text)] + [(len(expected.text),) * 2]
        for stop, following in bounds:
            within = {at for at in self.required if start <= expected.words.starts[at] < stop}
            wanted = expected.new_beside(self.asked, within=within)
            if wanted:
                first, end = expected.range_of(within)
                found.append(Part(first, end, wanted, self.share_of(wanted)))
            start = following
        return found

    def lost_words(self) -> list[tuple[int, int]]:
        words = self.expected.words
        return [
            (words.starts[at], words.ends[at])
            for at in sorted(self.required)
            if words.forms[at] in self.wanted and not self.answer.has(words.forms[at])
        ]

    def is_new(self, at: int) -> bool:
        """Return whether a word of the answer says something that is neither asked nor expected."""
        words = self.answer.words
        form = words.forms[at]
        return words.is_content[at] and not (self.asked.has(form) or self.expected.has(form))

    @cached_property
    def own(self) -> set[str]:
        """Return the forms of what the answer adds to the question."""
        theirs = self.answer.words
        return {theirs.forms[at] for at in self.answer.content if not self.asked.has(theirs.forms[at])}

    def is_bare_name(self) -> bool:
        """Return whether a name alone is expected, and the answer has a name within a sentence."""
        named = set(self.expected.named)
        if not 0 < len(self.required) <= FEW_WORDS or not named.issuperset(self.required):
            return False
        return any(not self.asked.has(self.answer.words.forms[first]) for first, _ in self.answer.words.names)

    def says_no_more(self) -> bool:
        """Return whether the answer has words of its own, and all are expected."""
        return 0 < len(self.own) <= SHORT and all(map(self.expected.has, self.own))

    def is_bare_head(self) -> bool:
        """Return whether a short answer has nothing but what the expected one begins with.

        "The consumer segment" for "The consumer segment shrank by 0.9 %".
        """
        if _ASKS_THING.search(self.question) is None or len(self.parts) != 1 or len(self.own) > FEW_WORDS:
            return False
        first = next(iter(self.wanted), None)
        return self.says_no_more() and first is not None and self.answer.has(first)

    def names(self) -> Names:
        """Return the names that are expected, the share of them in the answer, and another name there."""
        words, theirs = self.expected.words, self.answer.words
        ours = [at for at in self.expected.named if words.forms[at] in self.wanted]
        if not ours:
            return Names()
        met = {
            at for at in ours if self.answer.has(words.forms[at]) or words.lower[at][:4] in theirs.beginnings
        }
        head = [ours[0]]
        for at in ours[1:]:
            between = words.text[words.ends[head[-1]] : words.starts[at]]
            if _JOINED.fullmatch(between) is None:
                break
            head.append(at)
        other = next(
            (
                at
                for at in self.answer.named
                if not self.asked.has(theirs.forms[at]) and not self.expected.has(theirs.forms[at])
            ),
            None,
        )
        weights = {at: self.expected.weight(at) for at in ours}
        return Names(
            _written_range(words, head[0], head[-1]),
            sum(weights[at] for at in met) / sum(weights.values()),
            None if other is None else _written_range(theirs, other, other),
            met.issuperset(head),
        )


def _written_range(words: WordsOf, first: int, last: int) -> tuple[int, int, str]:
    start, end = words.starts[first], words.ends[last]
    return start, end, words.text[start:end]
