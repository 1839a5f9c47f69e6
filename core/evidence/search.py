"""Which pages of a document may hold a quote, without aligning it with every one of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from core.evidence.pagetext import PageText
from core.evidence.tokens import Tokens
from core.evidence.units import weight

#: Pages that hold less than this of the quote's words, by weight and rarity, are not looked at.
PAGE_SHARE = 0.35
MAX_PAGES = 8


def share_of_words(quote: Tokens, page: Tokens) -> float:
    """How much of the quote's words, by weight, a page holds in any order, 0–1."""
    held, total, found = Counter(page.keys), 0.0, 0.0
    for key, count in Counter(quote.keys).items():
        total += weight(key) * count
        found += weight(key) * min(count, held[key])
    return found / total if total else 0.0


@dataclass(frozen=True, slots=True)
class WordIndex:
    """Every page's letters, and for every token the pages that hold it (ascending)."""

    squeezed: tuple[str, ...]
    postings: dict[str, list[int]]

    @classmethod
    def of(cls, pages: Iterable[PageText]) -> WordIndex:
        """The index of a whole document."""
        squeezed: list[str] = []
        postings: dict[str, list[int]] = defaultdict(list)
        for page_idx, page in enumerate(pages):
            squeezed.append(page.tokens.squeezed)
            for key in set(page.tokens.keys):
                postings[key].append(page_idx)
        return cls(tuple(squeezed), dict(postings))

    def with_letters(self, quote: Tokens) -> list[int]:
        """The pages that hold the quote letter by letter, ascending."""
        return [page_idx for page_idx, text in enumerate(self.squeezed) if quote.squeezed in text]

    def with_words(self, quote: Tokens) -> list[int]:
        """The pages that hold most of the quote's words, rare ones counting more, best first."""
        count = len(self.squeezed)
        scores: dict[int, float] = defaultdict(float)
        total = 0.0
        for key in sorted(set(quote.keys)):
            pages = self.postings.get(key, [])
            value = weight(key) * math.log(1 + count / max(1, len(pages)))
            total += value
            for page_idx in pages:
                scores[page_idx] += value
        ranked = sorted(
            (-score, page_idx) for page_idx, score in scores.items() if score >= PAGE_SHARE * total
        )
        return [page_idx for _, page_idx in ranked[:MAX_PAGES]]
