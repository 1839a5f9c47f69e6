"""The figures and codes of an expected answer looked for in an answer: by value, and about the same thing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from math import inf, log10
from typing import NamedTuple

from proofspan.diagnosis.claims.derived import derivation
from proofspan.diagnosis.claims.differences.matter import is_of_another_size
from proofspan.diagnosis.claims.differences.parts import JOINS
from proofspan.diagnosis.claims.figures import (
    Figure,
    FigureIndex,
    agrees,
    could_agree,
    figures_of,
    scales_of,
    unit_differs,
)
from proofspan.diagnosis.claims.figures.agreement import digits_of
from proofspan.diagnosis.claims.figures.dates import Date, contradicts
from proofspan.diagnosis.claims.figures.reading import exponent_of
from proofspan.diagnosis.claims.figures.units import NO_UNIT
from proofspan.diagnosis.verdicts.compared_text import ComparedText

#: Figures of an expected answer that are looked for, and of an answer that are compared with each.
MOST_EXPECTED, MOST_COMPARED = 60, 2_000
#: The share of the question's content, or of the expected answer's, that surrounds a figure about the same.
_SAME_THING, _SAME_WORDS = 0.25, 0.5
#: As many words of the question show what a figure is about, whatever their share.
_SEVERAL = 3
#: An answer with as few words beside its figures is nothing but the figures.
_BARE_WORDS = 4
#: A figure with as many digits is not there by chance.
_TELLING_DIGITS = 4
#: A figure rounded to as many digits, and by no more than this share, is right for all that it is rounded.
_EXACT_DIGITS, _EXACT = 3, Decimal("0.005")

#: What an expected answer names only to set it aside: "every 20,000 km instead of 60,000 km".
_SET_ASIDE = re.compile(
    r"\b(?:instead of|rather than|as opposed to|compared (?:to|with)|unlike|replac(?:es|ed|ing)|supersedes"
    r"|(?:an)?statt|anstelle|ersetzt|im gegensatz zu|au lieu d(?:e|es|u|['’])|plutôt qu[e'’]|remplace)"
    r"(?!\w)(?:[^.;,()\n]|(?<=\d)[.,](?=\d)){0,300}",
    re.IGNORECASE,
)
#: A clause that explains what is before it, and a note to the expected answer.
_EXPLAINS = re.compile(
    r"(?:[;,]\s+(?:since|as it|so that|it|this|these|they|weil|da|denn|damit|es|dies|parce que|car|puisque|il"
    r"|elle|cela)|\s(?:because|due to|owing to|aufgrund|wegen|en raison de))\b[^.;\n]{0,400}",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"\b(?:note|hinweis|anmerkung|remarque|nota)\s?:[^\n]*|\b(?:the|this) answer (?:here )?assumes\b[^\n]*",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\([^()]{0,300}\)")
#: The numbers of things, not amounts: "FY2022" and "Q3" are read as dates.
_POINTER = re.compile(
    r"(?:section|chapter|page|table|figure|fig\.|note|item|step|form|abschnitt|kapitel|seite|tabelle|abbildung"
    r"|schritt|chapitre|page|tableau|étape|§)\s*$",
    re.IGNORECASE,
)
#: Grades, models and sizes, which compare as written: 0W-20, MS-508, R16.
_CODE = re.compile(
    r"(?<![\w.,/-])(?=[\w/-]{0,20}\d)(?=[\w/-]{0,20}[A-Z])[A-Z0-9]{1,6}(?:[-/][A-Z0-9]{1,6}){0,3}\b"
)
_ASKS_DATE = re.compile(
    r"\b(?:when|date|day|year|month|since|until|wann|datum|jahr|quand|année|date)\b", re.IGNORECASE
)
#: Words that are read as figures and mostly count nothing: "one of which".
_LITTLE = frozenset("one ein eine einen einer eines un une".split())  # noqa: SIM905
_PERIOD = re.compile(r"(?:FY|CY|H|Q)\d", re.IGNORECASE)


class Wanted(NamedTuple):
    """A figure that is expected, and what the answer has for it.

    `same` is the answer's figure that agrees, `near` one that is less exact, `other` one of the same kind
    about the same thing. `is_elsewhere`: what agrees is about another thing. `is_computed`: it follows from
    figures of the answer. `is_sign_open`: only one of the two has a sign. What is not `is_required` need
    not be repeated, but must not be another.
    """

    figure: Figure
    is_required: bool = True
    same: Figure | None = None
    near: Figure | None = None
    other: Figure | None = None
    is_elsewhere: bool = False
    is_computed: bool = False
    is_sign_open: bool = False

    @property
    def is_held(self) -> bool:
        """Return whether the answer has the figure, by value or by arithmetic."""
        return (self.same is not None and not self.is_elsewhere) or self.is_computed


class WantedCode(NamedTuple):
    """A code that is expected; `other` is a code of the same shape that the answer has instead."""

    text: str
    start: int
    end: int
    is_held: bool
    other: tuple[int, int] | None = None


def set_aside(text: str) -> list[tuple[int, int]]:
    """Return the ranges of an expected answer that an answer need not repeat."""
    found = [match.span() for pattern in (_SET_ASIDE, _NOTE) for match in pattern.finditer(text)]
    if (
        sum(end - start for start, end in (match.span() for match in _BRACKETS.finditer(text)))
        < len(text) / 2
    ):
        found += [match.span() for match in _BRACKETS.finditer(text)]
    return found


def explanations(text: str) -> list[tuple[int, int]]:
    """Return the ranges of an expected answer in which it explains itself: "left; it has a thread"."""
    return [match.span() for match in _EXPLAINS.finditer(text)]


def wanted_figures(expected: ComparedText, answer: ComparedText, question: ComparedText) -> list[Wanted]:
    """Return the figures that an expected answer adds to the question, each with what the answer has."""
    claimed = _claimed(expected, question)
    if not claimed:
        return []
    figures = [figure for figure, _ in claimed]
    theirs = [figure for figure, _, _ in answer.words.figures]
    look = _Look(expected, answer, question)
    index = FigureIndex(theirs)
    agreeing = [_agreeing(figure, theirs, index) for figure in figures]
    look.has_several(agreeing)
    return [
        _wanted(figure, found, figures, theirs, look)._replace(is_required=is_required)
        for (figure, is_required), found in zip(claimed, agreeing, strict=True)
    ]


def wanted_codes(expected: ComparedText, answer: ComparedText, question: ComparedText) -> list[WantedCode]:
    """Return the codes that an expected answer adds to the question, each with whether the answer has it."""
    asked = {_plain_code(match[0]) for match in _codes(question.text)}
    theirs = {_plain_code(match[0]): match.span() for match in _codes(answer.text)}
    ours = [match for match in _codes(expected.text) if _plain_code(match[0]) not in asked]
    plain = _plain_code(answer.text) if ours else ""
    known = {_plain_code(match[0]) for match in ours} | asked
    found = []
    for match in ours[:MOST_EXPECTED]:
        code = _plain_code(match[0])
        others = [
            span for other, span in theirs.items() if _shape(other) == _shape(code) and other not in known
        ]
        held = code in plain
        found.append(WantedCode(match[0], *match.span(), held, others[0] if others and not held else None))
    return found


def _codes(text: str) -> Iterator[re.Match[str]]:
    return (match for match in _CODE.finditer(text[:_MOST_TEXT]) if not _PERIOD.match(match[0]))


_MOST_TEXT = 100_000


def _plain_code(text: str) -> str:
    return re.sub(r"[\s/-]", "", text).lower()


def _shape(code: str) -> str:
    return re.sub(r"\d+", "0", code)


def _claimed(expected: ComparedText, question: ComparedText) -> list[tuple[Figure, bool]]:
    """Return the figures of an expected answer, each with whether an answer must have it.

    It need not repeat the question, what is set aside, and numbers of things.
    """
    scales = scales_of(question.text[:2_000])
    read = figures_of(expected.text, scale=scales[0] if scales else None, language=expected.words.language)
    asked = FigureIndex([figure for figure, _, _ in question.words.figures])
    aside = set_aside(expected.text)
    codes = [match.span() for match in _codes(expected.text)]
    has_words = bool(expected.new_beside(question))
    has_amounts = any(not figure.dates for figure in read)
    asks_date = _ASKS_DATE.search(question.text) is not None
    found = []
    for figure in read[:MOST_EXPECTED]:
        if any(start < figure.end and figure.start < end for start, end in codes):
            continue
        before = expected.text[max(0, figure.start - 20) : figure.start]
        if figure.text.isalpha() and before.endswith("-"):
            continue  # net-zero
        is_required = not (
            figure.kind in ("ordinal", "label")
            or _POINTER.search(before)
            or any(start <= figure.start < end for start, end in aside)
            or ((len(read) > 1 or has_words) and asked.agreeing(figure) is not None)
            or (figure.dates and not asks_date and has_amounts)
            or (figure.text.lower() in _LITTLE and len(read) + has_words > 1)
        )
        found.append((figure, is_required))
    return found


#: Characters between a figure and the year that it is of: "21.6 % in fiscal 2022".
_RIGHT_BEHIND = 12


def _is_year(figure: Figure) -> bool:
    return bool(figure.dates) and all(date.year and not date.month for date in figure.dates)


class _Look:
    """Where a figure is about what is asked."""

    def __init__(self, expected: ComparedText, answer: ComparedText, question: ComparedText) -> None:
        self.expected = expected
        self.answer = answer
        self.question = question.text
        self.asked = question.new_beside()
        heaviest = max(self.asked.values(), default=1.0)
        self.asked.update({question.words.forms[at]: heaviest for at in question.words.figure_words})
        self.stated = expected.new_beside(question)
        self._times = {
            question.words.forms[at]
            for date, first, last in question.words.figures
            if date.dates
            for at in range(first, last + 1)
        }
        self._years = [date for date, _, _ in answer.words.figures if _is_year(date)]
        self._asked_years = {
            date.dates[0].year
            for text in (question, expected)
            for date, _, _ in text.words.figures
            if date.dates
        }
        named = {text.words.forms[at] for text in (expected, answer) for at in text.named}
        self._names = named & self.stated.keys()
        self._other_names = {
            form
            for form in (answer.words.forms[at] for at in answer.named)
            if not (expected.has(form) or question.has(form))
        }
        self._ours_aside = set_aside(expected.text)
        self._theirs_aside = set_aside(answer.text) if self._ours_aside else []
        #: Whether there are no words around figures that show what they are about.
        self.is_bare = len(answer.content) <= _BARE_WORDS
        self.is_foreign = answer.words.language != expected.words.language
        self._firsts = {figure.start: first for figure, first, _ in answer.words.figures}
        #: Number of a sentence → its closeness.
        self._known: dict[int, float] = {}

    def is_at_asked_time(self, figure: Figure) -> bool:
        """Return whether the clause of a figure of the answer has a date of the question."""
        return not self._times.isdisjoint(self.clause(figure))

    def is_at_other_time(self, figure: Figure) -> bool:
        """Return whether another year than those of the question and the expected answer follows a figure."""
        behind = next((date for date in self._years if 0 <= date.start - figure.end <= _RIGHT_BEHIND), None)
        return (
            behind is not None and bool(self._asked_years) and behind.dates[0].year not in self._asked_years
        )

    def is_of_other_name(self, figure: Figure) -> bool:
        """Return whether another name than the expected one is beside a figure, with no comma between."""
        if not self._names or self.is_foreign:
            return False
        words = self.answer.words
        at = self.first(figure)
        first, behind = words.sentence_of(at)
        for place in range(at, first, -1):
            if words.lower[place] in _APART or "," in words.text[words.ends[place - 1] : words.starts[place]]:
                first = place
                break
        for place in range(at + 1, behind):
            if words.lower[place] in _APART or "," in words.text[words.ends[place - 1] : words.starts[place]]:
                behind = place
                break
        beside = {words.forms[place] for place in self.answer.named if first <= place < behind}
        return not beside.isdisjoint(self._other_names) and beside.isdisjoint(self._names)

    def aside(self, figure: Figure) -> list[tuple[int, int]] | None:
        """Return what the answer sets aside, if the expected answer sets the figure aside, else None."""
        if not any(start <= figure.start < end for start, end in self._ours_aside):
            return None
        return self._theirs_aside

    def has_several(self, agreeing: Iterable[Sequence[Figure]]) -> None:
        """Mark the sentences with two figures that agree: such a pair is not there by chance."""
        words = self.answer.words
        counts: Counter[int] = Counter()
        for found in agreeing:
            counts.update({words.sentences[self.first(each)] for each in found[:MOST_COMPARED]})
        self._known.update({number: 1.0 for number, count in counts.items() if count > 1})

    def first(self, figure: Figure) -> int:
        """Return the number of a figure's first word in the answer."""
        return self._firsts[figure.start]

    def closeness(self, figure: Figure) -> float:
        """Return how much of what is asked and stated surrounds a figure of the answer; 1 is enough.

        A sentence may go on with what the one beside it names.
        """
        if self.is_bare or self.is_foreign:
            return 1.0
        first = self.first(figure)
        number = self.answer.words.sentences[first]
        if number not in self._known:
            places = self.answer.sentence(first, beside=1)
            asked = self.answer.share_within(self.asked, places) / _SAME_THING if self.asked else 0.0
            if len(self._within(places)) >= _SEVERAL:  # of a question with instructions this is a small share
                asked = 1.0
            stated = self.answer.share_within(self.stated, places) / _SAME_WORDS if self.stated else 0.0
            self._known[number] = max(asked, stated) if self.asked or self.stated else 1.0
        return self._known[number]

    def _within(self, places: range) -> set[str]:
        """Return the asked words within some words of the answer."""
        words = self.answer.words
        return {
            form
            for form in self.asked
            if any(at in places for at in words.places.get(form, ())[:_MOST_OTHERS])
        }

    def clause(self, figure: Figure) -> set[str]:
        """Return the asked words in the clause of a figure."""
        words = self.answer.words
        at = self.first(figure)
        first, behind = words.sentence_of(at)
        for joint in range(first + 1, behind):
            if words.lower[joint] not in _APART:
                continue
            if joint > at:
                behind = joint
                break
            first = joint
        return {
            form
            for form in self.asked
            if any(first <= place < behind for place in self.answer.places_of(form))
        }


