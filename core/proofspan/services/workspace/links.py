"""Addresses of pages, for what is written outside the dashboard: the query of a list, and of one question.

The dashboard makes and reads its own in `proofspan.ui.visit.view_state`; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from urllib.parse import urlencode

from proofspan.contracts.records.names import question_name
from proofspan.store.query.filters import Filter

_WORDS = {True: "yes", False: "no"}
#: Filters whose two sides have words of their own.
_OWN_WORDS = {"safety": {True: "omitted", False: "complete"}}
#: Filters that an address names only where they are on.
_SWITCHES = frozenset({"all_variants", "questions_only"})


def list_address(shown: Filter) -> str:
    """Return the relative address of Triage with this filter: `./?run=R006&label=ok`."""
    return f"./?{urlencode(list(_pairs(shown)))}"


def question_address(run_id: str, q_id: str, *, vs: str | None = None) -> str:
    """The relative address of a headline question, `./question?run=R006&q=Q80`, another run beside it."""
    pairs = {"run": run_id, "q": question_name(q_id), "vs": vs}
    return f"./question?{urlencode({name: value for name, value in pairs.items() if value is not None})}"


def absolute(base: str, address: str) -> str:
    """A relative address below the dashboard's own, such as `https://proofspan.example/`."""
    return f"{base.rstrip('/')}/{address.removeprefix('./')}"


def _pairs(shown: Filter) -> Iterator[tuple[str, str]]:
    for part in fields(shown):
        value = getattr(shown, part.name)
        if isinstance(value, tuple):
            yield from ((part.name, each) for each in value)
        elif isinstance(value, str):
            yield from [(part.name, value)] if value else []
        elif value is not None and (value or part.name not in _SWITCHES):
            yield part.name, _OWN_WORDS.get(part.name, _WORDS)[value]
