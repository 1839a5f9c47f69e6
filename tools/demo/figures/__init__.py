"""All that is drawn in the manual, from tables of strokes: lamps, signs, figures, cover and picture."""

from tools.demo.figures.cover import cover
from tools.demo.figures.drawings import DRAWINGS
from tools.demo.figures.lamps import ACROSS, DOWN, LAMPS, lamp
from tools.demo.figures.picture import picture
from tools.demo.figures.signs import signal
from tools.demo.figures.sketch import Label

__all__ = ["ACROSS", "DOWN", "DRAWINGS", "LAMPS", "Label", "cover", "lamp", "picture", "signal"]
