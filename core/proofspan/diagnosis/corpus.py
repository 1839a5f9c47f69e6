"""The chunks of a workspace prepared for triage: lower-case text, tokens and word rarity.

A `Corpus` belongs to one thread. Derived views are cached up to a bound, so that a corpus of any size can be
triaged.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from sys import intern
from typing import Any, NamedTuple

from proofspan.diagnosis.numbers import evidence_values
from proofspan.diagnosis.words import is_content, tokens
from proofspan.traces.records.redirects import redirects_of

#: Rarity is counted in thousandths and rounded, so that sums are exact in any order.
_RARITY_UNIT = 1000
#: Returns the distinct tokens of a chunk.
WordsOf = Callable[[str], Iterable[str]]


class ChunkView:
    """A chunk's text; in lower case, its tokens, and the values of its numbers once they are asked for.

    `known` returns the tokens where they are known already.
    """

    __slots__ = ("_known", "lower", "numbers", "text", "words")
    lower: str
    numbers: set[str]
    words: frozenset[str]

    def __init__(self, text: str, known: Callable[[], Iterable[str]] | None = None) -> None:
        self.text = text
        self._known = known

    def __getattr__(self, name: str) -> Any:
        """Fill a slot on first use: then it is read as quickly as any other."""
        value: object
        if name == "lower":
            value = self.text.lower()
        elif name == "words" and self._known is not None:
            value = frozenset(self._known())
        elif name == "words":
            # Copied from a set: a frozenset grown from a list reserves twice the memory. Interned, since most
            # words are in many chunks.
            value = frozenset(set(map(intern, tokens(self.text))))
        elif name == "numbers":
            value = evidence_values(self.text)
        else:
            raise AttributeError(name)
        setattr(self, name, value)
        return value

    @property
    def cost(self) -> int:
        """The approximate bytes of this view beyond the text itself, when all is filled in."""
        return 7 * len(self.text) + 600


#: The view of every id without a chunk; the reference reads it as an empty text.
UNRESOLVED = ChunkView("")


class _Views(dict[str, ChunkView]):
    """Chunk id → view, made on first use; the oldest half is dropped when the bound is reached."""

    def __init__(self, texts: Mapping[str, str], bound: int, words: WordsOf | None) -> None:
        super().__init__()
        self._texts = texts
        self._words = words
        self._bound = bound
        self._spent = 0

    def __missing__(self, chunk_id: str) -> ChunkView:
        text = self._texts.get(chunk_id)
        if text is None:
            return UNRESOLVED
        view = ChunkView(text, self._words and partial(self._words, chunk_id))
        self._spent += view.cost
        if self._spent > self._bound:
            for oldest in list(self):
                if self._spent <= self._bound // 2:
                    break
                self._spent -= self.pop(oldest).cost
        self[chunk_id] = view
        return view


class Survey(NamedTuple):
    """The rarity of the words of a corpus.

    `rarity` has every token: for a content word thousandths of ln(1 + (chunks + 1) / (chunks with it + 1)),
    which is positive even in a corpus of three chunks; 0 for all other tokens. `unseen` is the rarity of a
    word in no chunk.
    """

    rarity: dict[str, int]
    unseen: int


class Corpus:
    """Chunk texts by id with their derived views, of which `cache_bytes` bounds the cache.

    `former` are ids of earlier builds that also lead to texts. `survey` is that of these very texts, and
    `words` returns the distinct tokens of each, where they are known.
    """

    def __init__(
        self,
        chunks: Mapping[str, str],
        *,
        cache_bytes: int = 400_000_000,
        survey: Survey | None = None,
        words: WordsOf | None = None,
    ) -> None:
        self.texts = chunks
        self.former = frozenset(redirects_of(chunks))
        self.views: Mapping[str, ChunkView] = _Views(chunks, cache_bytes, words)
        if survey is not None:
            self.survey = survey

    @cached_property
    def survey(self) -> Survey:
        """The corpus's words, surveyed in one pass over all chunks on first use."""
        counts: Counter[str] = Counter()
        for chunk_id in self.texts:
            counts.update(self.views[chunk_id].words)
        return survey_of(counts, len(self.texts))


def survey_of(counts: Mapping[str, int], chunks: int) -> Survey:
    """Return the survey of a number of chunks; `counts` has in how many of them each token is."""
    by_count = {count: _rarity_of(count, chunks) for count in set(counts.values())}
    rarity = {word: by_count[n] if is_content(word) else 0 for word, n in counts.items()}
    return Survey(rarity, _rarity_of(0, chunks))


def _rarity_of(count: int, chunks: int) -> int:
    return round(_RARITY_UNIT * math.log(1 + (chunks + 1) / (count + 1)))


# Coverage: the share of a question's or an answer's content that the evidence has, weighted by rarity.


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
