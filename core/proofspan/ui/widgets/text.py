"""The short words of tables and cards: a suspicion in a few words, an order, a share with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofspan.contracts.records.records import TraceKey
from proofspan.diagnosis.gold import GoldOutcome
from proofspan.diagnosis.messages import LITTLE_COVERED
from proofspan.display_names import GOLD_NAMES, ISSUE_NAMES
from proofspan.evidence.types import TextRange
from proofspan.metrics.statistics import percent, wilson
from proofspan.store.query.filters import Sort

#: The reference's reasons in the width of a column; the Question page has them in full.
WHY: Mapping[str, str] = {
    "template/citations violated": "template/citations",
    "answer text not grounded in evidence": "answer not grounded",
    "evidence lacks query terms": "no query term found",
    "citations present and answer grounded": "answer grounded",
    "evidence contains query terms but model refused": "query terms found",
    "no query terms found in evidence; refusal acceptable": "no query term found",
}
#: Gold that the answerer saw within these ranks is nothing to look at.
FIRST_RANKS = 3

#: Sort key → what comes first, ascending and descending.
_ORDERS: Mapping[str, tuple[str, str]] = {
    "worst": ("worst first", "best first"),
    "label": ("worst label first", "best label first"),
    "why": ("by why", "by why, reversed"),
    "question": ("questions A to Z", "questions Z to A"),
    "section": ("by rank-1 section", "by rank-1 section, reversed"),
    "section_rank": ("best rank of the gold section first", "worst rank of the gold section first"),
    "resolved": ("fewest citations resolved first", "most citations resolved first"),
    "answer_coverage": ("least covered first", "most covered first"),
    "unsupported": ("fewest unsupported numbers first", "most unsupported numbers first"),
    "suspicions": ("fewest suspicions first", "most suspicions first"),
    "codes": ("fewest broken rules first", "most broken rules first"),
    "safety": ("fewest warnings left out first", "most warnings left out first"),
    "evidence": ("worst cited text first", "best cited text first"),
}


def short(code: str) -> str:
    """A suspicion in a few words; a code of somebody else's report stays as it is."""
    return ISSUE_NAMES.get(code, code)


def stands_out(
    codes: Sequence[str],
    *,
    label: str | None,
    coverage: float | None,
    gold: GoldOutcome | None = None,
    cited: Sequence[str] = (),
    besides: Sequence[str] = (),
) -> str:
    """What to look at in a row: an id that may be made up, what is wrong with its cited text (`cited`), its
    gold, what else of its citations there is (`besides`), its other suspicions, and an `ok` that the evidence
    hardly carries."""
    first = [code for code in codes if code == "citation_outside_retrieved"]
    of_gold = gold_words(gold)
    found = [*map(short, first), *cited, *([of_gold] if of_gold else []), *besides]
    found += [short(code) for code in codes if code not in first]
    if label == "ok" and coverage is not None and coverage < LITTLE_COVERED:
        found.append("Low coverage")
    return " · ".join(found)


def gold_words(gold: GoldOutcome | None) -> str:
    """What became of the gold passage; "" where it is not known or nothing about it needs a look."""
    if gold is None:
        return ""
    if gold.state == "answered":
        return GOLD_NAMES["answered"]
    if gold.state == "declined":
        return GOLD_NAMES["declined"]
    if gold.seen is None:
        return (
            "Gold not retrieved"
            if gold.retrieved is None
            else f"Gold retrieved at rank {gold.retrieved:,}, dropped before the prompt"
        )
    place = f"Gold in the prompt at rank {gold.seen:,}"
    if gold.state == "uncited":
        return f"{place}, {'refused' if gold.is_refusal else 'not cited'}"
    return "" if gold.seen <= FIRST_RANKS else place


def why(reason: str) -> str:
    """The reason for a label, short where it is one of the reference's."""
    return WHY.get(reason, reason)


def order(sort: Sort) -> str:
    """What a list shows first."""
    known = _ORDERS.get(sort.by)
    if known is None:
        return f"by {sort.by}, {'descending' if sort.descending else 'ascending'}"
    return known[sort.descending]


def share_of(part: int, whole: int, *, unlabelled: int = 0) -> str:
    """`15 % of 41 · 7–28 %`: the share of the labelled questions with its 95 % Wilson interval."""
    if whole == 0:
        return f"{counted(unlabelled, 'question')} without a label" if unlabelled else "of no questions"
    low, high = wilson(part, whole)
    return f"{percent(part / whole)} of {whole:,} · {round(100 * low)}–{round(100 * high)} %"


def unbroken(text: str) -> str:
    """The words with intervals and percentages in one piece, for a column that is narrow."""
    return text.replace("–", "\u2060–\u2060").replace(" %", "\u00a0%")


def variant(key: TraceKey) -> list[str]:
    """Which of a question's traces it is: `p1 · s0` and `#2`; nothing for the headline one."""
    parts = [f"p{key.paraphrase} · s{key.seed}"] if key.paraphrase or key.seed else []
    return [*parts, f"#{key.repeat}"] if key.repeat > 1 else parts


def lines(ranges: Sequence[TextRange]) -> str:
    """`line 12`, `lines 12–14`, `lines 3, 12–14`."""
    parts = dict.fromkeys(
        f"{each.first_line:,}"
        if each.first_line == each.last_line
        else f"{each.first_line:,}–{each.last_line:,}"
        for each in ranges
    )
    is_one = len(parts) == 1 and ranges[0].first_line == ranges[0].last_line
    return f"{'line' if is_one else 'lines'} {', '.join(parts)}"


def sentence_start(words: str) -> str:
    """The words with a capital; a name such as page_idx keeps its own."""
    return words if "_" in words.partition(" ")[0] else f"{words[:1].upper()}{words[1:]}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 line`, `2 lines`, `1,200 lines`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
