"""The groups of the strip above the list: how questions came out, by cause or, before, by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from proofspan.contracts.records.records import LABELS, Label
from proofspan.diagnosis.messages import CAUSE_MEANINGS, MEANINGS
from proofspan.diagnosis.verdicts.types import CAUSES, CORRECT, Cause, Correct
from proofspan.display_names import CAUSE_NAMES, LABEL_NAMES
from proofspan.store.query.filters import Filter


class Group(NamedTuple):
    """A part of the strip: `key` is ours, `change` are the filters that keep its questions, none without.

    `more` says how many more there are than in the run that is compared with, None where that is unknown.
    """

    key: str
    name: str
    means: str
    questions: int
    change: Mapping[str, tuple[str, ...]]
    more: int | None = None

    @property
    def term(self) -> str:
        """Return what explains the group in the glossary; "" for questions without a verdict or label."""
        if self.key in CAUSES:
            return f"cause.{self.key}"
        if self.key in LABELS:
            return f"label.{self.key}"
        return {key: f"correct.{values[0]}" for key, *_, values in _WITHOUT}.get(self.key, "")

    def is_chosen(self, shown: Filter) -> bool:
        """Return whether the list is restricted to this group, or to several of which it is one."""
        return bool(self.change) and all(
            set(values) <= set(getattr(shown, name)) if values else not getattr(shown, name)
            for name, values in self.change.items()
        )


#: Of two runs: (value there, value here, questions).
Moved = Sequence[tuple[str | None, str | None, int]]


def cause_groups(
    counts: Mapping[tuple[Cause | None, Correct | None], int], moved: Moved = ()
) -> tuple[Group, ...]:
    """Return the questions of a list by cause, most harmful first; those without one by correctness.

    `counts` are by cause and correctness, `moved` by cause.
    """
    groups = []
    for cause in CAUSES[:-1]:
        count = sum(number for (found, _), number in counts.items() if found == cause)
        more = _more(moved, cause)
        if count or more:
            change: dict[str, tuple[str, ...]] = {"cause": (cause,), "correct": ()}
            groups.append(Group(cause, CAUSE_NAMES[cause], CAUSE_MEANINGS[cause], count, change, more))
    without = {correct: number for (cause, correct), number in counts.items() if cause == "none"}
    for key, name, means, values in _WITHOUT:
        present = tuple(value for value in values if without.get(value))
        if present:
            change = {"cause": ("none",), "correct": present}
            groups.append(Group(key, name, means, sum(without[value] for value in present), change))
    if unjudged := sum(number for (cause, _), number in counts.items() if cause is None):
        groups.append(Group("unjudged", "Not judged", "There is no verdict on these.", unjudged, {}))
    return tuple(groups)


#: The groups of questions without a failure: key, name, meaning, and what they are correct by.
_WITHOUT: tuple[tuple[str, str, str, tuple[Correct, ...]], ...] = (
    (
        "unknown",
        "Not known",
        "No failure was found. Whether the answer is right is not known.",
        ("unknown", *(each for each in CORRECT if each not in ("unknown", "correct", "declined_rightly"))),
    ),
    (
        "declined",
        "Correct refusal",
        "The answer declines, and the documents do not answer the question.",
        ("declined_rightly",),
    ),
    ("correct", "Correct", "The answer says what is expected.", ("correct",)),
)


def pending(counts: Mapping[tuple[Cause | None, Correct | None], int], questions: int) -> tuple[Group, ...]:
    """Return the groups of a list whose verdicts are being made: of those that its rows show, and a rest."""
    groups = cause_groups(counts)
    if rest := questions - sum(counts.values()):
        means = "All are counted once the claims of all answers are checked; so far the rows below are."
        groups += (Group("unjudged", "Not counted yet", means, rest, {}),)
    return groups


def label_groups(counts: Mapping[Label | None, int], moved: Moved = ()) -> tuple[Group, ...]:
    """Return the questions of a list by label, worst first, for a run whose claims are not checked."""
    groups = [
        Group(label, LABEL_NAMES[label], MEANINGS[label], counts[label], {"label": (label,)}, more)
        for label in LABELS
        for more in (_more(moved, label),)
    ]
    if counts[None]:
        groups.append(Group("unjudged", "No label", "There is no label on these.", counts[None], {}))
    return tuple(groups)


def _more(moved: Moved, value: str) -> int | None:
    """Return how many more questions have a value in this run than in the other; None without another."""
    return sum(count * ((now == value) - (was == value)) for was, now, count in moved) if moved else None
