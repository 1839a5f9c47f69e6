"""Turns blocks into items of a given width: set once, and only then divided over pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from tools.demo import figures
from tools.demo.faces import ACCENT, BELOW, BODY, INK, LEAD, RISE, RULE, WHITE, Face, Rgb, faces, wrap
from tools.demo.flow import NEVER, Item
from tools.demo.markup import Block, plain
from tools.demo.pages import Sheet
from tools.demo.tables import table_items

SIGNAL = {
    "warning": ("WARNING", (0.93, 0.42, 0.05), (1.0, 0.953, 0.91)),
    "caution": ("CAUTION", (0.95, 0.77, 0.06), (1.0, 0.984, 0.89)),
    "note": ("NOTE", (0.3, 0.48, 0.66), (0.93, 0.955, 0.98)),
}
#: size, lead, white before and after of a section's and of a subsection's heading
HEADINGS = {1: (12.5, 15.5, 15.0, 4.5), 2: (10.2, 13.0, 10.0, 3.0)}
#: How much wider than in the regular face a term is at most when it is bold.
BOLDER = 6.0
#: Two lines at least stay together at the foot and at the head of a page.
TOGETHER = 2


@dataclass(frozen=True, slots=True)
class Galley:
    """Sets blocks to a width in points; narrow ones are ragged, as there is no room to justify.

    `fill` is the height that a table has to itself, on a page of its own.
    """

    width: float
    fill: float = 0.0

    @property
    def _ragged(self) -> bool:
        return self.width < 250

    def items(self, block: Block) -> list[Item]:
        """The block's items in order."""
        setters: dict[str, Callable[[Block], list[Item]]] = {
            "chapter": self._chapter,
            "heading": self._heading,
            "paragraph": self._paragraph,
            "steps": self._steps,
            "list": self._steps,
            "table": lambda table: table_items(table, self.width, fill=self.fill),
            "figure": self._figure,
        }
        return setters.get(block.kind, self._signal)(block)

    def _chapter(self, block: Block) -> list[Item]:
        lines = wrap(block.lines[0], self.width, faces()["bold"], 21)
        rule = 25.0 * len(lines) + 7

        def draw(sheet: Sheet, x: float, y: float) -> None:
            _write(sheet, lines, x, y + 22, faces()["bold"], 21, 25, ACCENT)
            sheet.page.draw_line((x, y + rule), (x + self.width, y + rule), color=ACCENT, width=1.4)

        return [Item(block, rule, draw, after=14, sticky=True)]

    def _heading(self, block: Block) -> list[Item]:
        size, lead, before, after = HEADINGS[block.level]
        face = faces()["bold"]
        number = _own_number(block)
        indent = face.length(number, size) + 8 if number else 0.0
        lines = wrap(block.lines[0], self.width - indent, face, size)

        def draw(sheet: Sheet, x: float, y: float) -> None:
            sheet.write(x, y + size, number, face, size, ACCENT)
            _write(sheet, lines, x + indent, y + size, face, size, lead)

        height = lead * len(lines)
        return [Item(block, height, draw, before=before, after=after, sticky=True)]

    def _paragraph(self, block: Block) -> list[Item]:
        face = faces()["regular"]
        bold = self._term(block)
        lines = wrap(block.lines[0], self.width - (BOLDER if bold else 0.0), face)
        items = []
        for number, words in enumerate(lines):
            spread = number < len(lines) - 1 and not self._ragged
            gap = _gap(words, self.width, face) if spread else face.length(" ")

            draw = partial(_spread, words=words, gap=gap, bold=bold)
            bold = max(bold - len(words), 0)
            kept = number < TOGETHER or number > len(lines) - TOGETHER
            cost = (0.0 if number == 0 else NEVER) if kept else 4.0
            items.append(Item(block, LEAD, draw, (0, 0, self.width, LEAD + BELOW), cost=cost))
        items[0] = replace(items[0], before=5.0)
        items[-1] = replace(items[-1], after=5.0, sticky=block.lines[0].endswith(":"))
        return items

    def _term(self, block: Block) -> int:
        """How many words of the paragraph are bold: in a glossary's columns, what it explains."""
        glossary = self._ragged and not block.section
        return len(block.lines[0].partition(". ")[0].split()) if glossary else 0

    def _steps(self, block: Block) -> list[Item]:
        """Steps with their number, a list's items with a dot: which is drawn, and no part of the text."""
        items = [self._step(block, text) for text in block.lines]
        for place in range(1, len(items)):
            edge = place in (1, len(items) - 1)
            items[place] = replace(items[place], cost=60.0 if edge else 20.0)
        items[0] = replace(items[0], before=5.0)
        items[-1] = replace(items[-1], after=6.0)
        return items

    def _step(self, block: Block, text: str) -> Item:
        number, words = text.split(" ", 1) if block.kind == "steps" else ("", text)
        indent = 18.0 if number else 12.0
        lines = wrap(words, self.width - indent, faces()["regular"])

        def draw(sheet: Sheet, x: float, y: float) -> None:
            if number:
                sheet.write(x, y + BODY * RISE, number, faces()["bold"], BODY, ACCENT)
            else:
                sheet.page.draw_circle((x + 4, y + BODY * RISE - 3), 1.5, color=None, fill=ACCENT)
            _write(sheet, lines, x + indent, y + BODY * RISE, faces()["regular"])

        height = LEAD * len(lines)
        return Item(block, height, draw, (0, 0, self.width, height + BELOW), before=1.8, after=1.8)

    def _signal(self, block: Block) -> list[Item]:
        word, strong, pale = SIGNAL[block.kind]
        lines = wrap(block.lines[0], self.width - 20, faces()["regular"])
        height = 25 + LEAD * len(lines)
        colour = INK if block.kind == "caution" else WHITE

        def draw(sheet: Sheet, x: float, y: float) -> None:
            page, right = sheet.page, x + self.width
            page.draw_rect((x, y, right, y + height), color=strong, fill=pale, width=0.8)
            page.draw_rect((x, y, right, y + 16), color=strong, fill=strong, width=0.8)
            figures.signal(page, x + 10, y + 8, colour, note=block.kind == "note")
            sheet.write(x + 26, y + 11.6, word, faces()["bold"], 9.6, colour)
            _write(sheet, lines, x + 10, y + 19.5 + BODY * RISE, faces()["regular"])

        return [Item(block, height, draw, (0, 0, self.width, height), before=8, after=9, cost=120.0)]

    def _figure(self, block: Block) -> list[Item]:
        """A drawing in its frame with the caption below."""
        if block.name not in figures.DRAWINGS:
            raise ValueError(f"there is no drawing named {block.name!r}")
        draw_figure, high = figures.DRAWINGS[block.name]
        lines = wrap(block.lines[0], self.width, faces()["italic"])
        caption, height = high + 4, high + 4 + LEAD * len(lines)

        def draw(sheet: Sheet, x: float, y: float) -> None:
            frame = (x, y, x + self.width, y + high)
            sheet.page.draw_rect(frame, color=RULE, fill=(0.985, 0.987, 0.99), width=0.6)
            draw_figure(sheet.page, _label(sheet), x, y, self.width, high)
            _write(sheet, lines, x, y + caption + BODY * RISE, faces()["italic"])

        box, art = (0.0, caption, self.width, height + BELOW), (0.0, 0.0, self.width, high)
        return [Item(block, height, draw, box, before=8, after=8, cost=120.0, art=art)]


