"""The cost of the next bundle of a Walkthrough: its data in the server, and from key press to paint.

    python bench/bench_walkthrough.py [--steps 30] [--workspace FOLDER]

Prints the p50 of the next page's data from the cache in the server (from the trace's name to everything that
is shown), and of the time in a warm browser from the key press to the frame after the new picture and its
chosen box are painted. The baseline of the second is a bare Streamlit page that opens the next page the usual
way (PyMuPDF, `search_for`, highlight annotation, 150-dpi PNG, `st.image`) on a button's press. Both take
turns in one run, so that the ratio holds whatever else the machine does.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright
from sites import CHECKOUT, FLAGS, chromium, served

from proofspan.evidence.pdf.pool import PdfPool
from proofspan.manifest.load import load_manifest
from proofspan.resources import DEMO
from proofspan.services.bundles.build import load_sources
from proofspan.services.bundles.stored import StoredBundles
from proofspan.services.bundles.walkthrough import Materials, Playlist, scene_of, slide_of
from proofspan.services.documents.document_cache import Placer
from proofspan.services.workspace.open import default_run
from proofspan.store.index.build import build_index
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from proofspan.traces.lines.unpack import plain_source
from proofspan.ui.viewer.viewer import ViewerPage, packed
from proofspan.ui.visit.view_state import question_name

#: Notes when the new picture and a chosen box are there: two frames later the browser has painted them.
WATCH = """() => {
  const seek = (root) => {
    for (const each of root.querySelectorAll("*")) {
      if (each.dataset?.testid === "ps-page") return each;
      const found = each.shadowRoot && seek(each.shadowRoot);
      if (found) return found;
    }
  };
  const page = seek(document);
  const press = () => { window.paintedAt = null; window.pressedAt = performance.now(); };
  document.addEventListener("keydown", press, true);
  new MutationObserver(() => {
    if (!page.querySelector(".box.chosen")) return;
    requestAnimationFrame(() => requestAnimationFrame(() => { window.paintedAt = performance.now(); }));
  }).observe(page, {attributes: true, attributeFilter: ["data-id"]});
}"""
WATCH_NAIVE = """() => {
  const press = () => { window.paintedAt = null; window.pressedAt = performance.now(); };
  document.addEventListener("click", press, true);
  document.addEventListener("load", () => {
    requestAnimationFrame(() => requestAnimationFrame(() => { window.paintedAt = performance.now(); }));
  }, true);
}"""
NAIVE = """
import pymupdf, streamlit as st
at = st.session_state.setdefault("at", 0)
def step():
    st.session_state.at += 1
st.button("Next", on_click=step)
with pymupdf.open({path!r}) as document:
    page = document[(10 + 3 * st.session_state.at) % document.page_count]
    words = page.get_text().split()
    for quad in page.search_for(" ".join(words[20:32])):
        page.add_highlight_annot(quad)
    st.image(page.get_pixmap(dpi=150).tobytes("png"), output_format="PNG", width="stretch")
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--workspace", type=Path, default=DEMO)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="proofspan-bench-") as scratch, PdfPool() as pool:
        cache = Path(scratch) / "cache"
        taken, names = in_server(given.workspace, cache, pool, given.steps)
        print(f"next page's data from the cache, in the server: p50 {statistics.median(taken):.2f} ms")
        ours, naive = in_browser(given.workspace, Path(scratch), names)
    p50, bare = statistics.median(ours), statistics.median(naive)
    print(f"key press → new highlighted page painted: p50 {p50:.0f} ms, p95 {p95(ours):.0f} ms")
    print(f"the usual way, on a button's press:       p50 {bare:.0f} ms, p95 {p95(naive):.0f} ms")
    print(f"ratio of the medians: {p50 / bare:.2f}")


def p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


def in_server(folder: Path, cache: Path, pool: PdfPool, steps: int) -> tuple[list[float], list[str]]:
    """Milliseconds for each next page (the slide is known, its documents are looked at, its page is packed),
    and the names of the questions that have a page with a box on it: so that each step paints one."""
    manifest = load_manifest(folder)
    build_index(manifest, cache_dir=cache)
    run = default_run(manifest)
    if run is None or run.traces is None or run.bundles is None:
        raise SystemExit("the workspace's latest run has no traces or no bundles")
    sources, _ = load_sources(manifest, pool)
    file = plain_source(folder / run.bundles.path, cache_dir=cache)
    materials = Materials(
        manifest=manifest,
        pool=pool,
        placer=Placer(pool),
        chunks=sources.chunks,
        catalogue=sources.catalogue,
        corpus=None,
        stored=StoredBundles.of(file, file=run.bundles.path, run_id=run.run_id),
        traces=plain_source(folder / run.traces.path, cache_dir=cache),
    )
    playlist = Playlist.of(Store(manifest, cache).places(Filter(run.run_id, label=("ok",)), Sort()))
    stops = map(playlist.at, range(min(steps + 1, len(playlist))))
    slides = {stop.key: slide_of(stop, materials) for stop in stops}
    for slide in slides.values():
        scene_of(slide, materials)
    taken, names = [], []
    for key, slide in slides.items():
        start = time.perf_counter()
        shown = scene_of(slide, materials).page
        if shown is not None and shown.image is not None:
            page = ViewerPage(shown.image, shown.spans, {}, "page", key.q_id, shown.page_count)
            packed(page, key="bench", height="stage")
            taken.append((time.perf_counter() - start) * 1e3)
            names += [question_name(key.q_id, key.repeat)] if any(span.chosen for span in shown.spans) else []
    return taken, names


def in_browser(folder: Path, scratch: Path, names: list[str]) -> tuple[list[float], list[float]]:
    """Milliseconds from press to paint, ours and the usual way, step by step in turn."""
    document = next(each for each in load_manifest(folder).documents if each.paged)
    naive_app = scratch / "naive.py"
    naive_app.write_text(NAIVE.format(path=str(folder / document.artifact.path)), encoding="utf-8")
    environment = {"PROOFSPAN_WORKSPACE": str(folder), "PROOFSPAN_CACHE_DIR": str(scratch / "cache")}
    ours, naive = [], []
    with ExitStack() as stack:
        base = stack.enter_context(served(CHECKOUT / "app.py", environment))
        bare = stack.enter_context(served(naive_app, {}))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        walk, plain = context.new_page(), context.new_page()
        walk.goto(f"{base}/walkthrough?{urlencode({'ids': names, 'q': names[0]}, doseq=True)}")
        walk.get_by_test_id("ps-picture").wait_for()
        plain.goto(bare)
        plain.locator("[data-testid=stImage] img").wait_for()
        walk.wait_for_timeout(3_000)
        walk.evaluate(WATCH)
        plain.evaluate(WATCH_NAIVE)
        for _ in names[1:]:
            walk.bring_to_front()
            ours.append(painted(walk, partial(walk.keyboard.press, "ArrowRight")))
            plain.bring_to_front()
            naive.append(painted(plain, plain.get_by_role("button", name="Next").click))
        browser.close()
    warm_up = 3
    return ours[warm_up:], naive[warm_up:]


def painted(page: Page, press: Callable[[], None]) -> float:
    """Milliseconds from the press to the paint; then some time to think, as a speaker takes."""
    press()
    page.wait_for_function("() => window.paintedAt", timeout=30_000)
    taken: float = page.evaluate("() => window.paintedAt - window.pressedAt")
    page.wait_for_timeout(400)
    return taken


if __name__ == "__main__":
    main()
