"""Compare an answer with the expected one: figures by value, names, yes and no, lists, free text.

`wrong` needs a proof: another figure or name for what is asked, the opposite, or nothing of what both the
expected answer and its passages say. What rules cannot decide is `unknown`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise, takewhile
from typing import NamedTuple

from proofspan.contracts.records.records import GoldQuestion
from proofspan.diagnosis.answers import other_refusal
from proofspan.diagnosis.claims.check import OF_ANY_LANGUAGE, check_answer
from proofspan.diagnosis.claims.differences.aligned import WordsOf
from proofspan.diagnosis.claims.figures import FigureIndex
from proofspan.diagnosis.claims.source import SourceText
from proofspan.diagnosis.claims.split import claims_in
from proofspan.diagnosis.claims.support import EvidenceSource
from proofspan.diagnosis.claims.types import CheckedClaim, Claim, ClaimDifference
from proofspan.diagnosis.claims.word_forms import language_of, stop_words, words_of
from proofspan.diagnosis.corpus import Survey
from proofspan.diagnosis.verdicts.compared_text import ComparedText
from proofspan.diagnosis.verdicts.compared_values import (
    Wanted,
    WantedCode,
    explanations,
    set_aside,
    wanted_codes,
    wanted_figures,
)
from proofspan.diagnosis.verdicts.types import Correctness

#: Characters of an answer and of an expected answer that are compared, and claims checked each way.
MOST_ANSWER, MOST_EXPECTED, MOST_CLAIMS = 60_000, 8_000, 60
#: The share of the expected answer's own words that an answer has if it says the same, or part of it.
_SAME, _MUCH, _PART = 0.55, 0.45, 0.3
#: Nothing is stated of an expected answer with as many words if the answer has this share of them, or less.
_NOTHING, _ENOUGH_WORDS, _FEW_WORDS = 0.15, 4, 3
#: The share of the words of gold's passages in an answer that quotes them.
_QUOTED = 0.8
#: The answer to a question for an amount has at most this many words for each figure, and for itself.
_WORDS_OF_VALUE = 4
#: A part that is missing weighs at least this share of the expected answer.
_HEAVY = 0.2
#: Words that follow each other in one text are as close in the other, at one of as many places.
_CLOSE, _MOST_PLACES = 4, 100
#: A figure belongs to a part of the expected answer if it is in it, or right behind it.
_BEHIND = 12
#: A short expected answer has at most this many words.
_SHORT = 12

#: Questions for an amount or a time.
_ASKS_VALUE = re.compile(
    r"\b(?:how (?!do\b|does|did|can|could|is\b|are\b|was\b|were\b|to\b|would|should|will|ha[sv]e?\b|had\b"
    r"|may\b|must|i\b|we\b|come|about)\w+|when|(?:what|which)(?: \w+){0,3} (?:percentage|percent|amount"
    r"|number|year|date|day|month|age|time|temperature|pressure|speed|weight|height|length|width|depth|distance|torque"
    r"|capacity|volume|voltage|ratio|rate|price|cost|total|value|margin|revenue|income|profit|interval|figure)"
    r"|max\b|min\b|maximum|minimum|wie (?:viele?|lange|weit|oft|hoch|tief|alt|schwer|breit|groß|schnell|teuer"
    r"|häufig)|wann|welche[rsnm]? (?:\w+ )?(?:druck|jahr|datum|temperatur|betrag|anteil|drehmoment|menge"
    r"|zahl)|combien|quand|quelle? (?:\w+ ){0,3}(?:pression|année|date|température|montant|taux|distance"
    r"|couple|quantité|durée|hauteur|largeur|poids|vitesse))\b",
    re.IGNORECASE,
)
_ASKS_NAME = re.compile(
    r"\b(?:who|whom|whose|where|(?:real |full )?name of|called"
    r"|which (?:country|city|company|person|team|state|part)|wer|wem|wen|wo|qui|où)\b",
    re.IGNORECASE,
)
_ASKS_KIND = re.compile(r"\b(?:which|what|welche[rsnm]?|quel(?:le)?s?) (\w+(?: \w+)?)", re.IGNORECASE)
_ASKS_THING = re.compile(
    r"\b(?:which|what|who|where|welche[rsnm]?|was|wer|wo|quel(?:le)?s?|qui|où)\b", re.IGNORECASE
)
#: Amounts and times in words that are not read as figures.
_VAGUE = re.compile(
    r"\b(?:annual\w*|yearly|monthly|weekly|daily|hourly|overnight|twice|once|thrice|half|quarter\w*|dozens?|doubl\w+"
    r"|tripl\w+|unlimited|zero|nil|an? (?:day|week|month|year|hour|minute|second|decade|century|couple|few)"
    r"|(?:every|each) (?:day|week|month|year|hour)|millennium|unanim\w+"
    r"|jährlich\w*|monatlich\w*|wöchentlich\w*|täglich\w*|stündlich\w*|halb\w*|dutzend|doppelt\w*|null|eine[rnm]?"
    r" (?:tag|woche|monat|jahr|stunde|minute)\w*"
    r"|annuel\w*|mensuel\w*|hebdomadaire|quotidien\w*|moitié|douzaine|zéro"
    r"|une? (?:jour|semaine|mois|an|heure))\b",
    re.IGNORECASE,
)
#: Kinds of differences by which one text says the opposite of the other.
_OPPOSED = frozenset(("negation", "direction", "name", *OF_ANY_LANGUAGE))
_ITEM = re.compile(
    r",\s*(?:and\b|or\b|und\b|oder\b|et\b|ou\b)?\s*|\s+(?:and|or|und|oder|et|ou)\s+|\s*[;\n]\s*"
)
#: A number with a decimal comma, by which a text without other signs is not English.
_COMMA = re.compile(r"(?<![\d.,])\d{1,3},\d{1,2}(?![\d,])")
_SAMPLE = 4_000
_BLANK = re.compile(r"\S")


def compare_expected(
    answer: str,
    gold: GoldQuestion | None,
    *,
    question: str,
    is_refusal: bool,
    survey: Survey,
    language: str | None = None,
    blanked: str | None = None,
    checked: Iterable[CheckedClaim] = (),
) -> Correctness:
    """Return whether an answer says what is expected of it, with what differs.

    `blanked` is the answer with spaces in the place of its citations and refusal phrases, as `claims_of`
    returns it. `checked` are the answer's claims checked against its evidence: an answer of which one
    contradicts its evidence is not correct. `language` is that of both texts, where it is known.
    """
    text = (answer if blanked is None else blanked)[:MOST_ANSWER]
    if gold is None:
        return Correctness("unknown", "there is no expected answer")
    expected = (gold.answer or "")[:MOST_EXPECTED]
    declines = is_refusal or _declines(text, question)
    if not gold.answerable or (expected.strip() and _declines(expected, question)):
        if declines:
            return Correctness("declined_rightly", "the documents do not answer the question")
        return Correctness("wrong", "it answers a question that the documents do not answer", _whole(text))
    if declines:
        return Correctness("declined_wrongly", "the documents answer the question")
    quotes = "\n".join([span.quote for span in gold.spans])[:MOST_EXPECTED]
    if not expected.strip() and not quotes.strip():
        return Correctness("unknown", "there is no expected answer")
    if _BLANK.search(text) is None:
        return Correctness("wrong", "the answer is empty", (), _whole(expected))
    compared = _Comparison(text, expected, quotes, question, survey, language)
    found = compared.with_quotes_alone() if not expected.strip() else compared.result()
    differing = [each for each in checked if each.status == "differs"]
    if found.value == "correct" and differing:
        marks = tuple([(each.claimed_start, each.claimed_end) for each in differing[0].differences])
        return Correctness("partly", "a claim contradicts its evidence", _ranges(marks))
    return found


def _declines(text: str, question: str) -> bool:
    """Return whether a text does nothing but decline."""
    return other_refusal(text[:4_000].lower()) is not None and not claims_in(text, question).claims


class _Part(NamedTuple):
    """A clause or list item of an expected answer: its characters, its own words, and the share stated."""

    start: int
    end: int
    wanted: dict[str, float]
    share: float


class _Comparison:
    """An answer beside the expected one."""

    def __init__(
        self, answer: str, expected: str, quotes: str, question: str, survey: Survey, language: str | None
    ) -> None:
        known = language or language_of(expected) or language_of(question)
        own = language or language_of(answer)
        self.is_foreign = known is not None and own is not None and known != own
        guessed = known or own or language_of(question, guess=True)
        if guessed is None:
            guessed = "" if _COMMA.search(f"{expected}\n{answer[:_SAMPLE]}") else "en"
        self._language = guessed
        own = own or language_of(answer, guess=True) or guessed
        if own == "en" and _COMMA.search(answer[:_SAMPLE]):
            own = ""
        self._survey = survey
        self._question = question
        self.asked = ComparedText(question, language_of(question) or guessed, survey)
        self.expected = ComparedText(expected, self._language, survey)
        self.answer = ComparedText(answer, own, survey)
        self.quotes = ComparedText(quotes, self._language, survey)
        aside = set_aside(expected)
        starts = self.expected.words.starts
        self._required = {
            at for at in self.expected.content if not any(a <= starts[at] < b for a, b in aside)
        }
        self.wanted = self.expected.new_beside(self.asked, within=self._required)
        self.share = self.answer.share_of(self.wanted)
        explained = explanations(expected)
        core = {at for at in self._required if not any(a <= starts[at] < b for a, b in explained)}
        self.has_reason = bool(explained)
        #: What is expected without the reasons for it, where it has any.
        self.core = self.expected.new_beside(self.asked, within=core) if explained else {}

    # Verdicts, the surest first.

    def result(self) -> Correctness:
        """Return the verdict."""
        expected, answer = self.expected, self.answer
        if _plain(expected.text) == _plain(answer.text):
            return Correctness("correct", "it is the expected answer word for word")
        ours, theirs = expected.polarity, answer.polarity
        if ours == "yes" and theirs is None and (place := self._reversed()) is not None:
            opposite = answer.words.starts[place], answer.words.ends[place]
            return _contradicted("direction", answer.text, opposite, expected.text, expected.polarity_range)
        if ours is not None and theirs is not None and ours != theirs:
            return Correctness(
                "wrong",
                f"it says {theirs} where {ours} is expected",
                (answer.polarity_range,),
                (expected.polarity_range,),
            )
        found = wanted_figures(expected, answer, self.asked)
        figures = [each for each in found if each.is_required]
        if (chosen := self._chosen()) is not None:
            return chosen
        codes = wanted_codes(expected, answer, self.asked)
        is_key = self._is_key(figures)
        if is_key and (wrong := self._replaced(figures)) is not None:
            return wrong
        replaced = next((code for code in codes if code.other is not None), None)
        if replaced is not None and replaced.other is not None:
            start, end = replaced.other
            return Correctness(
                "wrong",
                f"it says {answer.text[start:end]} where {replaced.text} is expected",
                (replaced.other,),
                ((replaced.start, replaced.end),),
            )
        opposed = self._opposed(found)
        if opposed is not None:
            return opposed
        if (opposed := self._opposite()) is not None:
            return opposed
        verdict = self._without_values(figures, codes, is_key=is_key)
        others = [each for each in found if not each.is_held and each.other is not None]
        if verdict.value == "correct" and others:
            stated = next(each.other for each in others if each.other is not None)
            return Correctness(
                "partly",
                f"it says {_written(stated.text)} where {_written(others[0].figure.text)} is expected",
                ((stated.start, stated.end),),
                _ranges([(each.figure.start, each.figure.end) for each in others]),
                is_figure=True,
            )
        return verdict

    def _without_values(
        self, figures: Sequence[Wanted], codes: Sequence[WantedCode], *, is_key: bool
    ) -> Correctness:
        """Return the verdict where no value is replaced."""
        if is_key:
            return self._by_figures(figures)
        if codes and not all(code.is_held for code in codes):
            lost = [(code.start, code.end) for code in codes if not code.is_held]
            if any(code.is_held for code in codes):
                return self._partly(lost)
            if len(self.wanted) <= _ENOUGH_WORDS:
                return self._wrong_without(lost)
        if self.is_foreign:
            return self._foreign(figures)
        return self._by_words(figures)

    def with_quotes_alone(self) -> Correctness:
        """Return the verdict where gold has passages and no answer."""
        figures = [each for each in wanted_figures(self.quotes, self.answer, self.asked) if each.is_required]
        wanted = self.quotes.new_beside(self.asked)
        if wanted and self.answer.share_of(wanted) >= _QUOTED and all(each.is_held for each in figures):
            return Correctness("correct", "it says what the gold passage says")
        return Correctness("unknown", "there is no expected answer, and the gold passage says more")

    # Figures.

    def _is_key(self, figures: Sequence[Wanted]) -> bool:
        """Return whether the figures are what is asked for, or nearly all that is expected."""
        if not figures:
            return False
        words, count = len(self.wanted), len(figures)
        if _ASKS_VALUE.search(self._question) is None:
            return words <= count + 1
        return words <= _WORDS_OF_VALUE * (count + 1)

    def _replaced(self, figures: Sequence[Wanted]) -> Correctness | None:
        wrong = [each for each in figures if not each.is_held and each.other is not None]
        # A figure that is there may have another beside it; without any the other takes its place.
        if not wrong or (len(wrong) < len(figures) and not self._is_in_row(figures, wrong[0])):
            return None
        first = wrong[0]
        stated = [each.other for each in wrong if each.other is not None]
        return Correctness(
            "wrong",
            f"it says {_written(stated[0].text)} where {_written(first.figure.text)} is expected",
            _ranges([(each.start, each.end) for each in stated]),
            _ranges([(each.figure.start, each.figure.end) for each in wrong]),
            is_figure=True,
        )

    def _is_in_row(self, figures: Sequence[Wanted], wrong: Wanted) -> bool:
        """Return whether a wrong figure is in the sentence of one that is right."""
        words = self.answer.words
        firsts = {figure.start: first for figure, first, _ in words.figures}
        if wrong.other is None:
            return False
        number = words.sentences[firsts[wrong.other.start]]
        return any(
            each.is_held and each.same is not None and words.sentences[firsts[each.same.start]] == number
            for each in figures
        )

    def _by_figures(self, figures: Sequence[Wanted]) -> Correctness:
        """Return the verdict where the figures decide."""
        unsigned = [each for each in figures if each.is_sign_open]
        if unsigned:
            return Correctness("unknown", "only one of the two figures has a sign", *_marks(unsigned))
        held = [each for each in figures if each.is_held]
        coarse = [each for each in figures if each.near is not None]
        rounded = [each for each in coarse if not each.is_held]
        lost = [each for each in figures if not each.is_held and each.near is None]
        if not lost and not coarse:
            return Correctness("correct", f"it has {_listed(held)}")
        if not lost:
            near = coarse[0].near
            stated = "" if near is None else f": {_written(near.text)}"
            reason = f"{_written(coarse[0].figure.text)} is rounded{stated}"
            return Correctness(
                "partly" if rounded else "correct", reason, *_marks(coarse), is_figure=False, is_rounded=True
            )
        ranges = [(each.figure.start, each.figure.end) for each in lost]
        if held or rounded:
            return self._partly(ranges)
        elsewhere = [each for each in lost if each.is_elsewhere]
        if elsewhere and self.answer.share_of(self.asked.new_beside()) >= _PART:
            reason = f"{_written(elsewhere[0].figure.text)} is in it, but about something else"
            return Correctness("unknown", reason, *_marks(elsewhere))
        vague = _VAGUE.search(self.answer.text)
        if vague is not None and self._is_about_it():
            return Correctness("unknown", f"it has no figure, and says “{vague[0]}”", (), _ranges(ranges))
        is_short = len(self.answer.content) <= _ENOUGH_WORDS and not self.quotes.words.lower
        is_stated = self.share >= _SAME and _ASKS_VALUE.search(self._question) is None
        if is_short or is_stated or any(not each.figure.value for each in lost if not each.figure.dates):
            return Correctness("unknown", f"it has no figure for {_listed(lost)}", (), _ranges(ranges))
        return self._wrong_without(ranges, is_figure=False)

    def _is_about_it(self) -> bool:
        """Return whether the answer is about what is asked."""
        asked = self.asked.new_beside()
        return not asked or self.answer.share_of(asked) >= _SAME

    # Words.

    def _foreign(self, figures: Sequence[Wanted]) -> Correctness:
        if figures and all(each.is_held for each in figures):
            return Correctness("correct", f"it has {_listed(figures)}, in another language")
        return Correctness("unknown", "it is in another language than the expected answer")

    def _by_words(self, figures: Sequence[Wanted]) -> Correctness:
        parts = self._parts
        names = self._names()
        ours, theirs = self.expected.polarity, self.answer.polarity
        if ours is not None and not self.wanted:
            return self._by_polarity()
        if ours is not None and self.has_reason and not self.core and ours in (theirs, self._stated()):
            return self._by_polarity()
        if ours is not None and theirs is None and self._stated() not in (None, ours):
            return Correctness(
                "wrong",
                f"it denies what is asked, and {ours} is expected",
                (),
                (self.expected.polarity_range,),
            )
        if not self.wanted and not figures:
            return self._repeated()
        missing = [
            (part.start, part.end)
            for part in parts
            if part.share < _PART
            and sum(part.wanted.values()) >= _HEAVY * sum(self.wanted.values())
            and not any(
                part.start <= each.figure.start < part.end + _BEHIND and each.is_held for each in figures
            )
        ]
        if self._quoted >= _QUOTED and all(each.is_held for each in figures):
            return Correctness("correct", "it quotes the gold passage")
        asks_name = _ASKS_NAME.search(self._question) is not None or self._is_bare_name()
        if names.wanted and names.share == 0 and names.replaced and asks_name:
            return Correctness(
                "wrong",
                f"it names {names.replaced[2]} where {names.wanted[2]} is expected",
                (names.replaced[:2],),
                (names.wanted[:2],),
            )
        if self.core and self.answer.share_of(self.core) == 1 and not parts[0].share < 1:
            return Correctness("correct", "it says what is expected, without the reason")
        if (other := self._other_of_kind()) is not None:
            return other
        if self.share >= _SAME and (changed := self._changed_modifier()) is not None:
            return changed
        if self.share >= _SAME and not missing:
            return Correctness("correct", "it says what is expected")
        if (names.share >= _NAMED or names.is_head_held) and _ASKS_NAME.search(self._question):
            return Correctness("correct", "it names what is expected")
        if self._is_bare_head():
            return Correctness("correct", "it names what is expected")
        if self._denies_same():
            return Correctness("correct", "both deny the same")
        if self.share >= _MUCH or self._shares_run() or self._says_no_more():
            return self._partly(missing or self._lost_words())
        has_stated = len(self.answer.content) >= _ENOUGH_WORDS
        if self.quotes.content:
            is_other = len(self.wanted) >= _FEW_WORDS and self._quoted < _MUCH
        else:
            is_other = len(self.wanted) >= _ENOUGH_WORDS and (
                (self.share < _NOTHING and len(self.wanted) >= 2 * _ENOUGH_WORDS) or self._is_off()
            )
        if is_other and has_stated:
            little = "nothing" if self.share == 0 else "hardly anything"
            return Correctness(
                "wrong",
                f"it says {little} of what is expected",
                _whole(self.answer.text),
                _whole(self.expected.text),
            )
        if ours is not None and ours in (theirs, self._stated()):
            return self._partly(missing or self._lost_words())
        return Correctness("unknown", "both are free text with few words in common")

    def _by_polarity(self) -> Correctness:
        """Return the verdict where only yes or no is expected."""
        ours, theirs = self.expected.polarity, self.answer.polarity or self._stated()
        if theirs is None:
            return Correctness("unknown", f"it says neither yes nor no, and {ours} is expected")
        if ours == theirs:
            return Correctness("correct", f"it says {ours}")
        return Correctness(
            "wrong", f"it says {theirs} where {ours} is expected", (), (self.expected.polarity_range,)
        )

    def _reversed(self) -> int | None:
        """Return the number of the answer's word that says the opposite of a word of the question."""
        asked, theirs = self.asked.words, self.answer.words
        if asked.negations or theirs.negations:
            return None
        for pair, sides in asked.pairs.items():
            known = {side for _, side in sides}
            stated = theirs.pairs.get(pair, [])
            if len(known) == 1 and stated and known.isdisjoint([side for _, side in stated]):
                at, word = stated[0][0], asked.lower[sides[0][0]]
                lists = asked.lists
                if pair not in lists.converse | lists.attributes and word not in lists.weak:
                    return at
        return None

    def _stated(self) -> str | None:
        """Return what a statement with the words of the question answers: no where it denies, else yes."""
        asked = self.asked.new_beside()
        words = self.answer.words
        for number in range(min(words.sentences[-1] + 1, MOST_CLAIMS) if words.sentences else 0):
            places = self.answer.sentence(words.sentences.index(number))
            least = _STATED if words.lower[places.start] not in _PRONOUNS else _MUCH
            if asked and self.answer.share_within(asked, places) >= least:
                return "no" if any(at in places for at in words.negations) else "yes"
        return None

    def _repeated(self) -> Correctness:
        """Return the verdict where the expected answer has only words of the question."""
        required = self.expected.new_beside(within=self._required)
        if not required or self.answer.share_of(required) < _SAME:
            return Correctness("unknown", "the expected answer has only words of the question")
        denied = bool(self.expected.words.negations) != bool(self.answer.words.negations)
        if denied:
            return Correctness("unknown", "only one of the two denies it")
        return Correctness("correct", "it says what is expected")

    def _is_off(self) -> bool:
        """Return whether the answer has no word of what is expected, nor of what is asked."""
        asked = self.asked.new_beside()
        words = self.answer.words
        if self.share or len(asked) < 2 or self.answer.share_of(asked):
            return False
        return words.is_content[0] or words.lower[0] in _ARTICLES

    def _denies_same(self) -> bool:
        """Return whether a short expected answer denies something of what is asked, and the answer too."""
        ours, theirs = self.expected.words, self.answer.words
        if len(ours.lower) > _SHORT or not ours.negations or not theirs.negations or self.share < _PART:
            return False
        asked = {ours.forms[at]: 1.0 for at in self._required if ours.forms[at] not in self.wanted}
        places = self.answer.sentence(theirs.negations[0])
        return len(asked) > 1 and self.answer.share_within(asked, places) == 1

    def _shares_run(self) -> bool:
        """Return whether two words that follow each other in the expected answer are close in the answer too.

        Neither is of the question, and one may be a figure.
        """
        words = self.expected.words
        run = [at for at in sorted(self._required | words.figure_words) if words.is_content[at]]
        for one, two in pairwise(run):
            new = [at for at in (one, two) if words.forms[at] in self.wanted]
            if len(new) + len({one, two} & words.figure_words) < 2 or not new:
                continue
            for at in self.answer.places_of(words.forms[one])[:_MOST_PLACES]:
                if any(
                    0 < abs(at - other) <= _CLOSE
                    for other in self.answer.places_of(words.forms[two])[:_MOST_PLACES]
                ):
                    return True
        return False

    @cached_property
    def _quoted(self) -> float:
        """Return the share of the own words of gold's passages that the answer has."""
        return self.answer.share_of(self.quotes.new_beside(self.asked))

    @cached_property
    def _parts(self) -> list[_Part]:
        """Return the clauses and list items of the expected answer that add to the question."""
        expected = self.expected
        found = []
        start = 0
        bounds = [match.span() for match in _ITEM.finditer(expected.text)] + [(len(expected.text),) * 2]
        for stop, following in bounds:
            within = {at for at in self._required if start <= expected.words.starts[at] < stop}
            wanted = expected.new_beside(self.asked, within=within)
            if wanted:
                first, end = expected.range_of(within)
                found.append(_Part(first, end, wanted, self.answer.share_of(wanted)))
            start = following
        return found

    def _lost_words(self) -> list[tuple[int, int]]:
        words = self.expected.words
        return [
            (words.starts[at], words.ends[at])
            for at in sorted(self._required)
            if words.forms[at] in self.wanted and not self.answer.has(words.forms[at])
        ]

    def _changed_modifier(self) -> Correctness | None:
        """Return the verdict where the answer has another word before the same one: "the passenger's side".

        It may be another word for the same thing, so the answer is not wrong.
        """
        ours, theirs = self.expected.words, self.answer.words
        if len(self.wanted) > 2 * _FEW_WORDS:
            return None
        for one in sorted(self._required):
            two = one + 1
            if (
                two not in self._required
                or ours.sentences[one] != ours.sentences[two]
                or ours.forms[one] not in self.wanted
                or self.answer.has(ours.forms[one])
            ):
                continue
            places = [
                place
                for place in theirs.places.get(ours.forms[two], ())[:_MOST_PLACES]
                if place and theirs.starts[place] - theirs.ends[place - 1] == 1
            ]
            others = [place - 1 for place in places if self._is_new(place - 1)]
            if places and len(others) == len(places):
                start, end = theirs.starts[others[0]], theirs.ends[places[0]]
                at = ours.starts[one], ours.ends[two]
                stated = _written(theirs.text[start:end])
                reason = f"it says {stated} where {_written(ours.text[slice(*at)])} is expected"
                return Correctness("partly", reason, ((start, end),), (at,))
        return None

    def _is_new(self, at: int) -> bool:
        """Return whether a word of the answer says something that is neither asked nor expected."""
        words = self.answer.words
        form = words.forms[at]
        return words.is_content[at] and not (self.asked.has(form) or self.expected.has(form))

    def _other_of_kind(self) -> Correctness | None:
        """Return the verdict where the answer names another thing of the kind that is asked for.

        "Which segment …" expects "the consumer segment", and the answer says "the industrial segment".
        """
        match = _ASKS_KIND.search(self._question)
        if match is None:
            return None
        asked = self.asked.words
        stops = stop_words(asked.language)
        kinds = {
            asked.form_of[word.lower()]
            for word in takewhile(lambda word: word.lower() not in stops, words_of(match[1]))
        }
        ours, theirs = self.expected.words, self.answer.words
        for kind in kinds & ours.places.keys() & theirs.places.keys():
            at = ours.places[kind][0] - 1
            if at < 0 or ours.forms[at] not in self.wanted or self.answer.has(ours.forms[at]):
                continue
            others = [
                place - 1
                for place in theirs.places[kind][:_MOST_PLACES]
                if place and theirs.is_content[place - 1] and not self.asked.has(theirs.forms[place - 1])
            ]
            if others and not any(self.expected.has(theirs.forms[place]) for place in others):
                stated = theirs.starts[others[0]], theirs.ends[others[0]]
                return _contradicted("name", theirs.text, stated, ours.text, (ours.starts[at], ours.ends[at]))
        return None

    @cached_property
    def _own(self) -> set[str]:
        """Return the forms of what the answer adds to the question."""
        theirs = self.answer.words
        return {theirs.forms[at] for at in self.answer.content if not self.asked.has(theirs.forms[at])}

    def _is_bare_name(self) -> bool:
        """Return whether a name alone is expected, and the answer has a name within a sentence."""
        named = set(self.expected.named)
        if not 0 < len(self._required) <= _FEW_WORDS or not named.issuperset(self._required):
            return False
        return any(not self.asked.has(self.answer.words.forms[first]) for first, _ in self.answer.words.names)

    def _says_no_more(self) -> bool:
        """Return whether the answer has words of its own, and all are expected."""
        return 0 < len(self._own) <= _SHORT and all(map(self.expected.has, self._own))

    def _is_bare_head(self) -> bool:
        """Return whether a short answer has nothing but what the expected one begins with.

        "The consumer segment" for "The consumer segment shrank by 0.9 %".
        """
        if _ASKS_THING.search(self._question) is None or len(self._parts) != 1 or len(self._own) > _FEW_WORDS:
            return False
        first = next(iter(self.wanted), None)
        return self._says_no_more() and first is not None and self.answer.has(first)

    def _names(self) -> _Names:
        """Return the names that are expected, the share of them in the answer, and another name there."""
        words, theirs = self.expected.words, self.answer.words
        ours = [at for at in self.expected.named if words.forms[at] in self.wanted]
        if not ours:
            return _Names()
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
        return _Names(
            _written_range(words, head[0], head[-1]),
            sum(weights[at] for at in met) / sum(weights.values()),
            None if other is None else _written_range(theirs, other, other),
            met.issuperset(head),
        )

    # Typed differences, in both directions.

    def _opposed(self, figures: Sequence[Wanted]) -> Correctness | None:
        """Return the verdict where a claim of the one text contradicts the other."""
        expected, answer = self.expected.without_polarity, self.answer.without_polarity
        for difference in self._differences(expected, answer):
            at = difference.claimed_start, difference.claimed_end
            stated = difference.found_start, difference.found_end
            if self._counts(difference, figures, at, stated):
                return _contradicted(difference.kind, answer, stated, expected, at)
        for difference in self._differences(answer, expected):
            at = difference.found_start, difference.found_end
            stated = difference.claimed_start, difference.claimed_end
            if self._counts(difference, figures, at, stated) and not self._is_also_stated(difference):
                return _contradicted(difference.kind, answer, stated, expected, at)
        if self._quoted >= _QUOTED:
            for difference in self._differences(self.quotes.text, answer):
                if difference.kind in _OPPOSED:
                    stated = difference.found_start, difference.found_end
                    return _contradicted(difference.kind, answer, stated, difference.claimed)
        return None

    def _opposite(self) -> Correctness | None:
        """Return the verdict where few words are expected, and the answer says the opposite of one."""
        words, theirs = self.expected.words, self.answer.words
        if not 0 < len(self.wanted) <= _FEW_WORDS or words.negations or theirs.negations:
            return None
        for at in sorted(self._required):
            if words.forms[at] not in self.wanted or self.answer.has(words.forms[at]):
                continue
            place = self._opposite_of(words.lower[at])
            if place is not None:
                stated = theirs.starts[place], theirs.ends[place]
                return _contradicted(
                    "direction",
                    self.answer.text,
                    stated,
                    self.expected.text,
                    (words.starts[at], words.ends[at]),
                )
        return None

    def _opposite_of(self, word: str) -> int | None:
        """Return the number of the answer's word that says the opposite of one."""
        lists, theirs = self.expected.words.lists, self.answer.words
        for prefix in lists.prefixes:
            for other in (prefix + word, word.removeprefix(prefix)):
                if other != word and other in theirs.known and len(other) > _FEW_WORDS:
                    return theirs.lower.index(other)
        for pair, side in lists.sides_of[word]:
            if pair not in lists.attributes and pair not in lists.converse and word not in lists.weak:
                sides = theirs.pairs.get(pair, ())
                if sides and all(its != side for _, its in sides):
                    return sides[0][0]
        return None

    def _chosen(self) -> Correctness | None:
        """Return the verdict where the question offers two things, and both texts choose one.

        Where both choose the same, the rest decides if anything else is expected.
        """
        asked, expected, answer = self.asked.words, self.expected.words, self.answer.words
        if expected.negations or answer.negations:
            return None
        for one, two in _offered(asked):
            ours = [form for form in (one, two) if form in expected.places]
            theirs = [form for form in (one, two) if form in answer.places]
            if len(ours) != 1 or len(theirs) != 1:
                continue
            at, place = expected.places[ours[0]][0], answer.places[theirs[0]][0]
            if ours != theirs:
                stated = answer.starts[place], answer.ends[place]
                at_both = expected.starts[at], expected.ends[at]
                return _contradicted("direction", answer.text, stated, expected.text, at_both)
            if not self.wanted:
                return Correctness("correct", f"it says {_written(expected.lower[at])}")
        return None

    def _is_also_stated(self, difference: ClaimDifference) -> bool:
        """Return whether the answer says what is expected as well as what differs."""
        words = words_of(difference.found)
        form_of = self.expected.words.form_of
        return (
            difference.kind not in ("negation", *OF_ANY_LANGUAGE)
            and bool(words)
            and all(self.answer.has(form_of[word.lower()]) for word in words)
        )

    def _is_expected(self, stated: tuple[int, int]) -> bool:
        """Return whether the expected answer has the figures in a part of the answer."""
        figures = [
            figure for figure, _, _ in self.answer.words.figures if stated[0] <= figure.start < stated[1]
        ]
        known = FigureIndex([figure for figure, _, _ in self.expected.words.figures])
        return bool(figures) and all(known.agreeing(figure) is not None for figure in figures)

    def _differences(self, text: str, source: str) -> Iterator[ClaimDifference]:
        """Yield how the claims of a text differ from another text."""
        whole = Claim(text, 0, len(text), "sentence")
        claims = claims_in(text, self._question).claims[:MOST_CLAIMS] or (whole,)
        sources = [EvidenceSource("gold", None, SourceText(source))]
        found = check_answer(text, sources, self._survey, question=self._question, claims=claims)
        for each in found.claims:
            yield from each.differences

    def _counts(
        self,
        difference: ClaimDifference,
        figures: Sequence[Wanted],
        at: tuple[int, int],
        stated: tuple[int, int],
    ) -> bool:
        """Return whether a difference shows that the answer is wrong.

        A figure that the answer has all the same is no wrong one, nor is one that is expected elsewhere; and
        what the answer says about something else than the clause of the expected one is no contradiction.
        """
        if difference.kind not in _OPPOSED:
            return False
        start = at[0]
        if difference.kind in OF_ANY_LANGUAGE:
            known = [each for each in figures if each.figure.start <= start < each.figure.end]
            return not any(each.is_held or each.near for each in known) and not self._is_expected(stated)
        part = next((part for part in self._parts if part.start <= start < part.end), None)
        place = bisect_right(self.answer.words.starts, stated[0]) - 1
        if part is None or place < 0:
            return True
        words = self.expected.words
        own = {words.forms[each] for each in range(len(words.lower)) if words.starts[each] == start}
        wanted = {form: weight for form, weight in part.wanted.items() if form not in own}
        return not wanted or self.answer.share_within(wanted, self.answer.sentence(place)) >= _PART

    # Wording.

    def _partly(self, lost: Sequence[tuple[int, int]]) -> Correctness:
        missing = tuple([self.expected.text[start:end] for start, end in lost])
        reason = f"it lacks {_quoted_list(missing)}" if missing else "it says only part of what is expected"
        return Correctness("partly", reason, (), _ranges(lost), missing=missing)

    def _wrong_without(self, lost: Sequence[tuple[int, int]], *, is_figure: bool = False) -> Correctness:
        missing = tuple([self.expected.text[start:end] for start, end in lost])
        return Correctness(
            "wrong", f"it does not say {_quoted_list(missing)}", (), _ranges(lost), is_figure, missing=missing
        )


