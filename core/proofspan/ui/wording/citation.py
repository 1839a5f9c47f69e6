"""Citations and gold passages, a line each: how sure, where, what differs; one to be copied. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from proofspan.contracts.chunk_ids.redirects import Redirect
from proofspan.contracts.records.chunk_id import parse
from proofspan.contracts.records.records import GoldSpan
from proofspan.diagnosis.words import STOPWORDS
from proofspan.evidence.types import Difference, FoundSpan
from proofspan.metrics.statistics import percent
from proofspan.services.page.target import Target, cite_id
from proofspan.services.page.view import PageView
from proofspan.services.question.view import CitationView, QuestionView
from proofspan.store.files.located import EvidenceState
from proofspan.ui.widgets.markup import Kind, Piece, clean
from proofspan.ui.widgets.text import counted, lines, sentence_start

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
        number, place = item.citation.number, found.get(cite_id(item.citation.number))
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


# Ids of an earlier build in words: from where a redirect leads, and how sure it is. Pure.

#: So many characters of an id that follows no format are shown, its last ones.
ID_CHARS = 40
#: So many ids that one leads to are named; of more, the rest is counted.
NAMED = 3


def redirected(redirect: Redirect) -> str:
    """`redirected from …|s=4.2|p=042|b=003 (shift, 0.93)`."""
    return f"redirected from {short_id(redirect.old_id)} ({redirect.kind}, {redirect.confidence:.2f})"


def leading(redirect: Redirect) -> str:
    """`An id of an earlier build: it leads to …|s=4.2|p=042|b=003 (shift, 0.93).`"""
    names = [short_id(each) for each in redirect.new_ids[:NAMED]]
    more = len(redirect.new_ids) - NAMED
    ids = " and ".join([*names, *([f"{more:,} more"] if more > 0 else [])])
    return f"An id of an earlier build: it leads to {ids} ({redirect.kind}, {redirect.confidence:.2f})."


def short_id(chunk_id: str) -> str:
    """The part of an id that tells it from others of its document."""
    if parse(chunk_id) is not None:
        return "…" + clean(chunk_id[chunk_id.index("|s=") :])
    shown = clean(chunk_id)
    return shown if len(shown) <= ID_CHARS else "…" + shown[-ID_CHARS:]


# What differs between a quote and its page, in sentences: `The answer says 2.3 bar, the page says 2.5 bar.`
#
# Pure. A sentence names the answer only where the answer says that very figure; what the page says is given
# with its unit only where quote and page agree about that unit.

#: What may follow a figure in its phrase: a percent sign, degrees, a word such as bar, km/h or litre.
_UNIT = re.compile(r"[ \u00a0\u2009\u202f](%|°[CF]?(?!\w)|[^\W\d_]+(?:/[^\W\d_]+)*[²³]?(?!\w))")
#: Words of one or two letters that are no unit; longer ones are `STOPWORDS`.
_SHORT_WORDS = frozenset(
    "a am an as at be by do he if in is it me my no of on or so to up us we".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage that was looked for: its text, where that is from, the answer, and what was looked at.

    `origin` is "payload", "gold" or "chunk", `on` "page" or "text".
    """

    quote: str
    origin: str | None
    answer: str = ""
    on: str = "page"

    @property
    def speaker(self) -> str:
        """Who says it where the answer does not: `The quote`, `The gold quote`, `The chunk`."""
        return {"payload": "The quote", "gold": "The gold quote"}.get(self.origin or "", "The chunk")


def figures(differences: Sequence[Difference]) -> list[Difference]:
    """The figures that the page has otherwise: what a reader has to see first."""
    return [each for each in differences if each.kind == "number" and each.quote and each.page]


def sentence(difference: Difference, quoted: Quoted, others: Sequence[Difference] = ()) -> list[Piece]:
    """One difference; `others` are all of its quote, among which its unit may be."""
    said, page = difference.quote, difference.page
    unit = _unit(difference, quoted.quote, others) if said and page else ""
    speaker = quoted.speaker
    if said and unit and says(quoted.answer, f"{said} {unit}"):
        speaker = "The answer"
    elif said and says(quoted.answer, said):
        speaker, unit = "The answer", ""
    behind = [Piece(f" {unit}")] if unit else []
    if said and not page:
        return [Piece(f"{speaker} has "), Piece(said, "strong"), Piece(f", which the {quoted.on} has not.")]
    kind: Kind = "differs" if difference.kind == "number" else "strong"
    ours = [Piece(" says "), Piece(said, kind), *behind] if said else [Piece(" leaves out a word")]
    theirs = [Piece(f", the {quoted.on} says "), Piece(page, "strong"), *behind, Piece(".")]
    return [Piece(speaker), *ours, *theirs]


