"""Foreign text inside a figure.

Plotly reads a subset of HTML in every label, name and hover: links, styles that fetch, line breaks. So a text
enters a figure escaped, on one line, and without what could pose as other text. In a hover it is given as
text and never as a template, which would fill in `%{…}`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

#: A run id longer than that would push the plot out of its frame.
MAX_CHARS = 40

_UNSHOWABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)


def plain(text: str, *, limit: int = MAX_CHARS) -> str:
    """One line of text for a figure, shown as it is written; longer than `limit` characters it is cut."""
    line = " ".join(_UNSHOWABLE.sub("\ufffd", " ".join(text.split())).split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return html.escape(line, quote=True)


def hover(lines: Iterable[str]) -> str:
    """Several lines for a hover; each is escaped, the breaks between them are ours."""
    return "<br>".join(plain(line, limit=3 * MAX_CHARS) for line in lines)
