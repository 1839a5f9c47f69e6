"""All that is drawn in the manual, from tables of strokes: lamps, signs, figures, cover and picture."""

from tools.demo.figures.cockpit import DRAWINGS, Label
from tools.demo.figures.cover import cover
from tools.demo.figures.lamps import LAMPS, lamp
from tools.demo.figures.picture import picture
from tools.demo.figures.signs import signal

__all__ = ["DRAWINGS", "LAMPS", "Label", "cover", "lamp", "picture", "signal"]
