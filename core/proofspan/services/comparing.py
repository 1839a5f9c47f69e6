"""Is the one run better than the other? What is compared with what, and the sentences that say how it ends.

Everything here is counted elsewhere (`proofspan.store`) and told here: a page and a command say the same
words.
"""

from __future__ import annotations

from math import ceil

from proofspan.manifest.types import Manifest
from proofspan.metrics.paired import LEVEL, flips_needed, mcnemar
from proofspan.store.compared import Flips
from proofspan.store.measures import OUTCOMES

#: The one that needs no gold.
WITHOUT_GOLD = "answered_ok"
#: So few flips are evidence, if all of them go one way.
FEWEST = flips_needed(1, 0) or 0


def other_run(manifest: Manifest, run_id: str) -> str | None:
    """What a run is compared with where nobody says: its baseline, else the run before it in time.

    Runs of the same time, or without one, follow each other as the manifest lists them. None for the first.
    """
    run = manifest.run(run_id)
    if run is None:
        return None
    if run.baseline is not None and run.baseline != run_id and manifest.run(run.baseline) is not None:
        return run.baseline
    ordered = sorted(manifest.runs, key=lambda each: each.ts or "")  # stable: as listed
    place = ordered.index(run)
    return ordered[place - 1].run_id if place else None


def verdict_sentence(flips: Flips, *, run: str, vs: str, outcome: str, has_gold: bool = True) -> str:
    """The sentence that decides: `6 fixed, 1 regressed of 37 by SectionMatch@1: p = 0.125, not yet evidence.`

    `has_gold` says whether the workspace names gold questions at all.
    """
    by, judged = OUTCOMES[outcome], _judged(flips)
    if run == vs:
        return f"{run} is compared with itself, so nothing can differ."
    if not judged:
        is_gold_missing = outcome != WITHOUT_GOLD and not has_gold
        return _nothing_judged(flips, run=run, vs=vs, by=by, is_gold_missing=is_gold_missing)
    if not flips.fixed + flips.regressed:
        stay = f"{flips.both:,} right in both runs, {flips.neither:,} in neither"
        return f"No flip among {_questions(judged)} by {by}: {stay}."
    p = mcnemar(flips.fixed, flips.regressed)
    flipped = f"{_or_none(flips.fixed)} fixed, {_or_none(flips.regressed)} regressed"
    told = f"{flipped} of {judged:,} by {by}: {p_words(p)}, {_conclusion(flips, p, run)}."
    return told[:1].upper() + told[1:]


def needs_sentence(flips: Flips) -> str:
    """How many flips and questions evidence would take; "" where it is there, or nothing can be judged."""
    judged, flipped = _judged(flips), flips.fixed + flips.regressed
    if not judged or mcnemar(flips.fixed, flips.regressed) < LEVEL:
        return ""
    if judged < FEWEST:
        return f"{_questions(judged)} cannot tell: evidence takes {FEWEST} flips or more, all one way."
    if not flipped:
        return f"Evidence takes {FEWEST} flips or more, all one way."
    needed = flips_needed(flips.fixed, flips.regressed)
    if needed is None:
        return "As many for the better as for the worse: more questions like these would not tell either."
    needed = max(needed, flipped + 1)
    questions = ceil(judged * needed / flipped)
    return (
        f"In these shares evidence takes about {needed:,} flips (here {flipped:,}), "
        f"so about {questions:,} questions like these (here {judged:,})."
    )


def scope_sentences(flips: Flips, *, run: str, vs: str, outcome: str) -> tuple[str, ...]:
    """Which questions are compared, where those are not all questions of both runs."""
    judged = _judged(flips)
    shared, said = judged + flips.left_out, []
    counts = ((flips.only_here, run), (flips.only_there, vs))
    alone = [f"{count:,} only in {name}" for count, name in counts if count]
    if shared and alone:
        said.append(f"Compared on the {_questions(shared)} of both; {', '.join(alone)}.")
    if judged and flips.left_out:
        by = OUTCOMES[outcome]
        said.append(
            f"{flips.left_out:,} of {shared:,} cannot be judged by {by} in one of the runs: left out."
        )
    return tuple(said)


def p_words(p: float) -> str:
    """`p = 0.125`; so many digits that it never reads as if it lay on the other side of 0.05."""
    if p < 0.001:
        return "p < 0.001"
    if p > 0.9995:
        return "p = 1"
    digits = next((n for n in (3, 4, 5) if (round(p, n) < LEVEL) == (p < LEVEL)), 6)
    return f"p = {p:.{digits}f}"


def _judged(flips: Flips) -> int:
    return flips.fixed + flips.regressed + flips.both + flips.neither


def _conclusion(flips: Flips, p: float, run: str) -> str:
    if p < LEVEL:
        return f"evidence that {run} is {'better' if flips.fixed > flips.regressed else 'worse'}"
    return "no sign of a difference" if flips.fixed == flips.regressed else "not yet evidence"


def _nothing_judged(flips: Flips, *, run: str, vs: str, by: str, is_gold_missing: bool) -> str:
    """Why there is nothing to decide."""
    here, there = flips.left_out + flips.only_here, flips.left_out + flips.only_there
    if not here or not there:
        empty = (
            f"Neither {run} nor {vs} holds" if not here and not there else f"{vs if here else run} holds no"
        )
        return f"{empty} a question." if not here and not there else f"{empty} question."
    if not flips.left_out:
        return f"{run} and {vs} have no question in common: {here:,} and {there:,} questions of their own."
    if is_gold_missing:
        return f"Nothing can be judged by {by}: the workspace names no gold questions."
    return f"None of the {_questions(flips.left_out)} of both runs can be judged by {by} in both."


def _questions(count: int) -> str:
    return f"{count:,} question{'' if count == 1 else 's'}"


def _or_none(count: int) -> str:
    return f"{count:,}" if count else "none"
