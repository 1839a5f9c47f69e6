"""The manual's drawings: every name is there, stays inside its box, and differs from the others."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pymupdf
import pytest

from tools.demo import figures
from tools.demo.figures import electrics, labels
from tools.demo.figures.lamps import COLOURS
from tools.demo.figures.pen import Ink, Pen

pytestmark = pytest.mark.slow

SYMBOLS = tuple(
    """
    oil battery brake temperature tyre engine airbag belt abs esc esc_off door steering immobiliser fuel
    washer bulb particle preheat service lane rear_fog front_fog low_beam high_beam indicator_left
    indicator_right cruise limiter position auto_hold frost start_stop trailer airbag_off
    """.split()  # noqa: SIM905
)
FIGURES = tuple(
    """
    dashboard cluster key stalk lightswitch wiperstalk climate dipstick enginebay tyrelabel jack jumpstart
    fusebox fusebox_bay towing_eye isofix belt airbagswitch dimensions plate bootfloor tread
    """.split()  # noqa: SIM905
)
MANUAL = Path(figures.__file__).parents[1] / "manual"
Words = list[tuple[float, float, str, float]]


def _page(width: float = 420, height: float = 300) -> pymupdf.Page:
    page = pymupdf.open().new_page(width=width, height=height)
    return page


def _pixels(page: pymupdf.Page, dpi: int = 144) -> np.ndarray:
    """height × width × 3, 0 to 255; at 144 dpi a point is two pixels."""
    pixels = page.get_pixmap(dpi=dpi)
    return np.frombuffer(pixels.samples, np.uint8).reshape(pixels.height, pixels.width, 3).astype(int)


def _ink_outside(page: pymupdf.Page, box: tuple[float, float, float, float]) -> int:
    """How many pixels are not white outside the box, given in points."""
    inked = (_pixels(page) < 250).any(axis=2)
    x0, y0, x1, y1 = (round(2 * edge) for edge in box)
    inked[max(y0, 0) : y1, max(x0, 0) : x1] = False
    return int(inked.sum())


def _lamp(name: str, colour: str = "Amber") -> np.ndarray:
    page = _page(40, 40)
    figures.lamp(page, name, 20, 20, colour=colour)
    return _pixels(page)


def _draw(page: pymupdf.Page, name: str, x: float, y: float, width: float, height: float) -> Words:
    """Draws the figure and gives its words: middle, baseline, text, size."""
    words: Words = []

    def label(x: float, y: float, text: str, colour: object = None, size: float = 7.6) -> None:
        words.append((x, y, text, size))

    figures.DRAWINGS[name][0](page, label, x, y, width, height)
    return words


def _rows(chapter: str, table: str) -> list[list[str]]:
    """The rows of a table of the manual's text, without its header."""
    text = (MANUAL / chapter).read_text(encoding="utf-8")
    lines = text.split(f"@ {table}", 1)[1].split("\n\n", 1)[0].splitlines()
    return [line.split(" | ") for line in lines[2:]]


def test_all_names_are_there() -> None:
    assert sorted(figures.LAMPS) == sorted(SYMBOLS)
    assert sorted(figures.DRAWINGS) == sorted(FIGURES)


@pytest.mark.parametrize("name", SYMBOLS)
def test_a_lamp_lights_up_inside_its_tile_and_nowhere_else(name: str) -> None:
    page = _page(40, 40)
    figures.lamp(page, name, 20, 20, colour="Green")
    assert _ink_outside(page, (7.5, 10, 32.5, 30)) == 0
    lit = (_pixels(page)[:, :, 1] > 150) & (_pixels(page)[:, :, 0] < 150)
    rows, columns = np.nonzero(lit)
    assert lit.sum() > 100
    assert abs(columns.mean() / 2 - 20) < 3 and abs(rows.mean() / 2 - 20) < 3
    assert columns.min() >= 2 * 9 and columns.max() < 2 * 31, "the symbol keeps off the sides of its tile"
    assert rows.min() >= 2 * 11.4 and rows.max() < 2 * 28.6, "and off its top and bottom"


def test_every_two_symbols_differ_clearly() -> None:
    lit = {name: _lamp(name)[24:56, 20:60, 0] > 128 for name in SYMBOLS}  # the tile without its corners
    for one, other in combinations(SYMBOLS, 2):
        differing = (lit[one] ^ lit[other]).sum() / (lit[one] | lit[other]).sum()
        assert differing > 0.2, (one, other, differing)


def test_a_lamp_has_the_colour_it_is_asked_for() -> None:
    for name, colour in COLOURS.items():
        expected = np.array([round(255 * part) for part in colour])
        close = (np.abs(_lamp("indicator_left", name) - expected) <= 2).all(axis=2)
        assert close.sum() > 200, name


@pytest.mark.parametrize("width", [332.0, 160.0])
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_stays_inside_its_box(name: str, width: float) -> None:
    height = figures.DRAWINGS[name][1]
    assert 70 <= height <= 190
    page = _page()
    words = _draw(page, name, 44, 60, width, height)
    assert _ink_outside(page, (44, 60, 44 + width, 60 + height)) == 0
    assert (_pixels(page) < 250).any(axis=2).sum() > 2000
    bold = pymupdf.Font("hebo")
    for x, y, text, size in words:
        half = bold.text_length(text, size) / 2
        assert x - half > 44 and x + half < 44 + width, text
        assert y - 0.7 * size > 60 and y < 60 + height, text


