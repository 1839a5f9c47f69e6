"""The Triage table's words: an index page as the few columns that a person reads, every cell a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.contracts.records import TraceKey
from core.triage.gold import GoldOutcome
from core.ui import words
from core.ui.safe import clean

#: What a cell holds at most; the whole text stands on the Question page.
MAX_QUESTION = 300
MAX_NUMBERS = 3
NO_LABEL = "no label"
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Header:
    """A column: its title, what a click on it sorts by, and in which direction first."""

    title: str
    sort: str
    descending_first: bool = False
    help: str = ""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One question as the table shows it; the fields are the columns, in the order of `HEADERS`."""

    label: str
    question: str
    why: str
    section: str
    cited: str
    coverage: str
    numbers: str
    stands_out: str


HEADERS: Mapping[str, Header] = {
    "label": Header("label", "worst", help="Worst first"),
    "question": Header("question", "question"),
    "why": Header("why", "why", help="The rule that decided the label"),
    "section": Header("rank 1 in", "section", help="Section of the candidate at rank 1"),
    "cited": Header("cited", "resolved", help="Citations whose chunk is known, of those cited"),
    "coverage": Header(
        "coverage",
        "answer_coverage",
        help="Share of the answer's words that the evidence holds, by rarity",
    ),
    "numbers": Header(
        "unsupported",
        "unsupported",
        descending_first=True,
        help="Numbers that stand nowhere in the evidence",
    ),
    "stands_out": Header("what stands out", "suspicions", descending_first=True),
}


def table_rows(rows: pd.DataFrame) -> list[TableRow]:
    """A page of index rows in words, cut to what a cell can show."""
    return [
        TableRow(
            label=label if isinstance(label, str) else NO_LABEL,
            question=_shortened(" · ".join([*words.variant(key), question]), MAX_QUESTION),
            why=clean(words.why(why)) if isinstance(why, str) else "",
            section=_shortened(section, 40) if isinstance(section, str) and section else NOTHING,
            cited=_cited(resolved, cited),
            coverage=NOTHING if pd.isna(coverage) else f"{coverage:.2f}",
            numbers=_first_few(_list(numbers)) or NOTHING,
            stands_out=clean(
                words.stands_out(_list(codes), label=label, coverage=coverage, gold=gold),
            ),
        )
        for key, label, question, why, section, resolved, cited, coverage, numbers, codes, gold in zip(
            _keys(rows),
            rows["label"],
            rows["q"],
            rows["why"],
            rows["rank1_section"],
            rows["cited_resolved"],
            rows["cited"],
            rows["answer_coverage"],
            rows["numbers_unsupported"],
            rows["suspicions"],
            _gold(rows),
            strict=True,
        )
    ]


def _keys(rows: pd.DataFrame) -> Iterator[TraceKey]:
    columns = (rows[name] for name in ("q_id", "paraphrase", "seed", "repeat"))
    for q_id, paraphrase, seed, repeat in zip(*columns, strict=True):
        yield TraceKey("", str(q_id), int(paraphrase), int(seed), int(repeat))


def _list(values: Any) -> Sequence[str]:
    return () if values is None or isinstance(values, float) else list(values)


def _shortened(text: str, limit: int) -> str:
    line = " ".join(clean(text[: 4 * limit]).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def _cited(resolved: Any, cited: Any) -> str:
    return NOTHING if pd.isna(cited) or not cited else f"{int(resolved)} of {int(cited)}"


def _gold(rows: pd.DataFrame) -> Iterator[GoldOutcome | None]:
    """What became of each row's gold passage, None where it is not known."""
    names = ("gold_state", "gold_seen_rank", "gold_retrieved_rank", "gold_is_refusal")
    for state, seen, retrieved, is_refusal in zip(*(rows[name] for name in names), strict=True):
        known = isinstance(state, str)
        yield GoldOutcome(state, _rank(seen), _rank(retrieved), None, bool(is_refusal)) if known else None


def _rank(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _first_few(numbers: Sequence[str]) -> str:
    shown = [_shortened(number, 20) for number in numbers[:MAX_NUMBERS]]
    left_out = [f"+{len(numbers) - MAX_NUMBERS}"] if len(numbers) > MAX_NUMBERS else []
    return ", ".join([*shown, *left_out])
