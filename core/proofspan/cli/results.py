"""What the commands that print a result share: options, JSON, and tables that read the same in a file."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping
from typing import Any

import click
import orjson
from rich.console import Console, RenderableType

from proofspan.cli.output import STDOUT, output_to
from proofspan.cli.paths import NamedPath

Command = Callable[..., None]
Option = Callable[[Command], Command]

#: Sign and colour of a verdict.
SIGNS: Mapping[str, tuple[str, str]] = {
    "pass": ("✓", "green"),
    "warn": ("!", "yellow"),
    "fail": ("✗", "red"),
    "unknown": ("·", "dim"),
    "skipped": ("·", "dim"),
}

#: The last options of a command that measures an indexed workspace.
RESULT_OPTIONS: tuple[Option, ...] = (
    click.option("--json", "as_json", is_flag=True, help="Print everything as JSON."),
    click.option("--cache-dir", type=NamedPath(), help="Where the index lies."),
    click.option(
        "-o", "--output", default=STDOUT, help="The file to write; - for stdout.", show_default=True
    ),
)


def with_options(*options: Option) -> Option:
    """A decorator that gives a command these options; its help lists them in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def json_text(value: Any) -> bytes:
    """The value as JSON that a person can read too: indented, keys in order, with a line end."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def write_parts(*parts: RenderableType, output: str, width: int) -> None:
    """The parts below each other: on a terminal in colour, else as plain text, `width` columns at most."""
    if output == STDOUT and sys.stdout.isatty():
        Console(highlight=False).print(*parts, sep="\n")
        return
    text = io.StringIO()
    Console(file=text, width=width, color_system=None, highlight=False).print(*parts, sep="\n")
    lines = "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())
    write_bytes(lines.encode("utf-8", "replace"), output)


def write_bytes(data: bytes, output: str) -> None:
    """The whole of an output at once."""
    with output_to(output) as sink:
        sink.write(data)
