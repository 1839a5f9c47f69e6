"""Extract the page's own words under a span's boxes, which are copied with a highlight."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import share_line
from proofspan.evidence.text.page_lines import levelled_words

#: A word and its box in points of the unrotated page.
PageWord = tuple[Box, str]

#: Characters under one span, and under all spans of a page together, which are sent with each view.
MAX_TEXT, MAX_TEXTS = 4_000, 12_000
CUT = " …"


class _ByHeight:
    """The words of a page by the height of their centres, so that a box is compared with few of them."""

    def __init__(self, words: Sequence[PageWord]) -> None:
        self._words = words
        self._sorted = sorted(((box[1] + box[3]) / 2, number) for number, (box, _) in enumerate(words))
        self._heights = [height for height, _ in self._sorted]

    def numbers_in(self, rects: Sequence[Box]) -> list[int]:
        """Return the numbers of the words whose centre lies in one of the boxes, in the page's order."""
        return sorted(
            {
                number
                for rect in rects
                for _, number in self._sorted[
                    bisect_left(self._heights, rect[1]) : bisect_right(self._heights, rect[3])
                ]
                if rect[0] <= (self._words[number][0][0] + self._words[number][0][2]) / 2 <= rect[2]
            }
        )


def words_in(rects: Sequence[Box], words: Sequence[PageWord]) -> list[PageWord]:
    """Return the words whose centre lies in one of the boxes, in the page's order."""
    return [words[number] for number in _ByHeight(words).numbers_in(rects)]


def texts_under(
    spans: Mapping[str, Sequence[Box]], words: Sequence[PageWord], *, rotation: int = 0
) -> dict[str, str]:
    """Return the words whose centre lies in one of a span's boxes, by its id, in the page's order and lines.

    Boxes are in points of the unrotated page, which is turned by `rotation` degrees when it is displayed.
    Spans after the first ones are left out where they are too long together; a text that is cut ends so.
    """
    by_height = _ByHeight(words)
    texts: dict[str, str] = {}
    left = MAX_TEXTS
    for span_id, rects in spans.items():
        if left <= 0:
            break
        text, above, limit = "", None, min(MAX_TEXT, left)
        own = [words[number] for number in by_height.numbers_in(rects)]
        lines = levelled_words([word for _, word in own], [box for box, _ in own], rotation=rotation)
        for line, (_, word) in zip(lines, own, strict=True):
            parted = "" if above is None else " " if share_line(above, line) else "\n"
            if len(text) + len(parted) + len(word) > limit:
                text = (text or word[:limit]) + CUT
                break
            text, above = text + parted + word, line
        if text:
            texts[span_id] = text
            left -= len(text)
    return texts
