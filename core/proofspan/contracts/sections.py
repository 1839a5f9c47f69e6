"""Sections as their steps, so that "§ 5.4.2." of one producer is "5.4.2" of another."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

SectionKey = tuple[str, ...]

_NAMED = re.compile(r"^(?:§+|(?:section|sect?)\b)[\s.]*")


@lru_cache(maxsize=1 << 14)
def section_key(section_id: str | None) -> SectionKey:
    """A section as its steps, however it was written: "§ 5.4.2.", "Section 5.4.2" and "5.4.2" are one.

    A section lies in another when that one's steps begin its own, so 4.20 is no part of 4.2. Empty for none.
    """
    text = " ".join(unicodedata.normalize("NFKC", section_id or "").casefold().split())
    steps = (step.strip() for step in _NAMED.sub("", text).split("."))
    return tuple(step for step in steps if step)
