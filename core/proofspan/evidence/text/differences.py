"""List the words in which a quote and a page differ; `number` differences are misquoted figures."""

from __future__ import annotations

from proofspan.evidence.text.align import Alignment
from proofspan.evidence.text.page_text import PageText, QuoteText
from proofspan.evidence.text.token_pairs import Unit
from proofspan.evidence.text.tokens import Tokens
from proofspan.evidence.types import Difference

MAX_DIFFERENCES = 40
MAX_SHOWN = 200


def differences(quote: QuoteText, page: PageText, alignment: Alignment) -> tuple[Difference, ...]:
    """Return the words that differ, numbers first, else in the quote's order, with its missing ends."""
    units = [unit for unit in alignment.units if unit.likeness < 1.0]
    (start, end), (p0, p1) = alignment.quote, alignment.page
    if start > 0:
        units.insert(0, Unit((0, start), (p0, p0), 0.0))
    if end < len(quote.tokens):
        units.append(Unit((end, len(quote.tokens)), (p1, p1), 0.0))
    listed = [_difference(quote, page, unit) for unit in units]
    listed.sort(key=lambda difference: difference.kind != "number")
    return tuple(listed[:MAX_DIFFERENCES])


def end_missing(quote: QuoteText, tokens: tuple[int, int]) -> Difference:
    """Return the difference of an end of the quote that is not on the page."""
    return _difference(quote, None, Unit(tokens, (0, 0), 0.0))


def _difference(quote: QuoteText, page: PageText | None, unit: Unit) -> Difference:
    (q0, q1), (p0, p1) = unit.quote, unit.page
    ours = quote.text_of(q0, q1) if q1 > q0 else ""
    number, digits, theirs = any(quote.tokens.is_number[q0:q1]), "", ""
    if page is not None and p1 > p0:
        theirs = page.text_of(p0, p1)
        number = number or any(page.tokens.is_number[p0:p1])
        digits = digits_of(page.tokens.part(p0, p1))
        if ours == theirs:
            ours, theirs = _with_currency(ours, quote.tokens, q0), _with_currency(theirs, page.tokens, p0)
    number = number or digits_of(quote.tokens.part(q0, q1)) != digits
    return Difference(_short(ours), _short(theirs), "number" if number else "word")


def _with_currency(text: str, tokens: Tokens, token: int) -> str:
    """A figure with its currency sign, where that is a word of its own."""
    sign = tokens.currencies[token]
    return text if sign in text else f"{sign} {text}"


def digits_of(text: str) -> str:
    """Return the digits of a text: a figure joined to its unit (100Nm) is no number token."""
    return "".join(character for character in text if character.isdigit())


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
