"""How often the fields of a mapping were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proofspan.traces.importers.paths import State


@dataclass(slots=True)
class FieldCount:
    """How often a field was found, was absent, or had an unusable value, first on line `first_unusable`.

    `null` of the absent ones were null at the right path. `why` says what was wrong with the first unusable
    value, and `instead` what there is where the first path led nowhere, as far as that is known.
    """

    key: str
    found: int = 0
    absent: int = 0
    unusable: int = 0
    first_unusable: int | None = None
    null: int = 0
    why: str = ""
    instead: str = ""

    def add(self, state: State, line: int, why: str = "") -> None:
        """Count one reading of the field."""
        if state == "found":
            self.found += 1
        elif state == "unusable":
            self.unusable += 1
            self.why = self.why or why
            if self.first_unusable is None:
                self.first_unusable = line
        else:
            self.absent += 1
            self.null += state == "null"
            self.instead = self.instead or why


#: The counts of all fields of a mapping, by mapping key.
Tally = Mapping[str, FieldCount]
