"""Text that was UTF-8 and was decoded with a code page: `Î”S` for `ΔS` (Windows), `ŒîS` (Mac Roman).

Such text is repaired by taking the way back: encode with the code page, decode as UTF-8, strictly. A run of
characters outside ASCII is repaired only if it comes back as a whole, with assigned characters, and does not
read like correct text. `é` before a no-break space and `»`, or `’` before `é`, come back as well, so a run
that typography writes that way (`_NATURAL_WINDOWS`, `_NATURAL_MAC`) is repaired only in a text that has a
certain one and nothing that does not come back.

Programs that drop the bytes to which a code page gives no character lose them for good. The few that can be
known are restored (`_LOST`): a closing quotation mark after an opening one, a variation selector, two emoji.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

#: The code page as which UTF-8 was decoded: Windows' Western or Turkish one, or that of the classic Mac OS.
Encoding = Literal["cp1252", "cp1254", "mac_roman"]
#: How a page or a message calls each.
NAMES: Final[dict[Encoding, str]] = {
    "cp1252": "Windows-1252",
    "cp1254": "Windows-1254",
    "mac_roman": "Mac Roman",
}
#: How many times text may have been damaged, one over the other.
MOST = 3


class Repair(NamedTuple):
    """A text as it was meant, and the code page that was to blame last; None if the text is as it was."""

    text: str
    encoding: Encoding | None


class Change(NamedTuple):
    """A word with a damaged run of characters, what it was, and the code page that was to blame."""

    found: str
    meant: str
    encoding: Encoding

    def __str__(self) -> str:
        return f"{_short(self.found)} was {_short(self.meant)} and was read as {NAMES[self.encoding]}"


def repaired(text: str) -> Repair:
    """Return the text with its damaged runs repaired, also those damaged several times over."""
    last: Encoding | None = None
    for _ in range(MOST):
        best = _best(text)
        if best is None:
            break
        encoding, runs = best
        last = last or encoding
        text = "".join(_pieces(text, runs))
    return Repair(text, last)


def first_change(text: str) -> Change | None:
    """Return the first word of the text with a damaged run; None without one."""
    best = _best(text)
    if best is None:
        return None
    encoding, runs = best
    begin, end, _ = runs[0]
    while begin and text[begin - 1] not in _BOUNDARY:
        begin -= 1
    while end < len(text) and text[end] not in _BOUNDARY:
        end += 1
    found = text[begin:end]
    return Change(found, repaired(found).text, encoding)


def _short(text: str) -> str:
    """Return a text for a message, at most 40 characters of it, in quotes."""
    return repr(text if len(text) <= 40 else text[:39] + "…")


_BOUNDARY = " \t\r\n\"'`,;:()[]{}<>|=/"
_RUN = re.compile(r"[^\x00-\x7f]+")
_CONTROL = re.compile(r"[\x80-\x9f]")
#: Unassigned characters that are accepted: emoji younger than Python's tables.
_EMOJI = range(0x1F000, 0x1FC00)
#: Private, but the logo that Mac Roman has for byte F0, so the first of four of each emoji.
_APPLE = "\uf8ff"

Run = tuple[int, int, str]


class _Page(NamedTuple):
    """A code page: its characters as bytes (characters up to U+00FF), and patterns.

    `suspect` finds where damage can begin, `natural` correct runs, `lost` bytes before or after a lost one.
    """

    table: dict[int, str]
    suspect: re.Pattern[str]
    natural: re.Pattern[str]
    lost: re.Pattern[str]


def _best(text: str) -> tuple[Encoding, list[Run]] | None:
    """Return the code page that explains most of the text, and the runs to replace: begin, end, meant."""
    if text.isascii():
        return None
    found = [(encoding, runs) for encoding in _PAGES if (runs := _damaged(text, encoding))]
    if not found:
        return None
    encoding, runs = max(found, key=lambda each: len(each[1]))
    if encoding == "cp1252" and any(_TURKISH.search(text, begin, end) for begin, end, _ in runs):
        encoding = "cp1254"
    return encoding, runs


def _pieces(text: str, runs: list[Run]) -> Iterator[str]:
    for (_, left, _), (begin, end, meant) in pairwise([(0, 0, ""), *runs]):
        yield text[left:begin]
        yield meant if end else ""
    yield text[runs[-1][1] :]


def _damaged(text: str, encoding: Encoding) -> list[Run]:
    """Return the runs to replace: the certain ones, and the natural ones too if all runs come back."""
    opening = text.find(_OPENING)
    if not any(is_certain for *_, is_certain in _read(text, _suspected(text, encoding), encoding, opening)):
        return []
    runs = list(_read(text, (match.span() for match in _RUN.finditer(text)), encoding, opening))
    is_whole = all(meant is not None for _, _, meant, _ in runs)
    return [
        (begin, end, meant)
        for begin, end, meant, is_certain in runs
        if meant is not None and (is_certain or is_whole)
    ]


def _suspected(text: str, encoding: Encoding) -> Iterator[tuple[int, int]]:
    """Yield where the runs are in which damage can begin: few in correct text, so that it costs little."""
    end = 0
    while (hit := _PAGES[encoding].suspect.search(text, end)) is not None:
        begin = hit.start()
        while begin > end and text[begin - 1] > "\x7f":
            begin -= 1
        end = hit.end()
        if (rest := _RUN.match(text, end)) is not None:
            end = rest.end()
        yield begin, end


def _read(
    text: str, spans: Iterable[tuple[int, int]], encoding: Encoding, opening: int
) -> Iterator[tuple[int, int, str | None, bool]]:
    """Yield each run with what it was, None if it does not come back, and whether it is certainly damaged."""
    natural = _PAGES[encoding].natural
    for begin, end in spans:
        read = _meant_of_short if end - begin <= _SHORT else _meant
        meant = read(text[begin:end], encoding, 0 <= opening < begin)
        # With a control character it was damaged twice, or a person did not write it.
        has_control = meant is not None and _CONTROL.search(meant) is not None
        if meant is None or (has_control and repaired(meant).encoding is None):
            yield begin, end, None, False
        else:
            found = natural.match(text, begin)
            yield begin, end, meant, has_control or found is None or found.end() != end


def _meant(run: str, encoding: Encoding, is_quoted: bool) -> str | None:
    """Return what a run was before it was damaged; None if it cannot be known.

    `is_quoted`: an opening quotation mark came before it.
    """
    page = _PAGES[encoding]
    data = run.translate(page.table)
    data = page.lost.sub(lambda lost: _LOST[lost[0]] if lost[0] != _QUOTE or is_quoted else lost[0], data)
    try:
        meant = data.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return None
    return meant if all(map(_is_sound, meant)) else None


#: The length of runs that are remembered: the same few short ones come again and again.
_SHORT = 16
_meant_of_short = lru_cache(maxsize=4096)(_meant)


def _is_sound(char: str) -> bool:
    return unicodedata.category(char) not in ("Co", "Cs", "Cn") or char == _APPLE or ord(char) in _EMOJI


def _bytes_of(*encodings: str) -> dict[int, str]:
    """Return the characters of code pages as bytes; other characters up to U+00FF lead to no byte."""
    table = dict.fromkeys(range(0x80, 0x100), "\ufffd")
    for byte in range(0x80, 0x100):
        for encoding in encodings:
            char = bytes([byte]).decode(encoding, "ignore") or chr(byte)
            table[ord(char)] = chr(byte)
    return table


def _suspect(table: dict[int, str], harmless: str = "") -> re.Pattern[str]:
    """Return where damage can begin: a character for a first byte of UTF-8, one for a later byte.

    After a `harmless` first one they come to nothing where the run ends with them.
    """
    first, later = (
        "".join(re.escape(chr(code)) for code, byte in table.items() if low <= byte <= high)
        for low, high in (("\xc2", "\xf4"), ("\x80", "\xbf"))
    )
    if not harmless:
        return re.compile(f"[{first}][{later}]")
    return re.compile(
        rf"[{first}ü](?:(?<![{harmless}ü])[{later}]|(?<!ü)[{later}](?=[^\x00-\x7f])|(?<=ü)[{later}]{{2}})"
    )


#: The undefined bytes, and those of programs that decode as Latin-1, are control characters.
_WINDOWS = {**_bytes_of("cp1254", "cp1252"), **{code: chr(code) for code in range(0x80, 0xA0)}}
_MAC = {**_bytes_of("mac_roman"), 0x2126: "\xbd"}  # the ohm sign, which older tables have for Ω

#: Letters that only the Turkish code page has.
_TURKISH = re.compile("[ĞİŞğış]")

#: What comes after a letter in correct text, and of it what joins two words.
_CLOSING = r"\xa0”’“‘»›…–—™®©°ªº¹²³·•†‡"
_LETTER = r"[^\W\d_]"
#: Runs of correct text that are also one damaged character, with what is before and after them.
_NATURAL_WINDOWS = re.compile(
    rf"""
      (?<=[A-Z]) [Ä-ÖØ-ÞĞİŞ] (?: [’–—…\xa0] | [{_CLOSING}] (?!{_LETTER}) )   # a word in capitals: QUALITÉ”
    | (?<=[A-Z]) (?: Ã [\xa0»›”’…™®] (?!{_LETTER}) | Â» )                     # AMANHÃ…
    | (?<![A-Za-z0-9]) [ÄÅÆÉÍÓÖØÚ] (?: [–—…] | [{_CLOSING}] (?!{_LETTER}) )   # a word of one letter, a unit
    | (?<![A-Za-z]) (?: Å [±·] | Ø [¼½¾±] )                                   # Å·mol, a diameter
    | (?: (?<=[A-Za-z]) [à-ï] | (?<![A-Za-z0-9]) [áàåæèéí] )                  # fatigué »
      [\xa0”’“»›…–—™®©°ªº¹²³·•] (?: [’–—…\xa0] | [”“»›™®©°ªº¹²³·•] (?!{_LETTER}) )
    | [×ß] . | â³
    """,
    re.VERBOSE,
)
_ACCENTED = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûüÆØæøßªº"
#: Punctuation, signs of money and ligatures that come before a letter.
_OPENERS = r"«»…\xa0–—“”‘’÷◊⁄€‹›ﬁﬂ"
_NATURAL_MAC = re.compile(
    rf"""
      (?: [{_OPENERS}] [{_ACCENTED}] ) {{1,2}}           # l’été, qu’à être
    | [{_OPENERS}] .                                     # –π
    | [ÀÕÿŸ] . | œ [∑∏π∫ªºΩæø]
    | Ã [^{_ACCENTED}]
    | √ [µπΩ∞∑]
    | (?<![a-z]) (?: √ [∏∫] | [≈∆] [µπΩ∞∑∏∫∂±≤≥≠£¢¥§°] )
    | (?: √ [∏∫] | [≈∆] [µπΩ∞∑∏∫∂±≤≥≠£¢¥§°] ) (?![a-z])
    | [‡·‰ÂÊÁËÈÍÎÏÌÓÔ] [°£§•®©™´¨†¶] {{2}}
    """,
    re.VERBOSE,
)

_QUOTE = "\xe2\x80"
_OPENING = "â€œ"
#: Bytes of common characters of which one was dropped: in the Windows code pages it has no character, in Mac
#: Roman a private one.
_LOST = {
    _QUOTE: "\xe2\x80\x9d",  # ”
    "\xef\xb8": "\xef\xb8\x8f",  # U+FE0F, the variation selector of emoji
    "\xe2\xb3": "\xe2\x8f\xb3",  # ⏳
    "\xe2\x8c": "\xe2\x9d\x8c",  # ❌
    "\x9f": "\xf0\x9f",  # most emoji
}
_LOST_WINDOWS = re.compile("(?:\xe2\x80|\xef\xb8|\xe2\xb3|\xe2\x8c)(?![\x80-\xbf])")
#: Not the Turkish words with üçü.
_LOST_MAC = re.compile(r"\A\x9f(?=[\x8c-\xab][\x80-\xbf])(?![\x8d\x9a\x9f]{2})")

_PAGES: Final[dict[Encoding, _Page]] = {
    "cp1252": _Page(_WINDOWS, _suspect(_WINDOWS), _NATURAL_WINDOWS, _LOST_WINDOWS),
    "mac_roman": _Page(_MAC, _suspect(_MAC, _OPENERS), _NATURAL_MAC, _LOST_MAC),
}
