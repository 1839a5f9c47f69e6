"""A section as one text: what a reranker reads. Pure. Source: sprint plan (docs/requirements.md), D2."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from proofspan.contracts.records.records import Chunk

#: The longest text in characters, and the shortest piece of a chunk that a cut may leave.
MAX_CHARS, MIN_FRAGMENT = 1500, 50


def section_text(
    chunks: Iterable[Chunk], *, max_chars: int = MAX_CHARS, min_fragment: int = MIN_FRAGMENT
) -> str:
    """Return the chunks' texts in reading order, joined by line breaks, at most `max_chars` characters.

    Order: `page_idx`, `order_in_section`, `chunk_id`. A chunk without a page comes after those with one, a
    chunk without an order after those of its page that have one; among chunks without an order, the start of
    their offsets decides before the id does, those without offsets last. Equal keys go by text, so that the
    order in which the chunks come never matters.

    What is too long is cut at white space, which goes too. The piece of a chunk that the cut leaves is left
    out where it is shorter than `min_fragment` characters; a chunk that is short by itself and fits whole
    stays. One word longer than all the room gives "", but in scripts without capitals, some of which part no
    words (Chinese, Japanese, Thai), the cut is where the room ends. ValueError where a limit is negative.
    """
    if max_chars < 0 or min_fragment < 0:
        raise ValueError(f"limits count from 0, not max_chars={max_chars}, min_fragment={min_fragment}")
    parts: list[str] = []
    room = max_chars
    for chunk in sorted(chunks, key=_place):
        if len(chunk.text) > room:
            fragment = _cut(chunk.text, room)
            parts += [fragment] if fragment and len(fragment) >= min_fragment else []
            break
        parts.append(chunk.text)
        room -= len(chunk.text) + 1
        if room <= 0:
            break
    return "\n".join(parts)


def _cut(text: str, room: int) -> str:
    """Return the text up to the last white space that lets it fit in `room` characters, fewer than it has."""
    end = next((end for end in range(room, 0, -1) if text[end].isspace()), 0)
    if end == 0 and room > 0 and unicodedata.category(text[room - 1]) == "Lo":
        end = room
    return text[:end].rstrip()


def _place(chunk: Chunk) -> tuple[bool, int, bool, int, bool, int, str, str]:
    page, order = chunk.page_idx, chunk.order_in_section
    start = chunk.offsets.start if order is None and chunk.offsets is not None else None
    return (*_last(page), *_last(order), *_last(start), chunk.chunk_id, chunk.text)


def _last(number: int | None) -> tuple[bool, int]:
    """Sorts None after every number."""
    return number is None, number or 0
