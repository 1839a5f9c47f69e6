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
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
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
    printed = labels or {}
    documents = [
        _finding(doc_id, each, printed.get(doc_id, ())) for doc_id, each in sorted(by_document.items())
    ]
    if len(documents) < 2:
        return tuple(documents)
    # All documents together: with one quote each, none of them is evidence by itself.
    own = {_clear_offset(_by_offset(each)) for each in by_document.values()}
    return (_finding(None, [quote for each in by_document.values() for quote in each], own=own), *documents)


def is_clear(part: int, whole: int) -> bool:
    """Return whether `part` of `whole` is a clear majority; see the module's docstring."""
    return part >= MIN_QUOTES and wilson(part, whole)[0] > 0.5


def _finding(
    doc_id: str | None,
    quotes: Sequence[PlacedQuote],
    labels: Sequence[str] = (),
    *,
    own: Set[int | None] = frozenset(),
) -> PageBaseFinding:
    """The finding of a document, or of all together, whose clear offsets are `own`."""
    counts = _by_offset(quotes)
    total, offset = counts.total(), _clear_offset(counts)
    near = tuple(counts[each] for each in NEAR_OFFSETS)
    by_id = sum(quote.times for quote in quotes if quote.offset and quote.id_page_idx == quote.page_idx)
    finding = PageBaseFinding(doc_id, "as_cited", total, near, total - sum(near), total, by_id=by_id)
    if counts[0] == total:
        return finding
    # Quotes on another page whose printed number is the cited one, from 0 or from 1. A page whose printed
    # number is its position counted from 1 is no evidence: both explanations hold there.
    printed = [0, 0]
    for quote in quotes:
        label = labels[quote.page_idx] if 0 <= quote.page_idx < len(labels) else ""
        for base in (0, 1):
            is_cited = label == str(quote.cited_page_idx + base)
            if quote.offset != 0 and is_cited and label != str(quote.page_idx + 1):
                printed[base] += quote.times
    if is_clear(max(printed), total):
        return replace(finding, kind="printed", supporting=max(printed))
    if offset and own <= {offset, None}:
        return replace(finding, kind="shifted", supporting=counts[offset], offset=offset)
    by_section: dict[str, Counter[int]] = defaultdict(Counter)
    for quote in quotes if doc_id is not None else ():
        if quote.section_id is not None:
            by_section[quote.section_id][quote.offset] += quote.times
    # The sections whose quotes are clearly at the same wrong offset.
    clear = {section: at for section, each in by_section.items() if (at := _clear_offset(each))}
    supporting: Counter[int] = Counter()
    for section, at in clear.items():
        supporting[at] += by_section[section][at]
    if supporting:
        offset = min(supporting, key=lambda each: (-supporting[each], abs(each), each))
        finding = replace(finding, kind="in_sections", supporting=supporting[offset], offset=offset)
        sections = {section for section in clear if clear[section] == offset}
    else:
        kind: Kind = "mixed" if finding.off >= MIN_QUOTES else "too_few"
        finding = replace(finding, kind=kind, supporting=finding.off)
        sections = {name for name, each in by_section.items() if each[0] < each.total() and kind == "too_few"}
    within = sum(by_section[section].total() for section in sections)
    return replace(finding, sections=tuple(sorted(sections)), within=within)


def _clear_offset(counts: Counter[int]) -> int | None:
    """The offset of a clear majority, 0 included; None without one."""
    ((offset, count),) = counts.most_common(1)
    return offset if is_clear(count, counts.total()) else None


def _by_offset(quotes: Iterable[PlacedQuote]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for quote in quotes:
        counts[quote.offset] += quote.times
    return counts
