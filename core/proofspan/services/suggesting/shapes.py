"""The shape of sampled records: the fields below them, with their values and their paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from proofspan.contracts.records.records import Json
from proofspan.traces.formats.table import plain_name
from proofspan.traces.importers.paths import Broken, Path, Place, Sign, Step, parsed_text, written

#: Levels of objects and lists, keys of an object, and entries of a list that are looked at.
_DEEPEST, _MOST_KEYS, _MOST_ENTRIES = 8, 200, 100
#: The longest key that a path is made of.
_LONGEST_KEY = 100


@dataclass(slots=True)
class Node:
    """A place in records, by its steps from them. `values` are those there that are neither null nor empty.

    `keys` are the fields of its objects, `entry` the entries of its lists, `inside` what its texts hold as
    JSON. `lengths` are those of its lists.
    """

    steps: tuple[Step, ...] = ()
    values: list[Json] = field(default_factory=list)
    keys: dict[str, Node] = field(default_factory=dict)
    entry: Node | None = None
    inside: Node | None = None
    lengths: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Return the last key on the way to it, plain: `chunkText` is chunk_text."""
        return next((plain_name(each) for each in reversed(self.steps) if isinstance(each, str)), "")

    @property
    def texts(self) -> list[str]:
        """Return its values that are texts."""
        return [each for each in self.values if isinstance(each, str)]

    @property
    def is_text(self) -> bool:
        """Return whether all its values are texts that hold no JSON."""
        return bool(self.values) and len(self.texts) == len(self.values) and self.inside is None

    @property
    def is_scalar(self) -> bool:
        """Return whether its values are texts and numbers."""
        plain = (isinstance(each, (str, int, float)) and not isinstance(each, bool) for each in self.values)
        return bool(self.values) and self.inside is None and all(plain)

    def scalars(self) -> Iterator[Node]:
        """Yield the texts and numbers below it without a list between, the nearest first."""
        for node in self._level_by_level():
            if node is not self and node.is_scalar:
                yield node

    def lists(self) -> Iterator[Node]:
        """Yield the entries of the lists below it without another list between but one directly within."""
        for node in self._level_by_level():
            if node.entry is not None:
                entry = node.entry
                while entry.entry is not None and not entry.keys:
                    entry = entry.entry
                yield entry

    def _level_by_level(self) -> Iterator[Node]:
        level = [self]
        while level:
            yield from level
            level = [
                below for node in level for below in (*node.keys.values(), node.inside) if below is not None
            ]

    def path_below(self, above: Node) -> Path:
        """Return the path to it from `above`."""
        return Path(self.steps[len(above.steps) :])

    def found_in(self, above: Node) -> int:
        """Return of how many values of `above` it is not null."""
        path = self.path_below(above)
        return sum(
            any(_is_there(each) for each in path.all(Place(value, value, 1))) for value in above.values
        )


def node_of(values: Sequence[Json], steps: tuple[Step, ...] = ()) -> Node:
    """Return the shape of values."""
    node = Node(steps, [each for each in values if _is_there(each)])
    if len(steps) >= _DEEPEST:
        return node
    objects = [each for each in node.values if isinstance(each, dict)]
    lists = [each for each in node.values if isinstance(each, list)]
    names = dict.fromkeys(name for each in objects for name in islice(each, _MOST_KEYS))
    for name in islice(names, _MOST_KEYS):
        if name and '"' not in name and name.isprintable() and len(name) <= _LONGEST_KEY:
            node.keys[name] = node_of([each.get(name) for each in objects], (*steps, name))
    if lists:
        node.lengths = [len(each) for each in lists]
        entries = [each for one in lists for each in one[:_MOST_ENTRIES]]
        node.entry = node_of(entries, (*steps, Sign.EACH))
    texts = node.texts
    if texts and len(texts) == len(node.values) and all(map(_may_be_json, texts)):
        held = [parsed_text(each) for each in texts]
        if not any(isinstance(each, Broken) for each in held):
            node.inside = node_of(held, (*steps, Sign.JSON))
    return node


def fits(path: Path) -> bool:
    """Return whether a mapping may hold a path."""
    return len(written(path.steps, path.start)) <= 300


def _is_there(value: Json) -> bool:
    return value is not None and value != "" and not isinstance(value, Broken)


def _may_be_json(text: str) -> bool:
    plain = text.strip()
    return plain[:1] in ("[", "{") or (len(plain) > 1 and plain[0] == plain[-1] == '"')
