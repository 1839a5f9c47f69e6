"""Wording of citations and gold passages: status, place, differences, and what the locator found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.records import GoldSpan
from proofspan.diagnosis.words import STOPWORDS
from proofspan.evidence.types import Difference, FoundSpan
from proofspan.metrics.statistics import percent
from proofspan.services.page.target import Target, cite_id
from proofspan.services.page.view import PageView
from proofspan.services.question.view import CitationView, QuestionView
from proofspan.store.files.evidence_states import EVIDENCE
from proofspan.ui.widgets.markup import Kind, Piece, clean
from proofspan.ui.widgets.text import lines, sentence_start
from proofspan.wording import counted, page_words, with_printed

#: Problems of the page in a citation's payload.
PAGE_NOTES: Mapping[str, str] = {
    "page_below_one": "its page is below 1, yet such pages count from 1",
    "page_unreadable": "its page is no whole number",
    "pages_disagree": "its page and its page_idx disagree",
}
FROM_TEXT = "Read from the ids in the answer's text: the trace has no citation payload."


@dataclass(frozen=True, slots=True)
class CitationLine:
    """A passage in the list: its name (a citation's number, or `gold`), status, place and problems.

    `is_wrong` is None until the page has been looked at.
    """

    name: str
    status: str
    place: str
    notes: tuple[str, ...] = ()
    is_wrong: bool | None = None

    @property
    def badge(self) -> str:
        """Return `2 · fuzzy 93 %`."""
        return " · ".join(filter(None, (self.name, self.status)))


def citation_line(
    view: CitationView, found: FoundSpan | None, *, on: str = "page", names_document: bool = False
) -> CitationLine:
    """Return `2 · fuzzy 97 %`, `section 2.26 · p. 66`, `says 1/16, page says 1/32`.

    `found` is None until the citation is located, `on` a "page" or a "text". `names_document`: the question's
    passages are from several documents.
    """
    citation = view.citation
    oddities = (
        None if view.is_retrieved else "not retrieved",
        None if view.page_rank is None else f"on a retrieved page (rank {view.page_rank:,})",
        PAGE_NOTES.get(citation.page_note or ""),
        "page from its chunk id" if citation.page_from == "chunk_id" else None,
    )
    line = _line(
        str(citation.number),
        f"section {citation.section_id}" if citation.section_id else None,
        _pages(citation.page_idx, found, on=on, last=citation.last_page_idx),
        citation.doc_id if names_document else None,
        redirected(view.redirect) if view.redirect else None,
        found=found,
        cited=citation.page_idx,
        on=on,
    )
    line = replace(line, notes=(*line.notes, *filter(None, oddities)))
    is_page = citation.chunk_id is None and citation.page_idx is not None
    is_lost = found is None and view.chunk is None and view.quote_from is None and not is_page
    return replace(line, status="not resolved", is_wrong=True) if is_lost else line


def spoken_names(view: QuestionView, found: Mapping[str, FoundSpan], *, on: str = "page") -> dict[int, str]:
    """Return each citation's name for screen readers, by its number: `citation 1, exact, PDF page 42`.

    `found` holds the located passages by their id.
    """
    names: dict[int, str] = {}
    for item in view.citations:
        number, place = item.citation.number, found.get(cite_id(item.citation.number))
        status = citation_line(item, place, on=on).status
        cited = item.citation
        pages = _pages(cited.page_idx, place, on=on, last=cited.last_page_idx)
        names[number] = ", ".join(part for part in (f"citation {number}", status, pages) if part)
    return names


def gold_line(
    span: GoldSpan,
    found: FoundSpan | None,
    *,
    number: int | None = None,
    on: str = "page",
    names_document: bool = True,
) -> CitationLine:
    """Return `gold · exact`, `PDF page 66 · manual`; `number` distinguishes a question's gold spans."""
    name = "gold" if number is None else f"gold {number}"
    pages, document = _pages(span.page_idx, found, on=on), span.doc_id if names_document else None
    return _line(name, pages, document, found=found, cited=span.page_idx, on=on)


def _line(
    name: str, *places: str | None, found: FoundSpan | None, cited: int | None, on: str
) -> CitationLine:
    """Return a passage's line; of the numbers that differ it has the first."""
    place = " · ".join(filter(None, places))
    if found is None:
        return CitationLine(name, "", place)
    notes = tuple(f"says {each.quote}, {on} says {each.page}" for each in figures(found.differences)[:1])
    is_wrong = found.status == "not_found" or found.page_mismatch or found.numbers_differ
    return CitationLine(name, status_words(found, cited), place, notes, is_wrong)


def status_words(found: FoundSpan, cited: int | None = None) -> str:
    """Return `exact`, `fuzzy 93 %`, `in part 80 %`, `not found`, or `exact · other page +1`."""
    if found.unverified or found.unverified_ranges:
        return "unverified"
    agreed = percent(found.agreement)
    words = {"partial": f"in part {agreed}", "fuzzy": f"fuzzy {agreed}", "not_found": "not found"}
    status = words.get(found.status, found.status)
    if not found.page_mismatch or found.page_idx is None or cited is None:
        return status
    return f"{status} · other page {'+' if found.page_idx > cited else '−'}{abs(found.page_idx - cited)}"


def first_step(found: Iterable[tuple[int, FoundSpan]]) -> str | None:
    """Return what to do first if a page contradicts a citation, given by number; else None."""
    for number, span in found:
        reasons = {
            "does not contain its quote": span.status == "not_found" and not span.unverified,
            "has another number": span.numbers_differ,
            "is not the page of its quote": span.page_mismatch,
        }
        reason = next((words for words, applies in reasons.items() if applies), None)
        if reason is not None:
            return f"Check the cited page first: that of citation {number} {reason}."
    return None


def is_of_several_documents(view: QuestionView) -> bool:
    """Return whether the passages of a question are from more than one document."""
    named = {item.citation.doc_id for item in view.citations}
    named |= {item.candidate.doc_id for stage in view.stages for item in stage.candidates}
    named |= {span.doc_id for span in view.gold.spans} if view.gold else set()
    return len(named - {None}) > 1


def reference(view: PageView) -> str:
    """Return a reference to paste: `Owner's manual, section 4.2, PDF page 42, page_idx 41, printed 34`.

    Its page is where the text was found, whatever page is shown; else the cited one, with a remark. For a
    document without pages: `Bulletin, section B2, line 12`.
    """
    found, target = view.chosen, view.target
    document = (view.document.title or view.document.doc_id) if view.document else target.doc_id
    section = f"section {target.section_id}" if target.section_id else None
    if found and found.ranges:
        where = [lines(found.ranges)]
    else:
        page_idx = found.page_idx if found and found.page_idx is not None else target.query.cited_page_idx
        is_paged = page_idx is not None and view.text is None
        where = [f"PDF page {(page_idx or 0) + 1}", f"page_idx {page_idx}"] if is_paged else []
        where += [f"printed {view.printed}"] if view.printed and page_idx == view.page_idx else []
    gone = "text not found there" if found and found.status == "not_found" else None
    return ", ".join(" ".join(part.split()) for part in (document, section, *where, gone) if part)


def _pages(cited: int | None, found: FoundSpan | None, *, on: str, last: int | None = None) -> str:
    """Return `PDF page 66`, on another page `PDF page 67, cited PDF page 66`, in a text `lines 12–14`.

    A passage on several pages is `PDF pages 66–67`. `last` is the last cited page.
    """
    if on == "text":
        return lines(found.ranges) if found and found.ranges else ""
    page_idx = found.page_idx if found and found.page_idx is not None else cited
    if page_idx is None:
        return ""
    is_other = found is not None and found.page_mismatch and cited is not None and page_idx != cited
    pages = [page_idx, page_idx if last is None else max(page_idx, last)]
    if found is not None and found.page_idx is not None:
        pages = [page_idx, *(place.page_idx for place in found.continues)]
    where = _page_range(min(pages), max(pages))
    return f"{where}, cited {_page_range(cited or 0, last)}" if is_other else where


def _page_range(first: int, last: int | None) -> str:
    """Return `PDF page 66` or `PDF pages 66–67`, which `with_printed` may name by its printed number."""
    return page_words(first) if last is None or last <= first else f"PDF pages {first + 1:,}–{last + 1:,}"


# Redirects from ids of an earlier build.

#: Last characters shown of an id that follows no format.
ID_CHARS = 40
#: Ids named that a redirect leads to; the rest is counted.
NAMED = 3


def redirected(redirect: Redirect) -> str:
    """Return `redirected from …|s=4.2|p=042|b=003 (shift, 0.93)`."""
    return f"redirected from {short_id(redirect.old_id)} ({redirect.kind}, {redirect.confidence:.2f})"


def leading(redirect: Redirect) -> str:
    """Return `An id of an earlier build: it leads to …|s=4.2|p=042|b=003 (shift, 0.93).`"""
    names = [short_id(each) for each in redirect.new_ids[:NAMED]]
    more = len(redirect.new_ids) - NAMED
    ids = " and ".join([*names, *([f"{more:,} more"] if more > 0 else [])])
    return f"An id of an earlier build: it leads to {ids} ({redirect.kind}, {redirect.confidence:.2f})."


def short_id(chunk_id: str) -> str:
    """Return the part of an id that distinguishes it from others of its document."""
    if parse(chunk_id) is not None:
        return "…" + clean(chunk_id[chunk_id.index("|s=") :])
    shown = clean(chunk_id)
    return shown if len(shown) <= ID_CHARS else "…" + shown[-ID_CHARS:]


# Differences between a quote and its page: `The answer says 2.3 bar, the page says 2.5 bar.`
#
# A sentence names the answer only if the answer has that very number, and the page's unit only if quote and
# page agree on it.

#: A unit after a number: a percent sign, degrees, a word such as bar, km/h or litre.
_UNIT = re.compile(r"[ \u00a0\u2009\u202f](%|°[CF]?(?!\w)|[^\W\d_]+(?:/[^\W\d_]+)*[²³]?(?!\w))")
#: Words of one or two letters that are no unit; `STOPWORDS` has longer ones.
_SHORT_WORDS = frozenset(
    "a am an as at be by do he if in is it me my no of on or so to up us we".split()  # noqa: SIM905
)


def figures(differences: Sequence[Difference]) -> list[Difference]:
    """Return the numbers that differ, which a reader has to see first."""
    return [each for each in differences if each.kind == "number" and each.quote and each.page]


def sentence(
    difference: Difference,
    text: str,
    others: Sequence[Difference] = (),
    *,
    quote_from: str | None,
    answer: str = "",
    on: str = "page",
) -> list[Piece]:
    """Return the sentence on one difference; `others` are all differences of its quote, which is `text`.

    `quote_from` is the origin of the text ("payload", "gold" or "chunk"), `on` is "page" or "text".
    """
    quote, page = difference.quote, difference.page
    unit = _unit(difference, text, others) if quote and page else ""
    speaker = {"payload": "The quote", "gold": "The gold quote"}.get(quote_from or "", "The chunk")
    if quote and unit and says(answer, f"{quote} {unit}"):
        speaker = "The answer"
    elif quote and says(answer, quote):
        speaker, unit = "The answer", ""
    behind = [Piece(f" {unit}")] if unit else []
    if quote and not page:
        ending = f", which is not {'on the page' if on == 'page' else 'in the text'}."
        return [Piece(f"{speaker} has "), Piece(quote, "strong"), Piece(ending)]
    kind: Kind = "differs" if difference.kind == "number" else "strong"
    ours = [Piece(" says "), Piece(quote, kind), *behind] if quote else [Piece(" omits a word")]
    theirs = [Piece(f", the {on} says "), Piece(page, "strong"), *behind, Piece(".")]
    return [Piece(speaker), *ours, *theirs]


def says(text: str, words: str) -> bool:
    """Return whether a text has exactly these words: not 11.4 or -1.4 or 1.45 or 1.4 % for 1.4."""
    spaced = r"\s+".join(re.escape(word) for word in words.split())
    return bool(spaced) and re.search(rf"(?<![\w.,/−–-]){spaced}(?![\w/%°]|[.,]\d|\s%)", text) is not None


def _unit(difference: Difference, quote: str, others: Sequence[Difference]) -> str:
    """Return the word behind a number of the quote if the page certainly has it too, else "".

    It has if the word is part of no difference, and no word is on the page only.
    """
    if any(not other.quote for other in others):
        return ""
    places = re.finditer(rf"(?<![\w.,/]){re.escape(difference.quote)}(?![\w/]|[.,]\d)", quote)
    behind = {match[1] if (match := _UNIT.match(quote, place.end())) else "" for place in places}
    unit = behind.pop() if len(behind) == 1 else ""
    is_filler = unit in _SHORT_WORDS or unit.lower() in STOPWORDS
    differs = any(unit in other.quote.split() for other in others)
    return "" if is_filler or differs else unit


# The finding of the locator: the sentences above the shown page.

#: Differing words, or other places, that are named; the rest is counted.
MAX_NAMED = 12
#: Differing numbers put above everything else.
MAX_FIGURES = 3


def findings(view: PageView, *, answer: str, quote_from: str | None) -> tuple[list[list[Piece]], list[Piece]]:
    """Return the numbers that differ, and the rest of the finding on the chosen passage.

    A number is a sentence, `The answer says 2.3 bar, the page says 2.5 bar.`; the rest is status, agreement,
    page, and other differences. For a passage that is on another page than the shown one, only that.
    """
    found = view.chosen
    if found is None and view.target.is_page and view.image is not None:
        return [], [Piece(_sentence_words(view, "page"), "strong")]
    if found is None:
        message = "There is no text to locate: the citation has no quote and its chunk is not known."
        return [], [Piece(message)]
    if found.unverified_ranges and not view.target.query.quote.strip():
        where = lines(found.unverified_ranges)
        message = "Unverified: the citation has no quote and its chunk is not known, so nothing can confirm"
        return [], [Piece(f"{message} that it means {where}, where its offsets point.")]
    quote = {"payload": "the quote", "gold": "the gold quote"}.get(quote_from or "", "the chunk's text")
    if is_elsewhere(view):
        subject, page = sentence_start(quote), f"PDF page {(found.page_idx or 0) + 1}"
        if view.page_idx in [place.page_idx for place in found.continues]:
            is_before = (view.page_idx or 0) < (found.page_idx or 0)
            words = (
                f"begins here and goes on on {page}" if is_before else f"begins on {page} and goes on here"
            )
            return [], [Piece(f"{subject} {words}.", "strong")]
        return [], [Piece(f"{subject} is on {page}, not on this page.", "strong")]
    cited, on = view.target.query.cited_page_idx, "page" if view.text is None else "text"
    is_beside = view.target.id in view.sentences and found.status != "not_found"
    pieces = [Piece(f"{_sentence_words(view, 'chunk')} ", "strong")] if is_beside else []
    status, colon, words = _status_sentence(found, quote, on).partition(":")
    kind: Kind = "muted" if is_beside else "strong"
    term = "" if found.unverified else f"evidence.{found.status}"
    pieces += [Piece(status, kind, term=term), Piece(f"{colon}{words}", kind)]
    if found.ranges:
        pieces.append(Piece(f" It is on {lines(found.ranges)}."))
    if found.page_mismatch and found.page_idx is not None and cited is not None:
        actual = f"the text is on {page_words(found.page_idx)}"
        last = view.target.query.last_cited_page_idx
        named = _page_range(cited, last)
        pieces.append(Piece(f" The citation names {named}; {actual}."))
    elif found.status == "not_found" and cited is not None and cited == view.page_idx:
        pieces.append(Piece(f" {sentence_start(page_words(cited))} is shown because it is the cited one."))
    above = figures(found.differences)[:MAX_FIGURES]
    further = [each for each in found.differences if each not in above]
    differing = sorted(further, key=lambda each: each.kind != "number")[:MAX_NAMED]
    in_words = partial(
        sentence,
        text=view.target.query.quote,
        others=found.differences,
        quote_from=quote_from,
        answer=answer,
        on=on,
    )
    for each in differing:
        pieces += [Piece(" "), *in_words(each)]
    if rest := len(further) - len(differing):
        pieces.append(Piece(f" And {counted(rest, 'more difference')}.", "muted"))
    if found.alternatives:
        others = found.alternatives[:MAX_NAMED]
        pages = ", ".join(page_words(place.page_idx) for place in others)
        where = ", ".join(lines(place.ranges) for place in others) if found.ranges else pages
        pieces.append(Piece(f" The same text is also on {where}.", "muted"))
    if found.note:
        is_finding = found.box_agrees is False
        pieces.append(Piece(f" {sentence_start(found.note)}.", "plain" if is_finding else "muted"))
    return [in_words(each) for each in above], pieces


def is_elsewhere(view: PageView) -> bool:
    """Return whether the chosen passage was found on another page than the shown one."""
    found = view.chosen
    if found is None or found.page_idx is None or view.page_idx is None:
        return False
    return view.page_idx not in (found.page_idx, *(place.page_idx for place in found.alternatives))


def with_pages(pieces: Iterable[Piece], labels: Sequence[str]) -> list[Piece]:
    """Return what is written about one document with its pages by their printed numbers."""
    return [replace(each, text=with_printed(each.text, labels)) for each in pieces]


def is_as_cited(view: PageView) -> bool:
    """Return whether the passage is where it was cited, word for word or but for typography."""
    found = view.chosen
    is_there = found is not None and found.status in ("exact", "normalized") and not found.page_mismatch
    return found is not None and is_there and found.box_agrees is not False and not is_elsewhere(view)


def origin(view: QuestionView, target: Target) -> str | None:
    """Return where the text of a passage is from: the citation's "payload", "gold", or a "chunk"."""
    if target.kind != "cited":
        return "gold" if target.kind == "gold" else "chunk"
    own = (item.quote_from for item in view.citations if item.citation.number == target.number)
    return next(own, None)


def _sentence_words(view: PageView, of: str) -> str:
    """Return what is highlighted of a citation that names a chunk or a page, and no words of it."""
    if view.sentences.get(view.target.id):
        return f"Cited is a whole {of}; what comes closest to the answer is highlighted."
    why = "no sentence is close to the answer" if view.target.claims else "the answer makes no claim"
    return f"Cited is a whole {of}; nothing in it is highlighted, as {why}."


def _status_sentence(found: FoundSpan, quote: str, on: str) -> str:
    if found.unverified:
        return f"Unverified: the page has no text that could confirm {quote}. The cited box is shown."
    if found.status == "partial" and found.continues:
        pages = " and ".join(f"PDF page {place.page_idx + 1}" for place in found.continues)
        share = f", {percent(found.agreement)} of it" if found.differences else ""
        return f"Across pages: {quote} is here and on {pages}{share}."
    there, this = ("on the page", "on this page") if on == "page" else ("in the text", "in this text")
    return {
        "exact": f"Exact: {quote} is {there} word for word.",
        "normalized": f"Normalized: {quote} is {there} apart from case, punctuation or hyphenation.",
        "fuzzy": f"Fuzzy: {percent(found.agreement)} of {quote} agrees with the {on}.",
        "partial": f"Partial: {percent(found.agreement)} of {quote} is {there}.",
        "not_found": f"Not found: {quote} is not {this}, so nothing is highlighted.",
    }[found.status]


#: The error of a cited page, by the distance of the text from it.
_BESIDE = {-1: "Cited page is one too high", 1: "Cited page is one too low"}


def besides(states: Collection[str], *, offset: int | None, omitted: int) -> list[str]:
    """Return the other faults of a trace's citations: their pages, and warnings that the answer may omit.

    `offset` is the page of the text minus the cited one, None unless it is the same for all citations of
    other pages. `omitted` counts the warnings of the cited sections that the answer may omit.
    """
    faults = []
    if "page_mismatch" in states:
        beside = _BESIDE.get(offset) if offset is not None else None
        faults.append(beside or EVIDENCE["page_mismatch"].name.capitalize())
    if omitted:
        faults.append("May omit a warning" if omitted == 1 else f"May omit {omitted:,} warnings")
    return faults
