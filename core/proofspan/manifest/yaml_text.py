"""YAML with limits, without YAML 1.1's guesses, and with a position for every problem.

Plain scalars stay the text that was written (a date, a version 1.10, a revision 0123), duplicate keys are
errors, and size, depth and aliases are limited, since the file may come from anywhere.

PyYAML is a dependency anyway and gives the positions. ruamel.yaml would replace `YamlText.place` only: it
reports one duplicate key at a time, reads 1.10 as a number, and limits neither depth nor aliases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from proofspan.errors import ManifestFault, Problem

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 32
MAX_ALIASES = 1_000
#: The number of values with every alias expanded.
MAX_VALUES = 500_000

_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_PLAIN_TAGS = {_TEXT, _MERGE, *(f"tag:yaml.org,2002:{kind}" for kind in ("bool", "null", "map", "seq"))}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml where available
    """PyYAML's safe loader, for which only true, false, null and `<<` are more than text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own name


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_Loader.add_implicit_resolver(_MERGE, re.compile(r"^<<$"), ["<"])


@dataclass(frozen=True, slots=True)
class YamlText:
    """A parsed file: its value, and the nodes with the positions of its parts."""

    file: Path
    value: Any
    root: yaml.Node | None

    def place(self, path: Sequence[str | int], *, key: str | None = None) -> str:
        """Return `file:line:column` of the value at `path`, or of its nearest parent in the file.

        With `key` it is that of this key in the mapping at `path`.
        """
        node = self.root
        for step in path:
            child: yaml.Node | None = None
            if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                child = node.value[step]
            elif isinstance(node, yaml.MappingNode):
                child = next((value for name, value in node.value if name.value == step), None)
            if child is None:
                break
            node = child
        if key is not None and isinstance(node, yaml.MappingNode):
            node = next((name for name, _ in node.value if name.value == key), node)
        return _where(self.file, node.start_mark if node is not None else None)


def read_yaml(file: Path) -> YamlText:
    """Parse `file`. Raises ManifestFault with all its problems, each with line and column."""
    return parse_yaml(file, _read(file))


def parse_yaml(file: Path, data: bytes) -> YamlText:
    """Parse the bytes of `file`, which is not read. Raises ManifestFault as `read_yaml` does."""
    text = _text_of(file, data)
    try:
        _check_limits(file, text)
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is not None and (problems := list(_problems_below(file, root, set()))):
                raise ManifestFault(*problems)
            return YamlText(file, None if root is None else loader.construct_document(root), root)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ManifestFault(_syntax_problem(file, text, error)) from None


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        code, message, fix = {
            FileNotFoundError: ("missing_file", "does not exist", "correct the path"),
            IsADirectoryError: ("not_a_file", "is a folder", "name a file in it"),
        }.get(type(error), ("unreadable", f"cannot be read: {error.strerror}", "check its permissions"))
        raise ManifestFault.of(code, message, where=str(file), fix=fix) from None


def _text_of(file: Path, data: bytes) -> str:
    if len(data) > MAX_BYTES:
        message = f"is larger than {MAX_BYTES // 1024**2} MiB"
        fix = "name files in it instead of including their contents"
        raise ManifestFault.of("too_large", message, where=str(file), fix=fix)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestFault.of(
            "not_utf8", "is not UTF-8 text", where=f"{file}:{line}", fix="save the file as UTF-8"
        ) from None


def _check_limits(file: Path, text: str) -> None:
    """Refuse excessive depth and aliases before anything is built: the loader recurses and expands them."""
    sizes: dict[str, tuple[int, int]] = {}  # anchor: its values and levels, with aliases expanded
    parents: list[tuple[str, int, int]] = []  # open collections: anchor, values and levels so far
    aliases = 0
    for event in yaml.parse(text, Loader=_Loader):
        anchor, values, levels = str(getattr(event, "anchor", None) or ""), 1, 0
        if isinstance(event, yaml.CollectionStartEvent):
            sizes.pop(anchor, None)
            parents.append((anchor, 1, 1))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, values, levels = parents.pop()
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
            values, levels = sizes.get(anchor, (MAX_VALUES, MAX_DEPTH))  # none: inside its own anchor
            anchor = ""
        elif not isinstance(event, yaml.ScalarEvent):
            continue
        if parents and not isinstance(event, yaml.CollectionStartEvent):
            around, total, height = parents[-1]
            parents[-1] = (around, total + values, max(height, levels + 1))
        if anchor and not isinstance(event, yaml.CollectionStartEvent):
            sizes[anchor] = (values, levels)
        is_bomb = any(total > MAX_VALUES for _, total, _ in parents[-1:])
        if is_bomb or aliases > MAX_ALIASES or len(parents) + levels > MAX_DEPTH:
            message = f"has more than {MAX_DEPTH} levels, {MAX_ALIASES:,} aliases, or {MAX_VALUES:,} values"
            fix = "write it with less nesting and without aliases"
            raise ManifestFault.of("yaml_limits", message, where=_where(file, event.start_mark), fix=fix)


def _problems_below(file: Path, node: yaml.Node, seen: set[int]) -> Iterator[Problem]:
    """Yield tags that are no plain data, keys that are no text, and duplicate keys."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if node.tag not in _PLAIN_TAGS:
        message = f"the tag {node.tag} is not allowed"
        fix = "write text, true, false, null, a list or a mapping"
        yield Problem("yaml_tag", message, _where(file, node.start_mark), fix)
        return
    lines: dict[str, int] = {}
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
        where = _where(file, key.start_mark)
        if key.tag == _MERGE:
            continue
        if key.tag != _TEXT:
            yield Problem("key_not_text", "a key that is not text", where, "put the key in quotes")
        elif key.value in lines:
            message = f"duplicate key `{key.value}`; the first is on line {lines[key.value]}"
            yield Problem("duplicate_key", message, where, "keep one of the two")
        else:
            lines[key.value] = key.start_mark.line + 1
    children = node.value if isinstance(node, yaml.CollectionNode) else []
    for child in chain(*children) if isinstance(node, yaml.MappingNode) else children:
        yield from _problems_below(file, child, seen)


def _syntax_problem(file: Path, text: str, error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        where = f"{file}:{text.count(chr(10), 0, getattr(error, 'position', 0)) + 1}"
        fix = "delete the character, or write it as an escape in double quotes"
        return Problem("yaml_character", "a control character that YAML does not allow", where, fix)
    line = next(iter(text.splitlines()[mark.line :]), "")
    tab = line[: len(line) - len(line.lstrip())].find("\t")  # in the indentation, else at the mark
    if tab < 0 and line[mark.column : mark.column + 1] == "\t":
        tab = mark.column
    if tab >= 0:
        where = f"{file}:{mark.line + 1}:{tab + 1}"
        fix = "replace the tab with spaces (two for each level)"
        return Problem("yaml_tab", "a tab where YAML needs spaces", where, fix)
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    message = ", ".join(part for part in parts if part) or "is not YAML"
    return Problem("yaml_syntax", message, where=_where(file, mark), fix="correct the YAML at this place")


def _where(file: Path, mark: Any) -> str:
    """Return the place of a mark, which has another type in each of PyYAML's two parsers."""
    return str(file) if mark is None else f"{file}:{mark.line + 1}:{mark.column + 1}"