#: Words that open a sentence whose subject is named, not one that is about what the question names.
_ARTICLES = frozenset("the a an der die das ein eine le la les un une".split())  # noqa: SIM905


#: Words for what the question names.
_PRONOUNS = frozenset("it they this that these those you es sie das er il elle ils elles ce".split())  # noqa: SIM905


class _Names(NamedTuple):
    """The first name that is expected, the share of all in the answer, and another name in the answer.

    The first one includes those that are joined to it. `is_head_held`: the answer has all of it.
    """

    wanted: tuple[int, int, str] | None = None
    share: float = 0.0
    replaced: tuple[int, int, str] | None = None
    is_head_held: bool = False


#: Between the words of a name, or of several names in a row.
_JOINED = re.compile(r"\s+|\s*[,&]\s*(?:and|or|und|oder|et|ou)?\s*|\s+(?:and|or|und|oder|et|ou|of|de|von)\s+")


def _written_range(words: WordsOf, first: int, last: int) -> tuple[int, int, str]:
    start, end = words.starts[first], words.ends[last]
    return start, end, words.text[start:end]


#: The share of the expected names that names what is asked for; the share of a question's words that a
#: statement has which answers it.
_NAMED, _STATED = 0.6, 0.85


def _offered(words: WordsOf) -> Iterator[tuple[str, str]]:
    """Yield the forms of two words that a question offers: "clockwise or anticlockwise"."""
    for at, word in enumerate(words.lower):
        if word in _OR and 0 < at < len(words.lower) - 1:
            one, two = at - 1, at + 1
            if words.is_content[one] and words.is_content[two]:
                yield words.forms[one], words.forms[two]


