"""Split an answer into claims: sentences, list items, table rows, and clauses joined by semicolons.

A claim is a piece of text that asserts something and can be checked by itself. Headings, citation lines,
greetings, code, and repetitions of the question assert nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from proofspan.diagnosis.claims.types import Claim, ClaimKind

#: Claims of one answer, and characters of it, that are looked at.
MOST_CLAIMS = 500
MOST_TEXT = 200_000
#: A piece with fewer words than this is only split off at a semicolon if both sides have as many.
CLAUSE_WORDS = 3


_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s*(?:\*\*|__)[^*_]{1,100}(?:\*\*|__)\s*:?\s*$")
_RULE = re.compile(r"\s*(?:[-=_*]\s*){3,}$")
#: The mark of a list item: a bullet, or a number or letter with a point or bracket.
_ITEM = re.compile(r"\s*(?:>\s*)?(?:[-*+•‣◦▪–—]\s+|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)]\s+)")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_ROW_RULE = re.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*:?-*:?\s*\|?\s*$")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

#: Abbreviations that a point follows within a sentence, in lower case, English, German and French.
_ABBREVIATIONS = frozenset(
    """
    abb abs adj al alt anm approx art aufl av bd betr bsp bzgl bzw ca cap cf ch chap co col corp dept
    dr ed eds ehem eq esp est etc evtl ex fa fig figs ff geb gen ggf gov hon hr hrsg inc inkl insb ital
    jh jr kap lt ltd max mgr min mio mlle mm mme mr mrd mrs ms mt nb no nos nr op par pp prof prop ref
    resp rev sec sen sog sr st std str tab tel trans usf usw vgl viz vol vs zb zzgl
    """.split()  # noqa: SIM905 - a word list reads best as text
)
#: A possible end of a sentence: its mark, closing quotes and brackets, and reference marks such as [3].
_END = re.compile(
    r"(?P<mark>[.!?…]+|[。！？｡])(?P<close>[\"'”’»›)\]*_]*)(?P<refs>(?:\s*\[\^?\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\])*)"
    r"(?P<gap>\s+|$|(?<=[。！？｡])|(?<=\])(?=[A-Z]))"
)
_DEVANAGARI_OR_ARABIC = re.compile(r"[।॥؟۔]")
#: The words by which a sentence opens or closes a conversation and says nothing about the subject.
_COURTESY = re.compile(
    r"(?:sure|certainly|of course|absolutely|great question|good question|hello|hi|hi there|dear \w+"
    r"|thank you|thanks|you(?:'|’)re welcome|i hope (?:this|that|it) helps?|hope (?:this|that|it) helps"
    r"|(?:please )?let me know\b.*|feel free to\b.*|if you have any (?:other|more|further)\b.*"
    r"|is there anything else\b.*|here(?:'s| is| are)\b.{0,60}:|hallo|guten tag|gerne|bonjour|merci|bien sûr"
    r"|(?:based on|according to|from) the (?:provided |given )?(?:context|documents?|sources?|passages?)[,:]?"
    r"|(?:final |short )?answer|antwort|réponse|summary|conclusion|sources?|references?|citations?)"
    r"[\s.!:,]*",
    re.IGNORECASE,
)


def split_claims(answer: str, *, question: str = "", blanked: str | None = None) -> tuple[Claim, ...]:
    """Return the claims of an answer in the order of the text; at most `MOST_CLAIMS`.

    `blanked` is the answer with as many spaces in the place of what is no part of its claims (citations,
    refusal phrases), by default the answer itself.
    """
    text = (answer if blanked is None else blanked)[:MOST_TEXT]
    asked = _words(question)
    claims = []
    for start, end, kind in _pieces(text):
        start, end = _trimmed(text, start, end)
        words = _words(text[start:end])
        is_bare = not words or (len(words) == 1 and kind == "sentence" and not _has_digit(words[0]))
        if is_bare or words == asked or _COURTESY.fullmatch(text[start:end]):
            continue
        claims.append(Claim(answer[start:end], start, end, kind))
        if len(claims) == MOST_CLAIMS:
            break
    return tuple(claims)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence of a paragraph."""
    start = 0
    for end in _ends(text):
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


