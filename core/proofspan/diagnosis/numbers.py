"""Numbers in answers and evidence, and when a number of the answer counts as unsupported.

A number is compared by its value as written in digits: `12,645`, `12 645` (no-break or thin space) and
`12645` are the same, so are `24.60` and `24.6`, `007` and `7`. Signs, currencies, units and the percent sign
are left out, since tables write them elsewhere ("(5.2)", a column headed "%"). `1/16` is one number, `½` is
`1/2`; a range is two numbers; `4.2.1` is compared as written. `12.0` is `12`, but `3.0` is not a bare `3`,
which is on every page.

Of an answer, these are not looked for, since they claim no figure:
- ids and references: the citation line, bracketed chunk ids, `[3]`, and what follows "page", "section",
  "step", "figure", "table", "source", "document", "chunk", "passage" or "footnote";
- numbers that the question itself holds;
- the numbering of a list at the start of a line;
- constants of a formula: the 1 of `1 − a/b`, the 100 of `× 100`, the 365 of `a / b × 365`;
- digits glued to a word or to an upper-case name: `Q80`, `H2O`, `COVID-19` (words are compared as words);
- the month and day of a date of digits alone (evidence often spells the month).

Evidence is read generously: every run of digits counts, whatever is around it; so do the words "one" to
"twenty" and "first" to "twentieth".

What this reading leaves open is read by value (`proofspan.diagnosis.claims.figures`), which is slower: there
scale, rounding, unit and locale count. Both agree on what claims no figure (`is_no_claim`).

`proofspan.evidence.text.tokens` cannot replace this: when a quote is located, another sign, percent sign or
separator is a misquote; tokens have places, and take about ten times as long to read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_DIGITS = r"\d+(?:[.,]\d+|[\u00a0\u2009\u202f'’]\d{3}(?!\d))*"
#: A run of digits with separators, `.5` or `½`. It begins with a class of characters, which is found faster.
NUMBER = re.compile(
    r"[\d.¼-¾⅐-⅞](?:(?<=\d)\d*(?:[.,]\d+|[\u00a0\u2009\u202f'’]\d{3}(?!\d))*"
    r"|(?<=\.)(?<![\w.]\.)\d+(?!\.?\d)|(?<=[¼-¾⅐-⅞]))"
)
#: The same in a run alone, and the run: one class of characters, many times as fast to look for.
_WITHIN_RUN = re.compile(rf"{_DIGITS}|[¼-¾⅐-⅞]")
_RUN = re.compile(r"[\d.,\u00a0\u2009\u202f'’¼-¾⅐-⅞]+")
_ASCII_RUNS = bytes(code if chr(code) in "0123456789.,'" else 32 for code in range(128)) + bytes([32]) * 128
_DATE = re.compile(r"(?<!\d)(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})(?!\d)")
_FRACTION = re.compile(r"(?<![\d./⁄])(\d{1,4})\s?[/⁄]\s?(\d{1,4})(?![\d/⁄]|[.,]\d)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_GROUPING = str.maketrans("", "", "\u00a0\u2009\u202f'’")
_LIST_ITEM = re.compile(r"(?:^|\n)[ \t>*_#(-]*\Z")
_LIST_MARK = re.compile(r"[.):][ \t*_]+\S")
#: What a number behind one of these words points to: it counts nothing.
_POINTERS = tuple(
    """page pages p pp step steps source sources document documents doc docs chunk chunks passage passages
    footnote footnotes context contexts ref refs section sections sec chapter chapters figure fig table
    tables appendix exhibit note notes seite seiten abschnitt kapitel schritt abbildung abb tabelle tab quelle
    quellen fußnote étape chapitre tableau annexe""".split()  # noqa: SIM905 - a word list reads best as text
)
#: Behind a number that is an amount whatever is before it: "senior notes 3.625%".
_AMOUNT_BEHIND = re.compile(r"\s?(?:[%$€£]|per ?cent|million|billion|thousand)")
_LAST_WORD = re.compile(r"[^\W\d_]+\Z")
_POINTER_MARKS = " \t\r\n\u00a0#.:("
#: "1 −" before a share: `1 − a/b`, `1 - (a / b)`, `1 − 0.2`.
_ONE_MINUS = re.compile(r"\s*[-−–]\s*(?:\(|\\|[^\W\d_]|0[.,]\d|[$€£]?[\d.,]+\s*[/÷%])")
#: Factors by which a formula changes the unit; behind an operator they claim nothing.
_CONSTANTS = frozenset(("2", "4", "12", "52", "100", "360", "365", "1000", "1,000", "1,000,000"))
_OPERATOR_BEFORE = re.compile(r"(?:[×*÷·]|\\times|\)\s*/|\d\s+/|[\d)]\s+x)\s*\Z")
_OPERATOR_BEHIND = re.compile(r"%?\s*(?:[×*]|\\times)\s*[(\d\\]")

#: "zero" to "twenty", and "first" to "twentieth".
CARDINALS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty""".split()  # noqa: SIM905 - a word list reads best as text
ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split()  # noqa: SIM905

