"""The Triage table's words: an index page as the few columns that a person reads, every cell a text."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from proofspan.contracts.codes import in_order, rule_of
from proofspan.contracts.records import TraceKey
from proofspan.diagnosis.gold import GoldOutcome
from proofspan.ui import evidence_words, words
from proofspan.ui.safe import clean

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
    """One question as the table shows it; the fields are the columns, in the order of `HEADERS`.

    `broken` are the titles of the rules that `rules` counts. `was` stands below the label: what the question
    got in the run that is compared with, where it differs.
    """

    label: str
    question: str
    why: str
    section: str
    gold_rank: str
    cited: str
    coverage: str
    numbers: str
    stands_out: str
    rules: str
    broken: str = ""
    was: str = ""


HEADERS: Mapping[str, Header] = {
    "label": Header("label", "worst", help="Worst first"),
    "question": Header("question", "question"),
    "why": Header("why", "why", help="The rule that decided the label"),
    "section": Header("rank 1 in", "section", help="Section of the candidate at rank 1"),
    "gold_rank": Header(
        "gold § at",
        "section_rank",
        help="Rank of the first candidate of a gold section in the last stage; none: it is not in that list",
    ),
    "cited": Header(
        "cited",
        "evidence",
        help="Citations whose chunk is known, of those cited; sorted by what became of their text",
    ),
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
    "rules": Header(
        "rules", "codes", descending_first=True, help="Rules of the contract that the record breaks"
    ),
}


def table_rows(rows: pd.DataFrame, offsets: Mapping[TraceKey, int] | None = None) -> list[TableRow]:
    """A page of index rows in words, cut to what a cell can show.

    `offsets` says of traces how many pages from the cited one their text stands; their `run_id` is "".
    """
    known = offsets or {}
    keys, outcomes = _keys(rows), _gold(rows)
    return [
        _table_row(record, key, gold, known.get(key))
        for record, key, gold in zip(rows.to_dict("records"), keys, outcomes, strict=True)
    ]


def _table_row(
    record: Mapping[Hashable, Any], key: TraceKey, gold: GoldOutcome | None, offset: int | None
) -> TableRow:
    label, why, section = record["label"], record["why"], record["rank1_section"]
    states, omitted = _list(record["evidence"]), len(_list(record["safety_omitted"]))
    broken = in_order(_list(record["codes"]))
    coverage = None if pd.isna(record["answer_coverage"]) else float(record["answer_coverage"])
    return TableRow(
        label=label if isinstance(label, str) else NO_LABEL,
        question=_shortened(" · ".join([*words.variant(key), record["q"] or key.q_id]), MAX_QUESTION),
        why=clean(words.why(why)) if isinstance(why, str) else "",
        section=_shortened(section, 40) if isinstance(section, str) and section else NOTHING,
        gold_rank=gold_rank(record["unranked"], record["section_rank"]),
        cited=_cited(record["cited_resolved"], record["cited"]),
        coverage=NOTHING if coverage is None else f"{coverage:.2f}",
        numbers=_first_few(_list(record["numbers_unsupported"])) or NOTHING,
        rules=f"{len(broken):,}" if broken else NOTHING,
        stands_out=clean(
            words.stands_out(
                _list(record["suspicions"]),
                label=label,
                coverage=coverage,
                gold=gold,
                cited=evidence_words.wrong_text(states),
                besides=evidence_words.besides(states, offset=offset, omitted=omitted),
            )
        ),
        broken=clean("; ".join(rule_of(code).title for code in broken)),
        was=_was(record),
    )


def _was(record: Mapping[Hashable, Any]) -> str:
    """`was ok · score_policy`: only what the run that is compared with has otherwise."""
    pairs = [(record.get(f"was_{name}"), record[name]) for name in ("label", "bucket")]
    told = [was for was, now in pairs if isinstance(was, str) and was != now]
    return f"was {' · '.join(told)}" if told else ""


def gold_rank(unranked: Any, rank: Any) -> str:
    """The gold section's rank in the last stage, `none` where it is not in it; of no use where not judged."""
    if isinstance(unranked, str):
        return NOTHING
    return "none" if pd.isna(rank) else f"{int(rank):,}"


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
