"""Values of a filter that a run does not have: a link may come from another run, or be mistyped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from proofspan.diagnosis.topic import in_words
from proofspan.store.query.filters import Filter
from proofspan.store.query.score_conditions import conditions_by_name
from proofspan.store.query.store import Store

#: Filter name → noun of its values.
NOUNS: Mapping[str, str] = {
    "suspicion": "issue",
    "code": "question that breaks",
    "doc": "document",
    "section": "section",
    "type": "question of type",
    "state": "λ state",
}
MAX_CHARS = 60


def unknown_values(
    shown: Filter, offered: Mapping[str, Sequence[tuple[str, int]]], store: Store
) -> tuple[str, ...]:
    """Return a sentence for each value of the filter that no trace of its run has, variants included.

    `offered` are the values of the headline traces; only a value that is not among them is queried. Of
    several places one known is enough, since they are chosen together.
    """
    narrowed: Callable[..., Filter] = partial(Filter, run=shown.run, all_variants=True)
    unknown = [
        f'{shown.run} has no {noun} "{_shortened(value)}".'
        for name, noun in NOUNS.items()
        for value in getattr(shown, name)
        if value not in dict(offered[name]) and not store.matching(narrowed(**{name: (value,)}))
    ]
    if shown.about and not store.matching(narrowed(about=shown.about)):
        unknown.append(f"{shown.run} has no question about {_shortened(in_words(shown.about))}.")
    if shown.cohort and not store.matching(narrowed(cohort=shown.cohort)):
        unknown.append(f'{shown.run} has no question of a cohort "{_shortened(shown.cohort)}".')
    if shown.score:
        known = {each.name for each in store.score_names(shown.run)}
        missing = [name for name in conditions_by_name(shown.score) if name not in known]
        unknown += [f'{shown.run} has no score "{_shortened(name)}".' for name in missing]
    return tuple(unknown)


def _shortened(value: str) -> str:
    return value if len(value) <= MAX_CHARS else f"{value[: MAX_CHARS - 1]}…"
