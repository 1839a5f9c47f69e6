"""A condition as data: SQL, the values bound to it, the sentence for a person, the columns it reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from proofspan.contracts.records import Label
from proofspan.diagnosis.gold import GOOD_STATES


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition: `sql` with named parameters, their values, the sentence, and the columns it reads."""

    sql: str
    params: Mapping[str, object] = field(default_factory=dict)
    sentence: str = ""
    columns: tuple[str, ...] = ()


def listed(words: Iterable[str]) -> str:
    """Names of our own as SQL texts."""
    return ", ".join(f"'{word}'" for word in words)


def any_of(
    column: str, sql: str, values: tuple[str, ...], noun: str, *, name: str = "", after: str = ""
) -> Clause | None:
    """Any of some values, bound as the parameter `name`, else as `column`; None without any."""
    if not values:
        return None
    return Clause(sql, {name or column: list(values)}, noun + " or ".join(values) + after, (column,))


#: The traces that headline numbers count: one a question.
HEADLINE = Clause("paraphrase = 0 AND seed = 0 AND repeat = 1", columns=("paraphrase", "seed", "repeat"))
#: The labels of what went wrong.
FAILING_LABELS: tuple[Label, ...] = ("generation_drift", "retrieval_drift", "refusal_suspect")
#: Whether a trace went wrong, null where that cannot be judged. Where its gold is known: it is anything but
#: cited, or rightly declined; else by the label.
FAILS = Clause(
    f"coalesce(gold_state NOT IN ({listed(sorted(GOOD_STATES))}), label IN ({listed(FAILING_LABELS)}))",
    columns=("gold_state", "label"),
)