def says(text: str, words: str) -> bool:
    """Whether a text says these very words: not 11.4 or -1.4 or 1.45 or 1.4 % for 1.4."""
    spaced = r"\s+".join(re.escape(word) for word in words.split())
    return bool(spaced) and re.search(rf"(?<![\w.,/−–-]){spaced}(?![\w/%°]|[.,]\d|\s%)", text) is not None


def _unit(difference: Difference, quote: str, others: Sequence[Difference]) -> str:
    """The word behind a figure of the quote, where the page has it too; "" where that is not sure.

    The word agrees if it is part of no difference, and nothing stands on the page alone.
    """
    if any(not other.quote for other in others):
        return ""
    places = re.finditer(rf"(?<![\w.,/]){re.escape(difference.quote)}(?![\w/]|[.,]\d)", quote)
    behind = {match[1] if (match := _UNIT.match(quote, place.end())) else "" for place in places}
    unit = behind.pop() if len(behind) == 1 else ""
    is_filler = unit in _SHORT_WORDS or unit.lower() in STOPWORDS
    differs = any(unit in other.quote.split() for other in others)
    return "" if is_filler or differs else unit


# What the locator found, in words: the sentence above the page that is shown. Pure.

#: So many differing words or other pages are named; of more, the rest is counted.
MAX_NAMED = 12
#: So many figures that differ are put above everything else.
MAX_FIGURES = 3


def figure_pieces(view: PageView, *, answer: str, quote_from: str | None) -> list[list[Piece]]:
    """`The answer says 2.3 bar, the page says 2.5 bar.`: the best that can be said, so it is said first.

    Empty where no figure differs, and on another page than the passage's.
    """
    found = view.chosen
    if found is None or is_elsewhere(view):
        return []
    passage = quoted(view, answer=answer, quote_from=quote_from)
    return [sentence(each, passage, found.differences) for each in figures(found.differences)[:MAX_FIGURES]]


def quoted(view: PageView, *, answer: str, quote_from: str | None) -> Quoted:
    """The chosen passage as the one who speaks of what differs."""
    return Quoted(view.target.query.quote, quote_from, answer, "page" if view.text is None else "text")


def finding_pieces(view: PageView, *, answer: str, quote_from: str | None) -> list[Piece]:
    """What the locator says about the chosen passage: status, agreement, page, and what differs, in words.

    Of a passage that stands on another page than the shown one only that is said. The figures that
    `figure_pieces` tells are not told again.
    """
    found = view.chosen
    if found is None:
        return [Piece("There is no text to look for: the citation has no quote and its chunk is not known.")]
    if found.unverified_ranges and not view.target.query.quote.strip():
        where = lines(found.unverified_ranges)
        told = (
            "Unverified: the citation has no quote and its chunk is not known, so nothing can confirm that "
        )
        return [Piece(f"{told}it means {where}, where its offsets point.")]
    if is_elsewhere(view):
        return [Piece(_elsewhere(view, found, quote_from), "strong")]
    cited = view.target.query.cited_page_idx
    passage = quoted(view, answer=answer, quote_from=quote_from)
    pieces = [Piece(_status_sentence(found, quote_from, passage.on), "strong")]
    if found.ranges:
        pieces.append(Piece(f" It stands on {lines(found.ranges)}."))
    if found.page_mismatch and found.page_idx is not None and cited is not None:
        stands = f"the text stands on {_page_words(found.page_idx)}"
        pieces.append(Piece(f" Cited is {_page_words(cited)}; {stands}."))
    elif found.status == "not_found" and cited is not None and cited == view.page_idx:
        pieces.append(Piece(f" page_idx {cited} is shown because it is the cited one."))
    pieces += _further_differences(found, passage)
    if found.alternatives:
        pieces.append(Piece(f" The same text also stands on {_other_places(found)}.", "muted"))
    if found.note:
        is_finding = found.box_agrees is False
        pieces.append(Piece(f" {sentence_start(found.note)}.", "plain" if is_finding else "muted"))
    return pieces


def _further_differences(found: FoundSpan, passage: Quoted) -> list[Piece]:
    """What differs besides the figures that stand above."""
    above = figures(found.differences)[:MAX_FIGURES]
    further = [each for each in found.differences if each not in above]
    told = sorted(further, key=lambda each: each.kind != "number")[:MAX_NAMED]
    pieces = [piece for each in told for piece in (Piece(" "), *sentence(each, passage, found.differences))]
    rest = len(further) - len(told)
    return [*pieces, Piece(f" And {counted(rest, 'more difference')}.", "muted")] if rest else pieces


def is_elsewhere(view: PageView) -> bool:
    """Whether the chosen passage was found, and not on the page that is shown."""
    found = view.chosen
    if found is None or found.page_idx is None or view.page_idx is None:
        return False
    return view.page_idx not in (found.page_idx, *(place.page_idx for place in found.alternatives))


