"""The importers that `proofspan import KIND` offers: our own, and those that other packages register."""

from __future__ import annotations

from importlib.metadata import entry_points

from proofspan.traces.importers.mapped import MAPPED
from proofspan.traces.importers.workspace import Importer

#: The entry-point group in which another package names its `Importer`.
GROUP = "proofspan.importers"


def importers() -> dict[str, Importer]:
    """Return all importers by name; our own take precedence over another package's of the same name."""
    registered = [entry_point.load() for entry_point in entry_points(group=GROUP)]
    return {importer.name: importer for importer in (*registered, MAPPED)}
