"""The documentation is true of the checkout: its links, commands, dependencies and examples."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from proofspan.cli import COMMANDS
from proofspan.contracts.rules.catalogue import is_known
from tests.places import CHECKOUT

DOCS = CHECKOUT / "docs"
PAGES = [
    *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted(DOCS.rglob("*.md")),
]
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"")
_ELSEWHERE = re.compile(r"[a-z]+:")


def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


def links(page: Path) -> Iterator[str]:
    for match in _LINK.finditer(re.sub(r"`[^`\n]*`", "", prose(page))):
        target = match[1] or match[2]
        if not _ELSEWHERE.match(target):
            yield target


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub and MkDocs give a page's headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def name_of(page: Path) -> str:
    return page.relative_to(CHECKOUT).as_posix()


def column(page: Path) -> set[str]:
    """Return the names in the first column of a page's tables."""
    rows = re.findall(r"^\| ([^|]+) \|", prose(page), re.MULTILINE)
    return {name.strip() for row in rows for name in row.split(",")}


def test_the_readme_is_read_in_five_minutes() -> None:
    assert len((CHECKOUT / "README.md").read_text("utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        is_there = target.is_relative_to(CHECKOUT) and target.exists()
        if not is_there or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("marker", ["open command", "test command"])
def test_the_readme_has_each_command_on_one_line_below_its_marker(marker: str) -> None:
    lines = (CHECKOUT / "README.md").read_text("utf-8").splitlines()
    place = lines.index(f"<!-- {marker} -->")
    assert lines[place + 1] == "```sh" and lines[place + 3] == "```"
    assert lines[place + 2].startswith("python3 tools/require_python.py && python3 -m venv .venv && ")


def test_the_commands_page_has_a_section_for_every_command() -> None:
    headings = re.findall(r"^## (\S+)$", prose(DOCS / "commands.md"), re.MULTILINE)
    assert sorted(headings) == sorted(COMMANDS)


def test_the_dependency_tables_name_every_dependency() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = chain(project["dependencies"], *project["optional-dependencies"].values())
    names = {match[0] for each in wanted if (match := re.match(r"[a-z0-9-]+", each))} - {"proofspan"}
    assert column(DOCS / "dependencies.md") >= names
    assert column(DOCS / "dependencies.md") - names == {"dependency"}


def test_the_architecture_names_files_that_are_there() -> None:
    named = re.findall(r"`((?:[a-z_]+/)+[a-z_.]*)`", prose(DOCS / "architecture.md"))
    folders = [CHECKOUT / "core" / "proofspan", CHECKOUT]
    assert [name for name in named if not any((folder / name).exists() for folder in folders)] == []


def test_each_requirement_has_a_row_and_names_what_is_there() -> None:
    text = prose(DOCS / "requirements.md")
    rows = re.findall(r"^\| ([TDCRS])(\d+) \| (.+) \| (.+) \| (.+) \|$", text, re.MULTILINE)
    for letter in "TDCRS":
        numbers = [int(number) for name, number, *_ in rows if name == letter]
        assert numbers == list(range(1, len(numbers) + 1)), letter
    assert len(rows) == len(re.findall(r"^\| [A-Z]\d", text, re.MULTILINE)) >= 169
    named = set(re.findall(r"tests/[\w/]+(?:\.py)?", text))
    assert [name for name in named if not (CHECKOUT / name).exists()] == []
    words = {word for each in rows for word in re.findall(r"`([a-z0-9]+(?:_[a-z0-9]+)+)`", " ".join(each))}
    source = "".join(path.read_text("utf-8") for path in (CHECKOUT / "core").rglob("*.py"))
    assert sorted(word for word in words if not is_known(word) and word not in source) == []


def test_every_picture_is_on_a_page_of_the_documentation() -> None:
    shown = "".join(prose(page) for page in PAGES)
    pictures = {path.name for path in (DOCS / "screenshots").iterdir()}
    assert {name for name in pictures if name.replace("-dark", "") not in shown} == set()
