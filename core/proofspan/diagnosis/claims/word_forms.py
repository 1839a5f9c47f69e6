"""Words as claims are compared by: their common form in English, German and French, and their language.

A form is no lemma. It is what is left without the endings of inflection and the most regular endings of
derivation ("operation", "operating" and "operates" become one), so that words of one family compare equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from sys import intern
from unicodedata import combining, normalize

#: Digits with the signs within a number, or letters with inner apostrophes.
WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
#: ASCII characters that may be within words as they are, all others as spaces.
_ASCII_WORDS = bytes(code if chr(code).isalnum() or chr(code) in ".,'" else 32 for code in range(128))
_ASCII_WORDS += bytes([32]) * 128
#: What is between texts whose forms are looked up together; the second is no character of ASCII, so that no
#: text has it, and becomes the first, which no text has after the translation.
_BREAK, _MARK = "\x01", "\x80"
_ASCII_LINES = _ASCII_WORDS[:128] + _BREAK.encode() + _ASCII_WORDS[129:]
#: Forms that are remembered of one language; the next word forgets them all.
_MOST_FORMS = 1 << 18


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Words that say nothing about a subject, in lower case.
STOP_WORDS: Mapping[str, frozenset[str]] = {
    "en": _words(
        """
        a about after again against all also an and any are as at be because been before being between both
        but by can could d did do does doing done down during each for from further had has have having he
        her here hers him his how i if in into is it its itself just ll m may me might more most must my no
        nor not of off on once only or other our out over own per re s same she should so some such t than
        that the their them then there these they this those through to too under until up us ve very via
        was we were what when where which while who whom whose why will with would you your
        """
    ),
    "de": _words(
        """
        aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis
        da dabei damit dann das dass dein dem den denn der des deshalb die dies diese diesem diesen dieser
        dieses doch dort du durch ein eine einem einen einer eines er es etwas euer für gegen hat hatte haben
        hier hin hinter ich ihm ihn ihr ihre ihrem ihren ihrer im in indem ins ist ja je jede jedem jeden
        jeder jedes jedoch kann können könnte man mehr mein mit muss müssen nach nicht noch nun nur ob oder
        ohne sehr sein seine seinem seinen seiner seit sich sie sind so soll sollen sollte sondern sowie über
        um und uns unser unter vom von vor war waren was weil welche welchem welchen welcher welches wenn wer
        werden wie wieder wir wird wo wurde wurden würde zu zum zur zwar zwischen
        """
    ),
    "fr": _words(
        """
        à afin ai ainsi alors après as au aucun aussi autre autres aux avait avant avec avoir c ce cela ces
        cet cette ceux chaque ci comme d dans de depuis des dès deux donc dont du elle elles en encore entre
        es est et été être eux fait fut il ils j je jusqu l la le les leur leurs lors lorsque lui m ma mais
        me même mes moi moins mon n ne ni nos notre nous on ont ou où par parce pas pendant peu peut peuvent
        plus pour pourquoi puis qu quand que quel quelle quelles quels qui s sa sans se sera ses si sinon
        soit son sont sous sur t ta tandis te tes toi ton tous tout toute toutes très tu un une vers via vos
        votre vous y
        """
    ),
}

#: Words that only one of these languages has, or has far more often than the others.
_FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    "en": _words(
        """
        the of and to is that for with by be from this it which are has not at or have were been their its
        if when should must how what who after before between than they he she his her would could a an in on
        i you do does did my we our can will may no but also during every each get
        """
    ),
    "de": _words(
        """
        der die das und ist nicht mit von zu den dem ein eine einer einen auf für sich werden wird bei nach
        auch aus oder sind wenn nur über kann im zum zur vom durch sie wurde muss dass beim als sollte
        sollten darf dürfen sein hat haben am bis unter höchstens mindestens etwa rund kein keine in an es er
        wir ich so
        """
    ),
    "fr": _words(
        """
        le les des est et une du dans pour pas qui sur au aux avec ce cette sont par ou être il elle vous
        ne ont été leur ces lorsque peut doit la un de à se en l' d' qu' n' jusqu environ plus
        """
    ),
    "es": _words(
        """
        el los las del y por para como más pero sus al una con se lo fue este esta entre cuando muy sobre
        también hasta donde puede son ser la de que en un su
        """
    ),
    "it": _words(
        """
        il di che è della per non sono alla nel gli dei delle anche come più una con dal del si lo ha
        questo questa essere dalla nella le la un in
        """
    ),
    "pt": _words(
        """
        o os não uma em da do com por para ao dos que como mais foi pelo pela são você também se ou um na
        no a é ser
        """
    ),
    "nl": _words(
        """
        het een van niet op te zijn voor met dat aan ook als bij naar wordt deze uit kan worden maar om
        heeft nog de en is in
        """
    ),
}
_ALL_FUNCTION_WORDS = frozenset().union(*_FUNCTION_WORDS.values())
#: One more hit than the runner-up and this many in all decide a language. Words up to a length are no hint.
_ENOUGH_HITS = 2
_SHORTEST_HINT = 2
#: In longer texts words with punctuation are left out, which is quicker.
_SHORT_TEXT = 400
_LETTERS = re.compile(r"[^\W\d_]+'?")
_ASCII_LETTERS = bytes(code if chr(code).isalpha() or chr(code) == "'" else 32 for code in range(128))
_ASCII_LETTERS += bytes([32]) * 128

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_OTHER_SCRIPT = re.compile("[\u0370-\u1dff\u3040-\ud7af]")
#: Scripts without spaces between words: every two adjacent letters count as a word.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LETTER = re.compile(r"[^\W\d_]")
#: Characters of a text that decide its language.
_SAMPLE = 4_000


def language_of(text: str, *, guess: bool = False) -> str | None:
    """Return a text's language as two letters, or None where too little speaks for one.

    With `guess` a single word is enough if no other language has one.

    Scripts other than Latin count as the language that is most often written in them: they are only
    compared with each other.
    """
    text = text[:_SAMPLE]
    if not text.isascii() and _OTHER_SCRIPT.search(text):
        letters = len(_LETTER.findall(text))
        for name, script in _SCRIPTS:
            if len(script.findall(text)) * 3 > letters:
                return name
    lower = text.lower()
    if len(text) > _SHORT_TEXT:
        words = lower.split()
    elif text.isascii():  # what the pattern finds, and lone apostrophes, three times as fast
        words = lower.encode().translate(_ASCII_LETTERS).replace(b"'", b"' ").decode().split()
    else:
        words = _LETTERS.findall(lower.replace("’", "'"))
    found = _ALL_FUNCTION_WORDS.intersection(words)
    if guess:
        found = frozenset(word for word in found if len(word) > _SHORTEST_HINT)
    elif len(found) < _ENOUGH_HITS:
        return None
    hits = sorted([(len(found & words), name) for name, words in _FUNCTION_WORDS.items()], reverse=True)
    return hits[0][1] if hits[0][0] > hits[1][0] and (hits[0][0] >= _ENOUGH_HITS or guess) else None


_ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("ization", "iz"), ("isation", "iz"), ("ational", "at"), ("fulness", "ful"), ("iveness", "iv"),
        ("ously", "ous"), ("ively", "iv"), ("ements", ""), ("ement", ""), ("ments", ""), ("ment", ""),
        ("ations", "at"), ("ation", "at"), ("ators", "at"), ("ator", "at"), ("ating", "at"), ("ated", "at"),
        ("ates", "at"), ("ate", "at"), ("ingly", ""), ("edly", ""), ("ness", ""), ("ings", ""), ("ing", ""),
        ("ied", "y"), ("ies", "y"), ("iers", "y"), ("ier", "y"), ("iest", "y"), ("ers", ""), ("er", ""),
        ("ors", ""), ("or", ""), ("ed", ""), ("ly", ""), ("es", ""), ("s", ""),
    ),
    "de": (
        ("ungen", ""), ("ung", ""), ("heiten", ""), ("heit", ""), ("keiten", ""), ("keit", ""),
        ("lichen", "lich"), ("liche", "lich"), ("licher", "lich"), ("ischen", "isch"), ("ische", "isch"),
        ("erinnen", "er"), ("ierten", "ier"), ("iert", "ier"), ("ieren", "ier"), ("ten", ""), ("ern", ""),
        ("est", ""), ("em", ""), ("en", ""), ("er", ""), ("es", ""), ("et", ""), ("te", ""), ("st", ""),
        ("e", ""), ("n", ""), ("s", ""), ("t", ""),
    ),
    "fr": (
        ("issements", "iss"), ("issement", "iss"), ("atrices", "at"), ("ateurs", "at"), ("ateur", "at"),
        ("ations", "at"), ("ation", "at"), ("ements", ""), ("ement", ""), ("euses", "eu"), ("euse", "eu"),
        ("aient", ""), ("antes", ""), ("ante", ""), ("ants", ""), ("ant", ""), ("eront", ""), ("era", ""),
        ("ives", "if"), ("ive", "if"), ("ées", ""), ("és", ""), ("ée", ""), ("é", ""), ("er", ""),
        ("ez", ""), ("ent", ""), ("aux", "al"), ("eaux", "eau"), ("es", ""), ("e", ""), ("s", ""), ("x", ""),
    ),
}  # fmt: skip
#: Letters that must be left before an ending.
_SHORTEST_STEM = 3
_IRREGULAR_PAIRS = """
    went go gone go ran run rose rise risen rise fell fall fallen fall grew grow grown grow
    began begin begun begin became become came come gave give given give took take taken take
    made make said say found find held hold kept keep left leave led lead lost lose met meet
    paid pay sold sell sent send spent spend stood stand thought think told tell
    understood understand won win wrote write written write bought buy brought bring built build
    caught catch chose choose chosen choose drew draw drawn draw drove drive driven drive
    fought fight flew fly flown fly forgot forget forgotten forget got get gotten get heard hear
    knew know known know meant mean saw see seen see shot shoot showed show shown show sang sing
    sung sing sat sit slept sleep spoke speak spoken speak stole steal stolen steal swam swim
    taught teach threw throw thrown throw wore wear worn wear broke break broken break felt feel
    fed feed dealt deal died die dying die dies die death die lying lie children child men man
    women woman feet foot teeth tooth people person persons person mice mouse better good best good
    worse bad worst bad wives wife lives life knives knife leaves leaf halves half born birth
    grandchildren grandchild
    width wide length long height high depth deep strength strong
    """.split()  # noqa: SIM905 - a word list reads best as text
#: Irregular forms of English that no ending explains, and the common form of each.
_IRREGULAR = dict(zip(_IRREGULAR_PAIRS[::2], _IRREGULAR_PAIRS[1::2], strict=True))
_NUMBER_WORDS: Mapping[str, str] = {
    word: str(value)
    for words, first in (
        ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen", 0),
        ("sixteen seventeen eighteen nineteen twenty", 16),
        ("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth", 1),
        ("once twice thrice", 1),
    )
    for value, word in enumerate(words.split(), start=first)
} | {
    word: str(value)
    for value, word in zip(
        range(30, 100, 10), ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], strict=True
    )
}
_DOUBLED = re.compile(r"([b-df-hjkmnp-rtv-z])\1$")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


class _Forms(dict[str, str]):
    """Word as written → its form in one language; of a text with several words their forms between spaces."""

    def __init__(self, language: str) -> None:
        super().__init__()
        # By last letter, as most words have few of all endings to try.
        self._endings: dict[str, list[tuple[str, str]]] = {}
        for ending, rest in _ENDINGS.get(language, ()):
            self._endings.setdefault(folded(ending)[-1], []).append((folded(ending), rest))
        self._is_english = language == "en"

    def __missing__(self, word: str) -> str:
        if len(self) >= _MOST_FORMS:
            self.clear()
        words = [word] if word == _BREAK else words_of(word)
        form = self._form(word) if words == [word] else " ".join(map(self.__getitem__, words))
        self[word] = form = intern(form)
        return form

    def _form(self, word: str) -> str:
        if word[0].isdigit():
            return number_form(word)
        bare = folded(word)
        if self._is_english:
            bare = bare.removesuffix("'s")
            if (special := _NUMBER_WORDS.get(bare) or _IRREGULAR.get(bare)) is not None:
                bare = special
                if bare.isdigit():
                    return bare
        for ending, rest in self._endings.get(bare[-1:], ()):
            if bare.endswith(ending) and len(bare) - len(ending) >= _SHORTEST_STEM:
                bare = bare[: -len(ending)] + rest
                break
        if len(bare) > _SHORTEST_STEM:
            bare = _DOUBLED.sub(r"\1", bare)
            bare = bare.removesuffix("e")
            bare = bare[:-1] + "y" if bare.endswith("i") else bare
        return bare


_FORMS: dict[str, _Forms] = {}


def forms(language: str | None) -> _Forms:
    """Return the mapping of words as written to their forms in a language; English where it is unknown."""
    name = language or "en"
    if name not in _FORMS:
        _FORMS[name] = _Forms(name)
    return _FORMS[name]


def forms_in(text: str, language: str | None) -> list[str]:
    """Return the forms of a text's words in order."""
    form_of = forms(language).__getitem__
    if not text.isascii():
        return list(map(form_of, words_of(text)))
    # What `words_of` finds, several times as fast: a piece between spaces is mostly one word, and known.
    pieces = text.encode().translate(_ASCII_WORDS).decode().split()
    return " ".join(map(form_of, pieces)).split()


