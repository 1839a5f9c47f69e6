"""Figures that carry figures: the tyre label, the data plate, the outer dimensions."""

from __future__ import annotations

from tools.demo.figures import car
from tools.demo.figures.lamps import symbol
from tools.demo.figures.pen import ACCENT, BLACK, WHITE, Ink, Xy
from tools.demo.figures.sketch import FINE, GREY, MID, PALE, SEAM, Sketch

_CARD = Ink(fill=WHITE, width=1.1)
_FILLED = Ink(line=None, fill=BLACK)
_PRESSURES = (
    ("195/65 R15", "2.3", "2.1", "2.5", "2.8"),
    ("205/55 R16", "2.4", "2.2", "2.6", "2.9"),
)
_COLUMNS = (166.0, 200.0, 242.0, 276.0)


def tyrelabel(sketch: Sketch) -> None:
    """The label: sizes, front and rear axle, lightly and fully loaded."""
    sketch.draw(_CARD, "R 36 8 296 132 7")
    sketch.draw(
        Ink(line=ACCENT, fill=ACCENT, width=0.9),
        "M 36.6 30 L 36.6 15 C 36.6 11 39 8.6 43 8.6 L 289 8.6 C 293 8.6 295.4 11 295.4 15 L 295.4 30 Z",
    )
    symbol(sketch.pen.moved(56, 19.4, scale=0.95), "tyre", WHITE, ground=ACCENT, weight=1.1)
    sketch.text(168, 19.4, "bar", WHITE, 9)
    sketch.draw(FINE, "M 36 60 L 296 60 M 36 82 L 296 82 M 36 104 L 296 104")
    sketch.draw(SEAM, "M 146 30 L 146 132 M 221 30 L 221 132")
    _people(sketch, (166, 177, 188), 40, case=False)
    _people(sketch, (230, 240, 250, 260, 270), 40, case=True)
    for number, x in enumerate(_COLUMNS):
        _axle(sketch, x, 53, front=number % 2 == 0)
    sketch.draw(SEAM, "O 90 45 9 O 90 45 5.4")
    for row, cells in enumerate(_PRESSURES):
        y = 71 + 22 * row
        sketch.text(90, y, cells[0], size=8.6)
        for x, value in zip(_COLUMNS, cells[1:], strict=True):
            sketch.text(x, y, value, size=9.4)
    sketch.text(90, 118, "T125/70 R16", size=8.6)
    sketch.text(183, 118, "4.2", size=9.4)
    sketch.text(258, 118, "max 80 km/h", size=7.6)


def _people(sketch: Sketch, places: tuple[float, ...], y: float, *, case: bool) -> None:
    """As many persons as there are places, and a case behind the last one."""
    for x in places:
        sketch.draw(
            _FILLED,
            f"O {x} {y - 4} 2.1",
            f"M {x - 3.4} {y + 5} L {x - 3.4} {y + 1} J {x} {y + 1} 3.4 180 360 L {x + 3.4} {y + 5} Z",
        )
    if case:
        x = places[-1] + 13
        sketch.draw(_FILLED, f"R {x - 5} {y - 3} {x + 5} {y + 5} 1.2")
        sketch.draw(
            Ink(width=1.0), f"M {x - 2} {y - 3} L {x - 2} {y - 5} L {x + 2} {y - 5} L {x + 2} {y - 3}"
        )


def _axle(sketch: Sketch, x: float, y: float, *, front: bool) -> None:
    """A small car from above, driving to the left, with the wheels of one axle filled."""
    sketch.draw(Ink(fill=PALE, width=0.7), f"R {x - 11} {y - 3.6} {x + 11} {y + 3.6} 2.6")
    sketch.draw(Ink(line=GREY, width=0.5), f"M {x - 4} {y - 2.6} L {x - 4} {y + 2.6}")
    for place in (-7.0, 6.6):
        fill = BLACK if (place < 0) == front else WHITE
        for side in (-4.4, 4.4):
            sketch.draw(
                Ink(fill=fill, width=0.5),
                f"R {x + place - 2.4} {y + side - 1} {x + place + 2.4} {y + side + 1} 0.5",
            )