def origin(view: QuestionView, target: Target) -> str | None:
    """Where the text of a passage is from: the citation's payload, the gold question, a chunk."""
    if target.kind != "cited":
        return "gold" if target.kind == "gold" else "chunk"
    own = (item.quote_from for item in view.citations if item.citation.number == target.number)
    return next(own, None)


def _elsewhere(view: PageView, found: FoundSpan, quote_from: str | None) -> str:
    quote = sentence_start(_quote_words(quote_from))
    pages = [place.page_idx for place in found.continues]
    if view.page_idx in pages:
        return f"{quote} begins on PDF page {(found.page_idx or 0) + 1} and goes on here."
    return f"{quote} stands on PDF page {(found.page_idx or 0) + 1}, not on this page."


def _other_places(found: FoundSpan) -> str:
    """The other places that agree as well: `page_idx 3, 7`, or of a text `line 12, lines 40–41`."""
    places = found.alternatives[:MAX_NAMED]
    if found.ranges:
        return ", ".join(lines(place.ranges) for place in places)
    return "page_idx " + ", ".join(str(place.page_idx) for place in places)


def _status_sentence(found: FoundSpan, quote_from: str | None, on: str) -> str:
    """What the status says; `on` is what was looked at, a page or a text."""
    quote = _quote_words(quote_from)
    if found.unverified:
        return (
            f"Unverified: the page has no text that could confirm {quote}. Drawn is the citation's own box."
        )
    if found.status == "partial" and found.continues:
        pages = " and ".join(f"PDF page {place.page_idx + 1}" for place in found.continues)
        return f"Over the edge of the page: {quote} stands here and on {pages}{_but_for(found)}."
    there, this = ("on the page", "on this page") if on == "page" else ("in the text", "in this text")
    return {
        "exact": f"Exact: {quote} stands {there} word for word.",
        "normalized": f"Normalized: {quote} stands {there} but for case, punctuation or hyphenation.",
        "fuzzy": f"Fuzzy: {percent(found.agreement)} of {quote} agrees with the {on}.",
        "partial": f"Partial: {percent(found.agreement)} of {quote} stands {there}.",
        "not_found": f"Not found: {quote} does not stand {this}, so nothing is highlighted.",
    }[found.status]


def _but_for(found: FoundSpan) -> str:
    return f", {percent(found.agreement)} of it" if found.differences else ""


def _quote_words(quote_from: str | None) -> str:
    """What was looked for: the citation's own quote, the gold one, else the text of a chunk."""
    return {"payload": "the quote", "gold": "the gold quote"}.get(quote_from or "", "the chunk's text")


def _page_words(page_idx: int) -> str:
    return f"PDF page {page_idx + 1} (page_idx {page_idx})"


# What became of cited text on its pages, in words: toggles, their sentences, a row's cell. Pure.

_MEANING: Mapping[EvidenceState, str] = {
    "not_found": "Questions that cite text which stands nowhere in the document.",
    "numbers_differ": "Questions that cite a figure where the page has another one.",
    "page_mismatch": "Questions that cite text which stands on another page than the cited one.",
    "partial": "Questions with a citation of which the page holds only a part.",
    "fuzzy": "Questions that cite in words which differ from those on the page.",
    "not_placed": "Questions with a citation that could not be looked for: no document, or no quote.",
    "normalized": "Questions with a citation that stands on its page but for case, hyphens or quotes.",
    "exact": "Questions with a citation that stands on its page word for word.",
}
#: What a row says first; of the other states but `page_mismatch` nothing needs a look.
_WRONG: Mapping[EvidenceState, str] = {
    "not_found": "Cited text not found",
    "numbers_differ": "Wrong number",
}
#: Where the cited page is beside the right one, by how far the text is from it.
_BESIDE = {-1: "Cited page is one too high", 1: "Cited page is one too low"}


def evidence_meaning(state: EvidenceState) -> str:
    """What a toggle counts, in one sentence."""
    return _MEANING[state]


def wrong_text(states: Collection[str]) -> list[str]:
    """What is wrong with the words that a trace cites, worst first."""
    return [said for state, said in _WRONG.items() if state in states]


def besides(states: Collection[str], *, offset: int | None, omitted: int) -> list[str]:
    """What else of a trace's citations needs a look: their pages, and the warnings that they pass over.

    `offset` is the page where the text stands minus the cited one, None where that is not one and the same
    for all its citations on other pages. `omitted` counts the warnings of the cited sections that the answer
    may leave out.
    """
    said = []
    if "page_mismatch" in states:
        beside = _BESIDE.get(offset) if offset is not None else None
        said.append(beside or "Cited text on another page")
    if omitted:
        said.append("May omit a warning" if omitted == 1 else f"May omit {omitted:,} warnings")
    return said