_OR = frozenset(("or", "oder", "ou"))


def _contradicted(
    kind: str, answer: str, stated: tuple[int, int], expected: str, at: tuple[int, int] | None = None
) -> Correctness:
    """Return the verdict on what is stated; `expected` is only the words themselves without `at`."""
    ours, theirs = answer[slice(*stated)], expected[slice(*at)] if at else expected
    if kind == "negation" or not ours or not theirs:
        reason = f"one of the two denies what the other says: “{_written(ours or theirs)}”"
    else:
        reason = f"it says {_written(ours)} where {_written(theirs)} is expected"
    return Correctness(
        "wrong", reason, _ranges([stated]), _ranges([at] if at else []), is_figure=kind in OF_ANY_LANGUAGE
    )


def _marks(figures: Sequence[Wanted]) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    stated = [each.near or each.same for each in figures]
    return (
        _ranges([(each.start, each.end) for each in stated if each is not None]),
        _ranges([(each.figure.start, each.figure.end) for each in figures]),
    )


def _ranges(found: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted({(start, end) for start, end in found if start < end}))


def _whole(text: str) -> tuple[tuple[int, int], ...]:
    start = len(text) - len(text.lstrip())
    return ((start, len(text.rstrip())),) if text.strip() else ()


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def _written(text: str) -> str:
    return " ".join(text.split())


def _listed(figures: Sequence[Wanted]) -> str:
    return " and ".join(dict.fromkeys([_written(each.figure.text) for each in figures][:3]))


def _quoted_list(pieces: Sequence[str]) -> str:
    shown = [f"“{_written(piece)}”" for piece in pieces[:3]]
    more = f" and {len(pieces) - 3} more" if len(pieces) > 3 else ""
    return ", ".join(shown) + more