def _own_number(block: Block) -> str:
    """The number in front of a heading; one without its own shares its chapter's and shows none."""
    depth = block.section.count(".")
    return block.section if block.section and depth >= block.level else ""


def heading_words(block: Block) -> str:
    """A heading as contents, outline and index say it, with its number."""
    number = _own_number(block) if block.kind == "heading" else ""
    return plain(f"{number} {block.lines[0]}".strip())


def _gap(words: list[str], width: float, face: Face) -> float:
    """The space between words that fills the line; a line too loose for that keeps its ragged end."""
    slack = width - face.length(" ".join(words))
    return face.length(" ") + min(slack / max(len(words) - 1, 1), 4.2)


def _spread(sheet: Sheet, x: float, y: float, *, words: list[str], gap: float, bold: int) -> None:
    """A line of body text below y with this space between its words, the first few of them bold."""
    for place, word in enumerate(words):
        face = faces()["bold" if place < bold else "regular"]
        sheet.write(x, y + BODY * RISE, word if place == len(words) - 1 else word + " ", face, BODY)
        x += face.length(word) + gap


def _write(
    sheet: Sheet, lines: list[list[str]], x: float, y: float, face: Face,
    size: float = BODY, lead: float = LEAD, colour: Rgb = INK,
) -> None:  # fmt: skip
    """Ragged lines with the first baseline at y."""
    for number, words in enumerate(lines):
        sheet.write(x, y + number * lead, " ".join(words), face, size, colour)


def _label(sheet: Sheet) -> figures.Label:
    """Write a drawing's words: bold, centred on x."""

    def label(x: float, y: float, text: str, colour: Rgb = INK, size: float = 7.6) -> None:
        face = faces()["bold"]
        sheet.write(x - face.length(text, size) / 2, y, text, face, size, colour)

    return label
