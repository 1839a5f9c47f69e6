"""The reranker `maxsim-1`: late interaction of the question's words with the words of single sentences.

Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction over
BERT" (SIGIR 2020): every word of the question looks for the word most similar to it, and the similarities are
summed (MaxSim). Here the words are those of the latent semantic space, weighted by rarity, and a text is as
good as its best sentence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from proofspan.contracts.records.records import Chunk
from proofspan.services.rerank.section_text import section_text
from tools.demo.analyzer import Analyzer
from tools.demo.corpus import Piece, sentences
from tools.demo.dense import Dense
from tools.demo.fuse import Hit, pinned_order
from tools.demo.lexical import DECIMALS, Scores

MODEL = "maxsim-1"
#: What the best sentence of the chunk counts for, and that of its section's text (1,500 characters of it).
WEIGHTS = {"sentence": 0.7, "section": 0.3}


class MaxSim:
    """Scores chunks for a question. `context` gives the words above a chunk, or none."""

    def __init__(
        self, pieces: Sequence[Piece], space: Dense, analyzer: Analyzer, context: Mapping[str, list[str]]
    ) -> None:
        self._space = space
        self._sentences = {
            piece.chunk_id: self._ids(
                [analyzer(f"{each.caption} {each.text}") for each in sentences(piece)],
                context[piece.chunk_id],
            )
            for piece in pieces
        }
        self._sections = {
            key: self._ids([analyzer(line) for line in text.split("\n")], [])
            for key, text in section_texts(pieces).items()
        }

    def _ids(self, texts: Sequence[list[str]], context: list[str]) -> list[list[int]]:
        """Each text as numbers of its words; texts without a known word are left out."""
        known = self._space.vocabulary
        numbered = [[known[word] for word in (*words, *context) if word in known] for words in texts]
        return [numbers for numbers in numbered if numbers]

    def rerank(self, words: Sequence[str], hits: Sequence[Hit]) -> list[Hit]:
        """The same candidates in the reranker's order, with what it saw as features."""
        if not (asked := sorted(set(words))):
            return list(hits)
        similar, weights = self._similar(asked)
        scored = []
        for hit in hits:
            sentence = _best(similar, weights, self._sentences[hit.chunk_id])
            section = _best(similar, weights, self._sections[hit.piece.doc_id, hit.section_id])
            score = round(WEIGHTS["sentence"] * sentence + WEIGHTS["section"] * section, DECIMALS)
            features = {**hit.features, "maxsim_sentence": sentence, "maxsim_section": section}
            scored.append(Hit(hit.piece, score, features, hit.source))
        return sorted(scored, key=pinned_order)

    def _similar(self, asked: Sequence[str]) -> tuple[Scores, Scores]:
        """How alike each word asked is to each known word, shape (asked, words), and the weights."""
        vectors = self._space.words
        rows = np.zeros((len(asked), vectors.shape[0]))
        for place, word in enumerate(asked):
            number = self._space.vocabulary.get(word)
            if number is not None:
                rows[place] = np.clip(vectors @ vectors[number], 0.0, 1.0)
                rows[place, number] = 1.0
        rarity = np.array([self._space.idf(word) for word in asked])
        return rows, rarity / rarity.sum()


def section_texts(pieces: Sequence[Piece]) -> dict[tuple[str, str], str]:
    """The text of each section by document and section, in the order and length that `section_text` gives."""
    groups: dict[tuple[str, str], list[Chunk]] = defaultdict(list)
    for piece in pieces:
        chunk = Chunk(piece.chunk_id, piece.text, page_idx=piece.page_idx, order_in_section=piece.order)
        groups[piece.doc_id, piece.section].append(chunk)
    return {key: section_text(chunks) for key, chunks in groups.items()}


def _best(similar: Scores, weights: Scores, texts: Sequence[Sequence[int]]) -> float:
    """Return the largest MaxSim of the texts, 0 to 1; 0 without texts."""
    if not texts:
        return 0.0
    starts = np.cumsum([0, *(len(text) for text in texts[:-1])])
    flat = np.concatenate([np.asarray(text) for text in texts])
    largest = np.maximum.reduceat(similar[:, flat], starts, axis=1)
    return round(float((weights @ largest).max()), DECIMALS)
