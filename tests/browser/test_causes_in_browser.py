"""From the first row of Triage through the cause to the passage that proves it, for nine causes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from proofspan.display_names import CAUSE_NAMES
from tests.browser.conftest import FOLLOW, PageAt, Serve, WaitForRun
from tests.places import DEMO

pytestmark = pytest.mark.browser

#: Runs of the demo with an answer of that cause, whose evidence is a passage of a page.
CAUSES = {
    "contradicted": "R005",
    "wrong_source": "R005",
    "answered_unanswerable": "R005",
    "over_refusal": "R005",
    "not_extracted": "R005",
    "not_in_context": "R005",
    "missed_top_ranked": "R005",
    "bad_citation": "R005",
    "unsafe_omission": "R006",
}
#: What a sentence begins with in place of its cause's name.
OWN_NAMES = {"contradicted": "Wrong number"}


def test_the_first_row_leads_through_its_cause_to_the_passage_that_proves_it(
    serve: Serve, page_at: PageAt, wait_for_run: WaitForRun
) -> None:
    page = page_at(1400, 900)
    page.goto(f"{serve(DEMO).url}/?run=R001")
    for cause, run in CAUSES.items():
        wait_for_run(page)
        page.evaluate(FOLLOW, f"./?run={run}&cause={cause}")
        expect(page.locator(".st-key-triage-table")).to_be_visible()
        wait_for_run(page)
        page.get_by_test_id("ps-row").first.click()
        page.wait_for_url("**/question?*")
        wait_for_run(page)
        verdict = page.locator("[class*=st-key-verdict-]")
        expect(verdict).to_contain_text(f"{OWN_NAMES.get(cause, CAUSE_NAMES[cause])}: ")
        evidence = verdict.get_by_role("button").first
        place = evidence.inner_text()
        evidence.click()
        page.wait_for_url(re.compile(r"[?&](at_claim|chunk|see)="))
        if cause == "unsafe_omission":
            expect(page.locator(".region")).to_be_in_viewport()
            continue
        assert place.startswith("p. ")
        expect(page.locator(".st-key-page-side")).to_contain_text(place)
        expect(page.get_by_test_id("ps-box").and_(page.locator(".chosen")).first).to_be_in_viewport()
