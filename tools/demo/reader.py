"""The reader `quote-1`: it answers with sentences of the chunks it sees, word for word, or refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tools.demo.analyzer import Analyzer
from tools.demo.corpus import Piece, Sentence, sentences
from tools.demo.fuse import Hit

MODEL = "quote-1"
REFUSAL = "not in context"
#: How many chunks it sees.
SEEN = 5
#: Each rank further down costs so much of a sentence's score.
RANK_COST = 0.08
#: A second sentence is quoted where it is at least this good, as a share of the best.
ALSO = 0.7


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence that answers, and its chunk."""

    piece: Piece
    sentence: Sentence

    @property
    def text(self) -> str:
        """Its words."""
        return self.sentence.text

    @property
    def start(self) -> int:
        """Where it begins in the document's canonical text."""
        return self.piece.start + self.sentence.start


@dataclass(frozen=True, slots=True)
class Reader:
    """`needed` is the share of the question, by rarity of its words, that the best sentence has to hold.

    `analyzer` is the one that the chunks are indexed with, `idf` the rarity of a word, `context` the words
    above a chunk, which count as part of each of its sentences.
    """

    needed: float
    analyzer: Analyzer
    idf: Callable[[str], float]
    context: Callable[[Piece], Sequence[str]]

    def read(self, words: Sequence[str], hits: Sequence[Hit], *, seed: int = 0) -> list[Quote]:
        """One or two sentences of one section; none where even the best holds too little.

        With an odd `seed` the runner-up comes first.
        """
        asked = set(words)
        total = sum(self.idf(word) for word in sorted(asked))
        scored = [
            (round(self._share(asked, total, quote) * (1 - RANK_COST * rank), 6), rank, quote)
            for rank, hit in enumerate(hits[:SEEN])
            for quote in (Quote(hit.piece, sentence) for sentence in sentences(hit.piece))
        ]
        scored.sort(key=lambda item: (-item[0], item[1], item[2].sentence.start))
        if not scored or scored[0][0] < self.needed:
            return []
        best, _, first = scored[0]
        others = (
            quote
            for score, _, quote in scored[1:]
            if score >= ALSO * best
            and (quote.piece.doc_id, quote.piece.section) == (first.piece.doc_id, first.piece.section)
            and quote.text != first.text
        )
        second = next(others, None)
        quotes = [first] if second is None else [first, second]
        return quotes[::-1] if seed % 2 else quotes

    def _share(self, asked: set[str], total: float, quote: Quote) -> float:
        """The share of the question that the sentence, its table's caption and the headings above it hold."""
        words = self.analyzer(f"{quote.sentence.caption} {quote.text}")
        held = asked.intersection((*words, *self.context(quote.piece)))
        return sum(self.idf(word) for word in sorted(held)) / total if total else 0.0
