"""The help of every command, one golden file each."""

from __future__ import annotations

from collections.abc import Callable

import click
import pytest
from click.testing import CliRunner

from proofspan.cli import COMMANDS, group


def helps(command: click.Command, name: str) -> str:
    """Return the help of a command and of those below it."""
    command._help_option = None  # click keeps the option's names as of the first call, with or without -h
    own = CliRunner().invoke(command, ["--help"], prog_name=f"proofspan {name}").stdout
    below = command.commands if isinstance(command, click.Group) else {}
    return "\n".join([own, *(helps(each, f"{name} {key}") for key, each in below.items())])


@pytest.mark.parametrize("name", COMMANDS)
def test_help(name: str, golden: Callable[[str, str], None]) -> None:
    command = group.get_command(click.Context(group), name)
    assert command is not None
    golden(f"help/{name}", helps(command, name))


def test_help_of_the_program(golden: Callable[[str, str], None]) -> None:
    golden("help/proofspan", CliRunner().invoke(group, ["--help"], prog_name="proofspan").stdout)
