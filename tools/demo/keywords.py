"""The hand-picked index: keywords, their sub-entries and the sections on whose pages they are explained."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parent / "manual" / "index.yaml"


@dataclass(frozen=True, slots=True)
class Keyword:
    """A line of the index: words and the sections it names; `sub` if it is listed below its keyword."""

    words: str
    sections: tuple[str, ...] = ()
    sub: bool = False

    @property
    def initial(self) -> str:
        """Return the letter under which it is listed."""
        return "0–9" if self.words[0].isdigit() else self.words[0].upper()


def read_keywords(path: Path = FILE) -> list[tuple[Keyword, ...]]:
    """The index's entries in the alphabet's order, each with its sub-entries behind it.

    Everything is read as text: 10.10 is a section and no number.
    """
    listed: Mapping[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)  # noqa: S506
    return [_entry(words, listed[words]) for words in sorted(listed, key=_key)]


def labels_of(keyword: Keyword, pages: Mapping[str, int], label: Callable[[int], str]) -> str:
    """The page labels of a keyword's sections, each once. ValueError for a section that is not there."""
    missing = [section for section in keyword.sections if section not in pages]
    if missing:
        raise ValueError(f"the index sends {keyword.words!r} to sections that do not exist: {missing}")
    return ", ".join(label(page) for page in sorted({pages[section] for section in keyword.sections}))


def _entry(words: str, value: Any) -> tuple[Keyword, ...]:
    if isinstance(value, Mapping):
        subs = (Keyword(sub, _sections(value[sub]), sub=True) for sub in sorted(value, key=_key))
        return Keyword(words), *subs
    return (Keyword(words, _sections(value)),)


def _sections(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _key(words: str) -> tuple[bool, str]:
    """Its place in the alphabet: figures first, case and signs ignored."""
    return not words[0].isdigit(), "".join(char for char in words.casefold() if char.isalnum() or char == " ")
