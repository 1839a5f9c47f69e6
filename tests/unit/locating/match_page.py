"""A page of a manual for the tests of matching."""

from __future__ import annotations

from proofspan.evidence.text.match import Match, find_on_page
from tests.pdf_files import page_text, quote_text

BRAKES = (
    "Check the level of the brake fluid every 10,000 km or once a year.",
    "Top up with DOT 4 fluid only; never mix it with mineral oil.",
    "The reservoir holds 2.5 litres, of which -0.5 litres are reserve.",
    "If the level falls below MIN by 15% within a month, have the sys-",
    "tem inspected for leaks by an authorised workshop at once.",
)


def only(text: str, *lines: str) -> Match:
    """The one match of a quote on a page."""
    (match,) = find_on_page(quote_text(text), page_text(*(lines or BRAKES)))
    return match
