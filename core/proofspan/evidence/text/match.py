"""Locate a quote on one page: its status, its boxes, and the words that differ.

Two thresholds: above `SURE` an alignment is accepted; between `MAYBE` and `SURE` only where words in unbroken
order confirm it. A wrong box is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from rapidfuzz.distance import Levenshtein

from proofspan.contracts.records.records import Box
from proofspan.evidence.text.align import Alignment, align, in_order, in_step, occurrences, windows
from proofspan.evidence.text.page_text import PageText, QuoteText, text_of
from proofspan.evidence.text.token_pairs import Unit
from proofspan.evidence.text.tokens import Tokens, fold
from proofspan.evidence.types import Difference, Status

#: Agreement from which a place is accepted, and from which it may be.
SURE = 0.88
MAYBE = 0.80
#: Words in unbroken order that confirm a place between the two, and a part of a quote.
CONFIRMING_RUN = 8
PART_RUN = 8
#: A quote is misquoted, not absent, when this many words agree in order and only numbers differ.
MISQUOTED_WORDS = 4
MISQUOTED_AGREEMENT = 0.70
#: A quote of figures or few words is misquoted, not absent, when one figure differs and this many letters and
#: digits beside it agree. On the cited page fewer are enough; at the only such place there even fewer, in a
#: quote of enough tokens.
MISQUOTED_LETTERS = 16
MISQUOTED_LETTERS_CITED = 6
MISQUOTED_LETTERS_ALONE = 3
MISQUOTED_TOKENS_ALONE = 3
#: A longer quote is located by its words although one figure differs.
MISQUOTED_TOKENS = 50
#: A figure of this many digits with one changed is misquoted; shorter ones are alike by chance.
LONG_FIGURE = 5
#: A figure of this many digits with one changed is some evidence of the place itself.
NEAR_FIGURE = 3
#: A quote of enough words, some misread, is located when its letters agree this well.
MISREAD_LETTERS = 0.92
MISREAD_WORDS = 6
#: A part of a quote is located when it agrees this well and is this much of the quote.
PART_AGREEMENT = 0.85
PART_COVERAGE = 0.35
#: The parts of a quote found on this page and beside it prove a place above the first agreement, between the
#: two only with a long run of words.
PARTS_SURE = 0.85
PARTS_MAYBE = 0.60
#: This many words missing at an end make the match partial; fewer are words that differ.
PART_MISSING = 3
#: Quotes of fewer tokens must agree letter by letter: there is too little to confirm anything else.
SHORT_QUOTE = 4
#: A quote of this many tokens may begin or end within a word; a shorter one is about that word.
CUT_TOKENS = 50
#: A gap of more page words than this inside a found quote is left out of its boxes.
MAX_BRIDGED = 8
WINDOWS = 3
#: Places of the same letters that are judged, in the order of the page; no real page has more.
MAX_OCCURRENCES = 2_000
WINDOW_SHARE = 0.3
#: A window with less than this share of the quote in order is not aligned; no match was seen below 0.35.
IN_ORDER = 0.3
#: A run of this many words in unbroken order proves a place by itself.
STRONG_RUN = 25
STRONG_AGREEMENT = 0.9
#: Differing words with at most this many equal ones between them are compared as one text, which is this long
#: at most, in tokens.
GLUED_GAP, MAX_GLUED = 2, 60
#: Words, figures and marks of a text, whatever white space is between them: "net92 %" is "net 92%".
PIECE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[^\w\s]")
#: Only a clean place agrees fully, whatever the weights of the words that differ.
MAX_UNCLEAN = 0.9999
#: Differences that are listed, and characters shown of each.
MAX_DIFFERENCES, MAX_SHOWN = 40, 200
CLEAN: dict[Status, int] = {"exact": 2, "normalized": 1}


@dataclass(frozen=True, slots=True)
class Match:
    """A quote located on a page.

    `quote` and `page` are the matching token ranges (half open), `run` the longest run of equal tokens,
    `part_agreement` the agreement of that part of the quote alone. `footnotes` are the footnote marks of the
    page that the quote leaves out.
    """

    status: Status
    agreement: float
    rects: tuple[Box, ...]
    differences: tuple[Difference, ...]
    quote: tuple[int, int]
    page: tuple[int, int]
    run: int
    part_agreement: float
    footnotes: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether the whole quote matches, apart from typography."""
        return self.status in CLEAN

    @property
    def is_proof(self) -> bool:
        """Whether a part of a quote, with what was found beside it, proves its place."""
        is_long = self.run >= STRONG_RUN and self.agreement >= PARTS_MAYBE
        return self.status != "partial" or self.agreement >= PARTS_SURE or is_long

    @property
    def is_strong(self) -> bool:
        """Whether the rest of the document need not be searched for a better place."""
        if self.is_clean or self.run >= STRONG_RUN:
            return True
        numbers_agree = all(difference.kind != "number" for difference in self.differences)
        return self.agreement >= STRONG_AGREEMENT and numbers_agree

    @property
    def is_misquoted(self) -> bool:
        """Whether the whole quote matches, apart from figures."""
        figures = all(difference.kind == "number" for difference in self.differences)
        return self.status == "fuzzy" and figures and bool(self.differences)

    @property
    def merit(self) -> tuple[int, float]:
        """The key that matches are ranked by."""
        return CLEAN.get(self.status, 0), self.agreement


