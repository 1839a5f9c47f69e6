"""Measure what a reader waits for in a browser: rows, steps, filters and pages, beside a bare Streamlit page.

    python bench/bench_acts.py [--traces 100000] [--chunks 20000] [--rounds 7] [--keep FOLDER]

In a warm browser, on the demo and on a run of that size with documents, gold and an earlier run, the time
from the click or key to the frame that shows: the text of the question and its page (from a row of Triage;
from J, where the neighbour is prepared), the filtered list, and all of Trends, Health and Compare, with the
charts that are in view. The bare page has a table of 50 rows, a button that shows a text and pills that
filter as many rows. All take turns in one run, so that the ratios hold whatever else the machine does; times
are taken inside the page (acts.js). Prints medians, the bound of the slowest quarter, and the share of the
figure.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from sites import (
    DEMO,
    arguments_of,
    bare_page,
    dashboard,
    folder_of,
    make_workspace,
    wait_for_script,
    warm_browser,
)

BARE = """
import pandas as pd
import streamlit as st

KINDS = ["one", "two", "three"]

@st.cache_data
def made():
    texts = [f"text of row {{row}}" for row in range({rows})]
    return pd.DataFrame({{"kind": [KINDS[row % 3] for row in range({rows})], "text": texts}})

frame = made()
kind = st.pills("Kind", KINDS, key="kind")
shown = frame if kind is None else frame[frame["kind"] == kind]
st.dataframe(shown.head(50))
with st.container(key="count"):
    st.write(f"{{len(shown)}} rows of {{kind}}")
st.session_state.setdefault("at", 0)
if st.button("Open", key="press"):
    st.session_state["at"] += 1
    with st.container(key="shown"):
        st.write(frame["text"].iloc[st.session_state["at"]])
"""
#: Rounds before the first that counts.
WARMING = 2
#: What may pass: a share of the bare page's act, or milliseconds.
TIMES = {"row to question": ("press", 1.5), "filter": ("pill", 1.5)}
LIMITS = {
    "question to its page": 600,
    "J to its page": 300,
    "Trends": 1_500,
    "Health": 1_000,
    "Compare": 1_000,
}
Measured = Mapping[str, list[float]]


def main() -> None:
    parser = arguments_of(__doc__, traces=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    with folder_of(arguments) as folder:
        measured, bare = measure(folder, arguments)
    report(measured, bare)


def measure(folder: Path, arguments: argparse.Namespace) -> tuple[Mapping[str, Measured], Measured]:
    """Return the milliseconds of each act, on each workspace and on the bare page."""
    workspaces = {"demo": DEMO}
    if arguments.traces:
        large = make_workspace(folder, arguments.traces, arguments.chunks, is_whole=True)
        workspaces[f"{arguments.traces:,} traces"] = large
    measured: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in workspaces}
    bare: dict[str, list[float]] = defaultdict(list)
    with ExitStack() as stack:
        playwright = stack.enter_context(sync_playwright())
        profile = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        urls = {
            name: stack.enter_context(dashboard(workspace, folder)) for name, workspace in workspaces.items()
        }
        bare_url = stack.enter_context(bare_page(folder, BARE.format(rows=arguments.traces or 41)))
        context = stack.enter_context(warm_browser(playwright, profile))
        context.set_default_timeout(120_000)
        context.add_init_script(path=Path(__file__).with_name("acts.js"))
        pages = {name: context.new_page() for name in workspaces}
        for name, page in pages.items():
            page.goto(urls[name])
            page.get_by_test_id("ps-row").first.wait_for()
            page.locator(".st-key-strip button:visible").nth(1).wait_for()
            wait_for_script(page)
        plain = context.new_page()
        plain.goto(bare_url)
        plain.locator(".st-key-count p").wait_for()
        for number in range(WARMING + arguments.rounds):
            for name, page in pages.items():
                page.bring_to_front()
                keep(measured[name], round_of(page, number), number)
                plain.bring_to_front()
                keep(bare, bare_round(plain), number)
    return measured, bare


def keep(kept: dict[str, list[float]], seen: Measured, number: int) -> None:
    for act, values in seen.items() if number >= WARMING else ():
        kept[act] += values


def round_of(page: Page, number: int) -> Measured:
    """Do each act once or twice, on a page of the dashboard that shows Triage."""
    seen: dict[str, list[float]] = defaultdict(list)
    for _ in range(2):  # on and off
        seen["filter"].append(timed(page, "filter", number % 2, "list")["list"])
    at = timed(page, "row", 2 + 3 * (number % 10), "question", "page")
    seen["row to question"].append(at["question"])
    if "page" in at:  # a question without any has none
        seen["question to its page"].append(at["page"] - at["question"])
    timed(page, "key", "j", "question")  # what was shown before is prepared, however busy the machine is
    for key in ("k", "j"):
        at = timed(page, "key", key, "question", "page")
        seen["J to question"].append(at["question"])
        if "page" in at:
            seen["J to its page"].append(at["page"])
    for name in ("Trends", "Health", "Compare"):
        seen[name].append(timed(page, "open", name)["complete"])
    timed(page, "open", "Triage")
    return seen


def bare_round(page: Page) -> Measured:
    seen: dict[str, list[float]] = defaultdict(list)
    for place in (0, 1):
        seen["pill"].append(timed(page, "pill", place, "count")["count"])
        seen["press"].append(timed(page, "button", None, "shown")["shown"])
    return seen


def timed(page: Page, act: str, value: object, *marks: str) -> dict[str, float]:
    """Return the milliseconds from an act to each mark, and until nothing changed any more (`complete`)."""
    found: dict[str, float] = page.evaluate(
        "([act, value, marks]) => window.timed(act, value, marks)", [act, value, list(marks)]
    )
    missing = {*marks, "complete"} - {*found} - {"page"}
    if missing:
        raise SystemExit(f"{act} {value} never came to {', '.join(sorted(missing))}")
    return found


def report(measured: Mapping[str, Measured], bare: Measured) -> None:
    for act, values in bare.items():
        print(f"{f'a bare page, {act}':>38}: {spread(values)}")
    for name, acts in measured.items():
        for act, values in acts.items():
            median, more = statistics.median(values), ""
            if act in TIMES:
                baseline, most = TIMES[act]
                ratio = median / statistics.median(bare[baseline])
                more = f"; {ratio:.2f} times the bare page; {ratio / most:.2f} of the figure"
            elif act in LIMITS:
                more = f"; {median / LIMITS[act]:.2f} of the figure"
            print(f"{f'{name}, {act}':>38}: {spread(values)}{more}")


def spread(values: list[float]) -> str:
    upper = statistics.quantiles(values, n=4)[2] if len(values) > 1 else values[0]
    return f"{statistics.median(values):5.0f} ms (a quarter above {upper:.0f})"


if __name__ == "__main__":
    main()
