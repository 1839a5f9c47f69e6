"""Coverage: the share of a question's or an answer's content that the evidence has, weighted by rarity."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from proofspan.diagnosis.corpus import ChunkView, Survey
from proofspan.diagnosis.words import is_content


class Content(NamedTuple):
    """The content words of a text: `known` are in the corpus; `total` and `lost` are rarities.

    `nowhere` are the tokens, content or not, that no chunk of the corpus has; `lost` is their part of
    `total`.
    """

    known: list[str]
    nowhere: list[str]
    total: int
    lost: int


def content_of(words: Iterable[str], survey: Survey) -> Content:
    """Weigh the content words among distinct tokens, with one look-up per word, as this takes most time."""
    rarity_of = survey.rarity.get
    known, nowhere = [], []
    total = lost = 0
    for word in words:
        rarity = rarity_of(word)
        if rarity:
            known.append(word)
            total += rarity
        elif rarity is None:
            nowhere.append(word)
            if is_content(word):
                lost += survey.unseen
    return Content(known, nowhere, total + lost, lost)


def missing_words(words: set[str], evidence: Sequence[ChunkView]) -> set[str]:
    """Return the words that are a token of no chunk of the evidence."""
    for view in evidence:
        if not words:
            break
        words = words - view.words
    return words


def coverage(content: Content, missing: set[str], survey: Survey) -> float | None:
    """Return the rarity-weighted share of the content that is not missing, in 0–1; None without content."""
    if not content.total:
        return None
    lost = content.lost
    if missing:
        lost += sum([survey.rarity[word] for word in content.known if word in missing])
    return round(1 - lost / content.total, 4)
