"""Values that a filter names and a run does not have: a link may come from another run, or be mistyped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from proofspan.diagnosis.topic import in_words
from proofspan.store.query.filters import Filter
from proofspan.store.query.store import Store

#: Filter name → what its values are called.
NOUNS: Mapping[str, str] = {
    "suspicion": "suspicion",
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
    """A sentence for each value of the filter that no trace of its run has, variants included.

    `offered` holds what the headline traces have; only a value that is not among it is looked for.
    """
    everything = Filter(run=shown.run, all_variants=True)
    alone: list[tuple[str, str, Filter]] = [
        *(("suspicion", value, replace(everything, suspicion=(value,))) for value in shown.suspicion),
        *(("code", value, replace(everything, code=(value,))) for value in shown.code),
        *(("doc", value, replace(everything, doc=(value,))) for value in shown.doc),
        *(("section", value, replace(everything, section=(value,))) for value in shown.section),
        *(("type", value, replace(everything, type=(value,))) for value in shown.type),
        *(("state", value, replace(everything, state=(value,))) for value in shown.state),
    ]
    lost = [
        f'{shown.run} has no {NOUNS[name]} "{_shortened(value)}".'
        for name, value, only in alone
        if value not in dict(offered[name]) and not store.matching(only)
    ]
    return (*lost, *_unknown_places(shown, store), *_unknown_cohort(shown, store))


def _unknown_places(shown: Filter, store: Store) -> Iterator[str]:
    """None while any of the places is known: they are chosen together."""
    if shown.about and not store.matching(Filter(shown.run, all_variants=True, about=shown.about)):
        yield f"{shown.run} has no question about {_shortened(in_words(shown.about))}."


def _unknown_cohort(shown: Filter, store: Store) -> Iterator[str]:
    if shown.cohort and not store.matching(Filter(shown.run, all_variants=True, cohort=shown.cohort)):
        yield f'{shown.run} has no question of a cohort "{_shortened(shown.cohort)}".'


def _shortened(value: str) -> str:
    return value if len(value) <= MAX_CHARS else f"{value[: MAX_CHARS - 1]}…"