def _wanted(
    figure: Figure,
    agreeing: Sequence[Figure],
    expected: Sequence[Figure],
    theirs: Sequence[Figure],
    look: _Look,
) -> Wanted:
    bounded = [each for each in agreeing if {each.bound, figure.bound} != {"<", ">"}]
    if agreeing and not bounded:
        return Wanted(figure, other=agreeing[0])
    if bounded:
        closest = sorted(bounded[:MOST_COMPARED], key=look.closeness, reverse=True)[:_MOST_PLACES]
        found = [_agreed(figure, each, expected, theirs, look) for each in closest]
        return next((each for each in found if each.is_held), found[0])
    compared = [each for each in theirs[:MOST_COMPARED] if look.closeness(each) >= 1]
    near = next((each for each in compared if _may_round(each, figure) and could_agree(each, figure)), None)
    if near is not None:
        return Wanted(figure, near=near)
    # What differs in one digit is a wrong figure, even if the right one follows from it by chance.
    if not any(_is_misprint(figure, each) for each in compared):
        claim = f"{look.expected.text[:2_000]} {look.answer.text[:4_000]}"
        operands = compared[:MOST_EXPECTED]
        if derivation(figure, operands, claim=claim, stated=operands) is not None:
            return Wanted(figure, is_computed=True)
    ranges = look.aside(figure)
    others = [
        each
        for each in compared
        if (ranges is None or any(start <= each.start < end for start, end in ranges))
        and (_is_same_kind(figure, each) or (figure.digits >= _TELLING_DIGITS and _is_misprint(figure, each)))
        and (ranges is not None or not any(agrees(each, other) or agrees(other, each) for other in expected))
    ]
    return Wanted(figure, other=max(others, key=lambda each: _likeness(each, figure), default=None))