def find_on_page(quote: QuoteText, page: PageText) -> list[Match]:
    """Return the best match of a quote on a page, and others that are equally good.

    First those of its letters in unbroken order, with or without the page's footnote marks; then those that
    agree well enough.
    """
    ours, theirs = quote.tokens, page.tokens
    if not ours or not theirs:
        return []
    places = dict.fromkeys(islice(occurrences(ours, theirs), MAX_OCCURRENCES))
    if not places and any(theirs.is_footnote):
        places = dict.fromkeys(islice(occurrences(ours, theirs, past_footnotes=True), MAX_OCCURRENCES))
    if matches := _best_of(judged(quote, page, place) for place in places):
        return matches
    if len(ours) < SHORT_QUOTE:
        return []
    candidates = windows(ours, theirs, limit=WINDOWS, share=WINDOW_SHARE)
    promising = (each for each in candidates if in_order(ours, theirs, each) >= IN_ORDER)
    return _best_of(judged(quote, page, place) for place in promising)


def find_misquoted(quote: QuoteText, page: PageText) -> list[Match]:
    """Return the matches of a short quote but for one figure; for the cited page only.

    Few words would match like this on many pages; on the cited one they are what the producer read. Where
    very little agrees, it must be the only such place of the page.
    """
    if len(quote.tokens) > MISQUOTED_TOKENS:
        return []
    places = dict.fromkeys((*occurrences(quote.tokens, page.tokens), *in_step(quote.tokens, page.tokens)))
    aligned = [align(quote.tokens, page.tokens, place) for place in islice(places, MAX_OCCURRENCES)]
    beside = [(each, _letters_beside_a_figure(quote, page, each)) for each in aligned if each is not None]
    accepted = [each for each, letters in beside if letters >= MISQUOTED_LETTERS_CITED]
    if not accepted and len(quote.tokens) >= MISQUOTED_TOKENS_ALONE:
        accepted = [each for each, letters in beside if letters >= MISQUOTED_LETTERS_ALONE]
        accepted = accepted if len(accepted) == 1 else []
    return _best_of([_match(quote, page, alignment, "fuzzy") for alignment in accepted])


def _best_of(found: Iterable[Match | None]) -> list[Match]:
    """The best match first, then equally good ones at other places."""
    matches = [match for match in found if match is not None]
    if not matches:
        return []
    best = max(matches, key=lambda match: match.merit)
    return [best, *(each for each in matches if each.page != best.page and each.merit == best.merit)]


def judged(quote: QuoteText, page: PageText, place: tuple[int, int]) -> Match | None:
    """Return the match that the alignment with a place (tokens, half open) proves, None if it proves none."""
    alignment = align(quote.tokens, page.tokens, place)
    if alignment is None:
        return None
    alignment = _with_glued(quote, page, _with_cut_ends(quote, page, alignment))
    count, (start, end) = len(quote.tokens), alignment.quote
    if (start, end) == (0, count) and alignment.is_whole:
        first, last = page.tokens.first[alignment.page[0]], page.tokens.last[alignment.page[1] - 1]
        # Words without a letter or digit that open and close the quote (bullets, dashes).
        lead, trail = quote.tokens.first[0], len(quote.words) - 1 - quote.tokens.last[-1]
        own_words = " ".join(page.words[max(0, first - lead) : last + trail + 1])
        is_verbatim = " ".join(quote.words) in own_words
        return _match(quote, page, alignment, "exact" if is_verbatim else "normalized")
    if _letters_beside_a_figure(quote, page, alignment) >= MISQUOTED_LETTERS:
        return _match(quote, page, alignment, "fuzzy")
    if count < SHORT_QUOTE or _numbers_contradict(quote, page, alignment):
        return None
    agreement, run = alignment.agreement, alignment.longest_run
    is_part = start >= PART_MISSING or count - end >= PART_MISSING
    is_place_of_part = (
        is_part
        and alignment.coverage >= PART_COVERAGE
        and alignment.inner_agreement >= PART_AGREEMENT
        and run >= PART_RUN
    )
    if (
        agreement >= SURE
        or (agreement >= MAYBE and run >= CONFIRMING_RUN)
        or is_place_of_part
        or _is_misquoted_or_misread(quote, page, alignment)
    ):
        return _match(quote, page, alignment, "partial" if is_part else "fuzzy")
    return None


