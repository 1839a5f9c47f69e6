"""The text of a page in its lines, as a reader sees them: a table's row is one line, whatever its cells are.

Claims are compared with this text, which is made of the very words that quotes are located in.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import levelled, share_line
from proofspan.evidence.text.page_text import DISPLAYED_RIGHT

#: Characters of one page that are compared; no page that a person reads has as many.
MAX_TEXT = 200_000
#: A gap above a line of more than this many line heights begins a paragraph.
PARAGRAPH_GAP = 0.8
#: Words that show which way they run have this many letters.
SHOWING = 3
UP, DOWN = (0.0, -1.0), (0.0, 1.0)


def text_in_lines(words: Sequence[tuple[Box, str]], *, rotation: int = 0) -> tuple[str, list[int]]:
    """Return words in their order as a text, and the character at which each of them begins.

    Words of a line are separated by spaces, paragraphs by an empty line. Boxes are in points of the unrotated
    page, which is turned by `rotation` degrees when it is displayed.
    """
    lines = levelled_words([word for _, word in words], [box for box, _ in words], rotation=rotation)
    pieces: list[str] = []
    starts: list[int] = []
    above, length = None, 0
    for line, (_, word) in zip(lines, words, strict=True):
        if above is not None:
            height = min(above[3] - above[1], line[3] - line[1])
            follows = share_line(above, line) and line[0] >= above[2] - height
            is_near = -height <= line[1] - above[3] <= PARAGRAPH_GAP * height
            pieces.append(" " if follows else "\n" if is_near else "\n\n")
            length += len(pieces[-1])
        if length + len(word) > MAX_TEXT:
            break
        starts.append(length)
        pieces.append(word)
        length += len(word)
        above = line
    return "".join(pieces), starts


def levelled_words(words: Sequence[str], boxes: Sequence[Box], *, rotation: int = 0) -> list[Box]:
    """Return the boxes of a page's words, turned so that its lines run to the right.

    A page may be turned so that its lines run up or down when it is displayed.
    """
    turned = [levelled(box, DISPLAYED_RIGHT.get(rotation % 360, (1.0, 0.0))) for box in boxes]
    showing = [n for n, word in enumerate(words) if len(word) >= SHOWING]
    upright = [n for n in showing if turned[n][3] - turned[n][1] > turned[n][2] - turned[n][0]]
    if 2 * len(upright) <= len(showing):
        return turned
    # Most words run up or down the page: the way in which words follow one another decides.
    steps = [(one, other) for one, other in pairwise(upright) if other == one + 1]
    up = sum(turned[other][1] < turned[one][1] for one, other in steps)
    return [levelled(box, UP if 2 * up >= len(steps) else DOWN) for box in turned]
