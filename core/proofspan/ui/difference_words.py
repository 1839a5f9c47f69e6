"""What differs between a quote and its page, in sentences: `The answer says 2.3 bar, the page says 2.5 bar.`

Pure. A sentence names the answer only where the answer says that very figure; what the page says is given
with its unit only where quote and page agree about that unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from proofspan.diagnosis.words import STOPWORDS
from proofspan.evidence.types import Difference
from proofspan.ui.safe import Kind, Piece

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
