"""YAML as this project reads it: bounded, without its guesses, and with a place for every complaint.

PyYAML's safe loader does the work. On top of it: plain scalars stay the text that was written (a date, a
version 1.10, a revision 0123 are not what YAML 1.1 takes them for), a key that stands twice is an error, and
size, depth and aliases have limits, since the file may come from anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import yaml

from proofspan.errors import ManifestFault, Problem

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 32
MAX_ALIASES = 1_000
#: Values once every alias is written out.
MAX_VALUES = 500_000

_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"
_PLAIN_TAGS = {_TEXT, _MERGE, *(f"tag:yaml.org,2002:{kind}" for kind in ("bool", "null", "map", "seq"))}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml where it is built in
    """PyYAML's safe loader, for which only true, false, null and `<<` are more than text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own name


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]
)
_Loader.add_implicit_resolver(_MERGE, re.compile(r"^<<$"), ["<"])


class _Mark(Protocol):
    """A place in the text, 0-based, as both of PyYAML's parsers give it."""

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...


@dataclass(frozen=True, slots=True)
class YamlText:
    """A parsed file: its value, and the nodes that say where each part of the value stands."""

    file: Path
    value: Any
    root: yaml.Node | None

    def place(self, path: Sequence[str | int]) -> str:
        """`file:line:column` of the value at `path`, or of its nearest parent that is written in the file."""
        node = self.root
        for step in path:
            child = _child(node, step)
            if child is None:
                break
            node = child
        return _where(self.file, node.start_mark if node is not None else None)

    def place_of_key(self, path: Sequence[str | int], name: str) -> str:
        """`file:line:column` of the key `name` itself in the mapping at `path`."""
        node = self.root
        for step in path:
            node = _child(node, step)
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        marks = (key.start_mark for key, _ in pairs if key.value == name)
        return _where(self.file, next(marks, node.start_mark if node is not None else None))


def read_yaml(file: Path) -> YamlText:
    """Parse `file`. Raises ManifestFault with line, column and remedy for all that is wrong with it."""
    text = _read_text(file)
    try:
        _check_limits(file, text)
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is not None:
                _check_nodes(file, root)
            value = None if root is None else loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ManifestFault(_syntax_problem(file, text, error)) from None
    return YamlText(file, value, root)


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ManifestFault.of(
            "missing_file", "does not exist", where=str(file), fix="correct the path"
        ) from None
    except IsADirectoryError:
        raise ManifestFault.of(
            "not_a_file", "is a folder", where=str(file), fix="name a file in it"
        ) from None
    except OSError as error:
        raise ManifestFault.of(
            "unreadable", f"cannot be read: {error.strerror}", where=str(file), fix="check its permissions"
        ) from None
    if len(data) > MAX_BYTES:
        raise ManifestFault.of(
            "too_large",
            f"is larger than {MAX_BYTES // 1024**2} MiB",
            where=str(file),
            fix="name artifacts in it, do not put their contents into it",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestFault.of(
            "not_utf8", "is not UTF-8 text", where=f"{file}:{line}", fix="save the file as UTF-8"
        ) from None


def _check_limits(file: Path, text: str) -> None:
    """Refuse what would take the loader too deep, before anything is built."""
    depth = aliases = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
        if depth > MAX_DEPTH or aliases > MAX_ALIASES:
            what = (
                f"nested deeper than {MAX_DEPTH} levels" if depth > MAX_DEPTH else "more than 1,000 aliases"
            )
            raise ManifestFault.of(
                "yaml_limits",
                f"the file is unreasonable: {what}",
                where=_where(file, event.start_mark),
                fix="write the manifest out plainly",
            )


def _check_nodes(file: Path, root: yaml.Node) -> None:
    """Refuse what is no plain data, duplicate keys, and aliases that nest or multiply beyond reason."""
    measured: dict[int, tuple[int, int]] = {}
    problems: list[Problem] = []

    def measure(node: yaml.Node) -> tuple[int, int]:
        """Values and levels below a node, every alias written out; an anchor stands before its aliases."""
        if id(node) not in measured:
            measured[id(node)] = (MAX_VALUES + 1, MAX_DEPTH + 1)  # what a node inside itself amounts to
            problems.extend(_node_problems(file, node))
            below = [measure(child) for child in _children(node)]
            measured[id(node)] = (
                1 + sum(size for size, _ in below),
                1 + max((height for _, height in below), default=0),
            )
        return measured[id(node)]

    size, height = measure(root)
    if size > MAX_VALUES or height > MAX_DEPTH + 1:
        raise ManifestFault.of(
            "yaml_limits",
            f"its aliases amount to more than {MAX_VALUES:,} values or {MAX_DEPTH} levels",
            where=str(file),
            fix="write the manifest out plainly, without aliases",
        )
    if problems:
        raise ManifestFault(*problems)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _node_problems(file: Path, node: yaml.Node) -> list[Problem]:
    if node.tag not in _PLAIN_TAGS:
        return [
            Problem(
                "yaml_tag",
                f"the tag {node.tag} is not read here",
                where=_where(file, node.start_mark),
                fix="write text, true, false, null, a list or a mapping",
            )
        ]
    return _key_problems(file, node) if isinstance(node, yaml.MappingNode) else []


def _key_problems(file: Path, node: yaml.MappingNode) -> list[Problem]:
    lines: dict[str, int] = {}
    problems = []
    for key, _ in node.value:
        place = _where(file, key.start_mark)
        if key.tag == _MERGE:
            continue
        if key.tag != _TEXT:
            problems.append(Problem("key_not_text", "a key that is not text", place, "put the key in quotes"))
        elif key.value in lines:
            message = f"the key `{key.value}` stands here a second time; first on line {lines[key.value]}"
            problems.append(Problem("duplicate_key", message, place, "keep one of the two"))
        else:
            lines[key.value] = key.start_mark.line + 1
    return problems


def _child(node: yaml.Node | None, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        child: yaml.Node = node.value[step]
        return child
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == step), None)
    return None


def _syntax_problem(file: Path, text: str, error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return _character_problem(file, text, error)
    tab = _tab_at(text, mark)
    if tab is not None:
        return Problem(
            "yaml_tab",
            "a tab stands where YAML wants spaces",
            where=f"{file}:{mark.line + 1}:{tab + 1}",
            fix="replace the tab by spaces (two for each level)",
        )
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    message = ", ".join(part for part in parts if part) or "is not YAML"
    return Problem("yaml_syntax", message, where=_where(file, mark), fix="mend the YAML at this place")


def _character_problem(file: Path, text: str, error: yaml.YAMLError) -> Problem:
    position = int(getattr(error, "position", 0))
    line = text.count("\n", 0, position) + 1
    return Problem(
        "yaml_character",
        "a control character that YAML does not allow",
        where=f"{file}:{line}",
        fix="delete the character; if it is meant, write it as an escape in double quotes",
    )


def _tab_at(text: str, mark: _Mark) -> int | None:
    """Column of a tab that is to blame: at the mark, or in the indentation of its line."""
    lines = text.splitlines()
    if mark.line >= len(lines):
        return None
    line = lines[mark.line]
    indentation = line[: len(line) - len(line.lstrip())]
    if "\t" in indentation:
        return indentation.index("\t")
    return mark.column if line[mark.column : mark.column + 1] == "\t" else None


def _where(file: Path, mark: _Mark | None) -> str:
    return str(file) if mark is None else f"{file}:{mark.line + 1}:{mark.column + 1}"
