"""Detect a wrong page base: quotes that are found at a constant distance from the page that was cited.

A producer that counts pages from 1 instead of 0 is off by one in every citation, which no single citation
shows. Pure, and only a finding: no citation is changed.

Only quotes on one page alone with enough words are counted (`is_telling`). `offset` is the page where a quote
was found minus the cited page; −1 is one page earlier.

The finding of a document is the first of these that applies:

1. `as_cited`: every quote is on the cited page;
2. `printed`: a clear majority is off, and the number printed on the page of the quote is the cited number
   (checked first, since the fix for "one page later" would be wrong here);
3. `shifted`: a clear majority is at one offset other than 0;
4. `in_sections`: a clear majority is in some sections, but not in the document;
5. `too_few`: fewer than `MIN_QUOTES` are off, so that a base cannot be distinguished from a mistake;
6. `mixed`: many are off, and neither a base nor a section explains it.

From `MIN_QUOTES` quotes on a majority is clear if the lower end of its 95 % Wilson interval is above one
half: 5 of 5, 7 of 8, 21 of 30. All documents together are judged by 1, 3, 5 and 6; `shifted` applies to them
only if no document has a clear majority at another offset.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from proofspan.evidence.text.page_text import QuoteText
from proofspan.evidence.types import FoundSpan
from proofspan.metrics.statistics import wilson

Kind = Literal["as_cited", "shifted", "printed", "in_sections", "too_few", "mixed"]

#: Fewer quotes are no evidence.
MIN_QUOTES = 5
#: Offsets counted one by one; all others are "elsewhere".
NEAR_OFFSETS = (-2, -1, 0, 1, 2)
#: A quote of fewer words is on too many pages by chance.
WORDS_OF_A_QUOTE = 4
#: The number of words found of a quote that is there only in part or with misprints.
WORDS_OF_A_PART = 8


@dataclass(frozen=True, slots=True)
class PlacedQuote:
    """A telling quote: its cited page and the page where it was found (0-based).

    `id_page_idx` is the page in its chunk's id, if any. `times` counts equal quotes, so that a
    large run is a short list.
    """

    doc_id: str
    cited_page_idx: int
    page_idx: int
    section_id: str | None = None
    id_page_idx: int | None = None
    times: int = 1

    @property
    def offset(self) -> int:
        """The page where it was found minus the cited page."""
        return self.page_idx - self.cited_page_idx


@dataclass(frozen=True, slots=True)
class PageBaseFinding:
    """The finding of one document, or of all documents together (`doc_id` None).

    Of `quotes`, `near` counts those at each of `NEAR_OFFSETS`, `elsewhere` those farther away. `supporting`
    quotes are at `offset` (0 for a finding without one offset, and for `printed`). `sections` are those of
    `in_sections`, for `too_few` those of the quotes that are off, sorted; `within` counts their quotes.
    `by_id` counts the quotes that are off and on the page in their chunks' ids: two witnesses against the
    cited page, however few.
    """

    doc_id: str | None
    kind: Kind
    quotes: int
    near: tuple[int, ...]
    elsewhere: int
    supporting: int
    offset: int = 0
    sections: tuple[str, ...] = ()
    within: int = 0
    by_id: int = 0

    @property
    def off(self) -> int:
        """How many are not on the cited page."""
        return self.quotes - self.near[NEAR_OFFSETS.index(0)]

    @property
    def is_systematic(self) -> bool:
        """Whether the data explain what is off, so that it can be fixed at its source."""
        return self.kind in ("shifted", "printed", "in_sections")


def is_telling(found: FoundSpan, quote: str) -> bool:
    """Return whether the location of a quote shows which page was meant.

    It does not where the quote runs over the page's edge, is also on another page, or has so few words that
    they may be there by chance.
    """
    if found.page_idx is None or found.continues:
        return False
    if any(place.page_idx != found.page_idx for place in found.alternatives):
        return False
    words = len(QuoteText.of(quote).tokens)
    if found.status in ("exact", "normalized"):
        return words >= WORDS_OF_A_QUOTE
    return found.agreement * words >= WORDS_OF_A_PART


def diagnose(
    quotes: Iterable[PlacedQuote], labels: Mapping[str, Sequence[str]] | None = None
) -> tuple[PageBaseFinding, ...]:
    """Return a finding for each document, sorted by name; of several, first one for all together.

    `labels` are the printed labels of documents, by page_idx (`DocumentInfo.labels`).
    """
    by_document: dict[str, list[PlacedQuote]] = defaultdict(list)
    for quote in quotes:
        by_document[quote.doc_id].append(quote)
    documents = [
        _of_document(doc_id, by_document[doc_id], (labels or {}).get(doc_id, ()))
        for doc_id in sorted(by_document)
    ]
    if len(documents) < 2:
        return tuple(documents)
    return (_of_all(by_document), *documents)


def is_clear(part: int, whole: int) -> bool:
    """Return whether `part` of `whole` is a clear majority; see the module's docstring."""
    return part >= MIN_QUOTES and wilson(part, whole)[0] > 0.5


