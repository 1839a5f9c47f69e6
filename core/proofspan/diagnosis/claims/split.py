"""Split an answer into claims: sentences, list items, table rows, and clauses joined by semicolons.

A claim is a piece of text that asserts something and can be checked by itself. Headings, citation lines,
greetings, introductions, code, questions and refusals assert nothing. The time is linear in the text: no
pattern looks further than a few hundred characters from where it begins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from proofspan.diagnosis.answers import other_refusal, refuses
from proofspan.diagnosis.claims.sentences import CLAUSE_WORDS, MONTHS, clauses, length_in_words, sentences
from proofspan.diagnosis.claims.types import Claim, ClaimKind

#: Claims of one answer, and characters of it, that are looked at.
MOST_CLAIMS = 500
MOST_TEXT = 200_000
#: A longer piece is nonsense, or a list without an end; it is cut so that what reads a claim is quick.
LONGEST_CLAIM = 2_000
#: Words of an introduction that asserts something: "The approach has three parts:".
INTRODUCES = 6
#: A line of as many characters that ends without a mark was wrapped; the next line goes on.
WRAPPED = 60


class Split(NamedTuple):
    """The claims of an answer in the order of the text.

    `text` is the answer, as far as it was read, with spaces for what is no part of its claims (citations,
    refusal phrases): a checker reads `text[claim.start:claim.end]`. `note` says what was left out.
    """

    claims: tuple[Claim, ...]
    text: str
    note: str = ""


class _Line(NamedTuple):
    start: int
    end: int
    text: str
    follows: bool  # the line before is its neighbour, without an empty line between


_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_PROSE_LINE = re.compile(r"(?![\s#`~>=_*:+-])[^\t\r\n|\u2028\u2029]+")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_FENCE = re.compile(r"\s{0,20}+(?:>\s?)?(```|~~~)[`~]*+\s*+(\w*)")
#: Fences that hold prose.
_PROSE = ("markdown", "md", "text", "txt", "plaintext")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
#: The mark of a list item: a bullet, or a number or letter with a point or bracket.
_ITEM = re.compile(
    rf"\s*+(?:>\s*+)*+(?:[-*+–—]\s++(?:\[[ xX]\]\s++)?|[•‣◦▪●○■□➤⁃∙✓✔✅→①-⑳]\s*+"
    rf"|\d{{1,3}}[.)]\s++(?!{MONTHS})|\(\d{{1,2}}\)\s++|\(?(?:[A-Za-z]|[ivx]{{1,4}}|[IVX]{{1,4}})\)\s++"
    r"|(?:[ivx]{1,4}|[IVX]{2,4})\.\s++|（\d{1,2}）\s*+|[一二三四五六七八九十]{1,3}、|\d{1,3}[）、．]\s*+)",
)
_ITEM_OPENS = frozenset(
    "一二三四五六七八九十#-*+–—•‣◦▪●○■□➤⁃∙✓✔✅→①②③④⑤⑥⑦⑧⑨(（> \t0123456789abcdefghijklmnopqrstuvwxyz"
)
#: Tags of HTML that some models write; those of the first kind end a line.
_TAG = re.compile(
    r"<(/?(?:br|p|li|ul|ol|div|h[1-6])|/?(?:a|b|i|u|em|strong|span|sub|sup))\b[^<>]{0,200}>", re.I
)
_BLOCKS = ("br", "p", "li", "ul", "ol", "div", "h1", "h2", "h3", "h4", "h5", "h6")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_YEAR = re.compile(r"\b(?:FY|Q[1-4]\s?)?(?:19|20)\d\d\b")

_SOURCE = (
    r"(?:(?:context|documents?|sources?|passages?|texts?|excerpts?|evidence|materials?|manual|handbook|information"
    r"|filing|report|articles?)(?: (?:provided|given|above|excerpts?|passages?))?"
    r"|kontext|dokument\w{0,3}|quellen?|texte?s?|handbuchs?|auszug\w{0,2}|contextes?|extraits?|manuels?|notice)"
)
#: What opens an answer before it asserts something: "Yes,", "Answer:", "Based on the context,".
_LEAD = re.compile(
    rf"(?:(?:yes|no|yep|nope|sure|certainly|of course|absolutely|correct|right|exactly|indeed|okay|ok|ja|nein"
    rf"|gerne|natürlich|genau|richtig|oui|non|bien sûr|d['’]accord|exactement)\s?[,!:;–—-]+\s+"
    r"|(?:(?:short|final|direct|quick|kurze|réponse) )?(?:answer|question|frage"
    rf"|antwort|réponse|courte|a|r)\s?:\s+"
    r"|(?:based on|according to|as per|per|from|as (?:stated|described|mentioned) in|laut|gemäß|nach|selon"
    r"|d['’]après) (?:(?:the|this|these|your|dem|den|der|diesem|le|la|les|ce|cette) )?"
    r"(?:(?:provided|given|retrieved|supplied|above|bereitgestellten|vorliegenden|angegebenen) )?"
    rf"{_SOURCE}(?: fournis?| donnée?s?)?\s?[,:]\s+"
    rf"|(?:the )?(?:provided |given )?{_SOURCE} (?:says?|states?|mentions?|indicates?|shows?) that\s+"
    r"|here(?:['’]s| is| are)\b[^.:!?\d\n]{0,80}:\s+"
    r"|(?:step|schritt|étape) \d{1,2}\s?[:.)–-]\s+|\(?(?:1?\d|20)[.)]\s+(?=[^\W\d_])"
    rf"(?!{MONTHS}))",
    re.IGNORECASE,
)
_LEAD_OPENS = frozenset(
    """
    yes no yep nope sure certainly of absolutely correct right exactly indeed okay ok ja nein gerne natürlich
    genau richtig oui non bien d short final direct quick kurze réponse answer antwort question frage a
    r based according as per from laut gemäß nach selon the provided given context document documents source
    sources passage passages text manual information here step schritt étape
    """.split()  # noqa: SIM905 - a word list reads best as text
)
#: What opens or closes a conversation and says nothing about the subject.
_COURTESY = re.compile(
    r"(?:sure|certainly|of course|absolutely|(?:great|good|excellent) question|hello(?: there)?|hi(?: there)?"
    r"|dear [\w ]{1,30}|many thanks|thank you\b.*|thanks\b(?! to).*|you(?:['’]|\sa)re (?:very )?welcome"
    r"|(?:i )?hope (?:this|that|it) (?:helps|answers|clarifies)\b.*|(?:please )?(?:let me know|feel free)\b.*"
    r"|if you (?:have|need) (?:any|more|further|other)\b.{0,30}\b(?:questions?|help|details|information)\b.*"
    r"|is there anything else\b.*|happy to help\b.*"
    r"|i(?:['’]d be| am|['’]m) (?:happy|glad) to (?:help|assist)\b.*|(?:best|kind|warm) (?:regards|wishes)"
    r"|(?:as an? [^.!?\d]{1,60}\bassistant, )?"
    r"i(?:['’]ll| can| could| will) (?:(?:certainly|gladly|try to) )?"
    r"(?:help|assist|answer"
    r"|provide (?:you )?(?:with )?(?:some |the |an? )?(?:information|details|answer|help))\b[^.!?\d]{0,160}"
    r"|here(?:['’]s| is| are) (?:the|your|my|a|an|some)\b[^\d]{0,60}|(?:yours )?sincerely"
    r"|hallo|guten (?:tag|morgen|abend)|gerne?(?: geschehen)?|ich hoffe,? d\w+ (?:hilft|beantwortet)\b.*"
    r"|(?:bei|wenn|falls) (?:sie )?(?:weitere|noch|weiteren)\b.{0,20}fragen\b.*|mit freundlichen grüßen"
    r"|bonjour|merci\b(?! à).*|bien sûr|j['’]espère que\b.*|n['’]hésitez pas\b.*|cordialement"
    rf"|(?:based on|according to|from) (?:the )?(?:provided |given )?{_SOURCE}"
    r"|(?:(?:final|short) )?answer|antwort|réponse|summary|conclusion|zusammenfassung|fazit|résumé)"
    r"[\s.!:,]*",
    re.IGNORECASE | re.DOTALL,
)
_COURTESY_OPENS = frozenset(
    """
    sure certainly of absolutely as great good excellent hello hi dear many thank thanks you i hope please let
    feel if is happy best kind warm here yours sincerely hallo guten gern gerne ich bei wenn falls mit bonjour
    merci bien j n cordialement based according from final short answer antwort réponse summary conclusion
    zusammenfassung fazit résumé
    """.split()  # noqa: SIM905 - a word list reads best as text
)
#: A list of sources, by its title; what follows on the line, and items below it, are no claims.
_SOURCES = re.compile(
    r"[\s>*_#]{0,12}(?:sources?(?: cited| used)?|references?|citations?|bibliography|quellen?(?:angaben?)?"
    r"|belege?|références?)[\s*_]{0,6}(?::|：|$)",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    r"\b(?:(?:no|not|nor|neither)\b[^.;]{0,160}\b(?:in|by|from) (?:the|this) "
    r"(?:provided|given|retrieved|supplied) "
    r"(?:context|documents?|information|texts?|passages?|sources?|excerpts?)"
    r"|ich weiß (?:es |das )?(?:leider )?nicht"
    r"|keine (?:angaben?|informationen?|hinweise?) (?:zu|über|dazu|darüber|im)\b"
    r"|(?:kontext|dokument\w{0,3}|quellen?|handbuch|text) (?:enthält|enthalten|nennt|nennen|sagt|gibt|macht)"
    r" (?:\w+ )?(?:nicht|nichts|keine\w?)\b"
    r"|(?:steht|findet sich|wird) (?:\w+ ){0,3}nicht im (?:kontext|handbuch|text|dokument)"
    r"|je ne sais pas|je ne (?:peux|trouve) pas\b|aucune (?:information|mention)\b"
    r"|(?:contexte|document|texte|manuel|extrait)s? ne (?:\w+ )?"
    r"(?:précisen?t?|mentionnen?t?|contien\w+|indiquen?t?|di\w+|donnen?t?) (?:pas|rien|aucun))",
    re.IGNORECASE,
)
#: Each wording above holds one of them.
_NEGATIONS = (" provided ", " given ", " retrieved ", " supplied ", "nicht", "keine", " ne ", "aucun")
#: Where a sentence that also declines turns from or to what it asserts.
_TURNS = re.compile(r"[,;–—]\s+(?:but|however,?|yet|although|though|aber|jedoch|doch|mais)\s+", re.IGNORECASE)
#: Words that open questions, among them the verbs.
_ASKS = frozenset(
    """
    what which who whom whose when where why how is are was were do does did can could will would should shall
    may must has have had explain describe list name give
    was welche welcher welches wer wem wen wann wo warum wieso wie ist sind kann können muss müssen darf soll
    que quel quelle quels quelles qui quand où pourquoi comment combien est
    """.split()  # noqa: SIM905 - a word list reads best as text
)
#: A bracket that only refers: "(see section 4.1)", "[page 12]", "(Quelle: S. 3)".
_REFERENCE = re.compile(
    r"[\[(]((?:sources?|see|cf|vgl|siehe|s|p|pp|pages?|seiten?|voir|quellen?|docs?|documents?|chunks?"
    r"|passages?|sections?|abschnitte?|chapters?|kapitel|chapitre|tables?|tabellen?|tableau|figures?|fig|abb)"
    r"\b[^\[\]()\n]{0,120}+)[\])]"
    r"|[\[(][^\[\]()\n]{1,80},\s?(?:pages?|pp?\.|seiten?|sections?|abschnitte?)\s?\d{1,4}(?:[-–]\d{1,4})?[\])]"
    r"|【[^【】\n]{0,80}†[^【】\n]{0,80}】",
    re.IGNORECASE,
)
_REFERRING = frozenset(
    """
    source sources see also cf vgl siehe auch s p pp page pages seite seiten voir quelle quellen doc docs
    document documents chunk chunks passage passages section sections abschnitt abschnitte chapter chapters
    kapitel chapitre table tables tabelle tabellen tableau figure figures fig abb no nr and to of in the und
    bis et à
    """.split()  # noqa: SIM905 - a word list reads best as text
)


def claims_in(answer: str, question: str = "", *, blanked: str | None = None) -> Split:
    """Return the claims of an answer, at most `MOST_CLAIMS`, without those that repeat the question.

    `blanked` is the answer with as many spaces in the place of its citations and refusal phrases, as
    `claims_of` returns it, by default the answer itself.
    """
    text = (answer if blanked is None else blanked)[:MOST_TEXT]
    if "(" in text or "[" in text or "【" in text:
        text = _REFERENCE.sub(_without_reference, text)
    if "<" in text:
        text = _without_tags(text)
    is_cut = len(answer) > MOST_TEXT
    asked = _WORD.search(question)
    claims: list[Claim] = []
    notes = [f"only the first {MOST_TEXT:,} characters of the answer were checked"] if is_cut else []
    for start, end, kind in _pieces(text):
        if is_cut and end == len(text):
            break  # the rest of this piece is unknown
        begin, stop = _asserted(answer, text, start, end)
        if begin == stop or not _has_words(text, begin, stop, kind):
            continue
        if asked is not None and -9 < stop - begin - len(question) < 40:
            opener = _WORD.search(text, begin, stop)
            is_alike = opener is not None and opener[0].lower() == asked[0].lower()
            if is_alike and _repeats(_words(text[begin:stop]), _words(question)):
                continue
        for first, last in _bounded(text, begin, stop):
            claims.append(Claim(answer[first:last], first, last, kind))
        if len(claims) > MOST_CLAIMS:
            del claims[MOST_CLAIMS:]
            notes.append(f"only the first {MOST_CLAIMS:,} claims were checked")
            break
    claims = [claim for claim in claims if not _is_list_number(text, claim, is_only=len(claims) == 1)]
    if not claims and not is_cut:
        claims = list(_introductions(answer, text))
    return Split(tuple(claims), text, "; ".join(notes))


def split_claims(answer: str, *, question: str = "", blanked: str | None = None) -> tuple[Claim, ...]:
    """Return the claims of an answer, as `claims_in`, where nobody needs its text and its note."""
    return claims_in(answer, question, blanked=blanked).claims


def _introductions(answer: str, text: str) -> Iterator[Claim]:
    """Yield what introduces a list of which an answer has no item: then it is what the answer asserts."""
    for start, end, kind in _pieces(text):
        stop = len(text[:end].rstrip())
        if text[stop - 1 : stop] in (":", "：") and length_in_words(text[start:stop]) >= INTRODUCES:
            begin, stop = _asserted(answer, text, start, stop - 1)
            for first, last in _bounded(text, begin, stop):
                yield Claim(answer[first:last], first, last, kind)


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a piece, cut at spaces into parts of at most `LONGEST_CLAIM` characters."""
    while end - start > LONGEST_CLAIM:
        space = text.rfind(" ", start + 1, start + LONGEST_CLAIM)
        cut = space if space > 0 else start + LONGEST_CLAIM
        yield start, cut
        start = cut + (space > 0)
    if start < end:
        yield start, end


