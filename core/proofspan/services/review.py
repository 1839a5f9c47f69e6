"""People's verdicts of a run beside each other and beside the rules': progress, agreement, disagreements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from proofspan.display_names import NAMES
from proofspan.journal.annotations import VERDICT_FIELDS, Annotation, Annotations, Target
from proofspan.metrics.agreement import Agreement, cohen_kappa, krippendorff_alpha
from proofspan.store.query.filters import Filter, Sort

if TYPE_CHECKING:
    from proofspan.store.query.store import Store  # slow to import

#: The rules' place beside the names of people; no name of a person begins with a space.
RULES = " rules"

#: What the rules say of an answer: `correct`, `cause` and `label`, None where they say nothing.
Ruled = Mapping[str, str | None]


class Progress(NamedTuple):
    """How many of `whole` answers a person (None: anybody) gave a verdict on, and the first without one."""

    author: str | None
    seen: int
    whole: int
    next: Target | None


class Pair(NamedTuple):
    """The agreement of two people, or of one with the rules (`other` is RULES)."""

    one: str
    other: str
    kappa: Agreement


class Disagreement(NamedTuple):
    """An answer of which people, or people and the rules, say different things: the value that each gives."""

    target: Target
    values: Mapping[str, str]


class RuleRecord(NamedTuple):
    """The answers to which the rules give one value: how many people looked at, and disagreed with."""

    value: str
    seen: int
    disagreed: int


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """Agreement about one field of the verdicts on a run's answers.

    `alpha` is of all people. `pairs` are people with each other, then each with the rules, those with the
    most answers in common first; pairs without one are left out. `disagreements` are in the order of the
    answers, `by_rule` those with the most disagreement first.
    """

    field: str
    people: tuple[str, ...]
    alpha: Agreement
    pairs: tuple[Pair, ...]
    disagreements: tuple[Disagreement, ...]
    by_rule: tuple[RuleRecord, ...]


def verdict_words(each: Annotation) -> str:
    """Return `agrees: Wrong, Unsupported`, or `Partly correct, Incomplete` of another verdict."""
    fields = ("correct", "cause") if each.agrees else VERDICT_FIELDS
    values = {name: value for name in fields if (value := each.value(name)) is not None}
    named = ", ".join(NAMES[name].get(value, value) for name, value in values.items())
    return f"agrees: {named}" if each.agrees and named else "agrees" if each.agrees else named


def in_force(annotations: Annotations) -> tuple[Annotation, ...]:
    """Return the verdicts, notes and assignments that count, in the order of their time."""
    assigned = {
        each.target: each
        for each in annotations.entries
        if each.kind == "assignment" and annotations.assignees.get(each.target) == each.assignee is not None
    }
    verdicts = (each for given in annotations.verdicts.values() for each in given.values())
    notes = (each for given in annotations.notes.values() for each in given)
    return tuple(sorted((*verdicts, *notes, *assigned.values()), key=lambda each: each.order))


def ruled(store: Store, run: str) -> dict[Target, Ruled]:
    """Return what the rules say of each answer of a run that anybody gave a verdict on, worst first."""
    found: dict[Target, Ruled] = {}
    for frame in store.rows(Filter(run, review="seen", all_variants=True), Sort()):
        for row in frame.to_dict("records"):
            target = Target(run, str(row["q_id"]), int(row["paraphrase"]), int(row["seed"]))
            found.setdefault(target, rules_of(row))
    return found


def rules_of(row: Mapping[Any, object]) -> Ruled:
    """Return what the rules say of the answer of a row of the index."""
    values = {name: row.get(name) for name in VERDICT_FIELDS}
    return {name: each if isinstance(each, str) else None for name, each in values.items()}


def coefficient(each: Agreement) -> str:
    """Return `0.42 (0.10 to 0.71)`, or that it is not defined."""
    if each.value is None or each.low is None or each.high is None:
        return "not defined"
    return f"{each.value:.2f} ({each.low:.2f} to {each.high:.2f})"


def progress(annotations: Annotations, targets: Sequence[Target], author: str | None) -> Progress:
    """Return how far a person, or everybody together, is with some answers, in the order of the list."""
    unseen = [each for each in targets if not annotations.is_seen(each, author)]
    return Progress(author, len(targets) - len(unseen), len(targets), unseen[0] if unseen else None)


def agreement(
    annotations: Annotations, targets: Iterable[Target], rules: Callable[[Target], Ruled], field: str
) -> AgreementReport:
    """Return how far people agree on `correct`, `cause` or `label` of some answers.

    `rules` gives what the rules say today. KeyError for another field.
    """
    if field not in VERDICT_FIELDS:
        raise KeyError(field)
    given: dict[Target, dict[str, str]] = {}
    for target in targets:
        verdicts = annotations.verdicts.get(target, {})
        if found := {
            name: value for name, each in verdicts.items() if (value := each.value(field)) is not None
        }:
            ruled = rules(target).get(field)
            given[target] = found if ruled is None else {**found, RULES: ruled}
    people = tuple(sorted({name for values in given.values() for name in values} - {RULES}))
    between = [_pair(given.values(), one, other) for one, other in combinations(people, 2)]
    with_rules = [_pair(given.values(), name, RULES) for name in people]
    by_size = [sorted(pairs, key=lambda each: -each.kappa.n) for pairs in (between, with_rules)]
    return AgreementReport(
        field,
        people,
        krippendorff_alpha(
            [[values[name] for name in people if name in values] for values in given.values()]
        ),
        tuple(pair for pairs in by_size for pair in pairs if pair.kappa.n),
        tuple(
            Disagreement(target, values) for target, values in given.items() if len({*values.values()}) > 1
        ),
        _by_rule(given.values()),
    )


def _pair(given: Iterable[Mapping[str, str]], one: str, other: str) -> Pair:
    both = [(values[one], values[other]) for values in given if one in values and other in values]
    return Pair(one, other, cohen_kappa(both))


def _by_rule(given: Iterable[Mapping[str, str]]) -> tuple[RuleRecord, ...]:
    seen: Counter[str] = Counter()
    disagreed: Counter[str] = Counter()
    for values in given:
        if (ruled := values.get(RULES)) is not None:
            seen[ruled] += 1
            disagreed[ruled] += any(value != ruled for value in values.values())
    found = [RuleRecord(value, count, disagreed[value]) for value, count in seen.items()]
    return tuple(sorted(found, key=lambda each: (-each.disagreed, -each.seen, each.value)))
