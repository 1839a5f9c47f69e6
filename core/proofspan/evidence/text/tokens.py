"""Normalize text for comparison: folded words, and tokens with the words of the page that they came from.

Case, ligatures, quotation marks, dashes, soft hyphens, accents of Latin letters, vowel points of Hebrew and
Arabic, and punctuation are dropped. A number keeps its sign, decimal point, separators and percent sign; an
amount in parentheses is negative, as accountants write it. Two numbers keep the mark between them (3/4, 3-4,
3:4). A number agrees with itself without its currency sign, but not with another one. Footnote marks are
numbers, marked as such.

Labels compare numbers by value alone, without sign, percent sign or place, and also within words, and so
have a quicker reader of their own: `proofspan.diagnosis.numbers`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Literal

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
#: A comma belongs to a number before one to three digits: "31,2018" is a day and a year.
FRACTION = r"(?:\.\d+|,\d{1,3}(?!\d))"
NUMBER = rf"\d+{FRACTION}+|\d+(?![^\W_])"
#: A number with separators in which letters were misread: "1,125,q48,378".
#: The lookahead is bounded, since the pattern is tried at every place of a text.
MISREAD = r"(?=[0-9,]{0,40}[a-z])(?=[a-z]?[0-9])[0-9a-z]{1,3}(?:,(?=[a-z]{0,2}[0-9])[0-9a-z]{3})+(?![^\W_])"
#: A label whose space before the figure was lost in a table: "Goodwill5,559".
LABEL = rf"[^\W\d_]+(?=\d+{FRACTION})"
#: A plain integer joined to letters ("10th", "5mm", "C9mpany") is a word; one with a separator is a number.
TOKEN = re.compile(rf"{MISREAD}|(?P<number>{NUMBER})|{LABEL}|[^\W_]+")
#: Chinese, Japanese and Korean are written without spaces: there each character is a token.
TOKEN_CJK = re.compile(rf"{MISREAD}|(?P<number>{NUMBER})|[{CJK}]|(?:(?![{CJK}])[^\W_])+")
HAS_CJK = re.compile(f"[{CJK}]")

DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d\ufffe"), "-")
QUOTES = {ord(mark): "'" for mark in "\u2018\u2019\u201a\u201b\u2032"}
DOUBLE_QUOTES = {ord(mark): '"' for mark in "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"}
INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
#: Direction marks, which come with copied text, and the bar that widens an Arabic word.
INVISIBLE |= dict.fromkeys((0x061C, 0x0640, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))
#: Vowel points of Hebrew and Arabic. Marks that distinguish letters (hamza, madda) are kept.
VOWELS = dict.fromkeys(
    (*range(0x0591, 0x05BE), 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7, *range(0x064B, 0x0653), 0x0670)
)
SLASHES = dict.fromkeys(map(ord, "\u2044\u2215\uff0f"), "/")
#: The Arabic percent sign, decimal point and separator, and other shapes of "at most" and "at least".
MARKS = {0x066A: "%", 0x066B: ".", 0x066C: ","}
MARKS |= {0x2266: "\u2264", 0x2A7D: "\u2264", 0x2267: "\u2265", 0x2A7E: "\u2265"}
TRANSLATION = {**DASHES, **QUOTES, **DOUBLE_QUOTES, **INVISIBLE, **VOWELS, **SLASHES, **MARKS}
CURRENCY = frozenset("$€£¥₹")
PERCENT = frozenset("%\u2030")
#: Before an exponent or a fraction that follows a digit: 10² is not 102, nor 3½ 31/2.
BEFORE_RAISED = re.compile(
    "(?<=[0-9])(?=[\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089\u00bc-\u00be\u2150-\u215e])"
)
#: After these, a letter or a digit a dash is a hyphen; elsewhere it is a minus sign.
BEFORE_HYPHEN = frozenset(")]}%\u2030'\".\u00b0-")
#: After these a quotation mark opens, and a dash behind it is a minus sign: "-4".
BEFORE_OPENING = frozenset(" ([{")
#: Raised digits that follow a word of three letters or more, a group of thousands or a percent sign, and a
#: raised number in parentheses, are footnote marks. After other digits and shorter words they may be an
#: exponent (10², 3 m²) and count as it.
RAISED = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079"
THREE_LETTERS, CLOSING = r"[^\W\d_]{3}", r"[.,;:!?)\]\"']"
BEFORE_MARK = re.compile(
    rf"(?<=[^{RAISED}])(?=[{RAISED}])"
    rf"(?:(?<={THREE_LETTERS})|(?<={THREE_LETTERS}{CLOSING})|(?<={THREE_LETTERS}{CLOSING}{CLOSING}))"
    rf"|(?<=,\d{{3}})(?=[{RAISED}])|(?<=\d%)(?=[{RAISED}])|(?<=\S)(?=\u207d[{RAISED}])"
)
#: Put before a footnote mark in a folded word; a noncharacter, which no text has.
MARK = "\ufdd0"
#: Numbers in square brackets refer to a note or a source.
REFERENCE = re.compile(r"\[\d{1,3}(?:(?:, ?|-)\d{1,3})*\]")
#: Signs that change the meaning of the number after them.
COMPARING = frozenset("<>~\u2264\u2265\u00b1\u2213\u2248\u2260\u226a\u226b\u226e\u226f\u2272\u2273\u221a")
#: After these a point without a digit before it is a decimal point.
BEFORE_POINT = COMPARING | CURRENCY | frozenset(" (-")
#: Marks with a meaning between two numbers: 3/4 is neither 3-4 nor 3:4. Commas, dots and brackets separate.
JOINING = frozenset("-/:+=\u00d7\u00f7*<>~\u00b7")

#: The separator of a token from the one before it: a dropped mark, white space, or none (no character at all,
#: or white space between words that touch on the page).
Bond = Literal["mark", "space", "none"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, as parallel sequences.

    `keys` is compared, `first` and `last` are the words (inclusive) that a token covers. `squeezed` has the
    letters and digits of all keys; token `i` is from `offsets[i]` to `offsets[i + 1]`. `is_number`: the whole
    token is a number. `bonds` separate a token from the one before it, `joints` are the marks with a meaning
    between it and a number before it ("" for none, and beside words). `is_footnote`: the number is a footnote
    mark or a reference, which a quote may leave out. `currencies` has the currency signs in and right beside
    a token that begins with a digit.
    """

    keys: tuple[str, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    is_number: tuple[bool, ...]
    bonds: tuple[Bond, ...]
    joints: tuple[str, ...]
    is_footnote: tuple[bool, ...]
    currencies: tuple[str, ...]
    squeezed: str
    offsets: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.keys)

    def part(self, start: int, end: int) -> str:
        """Return the squeezed text of the tokens `start` to `end` (half open)."""
        return self.squeezed[self.offsets[start] : self.offsets[end]]

    def token_at(self, offset: int) -> int:
        """Return the token at this offset of the squeezed text."""
        return bisect_right(self.offsets, offset) - 1