def _pieces(text: str) -> Iterator[tuple[int, int, ClaimKind]]:
    """Yield start, end and kind of what may be a claim: paragraphs by sentences, items and rows."""
    if "\n" not in text and "\r" not in text and "|" not in text and text[:1] not in _ITEM_OPENS:
        yield from _sentences(text, 0, len(text), "sentence")
        return
    end = text.find("\n")
    if end > 0 and text[end:].isspace() and _is_prose(text[:end]):  # its citation line is blank
        yield from _sentences(text, 0, end, "sentence")
        return
    lines = list(_lines(text))
    lists_sources = is_table = False
    block: tuple[int, int, ClaimKind] | None = None
    for place, line in enumerate(lines):
        goes_on = block is not None and line.follows and _continues(lines[place - 1].text, line, block[2])
        kind, mark = _kind_of(line, lines[place + 1] if place + 1 < len(lines) else None, is_table=is_table)
        is_table = kind not in ("sentence", "item") and "|" in line.text
        if block is not None and kind == "sentence" and goes_on and not lists_sources:
            block = (block[0], line.end, block[2])
            continue
        if block is not None:
            yield from _sentences(text, *block)
            block = None
        sources = _SOURCES.match(line.text, mark)
        if kind == "heading" or (sources is not None and kind in ("sentence", "item")):
            lists_sources = sources is not None and not line.text[sources.end() :].strip(" *_:")
        elif lists_sources and (kind == "item" or line.follows):
            pass
        elif kind == "row":
            yield line.start, line.end, "row"
        elif kind in ("sentence", "item"):
            lists_sources = False
            block = (line.start + mark, line.end, "item" if kind == "item" else "sentence")
    if block is not None:
        yield from _sentences(text, *block)


