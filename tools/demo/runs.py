"""The six settings of the sprint, and one question's way through the pipeline under such a setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from tools.demo.analyzer import PINNED, WITHOUT_PLURALS, Analyzer, everyday_words, in_the_manuals_words
from tools.demo.corpus import Piece
from tools.demo.dense import Dense, unit_rows
from tools.demo.fuse import Hit, fuse, ranked, union
from tools.demo.lexical import Lexical
from tools.demo.reader import SEEN, Quote, Reader
from tools.demo.rerank import MaxSim

Stage = Literal["bm25", "dense", "fuse", "rerank", "read"]
Lap = Callable[[Stage], None]

#: Paraphrases and seeds of a run that is asked for its stability; other runs have the first of each.
PARAPHRASES, SEEDS = range(3), range(2)


@dataclass(frozen=True, slots=True)
class Setting:
    """One run. `reads_with` is the analyzer of the questions, `titles` whether headings are indexed too.

    With `everyday` the manual's words are added to what a driver says. `needed` is the reader's threshold,
    `stages` are what runs in this order.
    """

    run_id: str
    ts: str
    title: str
    kind: str
    stages: tuple[Stage, ...]
    baseline: str | None = None
    titles: bool = False
    everyday: bool = False
    needed: float = 0.3
    reads_with: Analyzer = PINNED
    is_stability: bool = False

    @property
    def variants(self) -> list[tuple[int, int]]:
        """Every (paraphrase, seed) of the run."""
        if not self.is_stability:
            return [(0, 0)]
        return [(paraphrase, seed) for paraphrase in PARAPHRASES for seed in SEEDS]

    def before_faults(self) -> Setting:
        """The same run as it was meant: questions are read with the analyzer of the index."""
        return replace(self, reads_with=PINNED)


HYBRID: tuple[Stage, ...] = ("bm25", "dense", "fuse")
RERANKED: tuple[Stage, ...] = (*HYBRID, "rerank")

SETTINGS = (
    Setting("R001", "2026-02-23T10:00:00Z", "BM25", "baseline", ("bm25",)),
    Setting("R002", "2026-02-24T10:00:00Z", "dense (LSA)", "recall", ("dense",), "R001"),
    Setting("R003", "2026-02-25T10:00:00Z", "hybrid (BM25 and LSA, RRF)", "recall", HYBRID, "R001"),
    Setting("R004", "2026-02-26T10:00:00Z", "hybrid + rerank", "rerank", RERANKED, "R003", is_stability=True),
    Setting(
        "R005",
        "2026-02-26T18:00:00Z",
        "hybrid + rerank, with declared faults",
        "rerank",
        RERANKED,
        "R004",
        reads_with=WITHOUT_PLURALS,
    ),
    Setting(
        "R006",
        "2026-02-27T10:00:00Z",
        "hybrid + rerank, fixed; section titles indexed, everyday words understood",
        "rerank",
        RERANKED,
        "R004",
        titles=True,
        everyday=True,
        is_stability=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The pipeline's result for one wording and seed. Lists that its setting does not make are empty.

    `ranking` is the last list made, `seen` its head that the reader saw.
    """

    q: str
    retrieved: Sequence[Hit] = ()
    fused: Sequence[Hit] = ()
    reranked: Sequence[Hit] = ()
    quotes: Sequence[Quote] = ()
    stress: float = 1.0

    @property
    def ranking(self) -> Sequence[Hit]:
        """The last list made."""
        return self.reranked or self.fused or self.retrieved

    @property
    def before(self) -> Sequence[Hit]:
        """The list that the last step, or the reader, took its candidates from."""
        return self.fused or self.retrieved

    @property
    def seen(self) -> Sequence[Hit]:
        """Return the candidates that the reader saw."""
        return self.ranking[:SEEN]


class Index:
    """All that is written before the first question; with `titles`, headings count as text of chunks."""

    def __init__(self, pieces: Sequence[Piece], *, titles: bool) -> None:
        self.pieces = pieces
        above = {piece.chunk_id: PINNED(" ".join(piece.titles)) if titles else [] for piece in pieces}
        texts = [above[piece.chunk_id] + PINNED(piece.text) for piece in pieces]
        self.lexical = Lexical(texts)
        self.dense = Dense(texts)
        self.maxsim = MaxSim(pieces, self.dense, PINNED, above)
        self.above = above
        self._vectors = dict(zip((piece.chunk_id for piece in pieces), self.dense.chunks, strict=True))

    def stress(self, words: Sequence[str], seen: Sequence[Hit]) -> float:
        """ΔS: 1 − cosine of the question and the mean of the chunks seen, 4 decimals; 1 without either."""
        if not seen:
            return 1.0
        mean = unit_rows(sum(self._vectors[hit.chunk_id] for hit in seen).reshape(1, -1))[0]
        return round(1.0 - float(mean @ self.dense.vector(words)), 4)


@dataclass(frozen=True)
class Pipeline:
    """A setting over an index."""

    setting: Setting
    index: Index

    def answer(self, q: str, seed: int = 0, *, lap: Lap = lambda stage: None) -> Outcome:
        """One question from its words to its quotes; `lap` is called behind each stage that has run."""
        words = self._words(q)
        retrieved, fused = self._retrieve(words, lap)
        reranked: Sequence[Hit] = ()
        if "rerank" in self.setting.stages:
            reranked = self.index.maxsim.rerank(words, fused)
            lap("rerank")
        ranking = Outcome(q, retrieved, fused, reranked)
        quotes = self._reader.read(words, ranking.seen, seed=seed)
        lap("read")
        stress = self.index.stress(words, ranking.seen)
        return Outcome(q, retrieved, fused, reranked, quotes, stress)

    def _words(self, q: str) -> list[str]:
        """The question as the read path understands it."""
        words = self.setting.reads_with(q)
        if not self.setting.everyday:
            return words
        return in_the_manuals_words(words, self._everyday, self.index.dense.vocabulary)

    @cached_property
    def _everyday(self) -> dict[str, list[str]]:
        return everyday_words()

    def _retrieve(self, words: Sequence[str], lap: Lap) -> tuple[Sequence[Hit], Sequence[Hit]]:
        """Retrieve, and fuse if both rankers ran."""
        found: dict[str, list[Hit]] = {}
        for name, ranker in (("bm25", self.index.lexical), ("dense", self.index.dense)):
            if name in self.setting.stages:
                found[name] = ranked(self.index.pieces, ranker.scores(words), source=name)
                lap("bm25" if name == "bm25" else "dense")
        if "fuse" not in self.setting.stages:
            return next(iter(found.values())), ()
        fused = fuse(found["bm25"], found["dense"])
        lap("fuse")
        return union(found["bm25"], found["dense"]), fused

    @cached_property
    def _reader(self) -> Reader:
        above = self.index.above
        return Reader(self.setting.needed, PINNED, self.index.dense.idf, lambda piece: above[piece.chunk_id])
