"""The release report as a page: what the browser receives, and where it leads."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import parse_qs

import pytest

from tests.pages.conftest import MakeWorkspace, Open, grids, shown, trace
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
    assert sum(link.startswith("./question?") for link in links) == 6  # of three reasons
    (grid,) = (grid for name, grid in grids(app).items() if name == "Since R004")
    assert grid["rows"][-1]["head"]["text"] == "Ranking miss"
    assert [cell["text"] for cell in grid["rows"][-1]["cells"]] == ["10", "10", "5", "5"]


def test_a_run_with_nothing_to_compare_with(make_workspace: MakeWorkspace, open_app: Open) -> None:
    app = open_app(make_workspace(), page="pages/report.py")
    assert not app.exception
    assert "no question can be fixed or regressed" in shown(app)


def test_a_setting_that_would_meet_a_goal_is_named_and_leads_to_what_if(
    make_workspace: MakeWorkspace, open_app: Open
) -> None:
    """The score `dense` has the gold section first, the run's own order has it second."""
    entries = [
        {"id": "c1", "section_id": "5.1", "doc_id": "manual", "score": 0.9, "features": {"dense": 0.1}},
        {"id": "c2", "section_id": "5.2", "doc_id": "manual", "score": 0.5, "features": {"dense": 0.9}},
    ]
    traces = [
        trace(
            f"Q{n}", f"Which lamp is number {n}?", "The fuse. citations: [c2]", stages={"retrieved": entries}
        )
        | {"chunks": entries}
        for n in range(8)
    ]
    gold = [{"q_id": each["q_id"], "q": each["q"], "sections": ["5.2"]} for each in traces]
    folder = make_workspace(traces, gold={"path": "gold.jsonl"})
    (folder / "gold.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in gold))
    app = open_app(folder, page="pages/report.py")
    assert not app.exception
    drawn = html.unescape(shown(app))
    assert "SectionMatch@1 would be 8 of 8, 100 %: meets its goal" in drawn
    (href,) = re.findall(r'href="\./whatif\?([^"]*)"', drawn)
    asked = parse_qs(href)
    assert asked["rerank"] == ["dense:1"]
    app = open_app(folder, page="pages/whatif.py", indexed=False, run="R1", rerank="dense:1")
    assert not app.exception
    assert "8 of 8" in shown(app)