def _is_prose(line: str) -> bool:
    """Return whether an only line is neither an item nor a table's row, heading, code or list of sources."""
    return (
        _PROSE_LINE.fullmatch(line) is not None and _ITEM.match(line) is None and _SOURCES.match(line) is None
    )


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines that hold text and are no code."""
    fence, is_code, previous = "", False, -1
    for match in _LINE.finditer(text):
        line = match[0]
        if (mark := _FENCE.match(line)) is not None and (not fence or mark[1] == fence):
            is_code = not fence and mark[2].lower() not in _PROSE
            fence = "" if fence else mark[1]
            previous = -1
        elif not is_code and not line.isspace():
            follows = previous >= 0 and text.count("\n", previous, match.start()) <= 1
            yield _Line(match.start(), match.end(), line, follows)
            previous = match.end()


def _kind_of(line: _Line, following: _Line | None, *, is_table: bool) -> tuple[str, int]:
    """Return what a line is, and how many characters its list mark has.

    `rule` is a line that separates, `heading` one that only names what follows, a table's header included.
    """
    text = line.text
    bare = text.strip(" \t|-=_*:+")
    if not bare:
        return "rule", 0
    after = following.text if following is not None and following.follows else ""
    if "|" in text and (is_table or text.lstrip(" \t>").startswith("|") or _is_rule_row(after)):
        return ("heading" if _is_header(text, after, is_first=not is_table) else "row"), 0
    if _HEADING.match(text) or (len(after) > 2 and (not after.strip(" =") or not after.strip(" -"))):
        return "heading", 0  # the second with a line below it
    if text[0] in _ITEM_OPENS or text[0] in "ABCDEFGHIVX":
        item = _ITEM.match(text)
        if item is not None:
            is_title = following is not None and _is_title(text[item.end() :], after)
            if is_title and _ITEM.match(after) is not None:
                is_title = _indent(after) > _indent(text)
            return ("heading" if is_title else "item"), item.end()
    if following is not None and _is_title(text, following.text):
        return "heading", 0
    if "\t" in text.strip():
        return "row", 0
    return "sentence", 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_rule_row(line: str) -> bool:
    return "|" in line and "-" in line and not line.strip(" \t|-:>+")


def _is_header(line: str, after: str, *, is_first: bool) -> bool:
    """Return whether a table's row only names its columns, or in one cell the rows below it."""
    if _is_rule_row(after):
        return True
    digits = _has_digit(_YEAR.sub("", line))
    filled = sum(_WORD.search(cell) is not None for cell in line.split("|"))
    if digits or (filled > 1 and not is_first):
        return False
    return filled <= 1 or _has_digit(_YEAR.sub("", after))


