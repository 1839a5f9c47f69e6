"""People's reviews of an answer as exports write them: verdicts, notes, and whether people disagree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from proofspan.contracts.records.records import Json
from proofspan.journal.annotations import (
    VERDICT_FIELDS,
    Annotation,
    Annotations,
    Target,
    answer_id,
    disputed,
)

#: What a verdict or a note holds, in order; a note has no verdict.
_PARTS = ("author", "at", "agrees", *VERDICT_FIELDS, "tags", "note", "of_another_answer")
#: The columns of a table about it.
REVIEW_COLUMNS = tuple(f"review_{name}" for name in ("disputed", *_PARTS, "notes"))


def review_of(annotations: Annotations, target: Target, answer: str) -> dict[str, Json]:
    """Return the last verdict of each person and the notes on an answer, the earliest first; {} without any.

    `disputed` is true where people give different values. A verdict's `correct`, `cause` and `label` are the
    person's, else the rules' that the person agreed to. `of_another_answer` is true of what was written about
    another text than `answer`.
    """
    given = annotations.verdicts.get(target, {})
    verdicts = sorted(given.values(), key=lambda each: each.order)
    review: dict[str, Json] = {
        "disputed": disputed(given),
        "verdicts": _statements(verdicts, answer),
        "notes": _statements(annotations.notes.get(target, ()), answer),
    }
    return {name: value for name, value in review.items() if value}


def review_columns(review: Mapping[str, Json]) -> dict[str, Json]:
    """Return the same as columns of a table: the value of one person, or the list of those of several.

    Tags are a text; in a list null is the place of a person who gives no such value.
    """
    verdicts = [
        {**each, "tags": ", ".join(each.get("tags", ())) or None} for each in review.get("verdicts", ())
    ]
    values: dict[str, list[Json]] = {name: [each.get(name) for each in verdicts] for name in _PARTS}
    columns: dict[str, Json] = {
        "disputed": review.get("disputed"),
        **{name: each[0] if len(each) == 1 else each for name, each in values.items() if {*each} - {None}},
        "notes": review.get("notes"),
    }
    return {f"review_{name}": value for name, value in columns.items() if value is not None}


def _statements(given: Iterable[Annotation], answer: str) -> list[Json]:
    own = answer_id(answer)
    return [_statement(each, of_another=each.answer not in (None, own)) for each in given]


def _statement(each: Annotation, *, of_another: bool) -> dict[str, Json]:
    parts: dict[str, Json] = {
        "author": each.author,
        "at": each.at,
        "agrees": each.agrees,
        **{name: each.value(name) for name in VERDICT_FIELDS},
        "tags": list(each.tags) or None,
        "note": each.text,
        "of_another_answer": of_another or None,
    }
    return {name: value for name, value in parts.items() if value is not None}
