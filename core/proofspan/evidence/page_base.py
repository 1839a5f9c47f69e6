"""The page-base doctor: do quotes stand where they are cited, or beside it, and always the same way?

A producer that counts pages from 1 where 0 is meant is off by one in every citation, and nobody sees it from
a single one. Pure, and only a finding: nothing is ever moved.

**Who is asked.** Only quotes that speak for themselves (`speaks_for_itself`): on one page alone, with words
enough. `offset` is the page where a quote stands minus the page that was cited; −1 is one page earlier.

**The rule**, for each document, first that holds:

1. every quote stands where it is cited: `as_cited`;
2. a clear majority is off, and the number printed on the page where it stands is the number that was cited:
   `printed` (asked first, since in such a document "one page later" would be mended by the wrong option);
3. a clear majority stands at one offset that is not 0: `shifted`;
4. in some of its sections a clear majority does, in the document as a whole not: `in_sections`;
5. fewer than `MIN_QUOTES` stand elsewhere: `too_few` to tell a base from a slip;
6. else `mixed`: many are off, and neither a base nor a section explains it.

A majority is clear from `MIN_QUOTES` quotes on when even the lower end of its 95 % Wilson interval lies above
one half: 5 of 5, 7 of 8, 21 of 30. All documents together are judged by 1, 3, 5 and 6; `shifted` counts for
all of them only if no document has a clear majority elsewhere.
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

#: Fewer quotes than this tell nothing.
MIN_QUOTES = 5
#: Offsets that are counted one by one; all others are "elsewhere".
NEAR_OFFSETS = (-2, -1, 0, 1, 2)
#: A quote of fewer words stands on too many pages by chance.
WORDS_OF_A_QUOTE = 4
#: So many of its words have to stand on the page where a quote stands there only in part or with misprints.
WORDS_OF_A_PART = 8


@dataclass(frozen=True, slots=True)
class PlacedQuote:
    """A quote that speaks for itself: cited on one page (0-based), found on one (the same, mostly).

    `id_page_idx` is the page that its chunk's id names, None where it names none. `times` counts quotes that
    are alike in all of this, so that a large run is no long list.
    """

    doc_id: str
    cited_page_idx: int
    page_idx: int
    section_id: str | None = None
    id_page_idx: int | None = None
    times: int = 1

    @property
    def offset(self) -> int:
        """The page where it stands minus the page that was cited."""
        return self.page_idx - self.cited_page_idx


@dataclass(frozen=True, slots=True)
class PageBaseFinding:
    """What the quotes of one document tell (`doc_id` None: of all documents together).

    Of `quotes`, `near` stand at each of `NEAR_OFFSETS` and `elsewhere` farther away. `standing` is how many
    bear the finding out, `offset` where these stand (0 where a finding is not about one offset, and for
    `printed`). `sections` are those that `in_sections` is about, for `too_few` those of the quotes that are
    off, in their order; `within` is how many quotes they have. `by_id` counts the quotes that are off and
    stand where their chunks' ids say: two witnesses against the cited page, however few they are.
    """

    doc_id: str | None
    kind: Kind
    quotes: int
    near: tuple[int, ...]
    elsewhere: int
    standing: int
    offset: int = 0
    sections: tuple[str, ...] = ()
    within: int = 0
    by_id: int = 0

    @property
    def off(self) -> int:
        """How many do not stand on the cited page."""
        return self.quotes - self.near[NEAR_OFFSETS.index(0)]

    @property
    def is_systematic(self) -> bool:
        """Whether something in the data explains what is off, so that it can be mended at its source."""
        return self.kind in ("shifted", "printed", "in_sections")


def speaks_for_itself(found: FoundSpan, quote: str) -> bool:
    """Whether the place of a quote tells which page was meant.

    It does not where the quote goes on over the page's edge, stands as well on another page, or where so few
    words are compared that they may stand there by chance.
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
    """A finding for each document, in the order of their names; of several, first one for all together.

    `labels` are the printed labels of documents that carry some, by page_idx (`DocumentInfo.labels`).
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
    """Whether `part` of `whole` is a majority beyond doubt; see the rule above."""
    return part >= MIN_QUOTES and wilson(part, whole)[0] > 0.5


def _of_document(doc_id: str, quotes: Sequence[PlacedQuote], labels: Sequence[str]) -> PageBaseFinding:
    if all(quote.offset == 0 for quote in quotes):
        return _finding(doc_id, "as_cited", quotes, standing=_total(quotes))
    as_printed = _as_printed(quotes, labels)
    if is_clear(as_printed, _total(quotes)):
        return _finding(doc_id, "printed", quotes, standing=as_printed)
    if offset := _clear_offset(quotes):
        return _finding(doc_id, "shifted", quotes, standing=_standing(quotes, offset), offset=offset)
    return _in_sections(doc_id, quotes) or _unexplained(doc_id, quotes)


def _of_all(by_document: Mapping[str, Sequence[PlacedQuote]]) -> PageBaseFinding:
    """All documents together: with one quote each, none of them tells what all of them do."""
    quotes = [quote for each in by_document.values() for quote in each]
    if all(quote.offset == 0 for quote in quotes):
        return _finding(None, "as_cited", quotes, standing=_total(quotes))
    offset = _clear_offset(quotes)
    own = {_clear_offset(each) for each in by_document.values()} - {None}
    if offset and own <= {offset}:
        return _finding(None, "shifted", quotes, standing=_standing(quotes, offset), offset=offset)
    return _unexplained(None, quotes)


def _in_sections(doc_id: str, quotes: Sequence[PlacedQuote]) -> PageBaseFinding | None:
    """The sections whose quotes clearly stand at the same wrong offset."""
    by_section: dict[str, list[PlacedQuote]] = defaultdict(list)
    for quote in quotes:
        if quote.section_id is not None:
            by_section[quote.section_id].append(quote)
    clear = {section: offset for section, each in by_section.items() if (offset := _clear_offset(each))}
    standing: Counter[int] = Counter()
    for section, offset in clear.items():
        standing[offset] += _standing(by_section[section], offset)
    if not standing:
        return None
    offset = min(standing, key=lambda each: (-standing[each], abs(each), each))
    sections = tuple(sorted(section for section in clear if clear[section] == offset))
    within = sum(_total(by_section[section]) for section in sections)
    return _finding(
        doc_id,
        "in_sections",
        quotes,
        standing=standing[offset],
        offset=offset,
        sections=sections,
        within=within,
    )


def _unexplained(doc_id: str | None, quotes: Sequence[PlacedQuote]) -> PageBaseFinding:
    off = [quote for quote in quotes if quote.offset != 0]
    if _total(off) >= MIN_QUOTES:
        return _finding(doc_id, "mixed", quotes, standing=_total(off))
    named = {quote.section_id for quote in off if quote.section_id is not None and doc_id is not None}
    return _finding(
        doc_id,
        "too_few",
        quotes,
        standing=_total(off),
        sections=tuple(sorted(named)),
        within=_total(quote for quote in quotes if quote.section_id in named),
    )


def _as_printed(quotes: Sequence[PlacedQuote], labels: Sequence[str]) -> int:
    """How many stand elsewhere, on a page that bears the cited number: as `page_idx`, or counted from 1.

    A page whose printed number is its place counted from 1 tells nothing: there both explanations are one.
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
    """The offset at which a clear majority stands, 0 included; None where there is no such majority."""
    ((offset, standing),) = _by_offset(quotes).most_common(1)
    return offset if is_clear(standing, _total(quotes)) else None


def _standing(quotes: Iterable[PlacedQuote], offset: int) -> int:
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
    standing: int,
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
        standing=standing,
        offset=offset,
        sections=sections,
        within=within,
        by_id=_total(quote for quote in quotes if quote.offset and quote.id_page_idx == quote.page_idx),
    )