def _is_title(line: str, following: str) -> bool:
    """Return whether a line is a heading by its look: bold, or in title case above a sentence or an item."""
    bare = line.strip(" \t>:")
    if len(bare) > 120 or bare[-1:] in ".!?。…;,":
        return False
    if len(bare) > 4 and bare[:2] == bare[-2:] and bare[:2] in ("**", "__") and bare.count(bare[:2]) == 2:
        return bare[-3] not in ".!?。…"
    words = bare.split()
    if not 1 < len(words) <= 12 or _has_digit(bare) or following.rstrip()[-1:] not in ".:;!?)]*":
        return False
    return all(word[0].isupper() or not word[0].isalpha() or len(word) < 4 for word in words)


def _continues(before: str, line: _Line, kind: ClaimKind) -> bool:
    """Return whether a line without a list mark continues the one before it."""
    end = before.rstrip()[-1:]
    if end in ":：":
        return False
    first = line.text.lstrip()[0]
    if first.islower() or (kind == "item" and line.text[0] in " \t"):
        return True
    return len(before) >= WRAPPED and end not in ".!?。！？…।"


def _sentences(text: str, start: int, end: int, kind: ClaimKind) -> Iterator[tuple[int, int, ClaimKind]]:
    """Yield the sentences of a paragraph or item, split at semicolons where both sides are clauses."""
    part = text[start:end] if start or end < len(text) else text
    is_joined = ";" in part or "；" in part or "؛" in part
    for first, last in sentences(part):
        if not is_joined:
            yield start + first, start + last, kind
            continue
        cuts = list(clauses(part[first:last]))
        begins = [start + first, *(start + first + cut for cut in cuts)]
        for begin, stop in zip(begins, (*begins[1:], start + last), strict=True):
            yield begin, stop, "clause" if cuts else kind


