"""Write foreign text on one line, and in Markdown such that nothing in it is markup, a link or a mention."""

from __future__ import annotations

import re

from proofspan.errors import printable

#: The length at which a question's text is cut.
CUT = 160
_BACKTICKS = re.compile(r"`+")
_QUOTED = re.compile(r"`[^`]+`")
#: Words that are plain text to Markdown anywhere in a cell or heading. `GH-12` is an issue to a forge.
_PLAIN_WORD = re.compile(
    r"\(?(?![Gg][Hh]-\d)(?:[^\W_]|[%–·≥≤=×…→]|(?<=\d)[.,](?=\d)|(?<=[^\W_])[-’'](?=[^\W_]))+[.,:;)]*"
)


def one_line(text: str, *, cut: int | None = CUT) -> str:
    """Return text on one line, cut, with control characters escaped."""
    plain = printable(" ".join(text.split()))
    return plain if cut is None or len(plain) <= cut else f"{plain[: cut - 1]}…"


def code_span(text: str) -> str:
    """Return foreign text as a code span, so that nothing in it is markup or becomes a link."""
    plain = one_line(text) or " "
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(plain)), default=0) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def prose(text: str) -> str:
    """Return a sentence for a cell, with code spans around words that Markdown would interpret.

    A `|` would end the cell even in a code span, so it becomes `¦`.
    """
    words = printable(" ".join(text.split())).replace("|", "¦").split(" ")
    for place, word in enumerate(words):
        if not _PLAIN_WORD.fullmatch(word):
            body = word.rstrip(",;:.") or word
            bare = body[1:-1] if _QUOTED.fullmatch(body) else body
            words[place] = f"{code_span(bare)}{word[len(body) :]}"
    return " ".join(words)
