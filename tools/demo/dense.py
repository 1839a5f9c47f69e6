"""Latent semantic analysis: TF-IDF and a truncated singular value decomposition, by scikit-learn.

Deerwester et al., "Indexing by Latent Semantic Analysis" (1990). It is called what it is, `lsa-128`, and no
embedding model. ARPACK starts from a fixed vector, and cosines are rounded before anything is ranked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tools.demo.lexical import DECIMALS, Scores

DIMENSIONS = 128
MODEL = f"lsa-{DIMENSIONS}"
PARAMETERS = {
    "tfidf": {"sublinear_tf": True, "smooth_idf": True, "norm": "l2"},
    "svd": {"algorithm": "arpack", "n_components": DIMENSIONS, "random_state": 0, "tol": 0.0},
}
#: Decimals of the matrix that its hash is taken of.
HASHED_DECIMALS = 4


class Dense:
    """The latent space of the chunks. `texts` are analyzed already: one list of words a chunk."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        # Importing scikit-learn takes seconds, and few who import this module ask for vectors.
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._tfidf = TfidfVectorizer(analyzer=list, dtype=np.float64, **PARAMETERS["tfidf"])
        self._svd = TruncatedSVD(**PARAMETERS["svd"])
        #: one unit vector a chunk, shape (chunks, dimensions)
        self.chunks = unit_rows(self._svd.fit_transform(self._tfidf.fit_transform(texts)))
        self.vocabulary: dict[str, int] = self._tfidf.vocabulary_
        self._rarest = float(np.log(1 + len(texts)) + 1)
        weighted = self._svd.components_.T * self._svd.singular_values_
        #: one unit vector a word, shape (words, dimensions)
        self.words = unit_rows(weighted)
        self._vectors: dict[tuple[str, ...], Scores] = {}

    def vector(self, words: Sequence[str]) -> Scores:
        """The unit vector of a text, shape (dimensions,), made once; all zero where no word is known."""
        key = tuple(words)
        if key not in self._vectors:
            self._vectors[key] = unit_rows(self._svd.transform(self._tfidf.transform([words])))[0]
        return self._vectors[key]

    def scores(self, words: Sequence[str]) -> Scores:
        """Cosine of every chunk with the question, shape (chunks,), in -1 … 1."""
        cosines: Scores = (self.chunks @ self.vector(words)).round(DECIMALS)
        return cosines

    def idf(self, word: str) -> float:
        """Rarity of a word; one that no chunk holds is as rare as can be."""
        number = self.vocabulary.get(word)
        return self._rarest if number is None else float(self._tfidf.idf_[number])

    def hashes(self) -> dict[str, str]:
        """sha256 of the sorted vocabulary, and of the matrix rounded so that a last bit is no change."""
        words = "\n".join(sorted(self.vocabulary)).encode()
        matrix = np.asarray(self._svd.components_, dtype="<f8").round(HASHED_DECIMALS) + 0.0
        return {
            "vocabulary": "sha256:" + hashlib.sha256(words).hexdigest(),
            "components": "sha256:" + hashlib.sha256(matrix.tobytes()).hexdigest(),
        }


def unit_rows(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Each row at length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
