"""The cost of the Triage page in a browser: bytes over the websocket, and time until its table is painted.

    python bench/bench_pages.py [--traces 100000] [--chunks 20000] [--repeats 7] [--keep FOLDER]

Prints, for a run of that size and for the demo: the bytes that the server sends until the script has ended,
the time in a new browser (nothing cached), in a warm one (a further visit with a profile on disk), and in an
open window (from the Question page by the sidebar). The baseline is Streamlit itself: a bare
page with one `st.dataframe` of 50 rows. All take turns in one run, so that the ratios hold whatever else the
machine does. Indexes are built beforehand.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, sync_playwright
from sites import (
    DEMO,
    FLAGS,
    arguments_of,
    bare_page,
    chromium,
    dashboard,
    folder_of,
    make_workspace,
    wait_for_script,
    warm_browser,
)

ROW, CANVAS = "[data-testid=ps-row]", "[data-testid=stDataFrame] canvas"
#: Notes the first frame with the table on the page, in milliseconds since the navigation began. A component
#: is in a shadow tree, which an observer of the document does not see into.
WATCH = """
const watch = (root) => new MutationObserver(() => {
  if (window.tableAt !== undefined || !root.querySelector("%s")) return;
  window.tableAt = null;
  requestAnimationFrame(() => { window.tableAt = performance.now(); });
}).observe(root, {childList: true, subtree: true});
const attachShadow = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) {
  const root = attachShadow.call(this, options);
  watch(root);
  return root;
};
watch(document);
"""
CLICK = """link => {
  window.tableAt = undefined;
  window.clickedAt = performance.now();
  link.click();
}"""
BARE_PAGE = """
import pandas as pd
import streamlit as st

st.dataframe(pd.DataFrame({f"column {n}": [f"text {n} {row}" for row in range(50)] for n in range(8)}))
"""
#: Visits before the first that counts: the browser keeps compiled scripts only when it has met them before.
WARMING = 3
FIGURES = {"bytes": 100_000, "warm": 600, "demo_new": 2_000}


@dataclass(frozen=True)
class Site:
    """A page to measure: its address, and what its table consists of."""

    url: str
    table: str = ROW


@dataclass
class Measured:
    """The measurements of one page; times in milliseconds."""

    sent: list[int] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    inside: list[float] = field(default_factory=list)


def main() -> None:
    arguments = parse()
    with folder_of(arguments) as folder, ExitStack() as running:
        large = make_workspace(folder, arguments.traces, arguments.chunks)
        sites = {
            "large": Site(running.enter_context(dashboard(large, folder))),
            "demo": Site(running.enter_context(dashboard(DEMO, folder))),
            "bare": Site(running.enter_context(bare_page(folder, BARE_PAGE)), CANVAS),
        }
        measured = measure(sites, arguments.repeats)
    report(measured, arguments.traces)


def parse() -> argparse.Namespace:
    parser = arguments_of(__doc__, traces=100_000)
    parser.add_argument("--repeats", type=int, default=7)
    return parser.parse_args()


def measure(sites: dict[str, Site], repeats: int) -> dict[str, Measured]:
    """Opens each page in a new browser and in one that has been there before, in turns."""
    measured = {name: Measured() for name in sites}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        warm = warm_browser(playwright, Path(profile))
        for _ in range(WARMING):
            for site in sites.values():
                visit(warm, site)
        for _ in range(repeats):
            for name, site in sites.items():
                context = browser.new_context(viewport={"width": 1400, "height": 900})
                measured[name].new.append(visit(context, site)[0])
                context.close()
                shown_after, sent = visit(warm, site)
                measured[name].warm.append(shown_after)
                measured[name].sent.append(sent)
                if site.table == ROW:
                    measured[name].inside.append(from_question(warm, site))
        warm.close()
        browser.close()
    return measured


def visit(context: BrowserContext, site: Site) -> tuple[float, int]:
    """Return milliseconds until the table is painted, and bytes received until the script has ended."""
    page = context.new_page()
    page.add_init_script(WATCH % site.table)
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(len(data))))
    page.goto(site.url)
    shown_after = table_shown_at(page, site)
    page.close()
    return shown_after, sum(received)


def from_question(context: BrowserContext, site: Site) -> float:
    """Return milliseconds from a click on Triage in the sidebar of a question until the table is painted."""
    page = context.new_page()
    page.add_init_script(WATCH % site.table)
    page.goto(f"{site.url}/question")
    page.get_by_test_id("ps-viewer").or_(page.get_by_text("Why this label")).first.wait_for(state="attached")
    wait_for_script(page)
    page.get_by_test_id("stSidebar").get_by_role("link", name="Triage").evaluate(CLICK)
    shown_at = table_shown_at(page, site)
    clicked_at = float(page.evaluate("() => window.clickedAt"))
    page.close()
    return shown_at - clicked_at


def table_shown_at(page: Page, site: Site) -> float:
    """Return when the table was first painted, once the script has ended."""
    page.locator(site.table).first.wait_for(state="visible")
    page.wait_for_function("() => typeof window.tableAt === 'number'")
    wait_for_script(page)
    return float(page.evaluate("() => window.tableAt"))


def report(measured: dict[str, Measured], traces: int) -> None:
    large, demo, bare = measured["large"], measured["demo"], measured["bare"]
    names = {f"{traces:,} traces": large, "demo": demo, "st.dataframe alone": bare}
    for name, seen in names.items():
        sent, new, warm = (statistics.median(each) for each in (seen.sent, seen.new, seen.warm))
        print(f"{name:>18}: {sent / 1000:5.1f} kB over the websocket; table after ", end="")
        print(f"{new:5.0f} ms in a new browser, {warm:4.0f} ms in a warm one", end="")
        print(f", {statistics.median(seen.inside):4.0f} ms from a question" if seen.inside else "")
    ratio = statistics.median(large.warm) / statistics.median(bare.warm)
    print(f"{traces:,} traces against st.dataframe alone, warm: {ratio:.2f} times")
    print(f"bytes: {max(large.sent) / FIGURES['bytes']:.2f} of the {FIGURES['bytes'] // 1000} kB allowed")
    print(f"warm, {traces:,} traces: {statistics.median(large.warm) / FIGURES['warm']:.2f} of 600 ms")
    print(f"demo in a new browser: {statistics.median(demo.new) / FIGURES['demo_new']:.2f} of 2 s")


if __name__ == "__main__":
    main()
