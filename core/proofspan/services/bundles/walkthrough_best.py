"""Choose the playlist "Best of" of a run: the answers that show in a few minutes what its evidence is like.

The rule reads rows of the index and no text. Answers whose proof is exact come first, from as many documents
and pages as there are; then one answer that was caught, a misquote if there is one; at the end one refusal
that is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from proofspan.contracts.records.records import TraceKey
from proofspan.diagnosis.labelling import REFUSAL_LABELS
from proofspan.diagnosis.verdicts.types import CAUSES
from proofspan.store.files.evidence_states import EvidenceState

#: Questions of the playlist.
MOST = 8
#: Questions that come before a refusal.
BEFORE_REFUSAL = 5

#: Whether a refusal is right: the documents have no answer, they have one, or that is not known.
Refusal = Literal["right", "wrong", "unknown"]
#: A document, and the page or section in it.
Place = tuple[str | None, int | str | None]
#: States of a citation with which nothing is shown as proof.
_BROKEN: frozenset[EvidenceState] = frozenset({"not_found", "numbers_differ", "page_mismatch"})


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as the rule sees it: the columns of its row, and its cited place.

    `evidence` are the states of its citations, empty while they are not located. `has_figure` is whether a
    picture is on the cited page.
    """

    key: TraceKey
    evidence: tuple[EvidenceState, ...] = ()
    label: str | None = None
    grounded: str | None = None
    correct: str | None = None
    cause: str | None = None
    refusal: Refusal | None = None
    place: Place = (None, None)
    has_figure: bool = False

    @property
    def _identity(self) -> tuple[str, int, int, int]:
        return self.key.q_id, self.key.paraphrase, self.key.seed, self.key.repeat

    @property
    def is_proof(self) -> bool:
        """Return whether the answer may be shown as a good one: it has no known fault."""
        is_sound = self.cause == "none" or (self.cause is None and self.label == "ok")
        is_supported = self.grounded in (None, "yes") and self.correct in (None, "unknown", "correct")
        return self.refusal is None and is_sound and is_supported and _BROKEN.isdisjoint(self.evidence)

    @property
    def tier(self) -> tuple[int, bool]:
        """Return how good the proof is, the best first: exact, exact but for typography, other.

        Of equally good proofs an answer that is known to be correct comes first.
        """
        states = set(self.evidence)
        exactness = 2 if not states or states - {"exact", "normalized"} else int("normalized" in states)
        return exactness, self.correct != "correct"

    @property
    def caught(self) -> tuple[int, int] | None:
        """Return how good an example of a caught failure this is, the best first; None for no failure.

        A number that differs from the page comes before other misquotes, and those before wrong answers.
        """
        harm = CAUSES.index(self.cause) if self.cause in CAUSES else len(CAUSES)
        if self.refusal is not None:
            return None
        if "numbers_differ" in self.evidence:
            return 0, harm
        if self.grounded == "contradicted":
            return 1, harm
        return (2, harm) if self.correct == "wrong" else None


def best_of(answers: Iterable[Answer]) -> tuple[TraceKey, ...]:
    """Return at most `MOST` of the answers in the order in which they are shown, whatever order they come in.

    Empty where no answer may be shown as a good one. At least one shows a picture if any proof does. A
    refusal comes last, and only after `BEFORE_REFUSAL` others.
    """
    listed = sorted({each.key: each for each in answers}.values(), key=lambda each: each._identity)
    graded = [(grade, each) for each in listed if (grade := each.caught) is not None]
    caught = [min(graded, key=lambda item: item[0])[1]] if graded else []
    refusals = [each for each in listed if each.refusal == "right"][:1]
    shown = _varied([each for each in listed if each.is_proof], MOST - len(caught) - len(refusals))
    if not shown:
        return ()
    shown += caught
    if len(shown) >= BEFORE_REFUSAL:
        shown += refusals
    return tuple(each.key for each in shown)


def _varied(proofs: Sequence[Answer], room: int) -> list[Answer]:
    """Return the best proofs, the best first; of equally good ones those of places not shown yet.

    Of these, one with a picture on its page comes first.
    """
    left, picked = list(proofs), list[Answer]()
    pages: Counter[Place] = Counter()
    documents: Counter[str | None] = Counter()

    def order(each: Answer) -> tuple[object, ...]:
        lacks_figure = not each.has_figure and not any(other.has_figure for other in picked)
        place = each.place
        return each.tier, lacks_figure, pages[place], documents[place[0]], not each.has_figure, each._identity

    while left and len(picked) < room:
        best = min(left, key=order)
        left.remove(best)
        picked.append(best)
        pages[best.place] += 1
        documents[best.place[0]] += 1
    with_figure = [each for each in left if each.has_figure]
    if with_figure and not any(each.has_figure for each in picked):
        picked[-1] = min(with_figure, key=order)
    return sorted(picked, key=lambda each: each.tier)


def refusal_of(row: Mapping[str, object]) -> Refusal | None:
    """Return whether the refusal in a row of the index is right; an answer gives None.

    By the verdict; before claims are checked, by the gold question.
    """
    correct, is_refusal = row["correct"], bool(row["gold_is_refusal"])
    if correct == "declined_rightly":
        return "right"
    if correct == "declined_wrongly":
        return "wrong"
    if correct in ("unknown", None) and (is_refusal or row["label"] in REFUSAL_LABELS):
        if correct is None and is_refusal:
            return "right" if row["gold_state"] == "declined" else "wrong"
        return "unknown"
    return None
