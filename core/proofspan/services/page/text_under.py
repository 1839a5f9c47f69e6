"""Extract the page's own words: those under a span's boxes, to be copied, and all, to be read aloud."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import share_line
from proofspan.evidence.text.page_lines import levelled_words, text_in_lines
from proofspan.evidence.types import PageImage

#: A word and its box in points of the unrotated page.
PageWord = tuple[Box, str]

#: Characters under one span, and under all spans of a page together, which are sent with each view.
MAX_TEXT, MAX_TEXTS = 4_000, 12_000
CUT = " …"
#: Characters and paragraphs of a page that are read aloud; no page that a person reads has as many.
MAX_SPOKEN, MAX_PARAGRAPHS = 20_000, 400


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


def paragraphs_of(image: PageImage) -> tuple[list[str], int]:
    """Return the text of a page as paragraphs in reading order, and how many characters of it are left out.

    Lines end in line breaks. A page that is a picture alone has no paragraph.
    """
    text, _ = text_in_lines(image.words, rotation=image.page.rotation)
    spoken = text[:MAX_SPOKEN]
    return spoken.split("\n\n", MAX_PARAGRAPHS - 1) if spoken else [], len(text) - len(spoken)
