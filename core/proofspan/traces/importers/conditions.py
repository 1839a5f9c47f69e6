"""Conditions of a mapping's `where`: which items are kept. Declared, never code that is run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proofspan.contracts.records.records import Json
from proofspan.traces.importers.paths import Broken, Path, Place, is_text, parse_path


class BrokenJsonError(ValueError):
    """A condition meets a text that should be JSON and is not."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the values of a path: one of them is in `wanted`; without `wanted`, there is one.

    Null is no value. With `is_not` the opposite holds.
    """

    path: Path
    wanted: tuple[Json, ...] | None = None
    is_not: bool = False

    def holds(self, place: Place) -> bool:
        """Return whether it holds for an item. Raises BrokenJsonError."""
        return self._is_met(place) is not self.is_not

    def _is_met(self, place: Place) -> bool:
        for value in self.path.all(place):
            if isinstance(value, Broken):
                raise BrokenJsonError(value.why)
            if self.wanted is None:
                if value is not None:
                    return True
            elif any(_is_equal(value, each) for each in self.wanted):
                return True
        return False


def conditions_from(spec: Json) -> tuple[Condition, ...]:
    """Compile `where`: a condition, or a list of which all must hold. Raises ValueError for a path."""
    return tuple(_condition(each) for each in (spec if isinstance(spec, list) else [spec]))


def _condition(spec: Mapping[str, Json]) -> Condition:
    is_not = "not" in spec
    test = spec["not"] if is_not else spec
    path = parse_path(test["path"])
    if "exists" in test:
        return Condition(path, None, is_not is test["exists"])
    return Condition(path, tuple(test["in"]) if "in" in test else (test["equals"],), is_not)


def _is_equal(value: Json, wanted: Json) -> bool:
    """Compare with a scalar of YAML, where numbers are text."""
    return is_text(value, wanted) if isinstance(wanted, str) else value is wanted
