"""Find where sentences and clauses end, in English, German, French and by the marks of other scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proofspan.diagnosis.words import UNSPACED

#: A sentence is split at a semicolon where both sides have as many words.
CLAUSE_WORDS = 3
#: With as many semicolons a sentence is a list.
FEWEST_ITEMS = 20
#: Words are counted in as many characters of a clause at most.
ENOUGH_TEXT = 80

#: Month names of German and French, which follow ordinals: a pattern in any case.
MONTHS = (
    r"(?i:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|janvier|février"
    r"|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre)\b"
)
#: Abbreviations that never end a sentence, in lower case: English, German, French, some Spanish and Italian.
_NEVER_LAST = frozenset(
    """
    approx abzgl bspw bzgl bzw ca capt cf dipl dr eds ehem einschl env evtl ggf ggü gem ges hon hrsg ing inkl
    insb lt messrs mio mlle mme mmes mr mrd mrs ms prof resp rev sen sgt sog st ste tel viz vgl vs zzgl zzt
    dott sig sra srta
    """.split()  # noqa: SIM905 - a word list reads best as text
)
#: Abbreviations that belong to the number after them.
_BEFORE_NUMBER = frozenset(
    """
    abb abs abschn apr art aufl aug bd bl ch chap col dec dez eq exp feb ff fig figs jan jul jun jänner kap
    max min no nos nov nr nrn oct okt op par pos pp pag pág núm ref sec sect sep sept tab taf vol vols ziff
    """.split()  # noqa: SIM905 - a word list reads best as text
)
#: Abbreviations at the end of names: a sentence ends with them if the next one opens with a common word.
_AFTER_NAME = frozenset(
    "al bros co corp dept dist ex gen gov inc intl jr ltd mt pres univ sr".split()  # noqa: SIM905
)
_ABBREVIATIONS = _NEVER_LAST | _BEFORE_NUMBER | _AFTER_NAME
#: Words that open sentences and are no part of names.
_OPENERS = frozenset(
    """
    A After Although An And Are As At Because Before But By Do Each Every For From He Her His How However I If
    In Is It Its No Not Of On One Or Our She Since So Some That The Their Then There Therefore These They This
    Those To Until We What When Where Which While With You Your
    Aber Als Am Auch Auf Bei Beide Bis Da Dabei Damit Danach Daher Dann Das Dazu Dem Den Der Deshalb Die
    Dies Diese Dieser Ein Eine Einen Er Erst Es Für Ihr Ihre Im Ist Jede Jeder Kein Keine Mit Nach Nur Ohne
    Sie Sind Soll Um Und Unter Vom Von Vor Wenn Wer Wie Wir Zu Zum Zur
    Après Au Aucun Aucune Aux Avant Avec Ce Ces Cet Cette Chaque Comme Dans De Des Donc Du Elle Elles En Et Il
    Ils Je La Le Les Leur Mais Ne Notre Nous On Où Par Pour Puis Quand Sa Sans Ses Si Son Sous Sur Tous Tout
    Un Une Votre Vous
    """.split()  # noqa: SIM905 - a word list reads best as text
)
#: German words before an ordinal: "am 3. Mai", "der 2. Gang".
_BEFORE_ORDINAL = frozenset("ab am beim bis das dem den der des die im jede jeden jeder seit vom zum".split())  # noqa: SIM905
_MONTH = re.compile(MONTHS)
_WORD = re.compile(r"[^\W_]+")
_FIRST_WORD = re.compile(r"[^\W\d_]+")

#: Marks of the end of a sentence.
_MARKS = "[.!?…。！？｡।॥۔؟።។။։]"
#: A possible end of a sentence: its mark, closing quotes and brackets, reference marks such as [3], and the
#: first letter after it. Marks of scripts without spaces or capitals end a sentence by themselves.
_END_AT = (
    rf"(?P<mark>{_MARKS}(?<![.!?…]{{2}}){_MARKS}*+)"
    r"(?P<close>[\"'”’»›)\]*_`¹²³⁴-⁹⁰」』）》】]{0,12}+)"
    r"(?P<refs>(?:\s{0,3}\[\^?\d{1,3}(?:\s{0,3}[,–-]\s{0,3}\d{1,3}){0,20}\]){0,20}+)"
    r"(?P<gap>\s++|$|(?<=[。！？｡।॥۔؟።។။։」』）》】”])|(?<=\])(?=[A-Z])"
    r"|(?<=[a-zß-ÿ]{3}\.)(?=(?:The|This|It|In|If|Der|Die|Das|Es|Le|La|Les|Il)\s))"
    r"(?=[\"'“‘„«‹(\[*_¿¡「『（《【]{0,6}(?P<next>.?))"
)
_END = re.compile(_END_AT, re.DOTALL)
#: The same for a text of ASCII, which it reads several times as fast.
_PLAIN_END = re.compile(_END_AT.replace(_MARKS, "[.!?]"), re.DOTALL)
#: Quotes, brackets and code in which no sentence ends, unless they end with it. Longer ones are not
#: kept whole.
_KEPT_WHOLE = re.compile(
    r"(?<!\w)\"[^\"\n]{1,300}+\"|“[^“”]{1,300}+”|„[^„“”]{1,300}+[“”]|«[^«»]{1,300}+»|\([^()]{1,300}+\)"
    r"|(?<!\w)['‘](?=\w)[^\n]{1,300}?(?<=[\w.!?,])['’](?!\w)|`[^`\n]{1,300}+`|\[[^\[\]]{1,300}+\]|「[^「」]{1,300}+」|『[^『』]{1,300}+』|（[^（）]{1,300}+）"
)
_SEMICOLON = re.compile(r"[;；؛]\s*+")
_COLON = re.compile(r":(?!\S)|：")
#: Words that continue a clause, or join one more item to a list.
_JOINING = re.compile(r"(?:and|or|nor|including|such as|und|oder|sowie|et|ou)\b", re.IGNORECASE)
_PLAIN_OPENS = ('"', "(", "`", "[", " '")
_OPENS = (*_PLAIN_OPENS, *"‘“„«「『（")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence of a paragraph; the space behind it is part of it."""
    start = 0
    for end in _ends(text):
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


