"""BM25 over the chunks, by the bm25s library.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009). The variant is pinned
("lucene": idf never below zero), as are k1 and b; scores are float64 and rounded before anything is ranked.
"""

from __future__ import annotations

from collections.abc import Sequence

import bm25s
import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]

PARAMETERS = {"method": "lucene", "k1": 1.2, "b": 0.75}
#: Decimals to which scores are rounded before they are compared: no processor's last bit decides a rank.
DECIMALS = 6


class Lexical:
    """The index. `texts` are analyzed already: one list of words a chunk."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._index = bm25s.BM25(**PARAMETERS, dtype="float64", backend="numpy")
        self._index.index([list(words) for words in texts], show_progress=False)
        self._known = frozenset(word for words in texts for word in words)
        self._count = len(texts)

    def scores(self, words: Sequence[str]) -> Scores:
        """BM25 of every chunk, shape (chunks,), at least 0; a word asked twice counts once."""
        asked = [word for word in dict.fromkeys(words) if word in self._known]
        if not asked:
            return np.zeros(self._count)
        return np.asarray(self._index.get_scores(asked), dtype=np.float64).round(DECIMALS)
