"""The signs of a verdict: those of its two axes, and the whole of it in a word or two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from proofspan.diagnosis.verdicts.types import Cause, Correct, Grounded
from proofspan.display_names import CAUSE_NAMES

Tone = Literal["fail", "warn", "pass", "open"]


class Sign(NamedTuple):
    """The sign of a value, which its colour repeats, and what the value means."""

    sign: str
    tone: Tone
    means: str


GROUNDED_SIGNS: Mapping[Grounded, Sign] = {
    "contradicted": Sign("✕", "fail", "Against its evidence: a claim of the answer differs from it."),
    "no": Sign("✕", "fail", "Against its evidence: no claim of the answer has any."),
    "partly": Sign("◐", "warn", "Against its evidence: some claims of the answer have none."),
    "yes": Sign("✓", "pass", "Against its evidence: each claim of the answer is supported."),
}
CORRECT_SIGNS: Mapping[Correct, Sign] = {
    "wrong": Sign("✕", "fail", "Against the expected answer: the answer says something else."),
    "declined_wrongly": Sign("✕", "fail", "The answer declines, and an answer is expected."),
    "partly": Sign("◐", "warn", "Against the expected answer: part of it is missing or differs."),
    "unknown": Sign("?", "open", "There is no expected answer, or rules cannot decide whether it is met."),
    "declined_rightly": Sign("✓", "pass", "The answer declines, and the documents do not have one."),
    "correct": Sign("✓", "pass", "Against the expected answer: the answer says the same."),
}
#: Causes that leave the answer itself possibly right.
FORMAL: tuple[Cause, ...] = ("bad_citation", "wrong_format", "gold_suspect")
#: The colour that repeats a verdict in short.
Shade = Literal["red", "violet", "yellow", "gray", "green"]


def in_short(grounded: Grounded | None, correct: Correct, cause: Cause | None) -> tuple[str, Shade, str]:
    """Return a verdict's worst part in a word or two with its sign, its colour, and the term of its entry."""
    by_correct = f"correct.{correct}"
    if cause is None:
        return "? Ask again", "gray", "term.cause"
    if cause == "unsafe_omission":
        return "⚠ Unsafe", "red", f"cause.{cause}"
    if grounded == "contradicted":
        return "✕ Contradicted", "red", f"grounded.{grounded}"
    if correct == "wrong":
        return "✕ Wrong", "red", by_correct
    if correct == "declined_wrongly":  # by whom: the model, or retrieval
        return "– Refused", "yellow" if cause == "over_refusal" else "violet", by_correct
    if cause == "unsupported" or grounded == "no":
        return "? Unsupported", "yellow", "grounded.no" if grounded == "no" else f"cause.{cause}"
    if correct == "partly":
        return "◐ Incomplete", "yellow", by_correct
    if cause in FORMAL:
        return f"! {CAUSE_NAMES[cause]}", "yellow", f"cause.{cause}"
    if cause != "none":
        return f"✕ {CAUSE_NAMES[cause]}", "red", f"cause.{cause}"
    if grounded == "partly":
        return "◐ Partly supported", "yellow", f"grounded.{grounded}"
    if correct == "unknown":
        return "? Not known", "gray", by_correct
    return ("✓ Correct" if correct == "correct" else "✓ Refused"), "green", by_correct