def _with_cut_ends(quote: QuoteText, page: PageText, alignment: Alignment) -> Alignment:
    """The alignment, in which words cut off at the ends of a long quote count as equal.

    Chunkers cut at a length, within a word. A number cut off would be another number, except the printed page
    number, with which the text of a page ends.
    """
    units = list(alignment.units)
    if len(quote.tokens) < CUT_TOKENS or alignment.quote != (0, len(quote.tokens)):
        return alignment
    for place, is_part in ((0, str.endswith), (-1, str.startswith)):
        unit = units[place]
        if unit.likeness == 1.0 or unit.quote[1] - unit.quote[0] != 1 or unit.page[1] - unit.page[0] != 1:
            continue
        ours, theirs = quote.tokens.keys[unit.quote[0]], page.tokens.keys[unit.page[0]]
        is_folio = place == -1 and unit.page[1] == len(page.tokens)
        if is_part(theirs, ours) and (ours.isalpha() or is_folio):
            units[place] = replace(unit, likeness=1.0)
    return replace(alignment, units=tuple(units))


def _with_glued(quote: QuoteText, page: PageText, alignment: Alignment) -> Alignment:
    """The alignment, in which stretches that differ only by white space beside words count as equal.

    A table's text may lose the space between a label and its figure; of two equal figures the wrong one may
    then be paired. White space between two digits separates figures.
    """
    units, place = list(alignment.units), 0
    while place < len(units):
        if units[place].likeness == 1.0:
            place += 1
            continue
        first, end = place, place + 1
        while any(each.likeness < 1.0 for each in units[end : end + GLUED_GAP + 1]):
            end += 1
        while first > 0 and _share_word(quote, page, units[first - 1], units[first]):
            first -= 1
        while end < len(units) and _share_word(quote, page, units[end - 1], units[end]):
            end += 1
        ours = units[first].quote[0], units[end - 1].quote[1]
        theirs = units[first].page[0], units[end - 1].page[1]
        length = max(ours[1] - ours[0], theirs[1] - theirs[0])
        if length <= MAX_GLUED and _pieces(quote, *ours) == _pieces(page, *theirs):
            units[first:end] = [Unit(ours, theirs, 1.0)]
            end = first + 1
        place = end
    return replace(alignment, units=tuple(units))


def _share_word(quote: QuoteText, page: PageText, left: Unit, right: Unit) -> bool:
    """Whether a word of either side is in both of two neighbouring units."""
    ends = ((quote.tokens, left.quote[1], right.quote[1]), (page.tokens, left.page[1], right.page[1]))
    return any(
        0 < end < further and tokens.last[end - 1] == tokens.first[end] for tokens, end, further in ends
    )


def _pieces(text: QuoteText | PageText, start: int, end: int) -> list[str]:
    return PIECE.findall(fold(text_of(text, start, end))) if start < end else []


def _is_misquoted_or_misread(quote: QuoteText, page: PageText, alignment: Alignment) -> bool:
    """Whether every word agrees, in order, and only numbers differ; or the letters agree very well."""
    count = len(quote.tokens)
    if alignment.quote != (0, count) or alignment.agreement < MISQUOTED_AGREEMENT:
        return False
    differing = [unit for unit in alignment.units if unit.likeness < 1.0]
    has_words = count - sum(quote.tokens.is_number) >= MISQUOTED_WORDS
    if has_words and all(_is_figure_for_figure(quote, page, unit) for unit in differing):
        return True
    ours, theirs = quote.tokens.part(*alignment.quote), page.tokens.part(*alignment.page)
    return count >= MISREAD_WORDS and Levenshtein.normalized_similarity(ours, theirs) >= MISREAD_LETTERS


def _letters_beside_a_figure(quote: QuoteText, page: PageText, alignment: Alignment) -> int:
    """The number of letters and digits that agree where only one figure differs; 0 if more differs.

    Figures with the same digits on both sides agree; one with a single digit changed counts as two letters.
    """
    units = [unit for unit in alignment.units if not unit.agrees]
    if alignment.quote != (0, len(quote.tokens)) or not units:
        return 0
    other = [unit for unit in units if not unit.holds_same(quote.tokens, page.tokens)]
    if len(other) > 1 or not all(_is_figure_for_figure(quote, page, unit) for unit in units):
        return 0
    letters = len(quote.tokens.squeezed)
    for unit in other:
        ours, theirs = quote.tokens.part(*unit.quote), page.tokens.part(*unit.page)
        is_near = len(ours) >= NEAR_FIGURE and Levenshtein.distance(ours, theirs) == 1
        letters -= len(ours) - 2 * is_near
    return letters