def _agreed(
    figure: Figure, stated: Figure, expected: Sequence[Figure], theirs: Sequence[Figure], look: _Look
) -> Wanted:
    """Return what a figure of the answer amounts to that agrees: it may be about another thing or time."""
    is_telling = not figure.dates and figure.digits >= _TELLING_DIGITS
    if look.closeness(stated) < 1 and not is_telling:
        return Wanted(figure, same=stated, is_elsewhere=True)
    if _has_other_sign(figure, stated, look):
        return Wanted(figure, same=stated, is_sign_open=True)
    if {figure.bound, stated.bound} == {"~"} and figure.readings[0] != stated.readings[0]:
        return Wanted(figure, near=stated)  # "about 92,000" is not "about 92,100"
    for_it = _given_instead(stated, figure, expected, theirs, look)
    if for_it is not None:
        instead = for_it if look.is_at_asked_time(for_it) else None
        return Wanted(figure, same=stated, other=instead, is_elsewhere=True)
    if _is_coarser(stated, figure):
        return Wanted(figure, same=stated if _is_exact_enough(stated, figure) else None, near=stated)
    return Wanted(figure, same=stated)


def _likeness(one: Figure, other: Figure) -> tuple[bool, float]:
    """Return how alike two figures are, more for more: the unit first, then the size."""
    sizes = [float(abs(each.value * each.unit.factor)) for each in (one, other)]
    off = abs(log10(sizes[0] / sizes[1])) if min(sizes) > 0 else inf
    return one.unit.name == other.unit.name, -off


