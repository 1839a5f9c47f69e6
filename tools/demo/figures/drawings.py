"""All figures of the manual by the name that its text calls them."""

from __future__ import annotations

from tools.demo.figures import cockpit, controls, electrics, labels, mechanics, seats
from tools.demo.figures.sketch import Drawer, figure

#: figure name → (what draws it, its height in points)
DRAWINGS: dict[str, tuple[Drawer, float]] = {
    "dashboard": figure(cockpit.dashboard, 180),
    "cluster": figure(cockpit.cluster, 126),
    "key": figure(controls.key, 108),
    "belt": figure(seats.belt, 152),
    "isofix": figure(seats.isofix, 140),
    "airbagswitch": figure(controls.airbagswitch, 110),
    "stalk": figure(controls.stalk, 84),
    "lightswitch": figure(controls.lightswitch, 112),
    "wiperstalk": figure(controls.wiperstalk, 124),
    "climate": figure(controls.climate, 98),
    "enginebay": figure(mechanics.enginebay, 190),
    "dipstick": figure(mechanics.dipstick, 84),
    "tyrelabel": figure(labels.tyrelabel, 140),
    "tread": figure(mechanics.tread, 106),
    "jack": figure(mechanics.jack, 132),
    "bootfloor": figure(mechanics.bootfloor, 144),
    "jumpstart": figure(electrics.jumpstart, 164),
    "fusebox": figure(electrics.fusebox, 126),
    "fusebox_bay": figure(electrics.fusebox_bay, 126),
    "towing_eye": figure(mechanics.towing_eye, 130),
    "plate": figure(labels.plate, 130),
    "dimensions": figure(labels.dimensions, 132),
}
