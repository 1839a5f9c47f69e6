"""All figures of the manual by the name that its text calls them."""

from __future__ import annotations

from tools.demo.figures import cockpit, controls
from tools.demo.figures.sketch import PANEL, Drawer, Sketch, figure

#: figure name → (what draws it, its height in points)
DRAWINGS: dict[str, tuple[Drawer, float]] = {
    "dashboard": figure(cockpit.dashboard, 180),
    "cluster": figure(cockpit.cluster, 126),
    "key": figure(controls.key, 108),
    "stalk": figure(controls.stalk, 84),
    "lightswitch": figure(controls.lightswitch, 112),
    "wiperstalk": figure(controls.wiperstalk, 124),
    "climate": figure(controls.climate, 98),
    "airbagswitch": figure(controls.airbagswitch, 110),
}


def _outline(sketch: Sketch) -> None:
    sketch.draw(PANEL, "R 40 20 292 60 8")


HEIGHTS = {
    "dipstick": 84.0, "enginebay": 190.0, "tyrelabel": 140.0, "jack": 132.0, "jumpstart": 156.0,
    "fusebox": 126.0, "fusebox_bay": 126.0, "towing_eye": 128.0, "isofix": 140.0, "belt": 150.0,
    "dimensions": 178.0, "plate": 124.0, "bootfloor": 144.0, "tread": 106.0,
}  # fmt: skip
DRAWINGS |= {name: figure(_outline, height) for name, height in HEIGHTS.items()}
