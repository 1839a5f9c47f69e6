"""The release report as a page: what the browser receives, and where it leads."""

from __future__ import annotations

import html
import re

import pytest

from tests.pages.conftest import MakeWorkspace, Open, grids, shown
from tests.places import DEMO

pytestmark = pytest.mark.slow


def test_the_page_has_the_report_with_its_pictures_and_links(open_shared: Open) -> None:
    app = open_shared(DEMO, page="pages/report.py", run="R006", vs="R004")
    assert not app.exception
    drawn = html.unescape(shown(app))
    assert drawn.count("data:image/") == drawn.count("ps-crop") // 2 >= 3
    assert "ps-box-cited" in drawn and "25 of 37" in drawn and "Why not yet" in drawn
    links = re.findall(r'href="(\./[^"]*)"', drawn)
    assert sum(link.startswith("./compare?") and "vs=R004" in link for link in links) == 5
    assert sum(link.startswith("./question?") for link in links) == 2  # the closest ones
    (grid,) = (grid for name, grid in grids(app).items() if name == "Since R004")
    assert grid["rows"][-1]["head"]["text"] == "Ranking miss"
    assert [cell["text"] for cell in grid["rows"][-1]["cells"]] == ["10", "10", "5", "5"]


def test_a_run_with_nothing_to_compare_with(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = open_app(make_workspace(), page="pages/report.py")
    assert not app.exception
    assert "no question can be fixed or regressed" in shown(app)