@pytest.mark.parametrize("name", FIGURES)
def test_no_two_words_of_a_figure_overlap(name: str) -> None:
    bold = pymupdf.Font("hebo")
    words = _draw(_page(), name, 44, 60, 332, figures.DRAWINGS[name][1])
    boxes = [
        (pymupdf.Rect(x - half, y - 0.7 * size, x + half, y), text)
        for x, y, text, size in words
        for half in [bold.text_length(text, size) / 2]
    ]
    assert all(text.strip() for _, text in boxes)
    for (one, first), (other, second) in combinations(boxes, 2):
        assert not one.intersects(other), (first, second)


def test_the_same_drawings_give_the_same_bytes() -> None:
    def contents() -> bytes:
        page = _page()
        figures.cover(page)
        for name in SYMBOLS:
            figures.lamp(page, name, 50, 50, colour="Red")
        for name in FIGURES:
            _draw(page, name, 44, 60, 332, figures.DRAWINGS[name][1])
        return bytes(page.read_contents())

    assert contents() == contents()


def test_the_cover_leaves_the_foot_of_the_page_to_the_year() -> None:
    page = _page(420, 595)
    figures.cover(page)
    assert _ink_outside(page, (0, 0, 420, 500)) == 0
    behind_the_title = _pixels(page)[2 * 110 : 2 * 190, 2 * 44 : 2 * 376]
    assert behind_the_title.mean() < 110, "white letters must stand out"


@pytest.mark.parametrize("note", [True, False])
def test_the_sign_of_a_signal_word_is_beside_it(note: bool) -> None:
    page = _page(40, 40)
    figures.signal(page, 20, 20, (0.0, 0.0, 0.0), note=note)
    assert _ink_outside(page, (13, 13, 27, 27)) == 0
    assert (_pixels(page) < 128).any(axis=2).sum() > 60


def test_the_picture_is_a_small_grey_page() -> None:
    first, second = figures.picture("exterior"), figures.picture("exterior")
    assert first == second
    assert len(first) < 120_000
    pixels = pymupdf.Pixmap(first)
    assert (pixels.width, pixels.height, pixels.n) == (875, 1240, 1)
    shades = np.frombuffer(pixels.samples, np.uint8)
    assert 0.1 < (shades < 250).mean() < 0.9 and len(np.unique(shades)) <= 16


def test_an_unknown_picture_is_refused() -> None:
    with pytest.raises(ValueError, match="interior"):
        figures.picture("interior")


def test_fuses_have_the_colours_that_the_tables_give_them() -> None:
    colours = [float(row[0].removesuffix(" A")) for row in _rows("09-self-help.txt", "Table 9-4")]
    assert sorted(colours) == sorted(electrics._COLOURS)
    for table, amperes in (("Table 9-2", electrics._DASHBOARD), ("Table 9-3", electrics._BAY)):
        rows = _rows("09-self-help.txt", table)
        assert [float(row[1].removesuffix(" A")) for row in rows] == list(amperes)


def test_the_tyre_label_says_what_the_table_says() -> None:
    words = [text for *_, text, _ in _draw(_page(), "tyrelabel", 44, 60, 332, 140)]
    for size, light, loaded, _ in _rows("08-tyres.txt", "Table 8-1"):
        at = words.index(size.removesuffix(" (spare)"))
        for value in {*re.findall(r"\d\.\d", light), *re.findall(r"\d\.\d", loaded)}:
            assert value in words[at + 1 : at + 5], (size, value)


def test_the_plate_says_what_the_chapter_says() -> None:
    number = labels._PLATE[2][2]
    assert len(number) == 17 and number[9] == "T" and number[-6:].isdigit()
    weights = {text for _, _, text, _ in labels._PLATE if text.endswith("kg")}
    rows = _rows("10-data.txt", "Table 10-5")
    automatic = next(row for row in rows if row[0] == "1.2 T automatic")
    assert weights == {f"{automatic[3]} kg", f"1 – {automatic[4]} kg", f"2 – {automatic[5]} kg", "2,990 kg"}


def test_the_letters_of_the_dimensions_are_those_of_the_table() -> None:
    words = {text for *_, text, _ in _draw(_page(), "dimensions", 44, 60, 332, 132)}
    assert words == {row[0] for row in _rows("10-data.txt", "Table 10-4")} - {"—"}


def test_a_turned_pen_turns_clockwise_and_a_mirrored_one_swaps_the_sides() -> None:
    pen = Pen(_page(), 100, 50, scale=2)
    assert pen.at(3, 4) == pymupdf.Point(106, 58)
    turned = pen.moved(1, 1, turn=90).at(10, 0)
    assert (round(turned.x, 6), round(turned.y, 6)) == (102, 72)
    assert pen.moved(0, 0, mirrored=True).at(3, 4) == pymupdf.Point(94, 58)


def test_a_path_inside_a_path_is_a_hole() -> None:
    page = _page(40, 40)
    pen = Pen(page, 20, 20)
    pen.draw(Ink(line=None, fill=(0.0, 0.0, 0.0)), "R -10 -10 10 10 0 O 0 0 5")
    pen.commit()
    pixels = _pixels(page)
    assert pixels[40, 40].tolist() == [255, 255, 255]
    assert pixels[24, 24].tolist() == [0, 0, 0]