def _asserted(answer: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Return the part of a piece that asserts something, an empty one if nothing does."""
    start, end = _trimmed(text, start, end)
    if start < end and text[start] in "SRCBQsrcbq*_(" and _SOURCES.match(text, start, end) is not None:
        return start, start
    last = text[end - 1 : end]
    if last in ":：?？؟" or (last == "," and end - start < 40 and not _has_digit(text[start:end])):
        return start, start  # an introduction, a question, a salutation
    opener = None
    for _ in range(4):
        opener = _FIRST_WORD.match(text, start, end)
        is_numbered = opener is None and (text[start : start + 1].isdigit() or text[start : start + 1] == "(")
        if not is_numbered and (opener is None or opener[0].lower() not in _LEAD_OPENS):
            break
        lead = _LEAD.match(text, start, end)
        if lead is None or lead.end() == end:
            break
        start, end = _trimmed(text, lead.end(), end)
    piece = text[start:end] if end - start < LONGEST_CLAIM else text[start : start + LONGEST_CLAIM]
    may_greet = opener is not None and opener[0].lower() in _COURTESY_OPENS and len(piece) < 300
    if may_greet and _COURTESY.fullmatch(piece):
        return start, start
    lower = piece.lower()
    declined = other_refusal(lower)
    if declined is None and refuses(lower, _NEGATIONS):
        declined = _DECLINES.search(lower)
    if declined is not None:
        for turn in _TURNS.finditer(piece):
            if turn.start() >= declined.end():
                return start + turn.end(), end
            if turn.end() <= declined.start() and length_in_words(piece[: turn.start()]) >= CLAUSE_WORDS:
                return start, start + turn.start()
        return start, start
    # A citation before the final mark is blank: the claim ends before both.
    while end - start > 1 and text[end - 1] in ".,;:" and text[end - 2] == " " != answer[end - 2]:
        start, end = _trimmed(text, start, end - 1)
    return start, end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range without spaces, quotation marks of Markdown, and unpaired or outer emphasis."""
    while start < end and (text[start].isspace() or text[start] in ">"):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in ";；؛"):
        end -= 1
    if start == end or (text[start] not in "*_" and text[end - 1] not in "*_"):
        return start, end
    for mark in ("***", "**", "__", "*", "_"):
        while end - start > 2 * len(mark) and (
            (opens := text.startswith(mark, start, end)) | (closes := text.endswith(mark, start, end))
        ):
            found = text.count(mark, start, min(end, start + LONGEST_CLAIM))
            if not (found == 1 or (found == 2 and opens and closes)):
                break
            start, end = start + len(mark) * opens, end - len(mark) * closes
            while start < end and text[start].isspace():
                start += 1
            while end > start and text[end - 1].isspace():
                end -= 1
    return start, end


