"""How much of a question's or an answer's content the evidence holds, rare words counting more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.triage.corpus import ChunkView, Corpus
from core.triage.words import is_content


@dataclass(frozen=True, slots=True)
class Content:
    """The content words of a text. `known` stand somewhere in the corpus; `total` and `lost` are rarities.

    `lost` is the share of those that stand nowhere in the corpus, and so in no evidence either.
    """

    known: tuple[str, ...]
    total: int
    lost: int


def content_of(words: Iterable[str], corpus: Corpus) -> Content:
    """The content words among distinct tokens, weighed."""
    rarity_of, unseen = corpus.rarity.get, corpus.unseen_rarity
    known = []
    total = lost = 0
    for word in words:
        rarity = rarity_of(word)
        if rarity:
            known.append(word)
            total += rarity
        elif rarity is None and is_content(word):
            lost += unseen
    return Content(tuple(known), total + lost, lost)


def missing_words(words: set[str], evidence: Sequence[ChunkView], corpus: Corpus) -> set[str]:
    """Those of the words that are a token of no chunk of the evidence."""
    nowhere = words.difference(corpus.rarity)
    if nowhere:
        words = words - nowhere
    for view in evidence:
        if not words:
            return nowhere
        words = words - view.words
    return words | nowhere


def coverage(content: Content, missing: set[str], corpus: Corpus) -> float | None:
    """The rarity-weighted share of the content that is not missing, in 0–1; None without content words."""
    if not content.total:
        return None
    lost = content.lost
    if missing:
        lost += sum([corpus.rarity[word] for word in content.known if word in missing])
    return round(1 - lost / content.total, 4)
