"""Figures by value: what a number in a text amounts to, and whether two figures agree."""

from proofspan.diagnosis.claims.figures.agreement import (
    agrees,
    alike,
    could_agree,
    digits_of,
    scale_differs,
    unit_differs,
)
from proofspan.diagnosis.claims.figures.captions import Scale, scale_of, scales_of
from proofspan.diagnosis.claims.figures.index import FigureIndex
from proofspan.diagnosis.claims.figures.reading import Figure, figures_of

__all__ = [
    "Figure",
    "FigureIndex",
    "Scale",
    "agrees",
    "alike",
    "could_agree",
    "digits_of",
    "figures_of",
    "scale_differs",
    "scale_of",
    "scales_of",
    "unit_differs",
]
