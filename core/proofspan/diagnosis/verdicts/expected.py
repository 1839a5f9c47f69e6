"""Compare an answer with the expected one: figures by value, names, yes and no, lists, free text.

`wrong` needs a proof: another figure or name for what is asked, the opposite, or nothing of what both the
expected answer and its passages say. What rules cannot decide is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from proofspan.contracts.records.records import GoldQuestion
from proofspan.diagnosis.answers import other_refusal
from proofspan.diagnosis.claims.sentences import sentences
from proofspan.diagnosis.claims.split import claims_in
from proofspan.diagnosis.claims.types import CheckedClaim
from proofspan.diagnosis.corpus import Survey
from proofspan.diagnosis.verdicts.compared_answer import (
    FEW_WORDS,
    MUCH,
    PART,
    PRONOUNS,
    SAME,
    SHORT,
    ComparedAnswer,
)
from proofspan.diagnosis.verdicts.compared_values import Wanted, WantedCode, wanted_codes, wanted_figures
from proofspan.diagnosis.verdicts.contradictions import (
    QUOTED,
    changed_modifier,
    choice,
    contradicted,
    contradiction,
    marked,
    opposite_word,
    other_of_kind,
    reversed_word,
    written,
)
from proofspan.diagnosis.verdicts.instructions import instructs
from proofspan.diagnosis.verdicts.types import Correctness

#: Characters of an answer and of an expected answer that are compared.
MOST_ANSWER, MOST_EXPECTED = 60_000, 8_000
#: Nothing is stated of an expected answer with as many words if the answer has this share of them, or less.
_NOTHING, _ENOUGH_WORDS = 0.15, 4
#: Of few words an answer has to have this share.
_SAME_OF_FEW = 0.7
#: The share of the expected names that names what is asked for.
_NAMED = 0.6
#: The answer to a question for an amount has at most this many words for each figure, and for itself.
_WORDS_OF_VALUE = 4
#: A part that is missing weighs at least this share of the expected answer.
_HEAVY = 0.2
#: A figure belongs to a part of the expected answer if it is in it, or right behind it.
_BEHIND = 12
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
#: A question for what to do.
_ASKS_HOW = re.compile(
    r"\W*(?:how (?:do|can|should|must|may) (?:i|you|we|one)\b|how to\b"
    r"|what (?:do|should|must) (?:i|we|you) do\b|was muss ich\b"
    r"|wie (?:kann|muss|soll) (?:ich|man|wir)\b|comment (?:puis-je|dois-je|faire|peut-on)\b)",
    re.IGNORECASE,
)
#: Characters of an answer in which an instruction is looked for.
_LOOKED_AT = 20_000
_ASKS_NAME = re.compile(
    r"\b(?:who|whom|whose|where|(?:real |full )?name of|called"
    r"|which (?:country|city|company|person|team|state|part)|wer|wem|wen|wo|qui|où)\b",
    re.IGNORECASE,
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
    compared = ComparedAnswer(text, expected, quotes, question, survey, language)
    found = _by_quotes(compared) if not expected.strip() else _result(compared)
    differing = [each for each in checked if each.status == "differs"]
    if found.value == "correct" and differing:
        marks = tuple([(each.claimed_start, each.claimed_end) for each in differing[0].differences])
        return Correctness("partly", "a claim contradicts its evidence", marked(marks))
    return found


def _declines(text: str, question: str) -> bool:
    """Return whether a text does nothing but decline."""
    return other_refusal(text[:4_000].lower()) is not None and not claims_in(text, question).claims


def _result(compared: ComparedAnswer) -> Correctness:
    """Return the verdict."""
    expected, answer = compared.expected, compared.answer
    if _plain(expected.text) == _plain(answer.text):
        return Correctness("correct", "it is the expected answer word for word")
    ours, theirs = expected.polarity, answer.polarity
    if ours == "yes" and theirs is None and (place := reversed_word(compared)) is not None:
        opposite = answer.words.starts[place], answer.words.ends[place]
        return contradicted("direction", answer.text, opposite, expected.text, expected.polarity_range)
    if ours is not None and theirs is not None and ours != theirs:
        return Correctness(
            "wrong",
            f"it says {theirs} where {ours} is expected",
            (answer.polarity_range,),
            (expected.polarity_range,),
        )
    found = wanted_figures(expected, answer, compared.asked)
    figures = [each for each in found if each.is_required]
    if (chosen := choice(compared)) is not None:
        return chosen
    codes = wanted_codes(expected, answer, compared.asked)
    is_key = _is_key(compared, figures)
    if is_key and (wrong := _replaced(compared, figures)) is not None:
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
    opposed = contradiction(compared, found)
    if opposed is not None:
        return opposed
    if (opposed := opposite_word(compared)) is not None:
        return opposed
    verdict = _without_values(compared, figures, codes, is_key=is_key)
    others = [each for each in found if not each.is_held and each.other is not None]
    if verdict.value == "correct" and others:
        stated = next(each.other for each in others if each.other is not None)
        return Correctness(
            "partly",
            f"it says {written(stated.text)} where {written(others[0].figure.text)} is expected",
            ((stated.start, stated.end),),
            marked([(each.figure.start, each.figure.end) for each in others]),
            is_figure=True,
        )
    if verdict.value == "partly" and verdict.missing and _lacks_instruction(compared):
        return verdict._replace(value="wrong", reason="it does not say how")
    return verdict


def _lacks_instruction(compared: ComparedAnswer) -> bool:
    """Return whether an answer instructs nobody where that is what is asked for and expected."""
    if _ASKS_HOW.match(compared.question) is None or not instructs(compared.expected.text):
        return False
    text = compared.answer.text[:_LOOKED_AT]
    return not any(instructs(text[start:end]) for start, end in sentences(text))


def _without_values(
    compared: ComparedAnswer, figures: Sequence[Wanted], codes: Sequence[WantedCode], *, is_key: bool
) -> Correctness:
    """Return the verdict where no value is replaced."""
    if is_key:
        return _by_figures(compared, figures)
    if codes and not all(code.is_held for code in codes):
        lost = [(code.start, code.end) for code in codes if not code.is_held]
        if any(code.is_held for code in codes):
            return _partly(compared, lost)
        if len(compared.wanted) <= _ENOUGH_WORDS:
            return _wrong_without(compared, lost)
    if compared.is_foreign:
        return _foreign(compared, figures)
    return _by_words(compared, figures)


def _by_quotes(compared: ComparedAnswer) -> Correctness:
    """Return the verdict where gold has passages and no answer."""
    figures = [
        each for each in wanted_figures(compared.quotes, compared.answer, compared.asked) if each.is_required
    ]
    wanted = compared.quotes.new_beside(compared.asked)
    if wanted and compared.answer.share_of(wanted) >= QUOTED and all(each.is_held for each in figures):
        return Correctness("correct", "it says what the gold passage says")
    return Correctness("unknown", "there is no expected answer, and the gold passage says more")


def _is_key(compared: ComparedAnswer, figures: Sequence[Wanted]) -> bool:
    """Return whether the figures are what is asked for, or nearly all that is expected."""
    if not figures:
        return False
    words, count = len(compared.wanted), len(figures)
    if _ASKS_VALUE.search(compared.question) is None:
        return words <= count + 1
    return words <= _WORDS_OF_VALUE * (count + 1)


def _replaced(compared: ComparedAnswer, figures: Sequence[Wanted]) -> Correctness | None:
    wrong = [each for each in figures if not each.is_held and each.other is not None]
    # A figure that is there may have another beside it; without any the other takes its place.
    if not wrong or (len(wrong) < len(figures) and not _is_in_row(compared, figures, wrong[0])):
        return None
    first = wrong[0]
    stated = [each.other for each in wrong if each.other is not None]
    return Correctness(
        "wrong",
        f"it says {written(stated[0].text)} where {written(first.figure.text)} is expected",
        marked([(each.start, each.end) for each in stated]),
        marked([(each.figure.start, each.figure.end) for each in wrong]),
        is_figure=True,
    )


def _is_in_row(compared: ComparedAnswer, figures: Sequence[Wanted], wrong: Wanted) -> bool:
    """Return whether a wrong figure is in the sentence of one that is right."""
    words = compared.answer.words
    firsts = {figure.start: first for figure, first, _ in words.figures}
    if wrong.other is None:
        return False
    number = words.sentences[firsts[wrong.other.start]]
    return any(
        each.is_held and each.same is not None and words.sentences[firsts[each.same.start]] == number
        for each in figures
    )


def _by_figures(compared: ComparedAnswer, figures: Sequence[Wanted]) -> Correctness:
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
        stated = "" if near is None else f": {written(near.text)}"
        reason = f"{written(coarse[0].figure.text)} is rounded{stated}"
        return Correctness(
            "partly" if rounded else "correct", reason, *_marks(coarse), is_figure=False, is_rounded=True
        )
    ranges = [(each.figure.start, each.figure.end) for each in lost]
    if held or rounded:
        return _partly(compared, ranges)
    elsewhere = [each for each in lost if each.is_elsewhere]
    if elsewhere and compared.answer.share_of(compared.asked.new_beside()) >= PART:
        reason = f"{written(elsewhere[0].figure.text)} is in it, but about something else"
        return Correctness("unknown", reason, *_marks(elsewhere))
    vague = _VAGUE.search(compared.answer.text)
    if vague is not None and compared.is_about_it():
        return Correctness("unknown", f"it has no figure, and says “{vague[0]}”", (), marked(ranges))
    is_short = len(compared.answer.content) <= _ENOUGH_WORDS and not compared.quotes.words.lower
    is_stated = compared.share >= SAME and _ASKS_VALUE.search(compared.question) is None
    if is_short or is_stated or any(not each.figure.value for each in lost if not each.figure.dates):
        return Correctness("unknown", f"it has no figure for {_listed(lost)}", (), marked(ranges))
    return _wrong_without(compared, ranges)


def _foreign(compared: ComparedAnswer, figures: Sequence[Wanted]) -> Correctness:
    if figures and all(each.is_held for each in figures):
        return Correctness("correct", f"it has {_listed(figures)}, in another language")
    return Correctness("unknown", "it is in another language than the expected answer")


def _by_words(compared: ComparedAnswer, figures: Sequence[Wanted]) -> Correctness:
    parts = compared.parts
    names = compared.names()
    ours, theirs = compared.expected.polarity, compared.answer.polarity
    if ours is not None and not compared.wanted:
        return _by_polarity(compared)
    if ours is not None and compared.has_reason and not compared.core and ours in (theirs, compared.stated()):
        return _by_polarity(compared)
    if ours is not None and theirs is None and compared.stated() not in (None, ours):
        return Correctness(
            "wrong",
            f"it denies what is asked, and {ours} is expected",
            (),
            (compared.expected.polarity_range,),
        )
    if not compared.wanted and not figures:
        return _repeated(compared)
    missing = [
        (part.start, part.end)
        for part in parts
        if part.share < PART
        and sum(part.wanted.values()) >= _HEAVY * sum(compared.wanted.values())
        and not any(part.start <= each.figure.start < part.end + _BEHIND and each.is_held for each in figures)
    ]
    if compared.quoted >= QUOTED and all(each.is_held for each in figures):
        return Correctness("correct", "it quotes the gold passage")
    asks_name = _ASKS_NAME.search(compared.question) is not None or compared.is_bare_name()
    if names.wanted and names.share == 0 and names.replaced and asks_name:
        return Correctness(
            "wrong",
            f"it names {names.replaced[2]} where {names.wanted[2]} is expected",
            (names.replaced[:2],),
            (names.wanted[:2],),
        )
    if compared.core and compared.answer.share_of(compared.core) == 1 and not parts[0].share < 1:
        return Correctness("correct", "it says what is expected, without the reason")
    if (other := other_of_kind(compared)) is not None:
        return other
    has_few = len(compared.wanted) <= FEW_WORDS and not compared.expected.words.figures
    least = _SAME_OF_FEW if has_few else SAME
    if compared.share >= least and (changed := changed_modifier(compared)) is not None:
        return changed
    if compared.share >= least and not missing:
        return Correctness("correct", "it says what is expected")
    if (names.share >= _NAMED or names.is_head_held) and _ASKS_NAME.search(compared.question):
        return Correctness("correct", "it names what is expected")
    if compared.is_bare_head():
        return Correctness("correct", "it names what is expected")
    if compared.denies_same():
        return Correctness("correct", "both deny the same")
    if compared.share >= MUCH or compared.shares_run() or compared.says_no_more():
        return _partly(compared, missing or compared.lost_words())
    has_stated = len(compared.answer.content) >= _ENOUGH_WORDS
    if compared.quotes.content:
        # A short answer with no word of the question or of what is expected may word it all otherwise.
        may_be_same = not compared.share and len(compared.answer.content) <= SHORT and compared.is_unasked()
        is_other = len(compared.wanted) >= FEW_WORDS and compared.quoted < MUCH and not may_be_same
    else:
        is_other = len(compared.wanted) >= _ENOUGH_WORDS and (
            (compared.share < _NOTHING and len(compared.wanted) >= 2 * _ENOUGH_WORDS) or compared.is_off()
        )
    opens = compared.answer.words.lower[:1]
    if ours is not None and theirs == ours:
        is_other = False
    if is_other and has_stated and PRONOUNS.isdisjoint(opens):  # what opens with one may be about it
        little = "nothing" if compared.share == 0 else "hardly anything"
        return Correctness(
            "wrong",
            f"it says {little} of what is expected",
            _whole(compared.answer.text),
            _whole(compared.expected.text),
        )
    if ours is not None and ours in (theirs, compared.stated()):
        return _partly(compared, missing or compared.lost_words())
    return Correctness("unknown", "both are free text with few words in common")


def _by_polarity(compared: ComparedAnswer) -> Correctness:
    """Return the verdict where only yes or no is expected."""
    ours, theirs = compared.expected.polarity, compared.answer.polarity or compared.stated()
    if theirs is None:
        return Correctness("unknown", f"it says neither yes nor no, and {ours} is expected")
    if ours == theirs:
        return Correctness("correct", f"it says {ours}")
    return Correctness(
        "wrong", f"it says {theirs} where {ours} is expected", (), (compared.expected.polarity_range,)
    )


def _repeated(compared: ComparedAnswer) -> Correctness:
    """Return the verdict where the expected answer has only words of the question."""
    required = compared.expected.new_beside(within=compared.required)
    if not required or compared.answer.share_of(required) < SAME:
        return Correctness("unknown", "the expected answer has only words of the question")
    denied = bool(compared.expected.negations) != bool(compared.answer.negations)
    if denied:
        return Correctness("unknown", "only one of the two denies it")
    return Correctness("correct", "it says what is expected")


def _partly(compared: ComparedAnswer, lost: Sequence[tuple[int, int]]) -> Correctness:
    missing = tuple([compared.expected.text[start:end] for start, end in lost])
    reason = f"it lacks {_quoted_list(missing)}" if missing else "it says only part of what is expected"
    return Correctness("partly", reason, (), marked(lost), missing=missing)


def _wrong_without(compared: ComparedAnswer, lost: Sequence[tuple[int, int]]) -> Correctness:
    missing = tuple([compared.expected.text[start:end] for start, end in lost])
    reason = f"it does not say {_quoted_list(missing)}"
    return Correctness("wrong", reason, (), marked(lost), missing=missing)


def _marks(figures: Sequence[Wanted]) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    stated = [each.near or each.same for each in figures]
    return (
        marked([(each.start, each.end) for each in stated if each is not None]),
        marked([(each.figure.start, each.figure.end) for each in figures]),
    )


def _whole(text: str) -> tuple[tuple[int, int], ...]:
    start = len(text) - len(text.lstrip())
    return ((start, len(text.rstrip())),) if text.strip() else ()


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(".")


def _listed(figures: Sequence[Wanted]) -> str:
    return " and ".join(dict.fromkeys([written(each.figure.text) for each in figures][:3]))


def _quoted_list(pieces: Sequence[str]) -> str:
    shown = [f"“{written(piece)}”" for piece in pieces[:3]]
    more = f" and {len(pieces) - 3} more" if len(pieces) > 3 else ""
    return ", ".join(shown) + more
