"""Put what people say of an answer into a line of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from proofspan.display_names import CAUSE_NAMES, CORRECT_NAMES, LABEL_NAMES
from proofspan.journal.annotations import VERDICT_FIELDS, Annotation
from proofspan.ui.widgets.markup import Piece
from proofspan.ui.widgets.text import shortened

#: The names of the values of a verdict's fields.
NAMES: Mapping[str, Mapping[str, str]] = {
    "correct": CORRECT_NAMES,
    "cause": CAUSE_NAMES,
    "label": LABEL_NAMES,
}
#: Characters shown of a note.
MAX_TEXT = 2_000


def verdict_words(each: Annotation) -> str:
    """Return `agrees: Wrong, Unsupported`, or `Partly correct, Incomplete` of another verdict."""
    fields = ("correct", "cause") if each.agrees else VERDICT_FIELDS
    values = {name: value for name in fields if (value := each.value(name)) is not None}
    named = ", ".join(NAMES[name].get(value, value) for name, value in values.items())
    return f"agrees: {named}" if each.agrees and named else "agrees" if each.agrees else named


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
