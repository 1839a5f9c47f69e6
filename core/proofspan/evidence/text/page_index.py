"""Find the pages of a document that may hold a quote, without aligning it with every one of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Protocol

from proofspan.evidence.text.page_text import PageText
from proofspan.evidence.text.token_pairs import weight
from proofspan.evidence.text.tokens import Tokens

#: Pages with less than this share of the quote's words, by weight and rarity, are skipped.
PAGE_SHARE = 0.35
MAX_PAGES = 8
#: Even a busy machine reads this many pages within half of a request's time limit.
MAX_SEARCHED = 2_000
GRID = 500


def searched(page_count: int, cited: int | None) -> range:
    """Return the pages that are searched for a quote: all, of a long document those around the cited page.

    They begin on a grid, so that quotes of neighbouring pages share an index.
    """
    around = ((cited or 0) - MAX_SEARCHED // 2) // GRID * GRID + GRID // 2
    start = max(0, min(around, page_count - MAX_SEARCHED))
    return range(start, min(start + MAX_SEARCHED, page_count))


def share_of_words(quote: Tokens, page: Tokens) -> float:
    """Return how much of the quote's words, by weight, a page holds in any order, 0–1."""
    requested = Counter(quote.keys)
    shared = requested & Counter(page.keys)
    total, held = (sum(weight(key) * count for key, count in each.items()) for each in (requested, shared))
    return held / total if total else 0.0


class WordIndex:
    """The letters of the pages from `start` on, and for every token the pages that hold it (ascending)."""

    def __init__(self, pages: Iterable[PageText] = (), start: int = 0) -> None:
        self._start = start
        self._squeezed: list[str] = []
        self._postings: dict[str, list[int]] = defaultdict(list)
        for page_idx, page in enumerate(pages, start):
            self._squeezed.append(page.tokens.squeezed)
            for key in set(page.tokens.keys):
                self._postings[key].append(page_idx)

    def with_letters(self, quote: Tokens) -> list[int]:
        """Return the pages that hold the quote letter by letter, ascending."""
        pages = enumerate(self._squeezed, self._start)
        return [page_idx for page_idx, text in pages if quote.squeezed in text]

    def with_words(self, quote: Tokens, *, share: float = PAGE_SHARE) -> list[int]:
        """Return the pages that hold most of the quote's words, rare ones counting more, best first.

        They hold at least `share` of the words, by weight and rarity.
        """
        scores: dict[int, float] = defaultdict(float)
        total = 0.0
        for key in sorted(set(quote.keys)):
            pages = self._postings.get(key, [])
            value = weight(key) * math.log(1 + len(self._squeezed) / max(1, len(pages)))
            total += value
            for page_idx in pages:
                scores[page_idx] += value
        held = [page_idx for page_idx, score in scores.items() if score >= share * total]
        return sorted(held, key=lambda page_idx: (-scores[page_idx], page_idx))[:MAX_PAGES]


class Pages(Protocol):
    """A document that quotes are located in. A page that cannot be read has no words."""

    @property
    def page_count(self) -> int:
        """Number of pages."""

    def page_text(self, page_idx: int) -> PageText:
        """Return the words of one page of the document."""

    def word_index(self, pages: range) -> WordIndex:
        """Return the index over these pages, built on first use."""
