"""The beginning of an answer for a row of a list, around the words that differ from its evidence."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from proofspan.ui.widgets.markup import clean
from proofspan.ui.wording.answer import citation_tail

Range = tuple[int, int]
#: Characters before the first marked words that are kept, where the excerpt does not begin with the answer.
LEAD = 40


def differing(claims: str) -> list[Range]:
    """Return the words of an answer that differ from its evidence, from its claims as stored; [] without any.

    Words of one place are there once, and none overlap.
    """
    found: list[Range] = []
    if claims:
        ranges = {
            (int(each["claimed_start"]), int(each["claimed_end"]))
            for claim in orjson.loads(claims)
            for each in claim["differences"]
        }
        for start, end in sorted(ranges):
            if start < end and (not found or start >= found[-1][1]):
                found.append((start, end))
    return found


def excerpt(answer: str, marks: Sequence[Range], limit: int) -> tuple[str, tuple[Range, ...]]:
    """Return an answer as one line of at most `limit` characters without its citation line, and its marks.

    `marks` are half-open ranges of the answer in order. Where the first would be cut, the line begins some
    words before it.
    """
    tail = citation_tail(answer)
    end = tail[0] if tail else len(answer)
    kept = [(low, high) for low, high in marks if 0 <= low < high <= end]
    at = 0
    if kept and kept[0][1] > limit - 2:
        at = max(0, kept[0][0] - LEAD)
        at = answer.find(" ", at, kept[0][0]) + 1 or at
    window = clean(answer[at : min(end, at + 4 * limit)])
    made = ["…", " "] if at else []
    places = []  # the place in the line of each character of the window, and of its end
    for character in window:
        places.append(len(made))
        if not character.isspace():
            made.append(character)
        elif made and made[-1] != " ":
            made.append(" ")
    places.append(len(made))
    text = "".join(made).rstrip()
    last = len(text)
    if last > limit or at + len(window) < len(answer[:end].rstrip()):
        text = f"{text[: limit - 1].rstrip()}…"
        last = len(text) - 1
    inside = ((low - at, min(high - at, len(window))) for low, high in kept if low - at < len(window))
    shown = ((places[low], min(places[high], last)) for low, high in inside)
    return text, tuple((low, high) for low, high in shown if low < high)