#: value → words that say the same in evidence
NUMBER_WORDS: dict[str, tuple[str, ...]] = {
    str(value): (word, *ORDINALS[max(value - 1, 0) : value]) for value, word in enumerate(CARDINALS)
}


@dataclass(frozen=True, slots=True)
class Number:
    """A number of an answer: as written, its half-open range, and its value in digits."""

    text: str
    start: int
    end: int
    value: str


def evidence_values(text: str) -> set[str]:
    """Every value in a text, read generously: of `4.2.1` its parts too, of `.5` and `5.0` also 5."""
    # The longest pieces with only digits and the signs between them, or mere punctuation.
    runs = text.encode().translate(_ASCII_RUNS).decode().split() if text.isascii() else _RUN.findall(text)
    found: set[str] = set()
    for run in runs:
        if run.isdecimal() and run.isascii():
            found.add(run.lstrip("0") or "0")
            continue
        for match in _WITHIN_RUN.finditer(run):
            written = match[0]
            for value in _values(written):
                found.update((value, value.removesuffix(".0")))
            if written.count(".") > 1:
                found.update(map(_plain, written.split(".")))
            elif "." not in written and run[match.start() - 1 : match.start()] == ".":
                found.update(_values("." + written))
    if found and ("/" in text or "⁄" in text):
        found.update(f"{_plain(a)}/{_plain(b)}" for a, b in _FRACTION.findall(text))
    return found


def claimed_numbers(answer: str) -> Iterator[Number]:
    """The numbers that an answer claims, in order; citations must be blanked out of `answer` before."""
    covered = 0
    for match in NUMBER.finditer(answer):
        start, end = match.span()
        if start < covered:
            continue
        if date := _DATE.match(answer, start):
            covered = date.end()
            for part in re.finditer(r"\d+", date[0]):  # its year, and the part that can only be a day
                if int(part[0]) > 12:
                    at = start + part.start()
                    yield Number(part[0], at, at + len(part[0]), _plain(part[0]))
        elif fraction := _FRACTION.match(answer, start):
            covered = fraction.end()
            value = f"{_plain(fraction[1])}/{_plain(fraction[2])}"
            yield Number(fraction[0], start, covered, value)
        elif not is_no_claim(answer, start, end):
            values, stop = _values(match[0]), end + (answer[end : end + 1] == "%")
            if len(values) == 1:  # a percent sign belongs to the text as written
                yield Number(answer[start:stop], start, stop, values[0])
                continue
            for piece, value in zip(match[0].split(","), values, strict=True):  # commas list several
                yield Number(piece, start, start + len(piece), value)
                start += len(piece) + 1


def is_no_claim(text: str, start: int, end: int) -> bool:
    """Return whether digits are part of a name, a list item's number, a pointer or a formula's constant."""
    before = text[start - 1 : start]
    if before.isalnum() or before in ("_", "#"):  # Q80, v2, #3
        return True
    if before == "-" and text[start - 2 : start - 1].isupper():  # COVID-19
        return True
    if (
        end - start <= 2
        and _LIST_MARK.match(text, end)
        and _LIST_ITEM.search(text, max(start - 12, 0), start)
    ):
        return True
    ahead = text[max(start - 14, 0) : start].lower().rstrip(_POINTER_MARKS)
    if ahead.endswith(_POINTERS) and (last := _LAST_WORD.search(ahead)) and last[0] in _POINTERS:
        return not ("," in text[start:end] or _AMOUNT_BEHIND.match(text, end))
    written = text[start:end]
    if written == "1" and _ONE_MINUS.match(text, end):
        return True
    return written in _CONSTANTS and bool(
        _OPERATOR_BEFORE.search(text, max(start - 8, 0), start) or _OPERATOR_BEHIND.match(text, end)
    )


def _values(written: str) -> list[str]:
    """The comparable values of one run of digits and separators."""
    if not written.isascii():
        written = unicodedata.normalize("NFKC", written.translate(_GROUPING)).replace("⁄", "/")
        written = "".join(str(unicodedata.decimal(char, char)) for char in written)
        if "/" in written:
            return [written]
    elif "'" in written:
        written = written.replace("'", "")
    if "," not in written:
        return [_plain(written)]
    if _THOUSANDS.fullmatch(written):
        return [_plain(written.replace(",", ""))]
    return [_plain(part) for part in written.split(",")]


def _plain(digits: str) -> str:
    """Without leading zeros, nor trailing ones after the decimal point but in `3.0`; `4.2.1` as it is."""
    whole, point, part = digits.partition(".")
    if "." in part:
        return digits
    whole = whole.lstrip("0") or "0"
    shown = part.rstrip("0")
    if point and part and not shown and len(whole) == 1:
        return f"{whole}.0"
    return f"{whole}.{shown}" if shown else whole
