"""Put what people say of an answer into a line of text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from proofspan.journal.annotations import Annotation
from proofspan.services.review import verdict_words
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.text import shortened

#: Characters shown of a note.
MAX_TEXT = 2_000


def pieces_of(each: Annotation) -> Iterator[Piece]:
    """Yield a verdict or a note with its tags and its text, and when it was written."""
    if each.kind == "verdict":
        yield Piece(verdict_words(each), "strong")
        yield Piece("  ")
    for tag in each.tags:
        yield Piece(tag, "badge")
        yield Piece(" ")
    if each.text:
        yield Piece(f"{shortened(each.text, MAX_TEXT)}  ")
    yield Piece(moment_of(each), "muted", tip=each.at)


def moment_of(each: Annotation) -> str:
    """Return `26 Feb, 18:02 UTC`."""
    try:
        time = datetime.fromisoformat(each.at).astimezone(UTC)
    except ValueError:  # such as the 31st of February
        return each.at
    return f"{time.day} {time:%b}, {time:%H:%M} UTC"