def clauses(sentence: str) -> Iterator[int]:
    """Yield where clauses begin behind semicolons; none in a list, such as one behind a colon."""
    marks = [match for match in _SEMICOLON.finditer(sentence) if match.end() < len(sentence)]
    if not 0 < len(marks) < FEWEST_ITEMS or _COLON.search(sentence, 0, marks[0].start()) is not None:
        return
    within = {place for begin, stop in _whole_spans(sentence) for place in range(begin, stop)}
    marks = [match for match in marks if match.start() not in within]
    begins = [0, *(match.end() for match in marks)]
    stops = [*(match.start() for match in marks), len(sentence)]
    parts = [
        sentence[begin : min(stop, begin + ENOUGH_TEXT)] for begin, stop in zip(begins, stops, strict=True)
    ]
    if min(map(length_in_words, parts)) >= CLAUSE_WORDS:
        for part, begin in zip(parts[1:], begins[1:], strict=True):
            if _JOINING.match(part) is None:
                yield begin


def _ends(text: str) -> Iterator[int]:
    """Yield where the sentences of a paragraph end, the space behind them included."""
    spans: list[tuple[int, int]] | None = None
    place = 0
    start = 0
    for match in (_PLAIN_END if text.isascii() else _END).finditer(text):
        end = match.end()
        if end == len(text):
            return
        if match[0][0] in ".!?…" and not _is_end(text, match, start):
            continue
        if spans is None:
            spans = list(_whole_spans(text))
        while place < len(spans) and spans[place][1] <= match.start():
            place += 1
        # Within a quote or bracket only its last sentence may end one, and only if nothing continues it.
        begin, stop = spans[place] if place < len(spans) else (end, end)
        if begin < match.start() and (match.end("close") < stop or text[stop - 1] in "」』）`]"):
            continue
        yield end
        start = end


def _whole_spans(text: str) -> Iterator[tuple[int, int]]:
    opens = _PLAIN_OPENS if text.isascii() else _OPENS
    if any(mark in text for mark in opens) or text[:1] == "'":
        for match in _KEPT_WHOLE.finditer(text):
            yield match.span()


def _is_end(text: str, match: re.Match[str], start: int) -> bool:
    """Return whether a sentence that begins at `start` ends at a mark."""
    mark, close, following = match.group("mark", "close", "next")
    if not following or following.islower():
        return False
    if mark not in (".", "!"):
        return True
    at = begin = match.start()
    word = text[text.rfind(" ", start, at) + 1 or start : at]
    is_word = not close and 1 < len(word) <= 24 and word.isalpha()
    if is_word and mark == "." and word.lower() not in _ABBREVIATIONS:
        return True  # as most are
    while begin > start and at - begin < 24 and text[begin - 1].isalnum():
        begin -= 1
    last = text[begin:at]
    if mark == "!":  # but not that of a name, as in "sold by Shout! Factory"
        opener = _FIRST_WORD.match(text, match.end())
        return begin == start or not last[:1].isupper() or opener is None or opener[0] in _OPENERS
    if not last or close:
        return True
    ahead = text[match.end() : match.end() + 24]
    before = text[max(start, begin - 12) : begin]
    if last.isdigit():
        return not _is_ordinal(last, before, ahead, is_first=begin == start)
    word = last.lower()
    if len(last) == 1 or word in _AFTER_NAME:
        # A unit behind its number, "50 m."; otherwise an initial or an abbreviation such as "U.S." or "z. B."
        if before.rstrip()[-1:].isdigit() or before[-1:] == "°" or UNSPACED.match(last):
            return True
        opener = _FIRST_WORD.match(ahead)
        return opener is not None and opener[0] in _OPENERS
    if word in _BEFORE_NUMBER:
        return not following.isdigit()
    return word not in _NEVER_LAST


def _is_ordinal(number: str, before: str, ahead: str, *, is_first: bool) -> bool:
    """Return whether a number with a point is an ordinal or the number of a list's item."""
    if len(number) > 2 or before[-1:] in tuple(".,"):
        return is_first and len(number) < 4
    if is_first or _MONTH.match(ahead) or (number == "1" and before.rstrip()[-1:] == ":"):
        return True
    opener = _FIRST_WORD.match(ahead)
    words = before.split()
    is_opener = opener is not None and opener[0] in _OPENERS
    return bool(words) and words[-1].lower() in _BEFORE_ORDINAL and not is_opener


def length_in_words(text: str) -> int:
    """Return the number of words; where a script has no spaces, two characters count as one."""
    words = _WORD.findall(text[:ENOUGH_TEXT])
    return sum((len(word) + 1) // 2 if UNSPACED.match(word) else 1 for word in words)