def _has_words(text: str, start: int, end: int, kind: ClaimKind) -> bool:
    """Return whether a piece has words enough to assert something: two, or one with a number."""
    first = _WORD.search(text, start, end)
    if first is None or _WORD.search(text, first.end(), end) is not None:
        return first is not None
    return kind in ("item", "row") or _has_digit(first[0]) or length_in_words(first[0]) > 1


def _is_list_number(text: str, claim: Claim, *, is_only: bool) -> bool:
    """Return whether a claim is the number of the list item at which an answer breaks off.

    The only claim may be what was asked for: "Total:", and on the next line "12".
    """
    bare = text[claim.start : claim.end].strip(" .)(")
    if len(bare) > 2 or not bare.isdigit():
        return False
    before = text[: claim.start].rstrip()
    return not is_only or (before != "" and (bare == "1" or before[-1] not in ":："))


def _repeats(words: list[str], asked: list[str]) -> bool:
    """Return whether words repeat the question: all of them, or as a question almost all of them."""
    if words == asked:
        return True
    if not words or not asked or words[0] not in _ASKS or words[0] != asked[0]:
        return False
    common = (Counter(words) & Counter(asked)).total()
    return common >= 0.8 * max(len(words), len(asked))


def _without_tags(text: str) -> str:
    """Return a text with spaces and line ends in the place of HTML's tags and of a model's reasoning."""
    thought = re.match(r"\s{0,20}<(think|thinking|reasoning)>", text)
    if thought is not None:
        end = text.find(f"</{thought[1]}>")
        stop = len(text) if end < 0 else end + len(thought[1]) + 3
        text = " " * stop + text[stop:]
    ends_line = "|" not in text

    def blank(match: re.Match[str]) -> str:
        is_block = ends_line and match[1].lower().strip("/") in _BLOCKS
        return ("\n" if is_block else " ") + " " * (len(match[0]) - 1)

    return _TAG.sub(blank, text)


def _without_reference(match: re.Match[str]) -> str:
    inside = match[1] or "1"
    refers = _has_digit(inside) and all(
        word in _REFERRING or _has_digit(word) for word in re.findall(r"[\w|=/]+", inside.lower())
    )
    return " " * (match.end() - match.start()) if refers else match[0]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