def _may_round(one: Figure, other: Figure) -> bool:
    """Return whether a figure has fewer digits; a single digit needs the unit, too."""
    has_unit = one.unit.dimension != "" and one.unit.dimension == other.unit.dimension
    return one.digits < other.digits and (one.digits > 1 or has_unit)


def _is_misprint(one: Figure, other: Figure) -> bool:
    """Return whether the written digits differ in one place, or in two that have changed places."""
    ours, theirs = _NO_DIGIT.sub("", one.text), _NO_DIGIT.sub("", other.text)
    if len(ours) != len(theirs) or (one.kind != other.kind and len(ours) < _TELLING_DIGITS):
        return False
    off = [place for place, (here, there) in enumerate(zip(ours, theirs, strict=True)) if here != there]
    return len(off) == 1 or (len(off) == 2 and sorted(ours) == sorted(theirs))


_NO_DIGIT = re.compile(r"\D")


def _agreeing(figure: Figure, theirs: Sequence[Figure], index: FigureIndex) -> list[Figure]:
    """Return the figures that agree: the answer may be more precise than what is expected, and less."""
    found = [theirs[place] for _, places in index.all_agreeing(figure) for place in places]
    shorter = _shortened(figure) if _places(figure) else figure
    if _places(shorter) != _places(figure):  # a table may print two places of all amounts
        more = [theirs[place] for _, places in index.all_agreeing(shorter) for place in places]
        found += [each for each in more if _places(each) != _places(figure)]
    if not found:
        found = [each for each in theirs[:MOST_COMPARED] if agrees(each, figure)]
    return list(dict.fromkeys(found))


