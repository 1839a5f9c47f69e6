"""Words as an index knows them. An analyzer's name says all that it does, so that two can be compared."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

STOPWORDS = frozenset(
    {"a", "about", "after", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "did"}
    | {"do", "does", "for", "from", "get", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it"}
    | {
        "its",
        "just",
        "many",
        "may",
        "me",
        "much",
        "must",
        "my",
        "need",
        "of",
        "on",
        "or",
        "should",
        "so",
        "than",
        "that",
    }
    | {"the", "their", "then", "there", "they", "this", "to", "was", "we", "what", "when", "where", "which"}
    | {"while", "who", "why", "will", "with", "would", "you", "your"}
)
_WORD = re.compile(r"[a-z0-9]+(?:[.,][0-9]+)*")


@dataclass(frozen=True, slots=True)
class Analyzer:
    """Lower case, letters without their accents, no stop words; with `folds_plural` no final s either."""

    folds_plural: bool

    @property
    def name(self) -> str:
        """Return its name in payloads and manifests."""
        return "lowercase+ascii_fold" + ("+plural_s" if self.folds_plural else "") + "+stopwords"

    def __call__(self, text: str) -> list[str]:
        """The words in order. Text in a script without Latin letters has none."""
        folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
        words = (word for word in _WORD.findall(folded) if word not in STOPWORDS)
        return [self._stem(word) for word in words]

    def _stem(self, word: str) -> str:
        plural = self.folds_plural and len(word) > 3 and word.endswith("s") and not word.endswith("ss")
        return word[:-1] if plural else word


#: What every index is written with, and every read path but one.
PINNED = Analyzer(folds_plural=True)
#: The read path of the run that forgot a step: its "doors" is no word of the index.
WITHOUT_PLURALS = Analyzer(folds_plural=False)

EVERYDAY_FILE = Path(__file__).parent / "everyday.yaml"
EVERYDAY = "everyday-1"


def everyday_words() -> dict[str, list[str]]:
    """Return the manual's words by the driver's word, both as in the index."""
    listed: Mapping[str, str] = yaml.safe_load(EVERYDAY_FILE.read_text(encoding="utf-8"))
    return {word: PINNED(meant) for everyday, meant in listed.items() for word in PINNED(everyday)}


def in_the_manuals_words(
    words: Sequence[str], everyday: Mapping[str, Sequence[str]], known: Container[str]
) -> list[str]:
    """The question's words, each everyday word followed by what is meant; it goes where no chunk holds it."""
    found: list[str] = []
    for word in words:
        meant = everyday.get(word, ())
        found += [*([word] if word in known or not meant else []), *meant]
    return list(dict.fromkeys(found))
