"""Writing a command's output: a file appears under its name only when all of it is there."""

from __future__ import annotations

import io
import os
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn

import click
import orjson
from rich.console import Console, RenderableType

from proofspan.cli.interrupts import give_up_stdout, heed
from proofspan.errors import Fault, InputFault, Problem
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Manifest

STDOUT = "-"
#: Below these, names stand for devices and open files; nothing may be put in their place.
_SYSTEM = ("/dev", "/proc")


class Output:
    """A stream to write bytes to. What the system refuses is an InputFault that names the output."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream, self._name = stream, name

    def write(self, data: bytes) -> None:
        """Write all of `data`."""
        try:
            self._stream.write(data)
        except OSError as error:
            _refuse(self._name, error)

    def finish(self) -> None:
        """Hand everything on to the system, which may refuse it only now, and close what is a file."""
        try:
            self._stream.flush() if self._name == STDOUT else self._stream.close()
        except OSError as error:
            _refuse(self._name, error)


@contextmanager
def output_to(name: str) -> Iterator[Output]:
    """The output called `name`; `-` is stdout.

    A file is written beside its place and renamed there when the block ends well, so that whatever goes wrong
    leaves the earlier file as it was. A link is replaced, not followed. Pipes and devices are written
    straight. InputFault where the system refuses any of it.
    """
    path = Path(name)
    if name == STDOUT:
        output = Output(sys.stdout.buffer, STDOUT)
        yield output
        output.finish()
    elif _is_special(path):
        with _opened(path, "wb", name) as output:
            yield output
    else:
        part = path.with_name(f".proofspan-{secrets.token_hex(6)}.part")
        try:
            with _opened(part, "xb", name) as output:
                yield output
            heed()
            _rename(part, path)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def check_outputs(names: Sequence[str], inputs: Iterable[Path]) -> None:
    """Nothing is written over an input, nor two outputs into one file; every folder must exist."""
    given = list(inputs)
    files = [name for name in names if name != STDOUT]
    problems = [problem for name in files if (problem := _why_not(name, given))]
    if len({name if name == STDOUT else os.path.realpath(name) for name in names}) < len(names):
        fix = "name a file for each"
        problems.append(Problem("same_output", "two outputs would go into one file", names[0], fix))
    if problems:
        raise InputFault(*problems)


def workspace_files(manifest: Manifest) -> Iterator[Path]:
    """Every file that a workspace has; those that cannot be found are left out."""
    if manifest.file is not None:
        yield manifest.file
    for artifact in manifest.artifacts():
        with suppress(Fault):
            yield artifact_path(manifest, artifact)


def _why_not(name: str, inputs: Sequence[Path]) -> Problem | None:
    if any(_is_same(name, path) for path in inputs):
        return Problem("output_is_input", "this is an input", name, "name another file to write")
    if os.path.isdir(name):  # noqa: PTH112 - says no where Path raises: a name too long, a folder closed to us
        return Problem("output_is_folder", "this is a folder", name, "name a file in it")
    folder = Path(name).parent
    if not os.path.isdir(folder):  # noqa: PTH112
        return Problem("no_folder", "its folder does not exist", name, f"make it first: mkdir -p {folder}")
    return None


def _is_same(name: str, path: Path) -> bool:
    try:
        return Path(name).samefile(path)
    except OSError:
        return False


def _is_special(path: Path) -> bool:
    """Whether the name stands for something that is no regular file, or for an open one."""
    folder = os.path.realpath(path.parent)
    if folder == _SYSTEM[0] or folder.startswith(f"{_SYSTEM[1]}/"):
        return True
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113 - as above


@contextmanager
def _opened(path: Path, mode: Literal["wb", "xb"], name: str) -> Iterator[Output]:
    """The file at `path`, closed at the end; faults speak of `name`."""
    try:
        stream = path.open(mode)
    except OSError as error:
        _refuse(name, error)
    try:
        output = Output(stream, name)
        yield output
        output.finish()
    finally:
        with suppress(OSError):
            stream.close()


def _rename(part: Path, path: Path) -> None:
    try:
        part.replace(path)
    except OSError as error:
        _refuse(str(path), error)


def _refuse(name: str, error: OSError) -> NoReturn:
    """The fault that says why an output cannot be written. A pipe that nobody reads on stays what it is."""
    if isinstance(error, BrokenPipeError):
        raise error
    if name == STDOUT:
        give_up_stdout()
    message = f"the output cannot be written: {error.strerror or error}"
    fix = "name a file in a folder that you may write to, with room on its disk"
    where = "standard output" if name == STDOUT else name
    raise InputFault.of("cannot_write", message, where=where, fix=fix) from error


# Paths as arguments of commands.


class NamedPath(click.Path):
    """A path that names something: an empty one, as an unset variable gives it, is not the folder at hand."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if value == "":
            self.fail("the path is empty; name the folder at hand as `.`", param, ctx)
        return super().convert(value, param, ctx)


# What the commands that print a result share: options, JSON, and tables that read the same in a file.

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
