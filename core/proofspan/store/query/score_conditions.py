"""Conditions on scores of other tools, as addresses and commands write them, and the SQL for them.

`faithfulness>=0.5` compares the number, `helpful=yes` asks for a label or that number, and `helpful=` for
traces without the score. A name with one of `<`, `=`, `>` or `"` is written as a JSON string: `"a=b">0`. Of
several scores of one name in a trace the number is their mean, and any of their labels matches. Bounds of one
score apply together; a label, a number or no score is asked for beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Literal, NamedTuple, cast

import orjson

from proofspan.store.query.metric_sql import Clause
from proofspan.traces.records.scores import MOST_NAME

Operator = Literal[">=", "<=", ">", "<", "="]
_WRITTEN = re.compile(r'("(?:[^"\\]|\\.)*"|[^"<>=][^<>=]*)(>=|<=|>|<|=)(.*)', re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WORDS = {">=": "at least", "<=": "at most", ">": "above", "<": "below"}
#: Before the hexadecimal bytes of a score's name: the columns of its numbers and labels, safe in SQL.
NUMBER, LABELS = "score_number_", "score_labels_"
#: Before a score's name where lists are sorted by it.
SORT = "score:"


class Condition(NamedTuple):
    """A condition on the score `name`; `=` with "" asks for traces without it."""

    name: str
    operator: Operator
    value: str

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition. ValueError for any other text."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no condition such as faithfulness>=0.5 or helpful=yes")
        name, operator, value = match.groups()
        name = orjson.loads(name) if name.startswith('"') else name.strip()
        if not is_name(name):
            raise ValueError(f"{text!r} names no score")
        if operator != "=" and number_in(value) is None:
            raise ValueError(f"{text!r} compares with something that is no number")
        return cls(name, cast(Operator, operator), value.strip())

    def __str__(self) -> str:
        """Return the condition as it is written."""
        is_plain = self.name == self.name.strip() and not re.search('[<>="]', self.name)
        name = self.name if is_plain else orjson.dumps(self.name).decode()
        return f"{name}{self.operator}{self.value}"


def is_name(name: str) -> bool:
    """Return whether a score may have this name."""
    return 0 < len(name) <= MOST_NAME


def number_in(text: str) -> float | None:
    """Return the finite number that a text is, None for any other."""
    found = float(text) if _NUMBER.fullmatch(text.strip()) else None
    return found if found is not None and isfinite(found) else None


def number_words(value: float) -> str:
    """Return a number in few digits: `0.214`, `4.5`, `1,200`."""
    if value and not 0.001 <= abs(value) < 1e9:
        return f"{value:.3g}"
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def score_columns(name: str) -> tuple[str, str]:
    """Return the columns of a score's numbers and of its labels as SQL may name them."""
    known = name.encode("utf-8", "replace").hex()
    return f"{NUMBER}{known}", f"{LABELS}{known}"


def name_in(column: str) -> str | None:
    """Return the score that a column is of, None for any other column."""
    kind = next((each for each in (NUMBER, LABELS) if column.startswith(each)), None)
    return None if kind is None else bytes.fromhex(column.removeprefix(kind)).decode()


def conditions_by_name(texts: Iterable[str]) -> dict[str, list[Condition]]:
    """Return conditions by their score, in the order given."""
    found: dict[str, list[Condition]] = {}
    for each in map(Condition.parse, texts):
        found.setdefault(each.name, []).append(each)
    return found


def clauses(texts: Iterable[str]) -> Iterator[Clause]:
    """Yield a clause for each score: within all its bounds, or any of the values asked for with `=`."""
    for place, (name, asked) in enumerate(conditions_by_name(texts).items()):
        number, labels = score_columns(name)
        params: dict[str, object] = {}
        bounds = [each for each in asked if each.operator != "="]
        values = [each.value for each in asked if each.operator == "="]
        compared, any_of = [], []
        for at, each in enumerate(bounds):
            params[f"score_{place}_{at}"] = number_in(each.value)
            compared.append(f"{number} {each.operator} $score_{place}_{at}")
        if compared:
            any_of.append(" AND ".join(compared))
        if named := [value for value in values if value]:
            params[f"score_{place}_labels"] = named
            any_of.append(f"list_has_any({labels}, $score_{place}_labels)")
        if numbers := [found for value in named if (found := number_in(value)) is not None]:
            params[f"score_{place}_numbers"] = numbers
            any_of.append(f"{number} = ANY($score_{place}_numbers)")
        if "" in values:
            any_of.append(f"{labels} IS NULL")
        between = " and ".join(f"{_WORDS[each.operator]} {each.value}" for each in bounds)
        words = dict.fromkeys([*([between] if between else []), *(value or "no score" for value in values)])
        sentence = f"{name}: {' or '.join(words)}"
        yield Clause(f"({' OR '.join(any_of)})", params, sentence, (number, labels))