def _places(figure: Figure) -> int:
    """Return how many places are printed behind the point."""
    return max(0, figure.scale - exponent_of(figure.value)) if figure.kind == "number" else 0


def _shortened(figure: Figure) -> Figure:
    """Return a figure without the zeros behind its point."""
    places = Decimal(1).scaleb(figure.scale)
    cut = [
        value.quantize(places)
        if value == value.to_integral_value() and not value % places
        else value.normalize()
        for value in (figure.value, *figure.others)
    ]
    return figure._replace(value=cut[0], others=tuple(cut[1:]))


def _is_coarser(stated: Figure, figure: Figure) -> bool:
    """Return whether an answer's figure is a rounded one of what is expected, or a date without its day."""
    if stated.dates and figure.dates:
        return min(map(_parts, stated.dates)) < min(map(_parts, figure.dates))
    if stated.kind != "number" or figure.kind != "number":
        return False
    exact = _shortened(figure) if _places(figure) else figure
    return not agrees(exact._replace(bound=""), stated) and digits_of(stated) != digits_of(figure)


def _parts(date: Date) -> int:
    return sum(part is not None and part != 0 for part in date)


def _is_exact_enough(stated: Figure, figure: Figure) -> bool:
    if stated.dates or stated.digits < _EXACT_DIGITS:
        return False
    one, other = (
        abs(each.value.scaleb(-each.scale) if each.scaled else each.value) for each in (stated, figure)
    )
    ratio = one / other if other else Decimal(0)
    while ratio >= 10:
        ratio /= 10
    while 0 < ratio < 1 and ratio < Decimal("0.5"):
        ratio *= 10
    return abs(ratio - 1) <= _EXACT


