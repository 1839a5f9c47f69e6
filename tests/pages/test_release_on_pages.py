"""The release verdict on Trends, Compare and Health: one object, in the same words."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from proofspan.manifest.load import load_manifest
from proofspan.services.gate import release_verdict
from proofspan.services.release import STATE_NAMES, ReleaseVerdict
from proofspan.store.query.store import Store
from proofspan.ui.status import release
from tests.pages.conftest import MakeWorkspace, Open, grids, shown
from tests.places import DEMO

pytestmark = pytest.mark.slow

PAGES = ("trends", "compare", "health")


def verdict_of(app: AppTest) -> tuple[str, list[str]]:
    """Return the line of the verdict, and the reasons below it with what would change them."""
    assert not app.exception
    plain = re.sub(r"<[^>]*>", "", html.unescape(shown(app)))
    (line,) = re.findall(r"Release check: .* checks pass[^.]*\.", plain)
    tables = [grid for name, grid in grids(app).items() if name.startswith("Reasons for ")]
    rows = [row["head"] for grid in tables for row in grid["rows"]]
    reasons = [f"{row['text']} {row.get('note', '')}" for row in rows]
    return line, [each.replace("\u00a0", " ") for each in reasons][:3]


@pytest.mark.parametrize("run", ["R001", "R005", "R006"])  # nothing to compare with, faulty, repaired
def test_the_pages_and_the_gate_show_one_verdict(
    run: str, open_shared: Open, built: Callable[[Path], Path]
) -> None:
    pages = [page for page in PAGES if (page, run) != ("compare", "R001")]  # it has no run before it
    opened = {page: open_shared(DEMO, page=f"pages/{page}.py", run=run) for page in pages}
    found = [verdict_of(app) for app in opened.values()]
    assert all(line == found[0][0] for line, _ in found)
    assert not any(reasons for _, reasons in found[1:]), "the reasons are in one place"
    for page, app in opened.items():  # no page has words of its own for the verdict
        words = html.unescape(shown(app)).lower()
        assert not re.search(r"may (not )?ship|nothing speaks|not yet evidence|r\d+ is better", words), page
        assert sum(name.lower() in words for name in STATE_NAMES.values()) == 1, page
    verdict = release_verdict(Store(load_manifest(DEMO), built(DEMO)), load_manifest(DEMO), run)
    line, reasons = found[0]
    assert f"{verdict.words}{verdict.compared}. {verdict.counts_in_words()}." in line
    wanted = [f"{each.sentence} {each.change}" for each in verdict.reasons[:3]]
    assert reasons == [each.replace("\u00a0", " ") for each in wanted]


def test_another_run_in_the_address_is_the_one_compared_with_on_every_page(open_shared: Open) -> None:
    found = [verdict_of(open_shared(DEMO, page=f"pages/{page}.py", run="R006", vs="R005")) for page in PAGES]
    assert "compared with R005" in found[0][0]
    assert all(line == found[0][0] for line, _ in found)


def test_a_verdict_is_made_once_for_all_pages(
    make_workspace: MakeWorkspace, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def count(*args: Any, **options: Any) -> ReleaseVerdict:
        made.append(args)
        return release_verdict(*args, **options)

    monkeypatch.setattr(release, "release_verdict", count)
    folder = make_workspace()
    assert (
        len({verdict_of(open_app(folder, page=f"pages/{page}.py"))[0] for page in ("health", "trends")}) == 1
    )
    assert len(made) == 1


def test_a_run_without_gold_lacks_evidence(make_workspace: MakeWorkspace, open_app: Open) -> None:
    line, reasons = verdict_of(open_app(make_workspace(), page="pages/trends.py"))
    assert "Not ready" in line  # one of its answers cites nothing
    assert any("no citations" in each.lower() for each in reasons)
