"""The text of a page in its lines, as a reader sees them: a table's row is one line, whatever its cells are.

Claims are compared with this text, which is made of the very words that quotes are located in.
"""

from __future__ import annotations

from collections.abc import Sequence

from proofspan.contracts.records.records import Box
from proofspan.evidence.geometry import levelled, share_line
from proofspan.evidence.text.page_text import DISPLAYED_RIGHT

#: Characters of one page that are compared; no page that a person reads has as many.
MAX_TEXT = 200_000
#: A gap above a line of more than this many line heights begins a paragraph.
PARAGRAPH_GAP = 0.8


def text_in_lines(words: Sequence[tuple[Box, str]], *, rotation: int = 0) -> tuple[str, list[int]]:
    """Return words in their order as a text, and the character at which each of them begins.

    Words of a line are separated by spaces, paragraphs by an empty line. Boxes are in points of the unrotated
    page, which is turned by `rotation` degrees when it is displayed.
    """
    right = DISPLAYED_RIGHT[rotation % 360]
    pieces: list[str] = []
    starts: list[int] = []
    above, length = None, 0
    for box, word in words:
        line = levelled(box, right)
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