def _pieces(text: str) -> Iterator[tuple[int, int, ClaimKind]]:
    """Yield start, end and kind of what may be a claim: paragraphs by sentences, items and rows."""
    lines = [(match.start(), match.end()) for match in _LINE.finditer(text)]
    is_code, paragraph = False, (-1, -1)
    for place, (start, end) in enumerate(lines):
        line = text[start:end]
        follows = place and text.count("\n", lines[place - 1][1], start) == 1
        kind: ClaimKind | None = None
        if _FENCE.match(line):
            is_code = not is_code
        elif is_code or _RULE.fullmatch(line) or _HEADING.match(line) or not line.strip():
            pass
        elif _ROW.fullmatch(line):
            after = text[slice(*lines[place + 1])] if place + 1 < len(lines) else ""
            if not _ROW_RULE.fullmatch(line) and not _ROW_RULE.fullmatch(after):
                kind = "row"
        elif (item := _ITEM.match(line)) is not None:
            start, kind = start + item.end(), "item"
        else:
            kind = "sentence"
        if kind == "sentence" and follows and paragraph[0] >= 0:
            paragraph = paragraph[0], end  # the paragraph goes on
            continue
        if paragraph[0] >= 0:
            yield from _sentences(text, *paragraph, "sentence")
        paragraph = (start, end) if kind == "sentence" else (-1, -1)
        if kind == "row":
            yield start, end, kind
        elif kind == "item":
            yield from _sentences(text, start, end, kind)
    if paragraph[0] >= 0:
        yield from _sentences(text, *paragraph, "sentence")


def _sentences(text: str, start: int, end: int, kind: ClaimKind) -> Iterator[tuple[int, int, ClaimKind]]:
    """Yield the sentences of a paragraph or item, split at semicolons where both sides are clauses."""
    for first, last in sentences(text[start:end]):
        sentence = text[start + first : start + last]
        if sentence.rstrip().endswith(":") and kind == "sentence":
            continue  # it only introduces what follows
        clauses = [first]
        for match in re.finditer(r"[;；]\s*", sentence):
            before, after = sentence[clauses[-1] - first : match.start()], sentence[match.end() :]
            if min(len(_words(before)), len(_words(after.partition(";")[0]))) >= CLAUSE_WORDS:
                clauses.append(first + match.end())
        for begin, stop in zip(clauses, (*clauses[1:], last), strict=True):
            yield start + begin, start + stop, "clause" if len(clauses) > 1 else kind


def _ends(text: str) -> Iterator[int]:
    """Yield where the sentences of a paragraph end, the space behind them included."""
    for match in _END.finditer(text):
        end = match.end()
        if end == len(text):
            return
        if match["mark"][-1] in "。！？｡" or _is_end(text, match):
            yield end
    for match in _DEVANAGARI_OR_ARABIC.finditer(text):
        yield match.end()


def _is_end(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() :].lstrip("\"'“‘«‹([*_")[:1]
    if following.islower() or not following:
        return False
    if match["mark"] != ".":
        return True
    before = text[max(0, match.start() - 24) : match.start()]
    word = re.search(r"[^\W\d_]+$|\d+$", before)
    if word is None:
        return True
    last = word[0]
    is_initial = len(last) == 1 and last.isalpha() and not match["close"]
    if last.isdigit():  # an ordinal of German dates, "am 3. Mai", and a number at the beginning: "1. Press"
        return not (len(last) <= 2 and re.search(r"(?:^|\b(?:am|vom|zum|der|den|dem|des|im))\s*\d+$", before))
    return not (is_initial or last.lower() in _ABBREVIATIONS)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range without spaces and Markdown's marks of emphasis around it."""
    while start < end and (text[start].isspace() or text[start] in "*_>"):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in "*_;；"):
        end -= 1
    return start, end


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))
