"""Citations and gold passages in a line: how sure, where, what differs. Pure; nothing here draws."""

from __future__ import annotations

from core.contracts.records import GoldSpan
from core.evidence.types import FoundSpan
from core.services.questions import CitationView
from core.ui import finding_words
from core.ui.words import lines

_STATUS = {"partial": "in part"}


def badge(view: CitationView, found: FoundSpan | None, *, on: str = "page") -> str:
    """A citation in a line: `1 · exact · p. 66`, `2 · fuzzy 0.97 · says 1/16, page says 1/32`.

    A page that is not the cited one stands beside it: `3 · exact · p. 13, cited 401`. `on` is what was looked
    at, "page" or "text": of a text the lines are told, `4 · exact · lines 12–14`.
    """
    citation = view.citation
    parts = [str(citation.number)]
    is_other = found is not None and found.page_mismatch
    if found is None:
        parts.append("not resolved" if not view.is_resolved and view.quote_from is None else "")
    else:
        parts.append(status_words(found, on=on))
    number = next((d for d in found.differences if d.kind == "number"), None) if found else None
    if number is not None:
        parts.append(f"says {number.quote or 'nothing'}, {on} says {number.page or 'nothing'}")
    page_idx = found.page_idx if found and found.page_idx is not None else citation.page_idx
    if on == "text":
        parts.append(lines(found.ranges) if found and found.ranges and number is None else "")
    elif page_idx is not None and (number is None or is_other):
        cited = f", cited {citation.page_idx + 1}" if is_other and citation.page_idx is not None else ""
        parts.append(f"p. {page_idx + 1}{cited}")
    if found is None and citation.doc_id:
        parts.append(citation.doc_id)
    if not view.is_retrieved:
        parts.append("not retrieved")
    return " · ".join(part for part in parts if part)


def gold_badge(span: GoldSpan, found: FoundSpan | None, *, number: int | None = None) -> str:
    """`gold · p. 66 · manual`; in a document without pages, once it is placed, `gold · line 12 · notes`.

    `number` tells several gold spans of one question apart.
    """
    page = "" if span.page_idx is None else f"p. {span.page_idx + 1}"
    place = lines(found.ranges) if found and found.ranges else page
    name = "gold" if number is None else f"gold {number}"
    return " · ".join(part for part in (name, place, span.doc_id) if part)


def status_words(found: FoundSpan, *, on: str = "page") -> str:
    """The locator's status as a person reads it, with the agreement where it is not whole."""
    if found.status == "not_found":
        return "not found on this page" if on == "page" else f"not found in the {on}"
    words = _STATUS.get(found.status, found.status)
    whole = found.status in ("exact", "normalized")
    agreed = found.agreement if whole else min(found.agreement, finding_words.MOST)
    return words if found.status == "exact" else f"{words} {agreed:.2f}"
