"""Parts of a schema with their references followed: what a property is called, and what it is made of.

Works on what `proofspan.contracts.schemas.schema` gives: everything that is referred to stands in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proofspan.contracts.schemas import type_named

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """A subschema.

    `node` is what stands there, laid over what it refers to; `base` is the schema that its own references
    are relative to, `whole` the one that all stand in.
    """

    node: Node
    base: Node
    whole: Node

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types that it allows, null left out; () where it does not say."""
        stated = self.node.get("type", ())
        return tuple(each for each in ([stated] if isinstance(stated, str) else stated) if each != "null")

    def properties(self) -> Iterator[tuple[str, Part]]:
        """Its properties by name, in the order in which they stand."""
        for name, node in self.node.get("properties", {}).items():
            yield name, followed(node, self.base, self.whole)

    @property
    def items(self) -> Part | None:
        """What the entries of its list are; None where it does not say."""
        node = self.node.get("items")
        return None if node is None else followed(node, self.base, self.whole)


def part_of(whole: Node) -> Part:
    """A whole schema as a part."""
    return followed(whole, whole, whole)


def followed(node: Node, base: Node, whole: Node) -> Part:
    """A subschema with its reference followed; what stands beside the reference counts before it."""
    reference = node.get("$ref")
    if reference is None:
        return Part(node, base, whole)
    uri, _, pointer = reference.partition("#")
    named = type_named(uri) if uri else None
    target: Any = base if named is None else whole["$defs"].get(named[0], whole)
    home = target
    for step in filter(None, pointer.split("/")):
        target = target[step]
    found = followed(target, home, whole)
    own = {name: value for name, value in node.items() if name != "$ref"}
    is_own = "properties" in own or "items" in own
    return Part({**found.node, **own}, base if is_own else found.base, whole)
