"""What the locator found, in words: the sentence above the page that is shown. Pure."""

from __future__ import annotations

from proofspan.evidence.types import FoundSpan
from proofspan.metrics.intervals import percent
from proofspan.services.questions import QuestionView
from proofspan.services.spans import PageView, Target
from proofspan.ui.difference_words import Quoted, figures, sentence
from proofspan.ui.safe import Piece
from proofspan.ui.words import counted, lines, sentence_start

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
    if target.layer == "gold":
        return "gold"
    cited = next((item for item in view.citations if f"cite:{item.citation.number}" == target.id), None)
    return cited.quote_from if cited else "chunk"


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
