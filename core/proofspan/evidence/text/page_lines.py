"""The text of a page in its lines, as a reader sees them: a table's row is one line, whatever its cells are.

Claims are compared with this text, which is made of the very words that quotes are located in, so that a
sentence of it is found on its page again.
"""

from __future__ import annotations

from proofspan.evidence.geometry import levelled, share_line
from proofspan.evidence.text.page_text import DISPLAYED_RIGHT, PageText

#: Characters of one page that are passed on; no page that a person reads has as many.
MAX_TEXT = 200_000
#: A gap above a line of more than this many line heights begins a paragraph.
PARAGRAPH_GAP = 0.8


def text_in_lines(page: PageText) -> str:
    """Return the page's words in their order: those of a line with spaces, paragraphs with an empty line."""
    right = DISPLAYED_RIGHT[page.rotation % 360]
    pieces: list[str] = []
    above = None
    length = 0
    for word, box in zip(page.words, page.boxes, strict=True):
        line = levelled(box, right)
        if above is not None:
            height = min(above[3] - above[1], line[3] - line[1])
            follows = share_line(above, line) and line[0] >= above[2] - height
            is_near = -height <= line[1] - above[3] <= PARAGRAPH_GAP * height
            pieces.append(" " if follows else "\n" if is_near else "\n\n")
        length += len(word) + 1
        if length > MAX_TEXT:
            break
        pieces.append(word)
        above = line
    return "".join(pieces)
