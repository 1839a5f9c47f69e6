"""The card that hovering or focusing a box on the page shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from proofspan.metrics.statistics import percent
from proofspan.services.page.target import Target
from proofspan.services.page.view import PageView
from proofspan.ui.widgets.markup import clean
from proofspan.ui.wording.citation import sentence
from proofspan.wording import page_words, with_printed

#: Characters of text of all cards of a page together (there may be 2,000), of one at most and at least.
TEXT_CHARS, MOST_CHARS, LEAST_CHARS = 100_000, 5_000, 40
#: Differences that are listed; the rest is counted.
MAX_DIFFERENCES = 3
NOTE_CHARS = 300

UNVERIFIED = "unverified: no text of the page confirms it"


@dataclass(frozen=True, slots=True)
class SpanCard:
    """One box in words. `name` is `cited 1`, `status` how well it agrees, `notes` list what differs and more.

    `text` is the page's text under the box, else the quote; `cut` counts the characters left out of it.
    """

    name: str
    status: str
    notes: tuple[str, ...] = ()
    text: str = ""
    cut: int = 0


def cards_of(
    shown: PageView,
    targets: Iterable[Target],
    *,
    answer: str = "",
    origins: Mapping[str, str | None] | None = None,
) -> dict[str, SpanCard]:
    """Return a card for each span of the shown page, by `Target.id`.

    `origins` gives the source of a passage's text by id: "payload" or "gold", else a chunk.
    """
    known = {target.id: target for target in (*targets, shown.target)}
    drawn = [known[span.id] for span in shown.spans if span.id in known]
    chars = min(MOST_CHARS, max(LEAST_CHARS, TEXT_CHARS // max(1, len(drawn))))
    verified = {span.id: span.is_verified for span in shown.spans}
    cards = {}
    for target in drawn:
        found = shown.found.get(target.id)
        text = clean(shown.texts.get(target.id) or target.query.quote)
        agreed = percent(found.agreement) if found else ""
        statuses = {
            "exact": "exact: word for word",
            "normalized": "normalized: but for case, punctuation or hyphenation",
            "fuzzy": f"fuzzy: {agreed} agrees",
            "partial": f"in part: {agreed} of it",
            "not_found": "not found",
        }
        status = statuses[found.status] if found else ""
        ordered = sorted(found.differences, key=lambda each: each.kind != "number") if found else []
        quote_from, notes = (origins or {}).get(target.id), []
        for each in ordered[:MAX_DIFFERENCES]:
            pieces = sentence(each, target.query.quote, ordered, quote_from=quote_from, answer=answer)
            notes.append("".join(piece.text for piece in pieces))
        if rest := len(ordered) - len(notes):
            notes.append(f"And {rest:,} more.")
        cited = target.query.cited_page_idx
        if found and found.page_mismatch and cited is not None:
            notes.append(with_printed(f"Cited is {page_words(cited)}.", shown.labels))
        if target.section_id:
            notes.append(f"section {target.section_id}")
        if target.score is not None:
            notes.append(f"score {target.score:.3f}")
        cards[target.id] = SpanCard(
            name=clean(target.tag),
            status=status if verified[target.id] else UNVERIFIED,
            notes=tuple(clean(note)[:NOTE_CHARS] for note in notes),
            text=text[:chars],
            cut=max(0, len(text) - chars),
        )
    return cards