def _of_document(doc_id: str, quotes: Sequence[PlacedQuote], labels: Sequence[str]) -> PageBaseFinding:
    if all(quote.offset == 0 for quote in quotes):
        return _finding(doc_id, "as_cited", quotes, supporting=_total(quotes))
    as_printed = _as_printed(quotes, labels)
    if is_clear(as_printed, _total(quotes)):
        return _finding(doc_id, "printed", quotes, supporting=as_printed)
    if offset := _clear_offset(quotes):
        return _finding(doc_id, "shifted", quotes, supporting=_at(quotes, offset), offset=offset)
    return _in_sections(doc_id, quotes) or _unexplained(doc_id, quotes)


def _of_all(by_document: Mapping[str, Sequence[PlacedQuote]]) -> PageBaseFinding:
    """All documents together: with one quote each, none of them is evidence by itself."""
    quotes = [quote for each in by_document.values() for quote in each]
    if all(quote.offset == 0 for quote in quotes):
        return _finding(None, "as_cited", quotes, supporting=_total(quotes))
    offset = _clear_offset(quotes)
    own = {_clear_offset(each) for each in by_document.values()} - {None}
    if offset and own <= {offset}:
        return _finding(None, "shifted", quotes, supporting=_at(quotes, offset), offset=offset)
    return _unexplained(None, quotes)


def _in_sections(doc_id: str, quotes: Sequence[PlacedQuote]) -> PageBaseFinding | None:
    """The sections whose quotes are clearly at the same wrong offset."""
    by_section: dict[str, list[PlacedQuote]] = defaultdict(list)
    for quote in quotes:
        if quote.section_id is not None:
            by_section[quote.section_id].append(quote)
    clear = {section: offset for section, each in by_section.items() if (offset := _clear_offset(each))}
    counts: Counter[int] = Counter()
    for section, offset in clear.items():
        counts[offset] += _at(by_section[section], offset)
    if not counts:
        return None
    offset = min(counts, key=lambda each: (-counts[each], abs(each), each))
    sections = tuple(sorted(section for section in clear if clear[section] == offset))
    within = sum(_total(by_section[section]) for section in sections)
    return _finding(
        doc_id,
        "in_sections",
        quotes,
        supporting=counts[offset],
        offset=offset,
        sections=sections,
        within=within,
    )


def _unexplained(doc_id: str | None, quotes: Sequence[PlacedQuote]) -> PageBaseFinding:
    off = [quote for quote in quotes if quote.offset != 0]
    if _total(off) >= MIN_QUOTES:
        return _finding(doc_id, "mixed", quotes, supporting=_total(off))
    named = {quote.section_id for quote in off if quote.section_id is not None and doc_id is not None}
    return _finding(
        doc_id,
        "too_few",
        quotes,
        supporting=_total(off),
        sections=tuple(sorted(named)),
        within=_total(quote for quote in quotes if quote.section_id in named),
    )


def _as_printed(quotes: Sequence[PlacedQuote], labels: Sequence[str]) -> int:
    """The number of quotes on another page whose printed number is the cited one, from 0 or from 1.

    A page whose printed number is its position counted from 1 is no evidence: both explanations hold there.
    """
    return max(
        _total(
            quote
            for quote in quotes
            if quote.offset != 0
            and _label(labels, quote.page_idx) == str(quote.cited_page_idx + base)
            and _label(labels, quote.page_idx) != str(quote.page_idx + 1)
        )
        for base in (0, 1)
    )


def _label(labels: Sequence[str], page_idx: int) -> str:
    return labels[page_idx] if 0 <= page_idx < len(labels) else ""


def _clear_offset(quotes: Sequence[PlacedQuote]) -> int | None:
    """The offset of a clear majority, 0 included; None without one."""
    ((offset, count),) = _by_offset(quotes).most_common(1)
    return offset if is_clear(count, _total(quotes)) else None


def _at(quotes: Iterable[PlacedQuote], offset: int) -> int:
    return _total(quote for quote in quotes if quote.offset == offset)


def _total(quotes: Iterable[PlacedQuote]) -> int:
    return sum(quote.times for quote in quotes)


def _by_offset(quotes: Iterable[PlacedQuote]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for quote in quotes:
        counts[quote.offset] += quote.times
    return counts


def _finding(
    doc_id: str | None,
    kind: Kind,
    quotes: Sequence[PlacedQuote],
    *,
    supporting: int,
    offset: int = 0,
    sections: tuple[str, ...] = (),
    within: int = 0,
) -> PageBaseFinding:
    counts = _by_offset(quotes)
    near = tuple(counts[each] for each in NEAR_OFFSETS)
    return PageBaseFinding(
        doc_id=doc_id,
        kind=kind,
        quotes=_total(quotes),
        near=near,
        elsewhere=_total(quotes) - sum(near),
        supporting=supporting,
        offset=offset,
        sections=sections,
        within=within,
        by_id=_total(quote for quote in quotes if quote.offset and quote.id_page_idx == quote.page_idx),
    )
