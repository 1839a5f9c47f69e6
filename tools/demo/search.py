"""A small, honest search: BM25 over the chunks, a rerank by word pairs, and a reader that only quotes.

Nothing is learnt and nothing is random, so a run can be made again to the byte. Robertson and Zaragoza, "The
Probabilistic Relevance Framework: BM25 and Beyond" (2009), section 3.2, with k1 = 1.2 and b = 0.75.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tools.demo.corpus import Piece, sentences

ANALYZER = "lowercase+ascii_fold+plural_s+stopwords"
K1, B = 1.2, 0.75
STOPWORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "have", "how", "i"}
    | {"if", "in", "is", "it", "may", "much", "my", "of", "off", "on", "or", "that", "the", "this", "to"}
    | {"what", "when", "which", "with", "you", "your"}
)


def tokens(text: str) -> list[str]:
    """Words as the index knows them."""
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = (
        word[:-1] if len(word) > 3 and word.endswith("s") else word
        for word in re.findall(r"[a-z0-9]+", folded)
    )
    return [word for word in words if word not in STOPWORDS]


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that was found, with the scores that put it there."""

    piece: Piece
    bm25: float
    pairs: float = 0.0

    @property
    def score(self) -> float:
        """What the list is ordered by: word pairs count as much as half of BM25 again."""
        return self.bm25 * (1.0 + 0.5 * self.pairs)


class Index:
    """BM25 over chunk texts; with `titles`, the section's title counts as text too."""

    def __init__(self, pieces: Sequence[Piece], *, titles: bool) -> None:
        self.pieces = pieces
        self.bags = [
            Counter(tokens(f"{piece.title} {piece.text}" if titles else piece.text)) for piece in pieces
        ]
        self.lengths = [sum(bag.values()) for bag in self.bags]
        self.mean_length = sum(self.lengths) / len(self.lengths)
        self.frequency = Counter(word for bag in self.bags for word in bag)

    def idf(self, word: str) -> float:
        """Rarity of a word; a word that no chunk holds is the rarest."""
        seen = self.frequency[word]
        return math.log(1 + (len(self.bags) - seen + 0.5) / (seen + 0.5))

    def search(self, question: str, *, limit: int) -> list[Hit]:
        """The best chunks that hold at least one word of the question; ties by chunk id."""
        words = set(tokens(question))
        hits = [Hit(piece, self._bm25(words, number)) for number, piece in enumerate(self.pieces)]
        found = [hit for hit in hits if hit.bm25 > 0]
        return sorted(found, key=lambda hit: (-round(hit.bm25, 6), hit.piece.section, hit.piece.chunk_id))[
            :limit
        ]

    def _bm25(self, words: set[str], number: int) -> float:
        bag, length = self.bags[number], self.lengths[number] / self.mean_length
        return sum(
            self.idf(word) * bag[word] * (K1 + 1) / (bag[word] + K1 * (1 - B + B * length))
            for word in sorted(words)
            if bag[word]
        )

    def stress(self, question: str, hits: Sequence[Hit]) -> float:
        """ΔS as this pipeline logs it: share of the question's words, by rarity, that its evidence lacks."""
        words = sorted(set(tokens(question)))
        held = {word for hit in hits for word in tokens(hit.piece.text)}
        total = sum(self.idf(word) for word in words)
        return round(sum(self.idf(word) for word in words if word not in held) / total, 4) if total else 1.0


def rerank(question: str, hits: Sequence[Hit], *, limit: int) -> list[Hit]:
    """Reorders by the share of the question's neighbouring words that stand together in a sentence."""
    wanted = _pairs(tokens(question))
    scored = [Hit(hit.piece, hit.bm25, _share(wanted, hit.piece)) for hit in hits]
    return sorted(scored, key=lambda hit: (-round(hit.score, 6), hit.piece.section, hit.piece.chunk_id))[
        :limit
    ]


def _pairs(words: Sequence[str]) -> set[tuple[str, str]]:
    return set(pairwise(words))


def _share(wanted: set[tuple[str, str]], piece: Piece) -> float:
    if not wanted:
        return 0.0
    held = {word for sentence in sentences(piece.text) for word in _pairs(tokens(sentence))}
    return len(wanted & held) / len(wanted)


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that answers, and the chunk it stands in. `start` counts in the chunk's text."""

    piece: Piece
    text: str
    start: int


def read(index: Index, question: str, hits: Sequence[Hit], *, needed: float) -> list[Quote]:
    """The sentences that hold most of the question's words; none when even the best holds too few.

    `needed` is the share of the question's words, by rarity, below which the reader refuses. At most two
    sentences, both of the same chunk.
    """
    words = set(tokens(question))
    total = sum(index.idf(word) for word in sorted(words))
    scored = [
        (
            sum(index.idf(word) for word in sorted(words & set(tokens(f"{hit.piece.title} {text}")))),
            -rank,
            text,
            hit,
        )
        for rank, hit in enumerate(hits)
        for text in sentences(hit.piece.text)
    ]
    if not scored:
        return []
    best, rank, text, hit = max(scored, key=lambda item: (round(item[0], 6), item[1]))
    if best < needed * total:
        return []
    also = [
        other for score, place, other, _ in scored if place == rank and other != text and score >= 0.8 * best
    ]
    return [Quote(hit.piece, chosen, hit.piece.text.index(chosen)) for chosen in [text, *also[:1]]]
