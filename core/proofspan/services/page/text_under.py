"""Extract the page's own words under a span's boxes, which are copied with a highlight."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import levelled, share_line
from proofspan.evidence.text.page_text import DISPLAYED_RIGHT

#: A word and its box in points of the unrotated page.
PageWord = tuple[Box, str]

#: Characters under one span, and under all spans of a page together, which are sent with each view.
MAX_TEXT, MAX_TEXTS = 4_000, 12_000
CUT = " …"


def text_under(rects: Sequence[Box], words: Sequence[PageWord], *, rotation: int = 0) -> str:
    """Return the words whose centre lies in one of the boxes, in the page's order and lines.

    Boxes are in points of the unrotated page, which is turned by `rotation` degrees when it is displayed.
    """
    return _Under(words, rotation).text(rects, MAX_TEXT)


def texts_under(
    spans: Mapping[str, Sequence[Box]], words: Sequence[PageWord], *, rotation: int = 0
) -> dict[str, str]:
    """Return the text under each span of a page, by id; the first ones where they are too long together."""
    under, left = _Under(words, rotation), MAX_TEXTS
    texts: dict[str, str] = {}
    for span_id, rects in spans.items():
        if left <= 0:
            break
        if text := under.text(rects, min(MAX_TEXT, left)):
            texts[span_id] = text
            left -= len(text)
    return texts


class _Under:
    """A page's words by the height of their centres, so that a box is compared with few of them."""

    def __init__(self, words: Sequence[PageWord], rotation: int) -> None:
        self._words = words
        self._right = DISPLAYED_RIGHT[rotation % 360]
        self._by_height = sorted(((box[1] + box[3]) / 2, number) for number, (box, _) in enumerate(words))
        self._heights = [height for height, _ in self._by_height]

    def text(self, rects: Sequence[Box], limit: int) -> str:
        """Return at most `limit` characters under the boxes, and a mark if more was cut."""
        numbers = sorted({number for rect in rects for number in self._in(rect)})
        text, above = "", None
        for number in numbers:
            box, word = self._words[number]
            line = levelled(box, self._right)
            parted = "" if above is None else " " if share_line(above, line) else "\n"
            if len(text) + len(parted) + len(word) > limit:
                return text + CUT if text else word[:limit] + CUT
            text, above = text + parted + word, line
        return text

    def _in(self, rect: Box) -> list[int]:
        low, high = bisect_left(self._heights, rect[1]), bisect_right(self._heights, rect[3])
        numbers = (number for _, number in self._by_height[low:high])
        return [number for number in numbers if rect[0] <= self._middle(number) <= rect[2]]

    def _middle(self, number: int) -> float:
        box = self._words[number][0]
        return (box[0] + box[2]) / 2
