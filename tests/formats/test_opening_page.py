"""The page on formats: a section for each, made from the formats themselves."""

from __future__ import annotations

import re

import pytest

from proofspan.traces.registry import FORMATS
from tests.places import CHECKOUT

PAGE = CHECKOUT / "docs" / "opening.md"
_FORMATS = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- /formats -->)", re.DOTALL)


def sections() -> str:
    """Return a row for each format, by title, with what it was written from."""
    ordered = sorted(FORMATS, key=lambda each: each.title.casefold())
    cells = ((each.title, each.documentation, each.versions) for each in ordered)
    rows = ("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells)
    return "\n".join(["| format | how it is read | versions |", "|---|---|---|", *rows, ""])


def test_the_page_has_a_row_for_each_format(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text("utf-8")
    if request.config.getoption("--update-goldens"):
        PAGE.write_text(_FORMATS.sub(lambda _: sections(), text), "utf-8")
        text = PAGE.read_text("utf-8")
    (found,) = _FORMATS.findall(text)
    assert found == sections(), "made from the formats: run this file with --update-goldens"