def forms_of_each(texts: Sequence[str], language: str | None) -> list[list[str]]:
    """Return the forms of each text's words in order, quicker than `forms_in` for one after the other."""
    form_of = forms(language).__getitem__
    plain = [text if text.isascii() else "" for text in texts]
    pieces = f" {_MARK} ".join([*plain, ""]).encode("latin-1").translate(_ASCII_LINES).decode().split()
    found = list(map(form_of, pieces))
    if "" in found or " " in "".join(found):  # pieces without a word, or with several
        found = " ".join(found).split()
    each, start = [], 0
    for text in texts:
        end = found.index(_BREAK, start)
        each.append(found[start:end] if text.isascii() else list(map(form_of, words_of(text))))
        start = end + 1
    return each


def stop_words(language: str | None) -> frozenset[str]:
    """Return the stop words of a language, none where they are not known."""
    return STOP_WORDS.get(language or "en", frozenset())


@cache
def stop_forms(language: str | None) -> frozenset[str]:
    """Return the forms of the stop words of a language."""
    return frozenset(map(forms(language).__getitem__, stop_words(language)))


def folded(word: str) -> str:
    """Return a word in lower case without accents, ligatures and typographic apostrophes."""
    if word.isascii():
        return word.lower()
    plain = normalize("NFKD", word.replace("’", "'").casefold())
    return "".join(char for char in plain if not combining(char))


def number_form(written: str) -> str:
    """Return the digits of a number without English separators of thousands and trailing zeros."""
    if "," in written and _GROUPED.fullmatch(written):
        written = written.replace(",", "")
    if "." in written and written.count(".") == 1 and "," not in written:
        written = written.rstrip("0").removesuffix(".")
    return written


def words_of(text: str) -> list[str]:
    """Return the words of a text as written; in scripts without spaces, every two adjacent letters."""
    words = WORD.findall(text)
    if text.isascii() or not _UNSPACED.search(text):
        return words
    pieces: list[str] = []
    for word in words:
        if len(word) > 2 and _UNSPACED.search(word):
            pieces += (word[at : at + 2] for at in range(len(word) - 1))
        else:
            pieces.append(word)
    return pieces