def _has_other_sign(figure: Figure, stated: Figure, look: _Look) -> bool:
    """Return whether only one of two figures is negative, or a loss, and no word of the other says so."""
    if figure.kind == "number" and not _LOSS.search(look.question):
        ours = _LOSS.search(look.expected.text, max(0, figure.start - 40), figure.end + 20)
        theirs = _LOSS.search(look.answer.text, max(0, stated.start - 40), stated.end + 20)
        if (ours is None) != (theirs is None) and figure.value > 0 and stated.value > 0:
            return True
    if figure.kind != "number" or (figure.value < 0) == (stated.value < 0):
        return False
    if "(" in stated.text and figure.value > 0:
        return False  # cash flow statements print what was paid in brackets
    if stated.value < 0:
        text, at = look.expected.text, figure.start
    else:
        text, at = look.answer.text, stated.start
    return _NEGATIVE.search(text, max(0, at - 120), at + 120) is None


_LOSS = re.compile(r"\b(?:loss(?:es)?|deficit|verlust\w*|fehlbetrag|pertes?|déficit)\b", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"decreas|declin|drop|fell\b|fall|lower|less|down|loss|negative|reduc|minus|below|outflow|deficit|shrank|shrink"
    r"|sank|sink|gesunken|rückgang|verlust|weniger|unter|abnahme|abgenommen|niedriger|baiss|diminu|recul|perte|moins"
    r"|used (?:in|for)",
    re.IGNORECASE,
)


def _is_same_kind(figure: Figure, other: Figure) -> bool:
    if figure.dates or other.dates:
        pairs = [(one, two) for one in figure.dates for two in other.dates]
        return bool(pairs) and all(contradicts(one, two) for one, two in pairs)
    if figure.kind != other.kind:
        return False
    if not figure.unit.dimension and figure.digits > 1:
        other = other._replace(unit=NO_UNIT)  # a table's column may have the unit
    if is_of_another_size(figure, other):
        return False
    return figure.unit.dimension == other.unit.dimension or unit_differs(figure, other)


def _given_instead(
    stated: Figure, figure: Figure, expected: Sequence[Figure], theirs: Sequence[Figure], look: _Look
) -> Figure | None:
    """Return the figure that the answer gives what is asked, if it gives this one to another thing.

    The clause of the other one has all words of the question that this one's has, and more.
    """
    if look.is_foreign:
        return None
    own = look.clause(stated)
    is_off = look.is_at_other_time(stated) or look.is_of_other_name(stated)
    for other in theirs[:_MOST_OTHERS]:
        if (
            other.start != stated.start
            and _is_same_kind(figure, other)
            and not any(could_agree(each, other) or could_agree(other, each) for each in expected)
            and (is_off or look.clause(other) > own)
        ):
            return other
    return None


#: Figures and places of a word that are looked at, and figures that agree with an expected one.
_MOST_OTHERS, _MOST_PLACES = 100, 20
#: Words between clauses, and those that set one figure against another.
_APART = JOINS | frozenset("compared versus vs against gegenüber contre".split())  # noqa: SIM905
