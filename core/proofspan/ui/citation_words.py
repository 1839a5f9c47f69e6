"""Citations and gold passages, a line each: how sure, where, what differs; one to be copied. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.records import GoldSpan
from proofspan.evidence.types import FoundSpan
from proofspan.metrics.intervals import percent
from proofspan.services.questions import CitationView, QuestionView
from proofspan.services.spans import PageView
from proofspan.ui.difference_words import figures
from proofspan.ui.redirect_words import redirected
from proofspan.ui.words import lines

#: What is odd about the page that a citation's payload gives.
PAGE_NOTES: Mapping[str, str] = {
    "page_below_one": "its page is below 1, yet such pages count from 1",
    "page_unreadable": "its page is no whole number",
    "pages_disagree": "its page and its page_idx disagree",
}
FROM_TEXT = "Read from the ids in the answer's text: the trace has no citation payload."


@dataclass(frozen=True, slots=True)
class CitationLine:
    """A passage in the list: its name and status as a badge, its place, then what speaks against it.

    `name` is the citation's number, or `gold`; `is_wrong` is None while nobody has looked at the page. Beside
    the place of an id of an earlier build stands from where a redirect led to it.
    """

    name: str
    status: str
    place: str
    notes: tuple[str, ...] = ()
    is_wrong: bool | None = None

    @property
    def badge(self) -> str:
        """`2 · fuzzy 93 %`."""
        return " · ".join(filter(None, (self.name, self.status)))


def citation_line(
    view: CitationView,
    found: FoundSpan | None,
    *,
    on: str = "page",
    names_document: bool = False,
) -> CitationLine:
    """`2 · fuzzy 97 %`, `section 2.26 · p. 66`, `says 1/16, page says 1/32`.

    `found` is None while the citation's document has not been looked at. `on` is what was looked at, "page"
    or "text". `names_document`: passages of the question are from several documents.
    """
    citation = view.citation
    notes = [*_differing(found, on), *_oddities(view)]
    place = _place(
        citation.section_id,
        _pages(citation.page_idx, found, on=on),
        citation.doc_id if names_document else None,
    )
    if view.redirect:
        place = " · ".join(filter(None, (place, redirected(view.redirect))))
    status = status_words(found, citation.page_idx) if found else ("" if _is_known(view) else "not resolved")
    is_wrong = speaks_against(found) if found else (None if _is_known(view) else True)
    return CitationLine(str(citation.number), status, place, tuple(notes), is_wrong)


def spoken_names(view: QuestionView, found: Mapping[str, FoundSpan], *, on: str = "page") -> dict[int, str]:
    """Each citation as it is read aloud, by its number: `citation 1, exact, PDF page 42`.

    `found` holds where the passages stand, by their id, as far as that is known.
    """
    names: dict[int, str] = {}
    for item in view.citations:
        number, place = item.citation.number, found.get(f"cite:{item.citation.number}")
        status = citation_line(item, place, on=on).status
        pages = _pages(item.citation.page_idx, place, on=on).replace("p. ", "PDF page ")
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
    """`gold · exact`, `p. 66 · manual`; `number` tells several gold spans of one question apart."""
    name = "gold" if number is None else f"gold {number}"
    place = _place(None, _pages(span.page_idx, found, on=on), span.doc_id if names_document else None)
    notes = _differing(found, on)
    is_wrong = speaks_against(found) if found else None
    status = status_words(found, span.page_idx) if found else ""
    return CitationLine(name, status, place, tuple(notes), is_wrong)


def status_words(found: FoundSpan, cited: int | None = None) -> str:
    """`exact`, `fuzzy 93 %`, `in part 80 %`, `not found`, `exact · other page +1` (of the cited page_idx)."""
    if found.unverified or found.unverified_ranges:
        return "unverified"
    agreed = percent(found.agreement)
    words = {"partial": f"in part {agreed}", "fuzzy": f"fuzzy {agreed}", "not_found": "not found"}
    status = words.get(found.status, found.status)
    if not found.page_mismatch or found.page_idx is None or cited is None:
        return status
    return f"{status} · other page {'+' if found.page_idx > cited else '−'}{abs(found.page_idx - cited)}"


def speaks_against(found: FoundSpan) -> bool:
    """Whether the page contradicts the citation: the quote is not there, or a figure of it differs."""
    differs = any(each.kind == "number" for each in found.differences)
    return found.status == "not_found" or found.page_mismatch or differs


def first_step(found: Iterable[tuple[int, FoundSpan]]) -> str | None:
    """What to do before anything else where a page speaks against a citation, by its number; else None."""
    for number, span in found:
        told = {
            "does not hold its quote": span.status == "not_found" and not span.unverified,
            "says another figure": bool(figures(span.differences)),
            "is not where its quote stands": span.page_mismatch,
        }
        reason = next((words for words, is_so in told.items() if is_so), None)
        if reason is not None:
            return f"Check the cited page first: that of citation {number} {reason}."
    return None


def is_of_several_documents(view: QuestionView) -> bool:
    """Whether the passages of a question are from more than one document."""
    named = {item.citation.doc_id for item in view.citations}
    named |= {item.candidate.doc_id for stage in view.stages for item in stage.candidates}
    named |= {span.doc_id for span in view.gold.spans} if view.gold else set()
    return len(named - {None}) > 1


def is_read_from_text(citations: Sequence[CitationView]) -> bool:
    """Whether a trace's citations are the ids that its answer writes out."""
    return any(item.citation.origin == "answer_text" for item in citations)


def reference(view: PageView) -> str:
    """A place to be pasted: `Owner's manual, section 4.2, PDF page 42, page_idx 41, printed 34`.

    The page where the text stands, not the one that happens to be shown; where it was not found the cited
    one, and that is said. In a document without pages `Bulletin, section B2, line 12`.
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


def _is_known(view: CitationView) -> bool:
    return view.is_resolved or view.quote_from is not None


def _differing(found: FoundSpan | None, on: str) -> list[str]:
    """`says 1/16, page says 1/32`: the first figure that differs; the whole sentence is above the page."""
    differing = figures(found.differences)[:1] if found else []
    return [f"says {each.quote}, {on} says {each.page}" for each in differing]


def _oddities(view: CitationView) -> list[str]:
    note = PAGE_NOTES.get(view.citation.page_note or "")
    from_id = "page from its chunk id" if view.citation.page_from == "chunk_id" else None
    retrieved = None if view.is_retrieved else "not retrieved"
    return [each for each in (retrieved, note, from_id) if each]


def _place(section_id: str | None, pages: str, doc_id: str | None) -> str:
    section = f"section {section_id}" if section_id else ""
    return " · ".join(part for part in (section, pages, doc_id) if part)


def _pages(cited: int | None, found: FoundSpan | None, *, on: str) -> str:
    """`p. 66`; where the text stands elsewhere `p. 67, cited 66 (+1)`; of a text `lines 12–14`."""
    if on == "text":
        return lines(found.ranges) if found and found.ranges else ""
    page_idx = found.page_idx if found and found.page_idx is not None else cited
    if page_idx is None:
        return ""
    is_other = found is not None and found.page_mismatch and cited is not None and page_idx != cited
    return f"p. {page_idx + 1}, cited {(cited or 0) + 1}" if is_other else f"p. {page_idx + 1}"
