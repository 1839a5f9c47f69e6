"""A question as a card for a chat or a ticket: answer, what differs, and the passage, as picture and text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from proofspan.diagnosis.claims.types import CheckedAnswer
from proofspan.diagnosis.verdicts.types import Verdict
from proofspan.display_names import CORRECT_NAMES, DIFFERENCE_NAMES, GROUNDED_NAMES, LABEL_NAMES, NO_LABEL
from proofspan.evidence.drawing import MUTED, Drawing, Item, Panel, Run, Words
from proofspan.services.markdown_text import one_line
from proofspan.services.page.crop import Crop
from proofspan.services.question.view import QuestionView
from proofspan.services.report.sheet import crop_items

#: Share of a page's width that a card shows, the crop's width divided by its height, and its width in pixels.
SHARE, ASPECT, PIXELS = 0.8, 2.7, 1_100
#: Points of a card's width and margin; characters of a line of its text.
WIDTH, MARGIN, A_LINE = 560.0, 18.0, 100
#: Characters of question, answer and expected answer, and the most differences.
MOST_ASKED, MOST_ANSWER, MOST_EXPECTED, MOST_DIFFERENCES = 240, 700, 300, 2


@dataclass(frozen=True, slots=True)
class Card:
    """The words of a card, each on one line without control characters, and the crop of its passage.

    `verdict` is the correctness, else the grounding, else the label; `differences` are sentences.
    """

    head: str
    question: str
    verdict: str
    answer: str
    differences: tuple[str, ...]
    crop: Crop

    @property
    def text(self) -> str:
        """Return the card as plain text."""
        shown = self.crop.text or (f"No picture: {self.crop.missing}." if self.crop.picture is None else "")
        place = [f"Source: {one_line(self.crop.place, cut=200)}"] if self.crop.place else []
        lines = [
            self.head,
            f"Question: {self.question}",
            f"Answer ({self.verdict}): {self.answer}",
            *(f"- {each}" for each in self.differences),
            *place,
            *([one_line(shown, cut=300)] if shown else []),
        ]
        return "\n".join(lines) + "\n"


def card_of(
    view: QuestionView,
    crop: Crop,
    *,
    name: str,
    answer: str,
    checked: CheckedAnswer | None,
    verdict: Verdict | None,
) -> Card:
    """Return the card of a question in a workspace called `name`, with its claims and verdict if known.

    `answer` is its answer without what only a program reads.
    """
    trace = view.trace
    names = (one_line(each, cut=50) for each in (trace.q_id, trace.run_id or "", name))
    return Card(
        " · ".join(filter(None, names)),
        one_line(trace.q, cut=MOST_ASKED),
        _words(view, verdict),
        one_line(answer, cut=MOST_ANSWER) or "The answer is empty.",
        tuple(_differences(view, checked, verdict)),
        crop,
    )


def _words(view: QuestionView, verdict: Verdict | None) -> str:
    if verdict is not None and verdict.correct != "unknown":
        return CORRECT_NAMES[verdict.correct]
    if verdict is not None and verdict.grounded is not None:
        return GROUNDED_NAMES[verdict.grounded]
    return LABEL_NAMES[view.row.label] if view.row is not None else NO_LABEL


def _differences(view: QuestionView, checked: CheckedAnswer | None, verdict: Verdict | None) -> Iterator[str]:
    """Yield what went wrong, what differs from the evidence, and what was expected of a wrong answer."""
    is_right = verdict is not None and verdict.correct in ("correct", "declined_rightly")
    if verdict is not None and verdict.cause not in (None, "none") and verdict.sentence:
        yield one_line(verdict.sentence.replace("`", ""), cut=MOST_EXPECTED)
    found = [each for claim in (checked.claims if checked else ()) for each in claim.differences]
    for each in found[:MOST_DIFFERENCES]:
        claimed, evidence = one_line(each.claimed, cut=80), one_line(each.found, cut=80)
        yield f"{DIFFERENCE_NAMES[each.kind]}: the answer has “{claimed}”, the evidence “{evidence}”."
    if not is_right and view.gold is not None and view.gold.answer:
        yield f"Expected: {one_line(view.gold.answer, cut=MOST_EXPECTED)}"


def card_drawing(card: Card) -> Drawing:
    """Return the card as a drawing, as high as its words need."""
    right, top = WIDTH - MARGIN, MARGIN
    items: list[Item] = []
    for runs, size, leading in (
        ((Run(card.head, colour=MUTED),), 9.0, 12.0),
        ((Run(card.question, bold=True),), 12.5, 16.0),
        ((Run(f"{card.verdict}: ", bold=True), Run(card.answer)), 10.5, 14.0),
        *(((Run(f"• {each}"),), 9.5, 13.0) for each in card.differences),
    ):
        letters = sum(len(run.text) for run in runs)
        height = leading * ceil(letters * size / (10.5 * A_LINE)) + 3
        items.append(Words((MARGIN, top, right, top + height), (runs,), size=size, leading=leading))
        top += height + 3
    bottom = top + (right - MARGIN) / ASPECT if card.crop.picture is not None else top + 46
    items += crop_items(card.crop, (MARGIN, top + 2, right, bottom + 2))
    place = (Run(f"{one_line(card.crop.place, cut=110)}   ", colour=MUTED), *_legend(card.crop))
    items.append(Words((MARGIN, bottom + 6, right, bottom + 22), (place,), size=8.5))
    height = bottom + 22 + MARGIN / 2
    paper = Panel((0, 0, WIDTH, height), "#ffffff")
    return Drawing(WIDTH, height, (paper, *items), card.head)


def _legend(crop: Crop) -> Iterator[Run]:
    """Yield the names of the layers that are drawn, in their colours."""
    inks = {"cited": "#8a5600", "gold": "#1a6b38", "retrieved": "#3a42a8", "claim": "#0f6157"}
    for layer in dict.fromkeys(box.layer for box in crop.boxes):
        yield Run(f" ■ {layer}", colour=inks[layer])
