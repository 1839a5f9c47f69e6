"""Paths as arguments of commands."""

from __future__ import annotations

import os
from pathlib import Path

import click


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
