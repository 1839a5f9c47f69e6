"""A cohort in a real browser: reranked offline, compared, another fusion saved, decided, and handed over."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
import yaml
from click.testing import CliRunner
from playwright.sync_api import expect

from proofspan.cli import group
from proofspan.journal.sprint import read_sprint
from proofspan.manifest.load import MANIFEST_NAME, load_manifest
from tests.browser.conftest import AT_REST, PageAt, Serve, WaitForRun, wait_for_query
from tests.places import CHECKOUT, DEMO

pytestmark = pytest.mark.browser

SCORES = CHECKOUT / "examples/logged_scores.py"
COHORT = "SCORE-POLICY of R003"
KEPT = ("R001", "R003", "R004")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One cache for the commands and the dashboard: what one has indexed and checked the others find."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROOFSPAN_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield os.environ["PROOFSPAN_CACHE_DIR"]


@pytest.fixture(scope="module")
def sprint(tmp_path_factory: pytest.TempPathFactory, cache: str) -> Path:
    """A copy of the demo with three of its runs, in which R003's cohort is frozen and reranked as R007."""
    folder = copytree(DEMO, tmp_path_factory.mktemp("cohort") / "demo")
    file = folder / MANIFEST_NAME
    manifest = yaml.safe_load(file.read_text(encoding="utf-8"))
    manifest["runs"] = [run for run in manifest["runs"] if run["run_id"] in KEPT]
    file.write_text(yaml.safe_dump(manifest, sort_keys=False), encoding="utf-8")
    command("cohort", "freeze", folder, COHORT, "--run", "R003", "--bucket", "score_policy")
    traces, scores = folder / "runs/R004/trace.jsonl.zst", folder.parent / "scores.jsonl"
    with scores.open("wb") as target:
        subprocess.run([sys.executable, SCORES, traces], stdout=target, check=True)
    results = folder.parent / "rerank_results.jsonl"
    source = ("--run", "R003", "--cohort", COHORT, "--scores", scores)
    command("rerank", folder, *source, "-o", results, "--save-as", "R007")
    return folder


def command(*arguments: object) -> str:
    result = CliRunner().invoke(group, [*map(str, arguments)])
    assert result.exit_code in (0, 1), result.output
    return result.stdout


def test_from_a_frozen_cohort_to_the_decision_that_is_handed_over(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun, sprint: Path, cache: str
) -> None:
    url, page = serve(sprint, PROOFSPAN_CACHE_DIR=cache).url, page_at(1400, 900)
    page.goto(f"{url}/compare?run=R007&vs=R003")  # ON against OFF
    expect(page.get_by_text(re.compile(r"Retrieval: 6 fixed, none regressed of 37"))).to_be_visible()
    expect(page.get_by_text("Only the 13 questions of SCORE-POLICY of R003 were reranked")).to_be_visible()

    page.goto(f"{url}/whatif?run=R003")
    weight = page.get_by_role("spinbutton", name="Weight of bm25")
    weight.fill("2")
    weight.press("Enter")
    wait_for_query(page, weight="bm25:2")
    expect(page.get_by_text(re.compile(r"Retrieval: 2 fixed, none regressed of 37"))).to_be_visible()
    expect(page.get_by_text("are being checked")).to_have_count(0)
    expect(page.get_by_text("settings tried")).to_be_visible()
    page.get_by_role("button", name="Save as run").click()
    page.get_by_label("Run id").fill("R008")
    page.get_by_label("Run id").press("Enter")
    page.get_by_role("button", name="Save run").click()
    wait_for_query(page, saved="R008")
    expect(page.get_by_text("✓ Saved")).to_be_visible()
    saved = (sprint / "runs/R008/trace.jsonl").read_bytes()
    command("whatif", sprint, "--run", "R003", "--weight", "bm25:2", "--save-as", "R008")
    assert (sprint / "runs/R008/trace.jsonl").read_bytes() == saved

    page.get_by_role("link", name="Compare R008 with R003").click()
    wait_for_query(page, run="R008", vs="R003")
    expect(page.get_by_text(re.compile(r"Retrieval: 2 fixed, none regressed of 37"))).to_be_visible()
    expect(page.get_by_role("combobox", name="Run")).to_have_value(re.compile("R008"))

    page.goto(f"{url}/trends?run=R007&vs=R003")
    expect(page.get_by_text(re.compile(r"Release check"))).to_be_visible()
    verdict = page.locator(".st-key-gate").inner_text()
    assert "Not ready" in verdict and "Not ready" in command(
        "gate", sprint, "--run", "R007", "--against", "R003"
    )

    page.goto(f"{url}/sprint?run=R007&item=decision:D6")
    wait_for_run(page)
    page.get_by_role("button", name="Change").click()
    wait_for_run(page)
    page.get_by_label("Your name").fill("Mara Lindqvist")
    page.keyboard.press("Enter")
    wait_for_run(page)
    state = page.get_by_role("combobox", name="State")
    state.scroll_into_view_if_needed()
    page.evaluate(AT_REST)  # an event of scrolling that comes later closes the list
    state.click()
    page.get_by_role("option", name="Accepted").click()
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".st-key-preview")).to_contain_text("Accepted")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".st-key-saved")).to_be_visible()
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Markdown").click()
    exported = download.value.path().read_text(encoding="utf-8")
    assert re.search(r"D6 .*\(ACCEPTED\)", exported) and "R008" in exported
    entries, issues = read_sprint(load_manifest(sprint))
    assert not issues and (entries[-1].key, entries[-1].fields["state"]) == ("D6", "ACCEPTED")