def fold(word: str) -> str:
    """Normalize one word for comparison; its punctuation is kept."""
    if word.isascii():
        return word.lower().replace("+/-", "\u00b1")
    parted = BEFORE_RAISED.sub("^", BEFORE_MARK.sub(MARK, word.translate(TRANSLATION)))
    folded = unicodedata.normalize("NFKC", parted).translate(TRANSLATION).casefold()
    if folded.isascii():
        return folded
    kept: list[str] = []  # é becomes e; marks on other letters, and on signs (≠), are part of them
    for character in unicodedata.normalize("NFD", folded):
        is_mark = unicodedata.category(character) == "Mn"
        if not (is_mark and kept and kept[-1].isascii() and kept[-1].isalpha()):
            kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))


def tokenize(words: Sequence[str], *, touching: Sequence[bool] | None = None) -> Tokens:
    """Return the tokens of words in reading order.

    `touching[i]`: word `i` touches the word before it. A quote has no widths: without `touching` its white
    space does not separate.
    """
    folded = [fold(word) for word in words]
    text = " ".join(folded)
    starts = list(accumulate((len(word) + 1 for word in folded), initial=0))[:-1]
    pattern = TOKEN if text.isascii() or not HAS_CJK.search(text) else TOKEN_CJK
    keys: list[str] = []
    spans: list[tuple[int, int]] = []
    numbers: list[bool] = []
    for match in pattern.finditer(text):
        start, end = match.span()
        is_number = match.lastgroup == "number"
        key = match.group()
        if is_number:
            key, start, end = _number(text, key, start, end)
        elif key[0].isdigit() or key[-1].isdigit():
            # A word with digits takes sign and percent: -5mm, R16%.
            if key[0].isdigit() and text[start - 1 : start] == "-" and _is_sign(text, start - 1):
                key, start = "-" + key, start - 1
            if key[-1].isdigit():
                percent, end = _percent(text, end)
                key += percent
        keys.append(key)
        spans.append((start, end))
        numbers.append(is_number)
    pieces = [key if key.isalnum() else "".join(filter(str.isalnum, key)) for key in keys]
    bonds, joints = _separators(text, keys, spans, starts, touching)
    return Tokens(
        keys=tuple(keys),
        first=tuple(bisect_right(starts, start) - 1 for start, _ in spans),
        last=tuple(bisect_right(starts, end - 1) - 1 for _, end in spans),
        is_number=tuple(numbers),
        bonds=bonds,
        joints=joints,
        is_footnote=_footnotes(text, spans, numbers),
        currencies=_currencies(text, keys, spans),
        squeezed="".join(pieces),
        offsets=tuple(accumulate(map(len, pieces), initial=0)),
    )


