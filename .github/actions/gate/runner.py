"""Speak to the runner of GitHub Actions: annotations, outputs, and text that contains no command.

The runner reads each line that a step prints. A line that begins with `::`, or has `##[` anywhere, may be a
command to it, so text of others is printed only between `stop-commands` and its token.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def annotate(level: str, message: str, **properties: object) -> None:
    """Print an annotation; `level` is error, warning or notice, and empty properties are left out."""
    written = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items() if value)
    print(f"::{level}{' ' * bool(written)}{written}::{_data(message)}", flush=True)


def print_plain(text: str) -> None:
    """Print text in which the runner reads no command."""
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}\n{text.rstrip()}\n::{token}::", flush=True)


def add_to(variable: str, text: str) -> None:
    """Append to one of the runner's files, such as that of `GITHUB_OUTPUT`."""
    with Path(os.environ[variable]).open("a", encoding="utf-8") as file:
        file.write(text)


def _data(text: str) -> str:
    """Escape a message as `escapeData` of actions/toolkit does (packages/core/src/command.ts)."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escape a property as `escapeProperty` there does."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
