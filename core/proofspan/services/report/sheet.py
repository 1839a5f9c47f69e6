"""A release report as one landscape sheet of A4, for its PDF and PNG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofspan.contracts.records.records import Box
from proofspan.evidence.drawing import INK, MUTED, Drawing, Inset, Item, Panel, Run, Words
from proofspan.metrics.goals import Status
from proofspan.services.markdown_text import one_line
from proofspan.services.page.crop import Crop
from proofspan.services.page.shapes import Layer
from proofspan.services.release import State
from proofspan.services.report.content import Number, ReleaseReport
from proofspan.services.report.proofs import ASPECT, Proof

#: A4 in points, its margins, and the room between panels.
WIDTH, HEIGHT, MARGIN, GAP = 842.0, 595.0, 26.0, 8.0
PAPER, LINE, FAINT = "#ffffff", "#d9dbdf", "#f7f7f5"
#: Fill, line and ink of what is good, bad and open.
_GOOD, _BAD, _OPEN = (
    ("#e9f5ed", "#b5d9c1", "#1a6b38"),
    ("#fdecea", "#efc2bb", "#9c2118"),
    ("#fdf5e0", "#e8d39a", "#7a5600"),
)
_PLAIN = (FAINT, LINE, MUTED)
_STATES: Mapping[State, tuple[str, str, str]] = {
    "ready": _GOOD,
    "not_ready": _BAD,
    "not_enough_evidence": _OPEN,
}
_STATUSES: Mapping[Status, tuple[str, tuple[str, str, str]]] = {
    "pass": ("✓ ", _GOOD),
    "warn": ("! ", _OPEN),
    "fail": ("✗ ", _BAD),
    "unknown": ("", _PLAIN),
}
#: Colours of boxes over a page.
LAYERS: Mapping[Layer, str] = {
    "cited": "#e09b2b",
    "gold": "#2f9e58",
    "retrieved": "#4a7fd0",
    "claim": "#8a5cc7",
}


def report_sheet(report: ReleaseReport, proofs: Sequence[Proof]) -> Drawing:
    """Return the report as a drawing of one page; `proofs` are those of its flips."""
    items = (
        Panel((0, 0, WIDTH, HEIGHT), PAPER),
        *_head(report),
        *_numbers(report.numbers, 116),
        *_reasons(report, (MARGIN, 192, 440, 386)),
        *_table(report, (440 + GAP, 192, WIDTH - MARGIN, 386)),
        *_see(report, proofs, 394),
    )
    return Drawing(WIDTH, HEIGHT, items, report.title)


def _head(report: ReleaseReport) -> Iterator[Item]:
    right = WIDTH - MARGIN
    yield Words((MARGIN, 20, right, 42), ((Run(report.title, bold=True),),), size=16, leading=20)
    yield Words((MARGIN, 42, right, 56), ((Run(report.about, colour=MUTED),),), size=8.5)
    fill, line, ink = _STATES[report.verdict.state]
    yield Panel((MARGIN, 60, right, 108), fill, line, radius=7)
    state = (Run(report.verdict.words, bold=True, colour=ink),)
    yield Words((MARGIN + 12, 74, MARGIN + 132, 98), (state,), size=12.5, leading=16)
    yield Words((MARGIN + 138, 66, right - 10, 105), ((Run(report.headline),),), size=10, leading=13)


def _numbers(numbers: Sequence[Number], top: float) -> Iterator[Item]:
    width = (WIDTH - 2 * MARGIN - GAP * (len(numbers) - 1)) / len(numbers)
    for place, number in enumerate(numbers):
        left = MARGIN + place * (width + GAP)
        yield Panel((left, top, left + width, top + 68), PAPER, LINE, radius=6)
        sign, (_, _, ink) = _STATUSES[number.status]
        paragraphs = (
            (Run(number.name, colour=MUTED, size=8),),
            (Run(f"{number.number}  ", bold=True, size=15), Run(number.sure, colour=MUTED, size=8)),
            (Run(f"{sign}{number.goal}", bold=number.status != "unknown", colour=ink, size=8),),
            (Run(number.change or "no comparison", colour=MUTED, size=7.5),),
        )
        yield Words((left + 9, top + 5, left + width - 6, top + 66), paragraphs, size=8, leading=13)


def _reasons(report: ReleaseReport, box: Box) -> Iterator[Item]:
    left, top, right, bottom = box
    yield Panel(box, PAPER, LINE, radius=6)
    paragraphs: list[tuple[Run, ...]] = [(Run(report.why_title, bold=True, size=10),)]
    for number, why in enumerate(report.why, start=1):
        close = [Run(f" {why.closest_in_words}", colour=MUTED)] if why.closest else []
        paragraphs.append((Run(f"{number}. {why.sentence}"), *close))
    if not report.why:
        paragraphs.append((Run("Every check passes.", colour=MUTED),))
    if report.more_reasons:
        paragraphs.append((Run(f"And {report.more_reasons:,} more among the checks.", colour=MUTED),))
    if report.steps:
        paragraphs.append((Run("\u00a0", size=5),))
        paragraphs.append((Run("What would change it", bold=True, size=10),))
        paragraphs += [(Run(f"• {each}"),) for each in report.steps]
    yield Words(
        (left + 10, top + 7, right - 10, bottom - 5), tuple(paragraphs), size=8.5, leading=11, gap=2.5
    )


def _table(report: ReleaseReport, box: Box) -> Iterator[Item]:
    left, top, right, bottom = box
    yield Panel(box, PAPER, LINE, radius=6)
    yield Words((left + 10, top + 7, right - 10, top + 22), ((Run(report.since, bold=True),),), size=10)
    verdict, row = report.verdict, 17.5
    heads = (
        one_line(verdict.against or "before", cut=14),
        one_line(verdict.run_id, cut=14),
        "fixed",
        "regressed",
    )
    columns = [("Questions", [count.name for count in report.counts])]
    columns += [(head, [count.cells[n] for count in report.counts]) for n, head in enumerate(heads)]
    ends = (left + 130, left + 188, left + 246, left + 304, right - 12)
    begins = (left + 10, *(end + 2 for end in ends[:-1]))
    for number, ((head, cells), begin, end) in enumerate(zip(columns, begins, ends, strict=True)):
        paragraphs = ((Run(head, bold=True, colour=MUTED),), *((Run(cell),) for cell in cells))
        place = (begin, top + 24, end, top + 24 + row * (len(cells) + 1))
        yield Words(place, paragraphs, size=8.5, leading=row, align="right" if number else "left")
    for number in range(1, len(report.counts) + 1):
        line = top + 24 + number * row
        yield Panel((left + 10, line, right - 10, line + 0.4), LINE)
    note = (Run(report.counts_note, colour=MUTED),)
    yield Words((left + 10, top + 28 + row * 7, right - 10, bottom - 4), (note,), size=7.5, leading=9.5)


def _see(report: ReleaseReport, proofs: Sequence[Proof], top: float) -> Iterator[Item]:
    yield Words((MARGIN, top, WIDTH - MARGIN, top + 16), ((Run("See for yourself", bold=True),),), size=10)
    if not proofs:
        note = (Run(report.flips_note, colour=MUTED),)
        yield Words((MARGIN, top + 18, WIDTH - MARGIN, top + 34), (note,), size=8.5)
        return
    places = max(4, len(proofs))
    width = (WIDTH - 2 * MARGIN - GAP * (places - 1)) / places
    for place, proof in enumerate(proofs):
        left = MARGIN + place * (width + GAP)
        yield from _proof(proof, (left, top + 18, left + width, HEIGHT - MARGIN + 4))


def _proof(proof: Proof, box: Box) -> Iterator[Item]:
    left, top, right, bottom = box
    flip, crop = proof.flip, proof.crop
    _, _, ink = _GOOD if flip.kind == "fixed" else _BAD
    yield Panel(box, PAPER, LINE, radius=6)
    paragraphs = (
        (Run(flip.sign, bold=True, colour=ink), Run(f"  {one_line(flip.q_id, cut=24)}", bold=True)),
        (Run(one_line(flip.q, cut=84)),),
        (Run(flip.words, colour=MUTED),),
    )
    yield Words((left + 7, top + 5, right - 6, top + 68), paragraphs, size=8, leading=10.5, gap=1.5)
    height = (right - left - 12) / ASPECT
    place = (left + 6, top + 71, right - 6, top + 71 + height)
    yield from crop_items(crop, place)
    caption = (Run(one_line(crop.place, cut=70), colour=MUTED),)
    yield Words((left + 7, place[3] + 2, right - 6, bottom - 2), (caption,), size=7, leading=8.5)


def crop_items(crop: Crop, box: Box) -> Iterator[Item]:
    """Yield a crop with its boxes; its text, or the reason for neither, in its place."""
    left, top, right, bottom = box
    if crop.picture is None:
        yield Panel(box, FAINT, LINE, radius=3)
        words = crop.text or f"No picture: {crop.missing}."
        text = (Run(one_line(words, cut=220), colour=INK if crop.text else MUTED),)
        size = 9.5 if right - left > 400 else 7.5
        yield Words((left + 5, top + 4, right - 5, bottom - 3), (text,), size=size, leading=1.3 * size)
        return
    picture = crop.picture
    scale = min((right - left) / picture.width, (bottom - top) / picture.height)
    right, height = left + scale * picture.width, scale * picture.height
    bottom = top + height
    yield Inset.of((left, top, right, bottom), crop.picture)
    for mark in crop.boxes:
        x, y, across, down = mark.rect
        x0, y0 = left + x * (right - left) / 100, top + y * height / 100
        place = (x0, y0, x0 + across * (right - left) / 100, y0 + down * height / 100)
        colour = LAYERS[mark.layer]
        yield Panel(place, "" if mark.is_extent else colour, colour, 0.6, opacity=0.22)
    yield Panel((left, top, right, bottom), "", LINE)
