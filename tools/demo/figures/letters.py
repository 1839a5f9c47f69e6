"""Letters and figures as strokes, for what must not become text of the page: lamps and the picture."""

from __future__ import annotations

from tools.demo.figures.pen import Ink, Pen

#: Strokes on a grid that is 4 wide and 6 high, origin top left.
_STROKES = {
    "0": "M 2 0 C 4.6 0 4.6 6 2 6 C -0.6 6 -0.6 0 2 0",
    "1": "M 0.8 1.4 L 2.4 0 L 2.4 6",
    "2": "M 0.2 1.6 C 0.4 -0.6 3.8 -0.5 3.7 1.8 C 3.6 3.4 0.8 4.6 0.2 6 L 3.9 6",
    "3": "M 0.4 0 L 3.6 0 L 1.8 2.4 C 4.4 2.2 4.5 6 1.8 6 C 1.1 6 0.4 5.7 0.1 5.1",
    "4": "M 3 6 L 3 0 L 0 4.2 L 4 4.2",
    "5": "M 3.6 0 L 0.7 0 L 0.4 2.6 C 1.6 1.8 4 2 3.9 4.1 C 3.8 6.4 0.9 6.6 0.1 5",
    "6": "M 3.3 0 C 1.2 1.2 0.2 2.8 0.2 4.2 M 0.2 4.2 C 0.2 6.6 3.8 6.6 3.8 4.2 C 3.8 1.8 0.2 1.8 0.2 4.2",
    "7": "M 0.2 0 L 3.8 0 L 1.4 6",
    "8": "M 2 2.8 C -0.2 2.6 0 0 2 0 C 4 0 4.2 2.6 2 2.8 C 4.6 3 4.4 6 2 6 C -0.4 6 -0.6 3 2 2.8",
    "9": "M 0.7 6 C 2.8 4.8 3.8 3.2 3.8 1.8 M 3.8 1.8 C 3.8 -0.6 0.2 -0.6 0.2 1.8 C 0.2 4.2 3.8 4.2 3.8 1.8",
    "A": "M 0 6 L 2 0 L 4 6 M 0.8 4 L 3.2 4",
    "B": "M 0.4 0 L 0.4 6 L 2 6 C 4.2 6 4.2 2.9 2 2.9 L 0.4 2.9 M 2 2.9 C 3.9 2.9 3.9 0 2 0 L 0.4 0",
    "D": "M 0.3 0 L 0.3 6 L 1.4 6 C 4.7 6 4.7 0 1.4 0 L 0.3 0",
    "F": "M 3.6 0 L 0.4 0 L 0.4 6 M 0.4 2.9 L 3 2.9",
    "H": "M 0.2 0 L 0.2 6 M 3.8 0 L 3.8 6 M 0.2 3 L 3.8 3",
    "I": "M 2 0 L 2 6",
    "L": "M 0.4 0 L 0.4 6 L 3.6 6",
    "M": "M 0 6 L 0 0 L 2 3.4 L 4 0 L 4 6",
    "O": "M 2 0 C 4.7 0 4.7 6 2 6 C -0.7 6 -0.7 0 2 0",
    "S": "M 3.7 1 C 3 -0.3 0.3 -0.4 0.3 1.5 C 0.3 3.4 3.8 2.6 3.8 4.5 C 3.8 6.4 0.8 6.4 0.1 5",
    "T": "M 0 0 L 4 0 M 2 0 L 2 6",
    "U": "M 0.3 0 L 0.3 3.8 C 0.3 6.7 3.7 6.7 3.7 3.8 L 3.7 0",
}
_ADVANCE = 5.7


def write(pen: Pen, ink: Ink, text: str, x: float, y: float, height: float) -> None:
    """Draws `text` with its middle at (x, y), `height` units high."""
    unit = height / 6
    left = x - (len(text) * _ADVANCE - _ADVANCE + 4) * unit / 2
    for position, character in enumerate(text):
        part = pen.moved(left + position * _ADVANCE * unit, y - height / 2, scale=unit)
        part.draw(ink, _STROKES[character])