def _is_figure_for_figure(quote: QuoteText, page: PageText, unit: Unit) -> bool:
    """Whether both sides have as many figures (5, 5mm), or the same digits cut differently (110, 1:10)."""
    ours = quote.tokens.keys[unit.quote[0] : unit.quote[1]]
    theirs = page.tokens.keys[unit.page[0] : unit.page[1]]
    are_figures = len(ours) == len(theirs) and all(map(digits_of, (*ours, *theirs)))
    return are_figures or unit.holds_same(quote.tokens, page.tokens)


def _numbers_contradict(quote: QuoteText, page: PageText, alignment: Alignment) -> bool:
    """Whether most of several numbers differ, or half of many: the same sentence of another year.

    The same digits cut differently do not contradict, nor does a long figure with one digit changed.
    """
    numbers = differing = 0
    for unit in alignment.units:
        count = sum(quote.tokens.is_number[slice(*unit.quote)])
        numbers += count
        if not count or unit.agrees or unit.holds_same(quote.tokens, page.tokens):
            continue
        ours, theirs = quote.tokens.part(*unit.quote), page.tokens.part(*unit.page)
        is_long = min(len(ours), len(theirs)) >= LONG_FIGURE and (ours + theirs).isdigit()
        if not (is_long and Levenshtein.distance(ours, theirs) == 1):
            differing += count
    return (numbers >= 2 and 2 * differing > numbers) or (numbers >= 4 and 2 * differing == numbers)


def _match(quote: QuoteText, page: PageText, alignment: Alignment, status: Status) -> Match:
    return Match(
        status=status,
        agreement=1.0 if status in CLEAN else round(min(alignment.agreement, MAX_UNCLEAN), 4),
        rects=tuple(rect for run in _stretches(alignment.units) for rect in page.boxes_of(*run)),
        differences=differences(quote, page, alignment),
        quote=alignment.quote,
        page=alignment.page,
        run=alignment.longest_run,
        part_agreement=alignment.inner_agreement,
        footnotes=tuple(
            page.tokens.keys[number]
            for unit in alignment.units
            if unit.agrees and unit.quote[0] == unit.quote[1]
            for number in range(*unit.page)
        ),
    )


def _stretches(units: Sequence[Unit]) -> Iterator[tuple[int, int]]:
    """The token ranges of the page that get boxes, bridging small gaps."""
    start, end = units[0].page
    for unit in units[1:]:
        if unit.page[1] - unit.page[0] > MAX_BRIDGED and not unit.agrees:
            continue
        if unit.page[0] - end > MAX_BRIDGED:
            yield start, end
            start = unit.page[0]
        end = max(end, unit.page[1])
    yield start, end


def differences(quote: QuoteText, page: PageText, alignment: Alignment) -> tuple[Difference, ...]:
    """Return the words that differ, numbers first, else in the quote's order, with its missing ends."""
    units = [unit for unit in alignment.units if unit.likeness < 1.0]
    (start, end), (p0, p1) = alignment.quote, alignment.page
    if start > 0:
        units.insert(0, Unit((0, start), (p0, p0), 0.0))
    if end < len(quote.tokens):
        units.append(Unit((end, len(quote.tokens)), (p1, p1), 0.0))
    listed = [_difference(quote, page, unit) for unit in units]
    return tuple(sorted(listed, key=lambda difference: difference.kind != "number")[:MAX_DIFFERENCES])


def end_missing(quote: QuoteText, tokens: tuple[int, int]) -> Difference:
    """Return the difference of an end of the quote that is not on the page."""
    return _difference(quote, None, Unit(tokens, (0, 0), 0.0))


def _difference(quote: QuoteText, page: PageText | None, unit: Unit) -> Difference:
    (q0, q1), (p0, p1) = unit.quote, unit.page
    ours, theirs, digits = text_of(quote, q0, q1) if q1 > q0 else "", "", ""
    is_number = any(quote.tokens.is_number[q0:q1])
    if page is not None and p1 > p0:
        theirs, digits = text_of(page, p0, p1), digits_of(page.tokens.part(p0, p1))
        is_number = is_number or any(page.tokens.is_number[p0:p1])
        if ours == theirs:
            ours, theirs = _with_currency(ours, quote.tokens, q0), _with_currency(theirs, page.tokens, p0)
    is_number = is_number or digits_of(quote.tokens.part(q0, q1)) != digits
    ours, theirs = (t if len(t) <= MAX_SHOWN else t[: MAX_SHOWN - 1] + "…" for t in (ours, theirs))
    return Difference(ours, theirs, "number" if is_number else "word")


def _with_currency(text: str, tokens: Tokens, token: int) -> str:
    """A figure with its currency sign, where that is a word of its own."""
    sign = tokens.currencies[token]
    return text if sign in text else f"{sign} {text}"


def digits_of(text: str) -> str:
    """Return the digits of a text: a figure joined to its unit (100Nm) is no number token."""
    return "".join(filter(str.isdigit, text))
