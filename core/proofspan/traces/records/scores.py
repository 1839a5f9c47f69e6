"""Scores of other tools in a trace: measures, human feedback and annotations, by name.

`scores` of a record maps a name to a number, a word, true or false, or to an object with those of `score`,
`label`, `explanation` and `by` that are known; to a list of these where several people or judges gave one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from proofspan.contracts.records.field_values import number_of, text_of
from proofspan.contracts.records.records import Json

#: Characters of a name; more are cut.
MOST_NAME = 200
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


class Score(NamedTuple):
    """One judgement. `number` is 1 or 0 of what is true or false; `by` is who or what gave it.

    Number and label are None where it has none; texts without anything are "".
    """

    name: str
    number: float | None = None
    label: str | None = None
    by: str = ""
    explanation: str = ""


def scores_of(raw: Mapping[str, Json]) -> Iterator[Score]:
    """Yield the scores of a trace's record, those of one name in the order in which they were given.

    Anything else under `scores`, such as the list of a log line, holds none.
    """
    named = raw.get("scores")
    if type(named) is not dict:
        return
    for name, values in named.items():
        for value in values if isinstance(values, list) else (values,):
            if (score := _score(score_name(name), value)) is not None:
                yield score


def score_name(name: str) -> str:
    """Return a name on one line, as lists and addresses have it."""
    plain = _CONTROL.sub(" ", name).strip() or "score"
    return plain if len(plain) <= MOST_NAME else f"{plain[: MOST_NAME - 1]}…"


def _score(name: str, value: Json) -> Score | None:
    given = value if isinstance(value, dict) else {"score": value}
    stated, word = given.get("score"), given.get("label")
    number = _number(word) if isinstance(word, bool) and _number(stated) is None else _number(stated)
    label = _label(word) or (_label(stated) if number_of(stated) is None else None)
    by = text_of(given.get("by")) or ""
    explanation = text_of(given.get("explanation")) or text_of(given.get("reason")) or ""
    if number is None and label is None and not explanation:
        return None
    return Score(name, number, label, by, explanation)


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, bool) else number_of(value)


def _label(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return (text_of(value) or "").strip() or None
