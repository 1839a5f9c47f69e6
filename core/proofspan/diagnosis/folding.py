"""Lower-cased text and the way back to the original: some letters become two (İ), so positions shift."""

from __future__ import annotations

from collections.abc import Iterator


class Folded:
    """A text with its lower case; ranges found in `lower` are given in the original."""

    __slots__ = ("_origin", "lower", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.lower = text.lower()
        # str.lower decides letter by letter how long the result is, so the lengths add up.
        self._origin: list[int] | None = None
        if len(self.lower) != len(text):
            self._origin = [at for at, char in enumerate(text) for _ in char.lower()]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The range in the original of the non-empty range `[start, end)` of the lower-cased text."""
        if self._origin is None:
            return start, end
        return self._origin[start], self._origin[end - 1] + 1

    def find_all(self, wanted: str) -> Iterator[tuple[int, int]]:
        """Where the lower-cased `wanted` stands, as ranges in the original, without overlaps."""
        at = self.lower.find(wanted)
        while at >= 0:
            yield self.original(at, at + len(wanted))
            at = self.lower.find(wanted, at + len(wanted))