def plate(sketch: Sketch) -> None:
    """The data plate with a rivet in each corner."""
    sketch.draw(Ink(fill=MID, width=1.1), "R 46 6 286 124 6")
    sketch.draw(Ink(fill=(0.975, 0.98, 0.985), width=0.7), "R 51 11 281 119 4")
    for x in (59, 273):
        for y in (19, 111):
            sketch.draw(Ink(fill=MID, width=0.7), f"O {x} {y} 3.2")
            sketch.draw(FINE, f"M {x - 1.6} {y - 1.6} L {x + 1.6} {y + 1.6}")
    for x, y, text, size in _PLATE:
        sketch.text(x, y, text, size=size)
    sketch.draw(Ink(line=ACCENT, width=0.8), "M 70 29 L 262 29")
    sketch.draw(
        FINE,
        "M 70 57 L 262 57 M 70 81 L 262 81 M 70 96 L 262 96",
        "R 108 100 152 113 1.5",
        "R 180 100 224 113 1.5",
    )


#: x and y of the middle, text, size; from top to bottom as in section 10.1
_PLATE = (
    (166, 21, "MERIDIAN", 10.5),
    (166, 37, "e0*2018/858*00417*02", 7),
    (166, 48.6, "ZZ8HB5AB4TA000417", 9.4),
    (118, 64, "1,790 kg", 7.4),
    (214, 64, "2,990 kg", 7.4),
    (118, 74, "1 – 980 kg", 7.4),
    (214, 74, "2 – 890 kg", 7.4),
    (166, 88.6, "02 / 2026", 7.4),
    (130, 106.5, "K7B", 8),
    (202, 106.5, "N02", 8),
)


def dimensions(sketch: Sketch) -> None:
    """The car from the side and from the front with the letters of Table 10-4."""
    scale, ground, left, middle = 0.455, 82.0, 26.0, 274.0
    sketch.draw(SEAM, f"M 16 {ground} L 320 {ground}")
    car.side(sketch.pen.moved(left, ground, scale=scale), car.PRINT)
    car.front(sketch.pen.moved(middle, ground, scale=scale), car.PRINT)
    places = (0.8, car.FRONT_AXLE, car.REAR_AXLE, car.LENGTH - 0.2)
    across = [left + scale * place for place in places]
    for x, deep in zip(across, (43, 25, 25, 43), strict=True):
        _witness(sketch, (x, ground + 4), (x, ground + deep))
    for letter, first, last, y in (("E", 1, 2, 21), ("A", 0, 3, 39)):
        sketch.measure((across[first], ground + y), (across[last], ground + y), letter)
    top = ground - scale * car.HEIGHT
    _witness(sketch, (left + scale * 250, top), (12, top))
    sketch.measure((16, top), (16, ground), "D")
    for letter, half, high, y in (("B", 89.6, 38, 21), ("C", 98.4, 50, 39)):
        ends = (middle - scale * half, middle + scale * half)
        for x in ends:
            _witness(sketch, (x, ground - high), (x, ground + y + 4))
        sketch.measure((ends[0], ground + y), (ends[1], ground + y), letter)
    _clearance(sketch, left + scale * 218, ground, scale)


def _witness(sketch: Sketch, start: Xy, end: Xy) -> None:
    """The thin line from the car to a measuring line."""
    sketch.draw(Ink(line=ACCENT, width=0.4), f"M {start[0]} {start[1]} L {end[0]} {end[1]}")


def _clearance(sketch: Sketch, x: float, ground: float, scale: float) -> None:
    """Two arrows for the gap between floor and road."""
    low = ground - scale * car.CLEARANCE
    sketch.arrow((x, low - 13), (x, low), width=0.7)
    sketch.arrow((x, ground + 12), (x, ground), width=0.7)
    sketch.draw(Ink(line=None, fill=WHITE), f"R {x + 4} {ground + 3.6} {x + 14} {ground + 12} 2")
    sketch.text(x + 9, ground + 8.4, "F", ACCENT)
