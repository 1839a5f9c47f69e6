"""Put people's verdicts on an answer into a cell of the Triage table."""

from __future__ import annotations

from collections.abc import Mapping

from proofspan.journal.annotations import Annotation, disputed
from proofspan.services.review import verdict_words
from proofspan.ui.widgets.table import NOTHING, Cell, Chip
from proofspan.ui.widgets.text import shortened

#: Characters of a person's name, and people that a cell names.
MAX_NAME, MAX_PEOPLE = 24, 3


def reviewed(verdicts: Mapping[str, Annotation]) -> Cell:
    """Return who says what instead of Proofspan, who agrees, and whether people say different things."""
    if not verdicts:
        return NOTHING
    each_says = [
        _says(name, verdicts[name])
        for name in sorted(verdicts, key=lambda name: (bool(verdicts[name].agrees), name))
    ]
    more = [f"+{len(each_says) - MAX_PEOPLE:,}"] if len(each_says) > MAX_PEOPLE else []
    words, tip = " · ".join([*each_says[:MAX_PEOPLE], *more]), "; ".join(each_says)
    if disputed(verdicts):
        return Cell(chips=(Chip("Disputed", "orange"),), note=words, tip=tip)
    return Cell(words, tip=tip)


def _says(name: str, verdict: Annotation) -> str:
    person = shortened(name, MAX_NAME)
    return f"{person} agrees" if verdict.agrees else f"{person}: {verdict_words(verdict)}"
