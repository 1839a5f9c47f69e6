"""A claim read for comparison: the forms of its words, what each weighs, its figures and names."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from proofspan.diagnosis.claims.figures import Figure, figures_of
from proofspan.diagnosis.claims.figures.around import BOUND_WORDS
from proofspan.diagnosis.claims.word_forms import WORD, forms, forms_in, stop_forms, stop_words, words_of
from proofspan.diagnosis.corpus import Survey

#: Words of one claim that are looked at.
MOST_WORDS = 400
#: The end of what precedes a word that opens a sentence, a quotation or a list item.
_OPENS = re.compile(r"(?:^|[.:!?•*–—-]\s|[\"“”‘«(\[*])[\s\"“‘«(\[*]*$")
#: A text of as many words may be in title case.
_TITLE_WORDS = 4
#: Pronouns for people; "it" often refers to nothing.
_PEOPLE = frozenset(("he", "she", "they", "elle", "elles", "ils"))
#: A question with more words of content names somebody, if only by a description.
_NAMES_NOBODY = 2
#: Words of a figure's bound or approximation; alone they say nothing.
_HEDGES = BOUND_WORDS | frozenset("more less fewer than up to a bit little slightly just".split())  # noqa: SIM905


class ReadClaim:
    """A claim's words: `forms` in order and as `line`; those with content, and what each weighs, on demand.

    `figures` and `names` are forms too. `of_nobody` says whether it is about people whom nothing names.
    """

    def __init__(self, text: str, language: str | None, survey: Survey, *, of_nobody: bool = False) -> None:
        self.text = text
        self.of_nobody = of_nobody
        self.language = language
        self.forms = forms_in(text, language)[:MOST_WORDS]
        self.line = f" {' '.join(self.forms)} "
        self._survey = survey

    @property
    def unseen(self) -> int:
        """Return the weight of a word in no chunk."""
        return self._survey.unseen or 1

    @cached_property
    def has_content(self) -> bool:
        """Return whether a word says something about a subject."""
        return not stop_forms(self.language).issuperset(self.forms)

    def names_all(self, label: Collection[str]) -> bool:
        """Return whether the claim has all words of a label, and the label has any."""
        return bool(label) and set(self.forms).issuperset(label)

    @cached_property
    def words(self) -> list[tuple[str, str]]:
        """Return the words with content, as written and as forms."""
        written = words_of(self.text)[:MOST_WORDS]
        form_of, stops = forms(self.language).__getitem__, stop_words(self.language)
        return [(word, form_of(word)) for word in written if word.lower() not in stops]

    @cached_property
    def content(self) -> list[str]:
        """Return the forms of words with content, in order."""
        return [form for _, form in self.words]

    @cached_property
    def weights(self) -> dict[str, float]:
        """Return how rare each word with content is; numbers and short words weigh half of an unknown one."""
        rarity, unseen = self._survey.rarity, self.unseen
        weight_of: dict[str, float] = {}
        for word, form in self.words:
            if form not in weight_of:
                rare = rarity.get(word.lower())
                weight_of[form] = float(rare if rare else unseen if rare is None else unseen / 2)
        return weight_of

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """Return the form of each number in digits that claims something, and the figure that it belongs to.

        Numbers of lists, steps and pages claim nothing.
        """
        digits = {form for word, form in self.words if word[0].isdigit()}
        if not digits:
            return {}
        form_of = forms(self.language).__getitem__
        found: dict[str, Figure] = {}
        for figure in self.all_figures:
            for word in words_of(figure.text):
                if word[0].isdigit() and (form := form_of(word)) in digits:
                    found.setdefault(form, figure)
        return found

    @cached_property
    def spelled(self) -> list[Figure]:
        """Return the measures in words: "half a kilogram"."""
        return [
            each for each in self.all_figures if each.unit.dimension and not any(map(str.isdigit, each.text))
        ]

    def hedges(self, figure: Figure) -> list[str]:
        """Return the forms of the words before a figure that say how exact it is: "a bit more than"."""
        ahead = words_of(self.text[max(0, figure.start - 40) : figure.start].lower())
        behind = next((place for place in range(len(ahead), 0, -1) if ahead[place - 1] not in _HEDGES), 0)
        form_of = forms(self.language).__getitem__
        return [form_of(word) for word in ahead[behind:]]

    @cached_property
    def all_figures(self) -> list[Figure]:
        """Return the figures as they are read, in digits or words."""
        return figures_of(self.text, language=self.language or "")

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
        of_figures = {form_of(word) for figure in self.figures.values() for word in words_of(figure.text)}
        return frozenset(named.intersection(self.weights)).difference(self.figures, of_figures)


def opens_with_nobody(answer: str, question: str) -> bool:
    """Return whether an answer opens with a pronoun for people, and the question names nobody it could mean.

    A question without any capital may name somebody in small letters.
    """
    opening = WORD.search(answer)
    if opening is None or opening[0].lower() not in _PEOPLE:
        return False
    asked = words_of(question)
    stops = stop_words("en") | stop_words("fr")
    return (
        question != question.lower()
        and not any(word[0].isupper() for word in asked[1:])
        and sum(word.lower() not in stops for word in asked) <= _NAMES_NOBODY
    )
