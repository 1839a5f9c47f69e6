"""Short words of tables and cards: shares with their intervals, variants, ranges of lines."""

from __future__ import annotations

from collections.abc import Sequence

from proofspan.contracts.records.records import TraceKey
from proofspan.evidence.types import TextRange
from proofspan.metrics.statistics import percent, wilson
from proofspan.ui.widgets.markup import clean
from proofspan.wording import counted


def share_of(part: int, whole: int, *, unlabelled: int = 0) -> str:
    """Return the share of the labelled questions with its 95 % Wilson interval: `15 % of 41 · 7–28 %`."""
    if whole == 0:
        return f"{counted(unlabelled, 'question')} without a label" if unlabelled else "of no questions"
    low, high = wilson(part, whole)
    return f"{percent(part / whole)} of {whole:,} · {round(100 * low)}–{round(100 * high)} %"


def shortened(text: str, limit: int) -> str:
    """Return the beginning of a text as one line of at most `limit` characters."""
    line = " ".join(clean(text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def unbroken(text: str) -> str:
    """Return the words so that they stay on one line."""
    return text.replace(" ", "\u00a0").replace("–", "\u2060–\u2060")


def variant(key: TraceKey) -> list[str]:
    """Return which of a question's traces it is: `p1 · s0` and `#2`; [] for the headline one."""
    parts = [f"p{key.paraphrase} · s{key.seed}"] if key.paraphrase or key.seed else []
    return [*parts, f"#{key.repeat}"] if key.repeat > 1 else parts


def lines(ranges: Sequence[TextRange]) -> str:
    """Return `line 12`, `lines 12–14`, `lines 3, 12–14`."""
    parts = dict.fromkeys(
        f"{each.first_line:,}"
        if each.first_line == each.last_line
        else f"{each.first_line:,}–{each.last_line:,}"
        for each in ranges
    )
    is_one = len(parts) == 1 and ranges[0].first_line == ranges[0].last_line
    return f"{'line' if is_one else 'lines'} {', '.join(parts)}"


def sentence_start(words: str) -> str:
    """Return the words with a capital; a name such as page_idx stays as it is."""
    return words if "_" in words.partition(" ")[0] else f"{words[:1].upper()}{words[1:]}"