def _separators(
    text: str,
    keys: Sequence[str],
    spans: Sequence[tuple[int, int]],
    starts: Sequence[int],
    touching: Sequence[bool] | None,
) -> tuple[tuple[Bond, ...], tuple[str, ...]]:
    """The bond and the joint of each token; the first has a mark.

    Joints are between figures. A dash with space around it does not count: it fills an empty cell as often as
    it joins.
    """
    bonds: list[Bond] = ["mark"] * min(1, len(spans))
    joints = [""] * len(bonds)
    no_marks = " " + MARK
    for number, ((_, end), (start, _)) in enumerate(pairwise(spans)):
        between, marks = text[end:start], ""
        if between != " " and between.strip(no_marks):
            bonds.append("mark")
        elif touching is None or all(touching[bisect_left(starts, end) : bisect_right(starts, start)]):
            bonds.append("none")
        else:
            bonds.append("space")
        if between.strip(" ") and not (keys[number][-1].isalpha() or keys[number + 1][0].isalpha()):
            marks = "".join(mark for mark in between if mark in JOINING)
            if set(marks) == {"-"} and between[0] == " " == between[-1]:
                marks = ""
        joints.append(marks)
    return tuple(bonds), tuple(joints)


def _footnotes(text: str, spans: Sequence[tuple[int, int]], numbers: Sequence[bool]) -> tuple[bool, ...]:
    if MARK not in text and "[" not in text:
        return (False,) * len(spans)
    within = bytearray(len(text))
    for match in REFERENCE.finditer(text):
        within[match.start() : match.end()] = b"\1" * len(match.group())
    return tuple(
        number and (text[start - 1 : start] == MARK or bool(within[start]))
        for (start, _), number in zip(spans, numbers, strict=True)
    )


def _currencies(text: str, keys: Sequence[str], spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    if CURRENCY.isdisjoint(text):
        return ("",) * len(keys)
    signs: list[str] = []
    for key, (start, end) in zip(keys, spans, strict=True):
        if not key.lstrip("-.")[:1].isdigit():
            signs.append("")
            continue
        before = start - 1 - (text[max(0, start - 1)] == " ")
        around = text[max(0, before) : _skip_spaces(text, end) + 1]
        signs.append("".join(sorted(CURRENCY.intersection(around))))
    return tuple(signs)


def _number(text: str, digits: str, start: int, end: int) -> tuple[str, int, int]:
    """A number's key with signs, leading point and percent, and its range of characters.

    Each minus and each pair of parentheses is one sign: (-5) is neither (5) nor -5.
    """
    point = start - 1
    is_point = point >= 0 and text[point] == "." and text[max(0, point - 2) : point] != ". "
    if is_point and (point == 0 or text[point - 1] in BEFORE_POINT):  # .5, not the end of a row of dots
        digits, start = "." + digits, point
    percent, end = _percent(text, end)
    comparing = start - 1 - (text[max(0, start - 1)] == " ")
    if comparing >= 0 and text[comparing] in COMPARING:
        return text[comparing] + digits + percent, comparing, end
    signs, before = "", start - 1
    while before >= 0:
        close = _skip_spaces(text, end)
        if text[before] == "-" and _is_sign(text, before):
            signs, start = signs + "-", before
        elif text[before] == "(" and text[close : close + 1] == ")":
            signs, start = signs + "-", before
            outside, end = _percent(text, close + 1)
            percent = percent or outside
        elif text[before] not in CURRENCY and not (
            text[before] == " " and before > 0 and (text[before - 1] in CURRENCY or text[before - 1] == "(")
        ):
            break
        before -= 1
    return signs + digits + percent, start, end


def _is_sign(text: str, place: int) -> bool:
    if text[place - 1 : place] in ("'", '"'):
        return place == 1 or text[place - 2] in BEFORE_OPENING
    if text[max(0, place - 2) : place] == "..":
        return True  # a row of dots leads to a number
    return place == 0 or not (text[place - 1].isalnum() or text[place - 1] in BEFORE_HYPHEN)


def _percent(text: str, end: int) -> tuple[str, int]:
    """The percent sign that follows, if any, and the end of the number with it."""
    place = _skip_spaces(text, end)
    sign = text[place : place + 1]
    return (sign, place + 1) if sign in PERCENT else ("", end)


def _skip_spaces(text: str, position: int) -> int:
    while position < len(text) and text[position] == " ":
        position += 1
    return position
