"""What the Triage page costs a browser: bytes over the websocket, and the time until its table stands there.

    python bench/bench_pages.py [--traces 100000] [--chunks 20000] [--repeats 5] [--keep FOLDER]

Prints, for a run of that size and for the demo: the bytes that the server sends until the script has ended,
the time in a new browser (nothing cached) and in a warm one (a further window of the same browser). The two
workspaces take turns, so that their ratio holds whatever else the machine does. Indexes are built beforehand.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from playwright.sync_api import Browser, BrowserContext, sync_playwright

CHECKOUT = Path(__file__).resolve().parents[1]
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
#: Notes when the table's canvas first stands on the page, in milliseconds since the navigation began.
WATCH = """
new MutationObserver((_, observer) => {
  if (document.querySelector('[data-testid="stDataFrame"] canvas')) {
    window.tableAt = performance.now();
    observer.disconnect();
  }
}).observe(document, {childList: true, subtree: true});
"""
FIGURES = {"bytes": 100_000, "warm": 600, "demo_new": 2_000}


@dataclass
class Measured:
    """What was seen for one workspace; times in milliseconds."""

    sent: list[int] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)


def main() -> None:
    arguments = parse()
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="bench-pages-"))
    try:
        large = make_workspace(folder, arguments.traces, arguments.chunks)
        with dashboard(large, folder) as large_url, dashboard(CHECKOUT / "data/demo", folder) as demo_url:
            measured = measure({"large": large_url, "demo": demo_url}, arguments.repeats)
        report(measured, arguments.traces)
    finally:
        if arguments.keep is None:
            shutil.rmtree(folder)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--keep", type=Path, help="a folder to work in and to leave behind, for the next time"
    )
    return parser.parse_args()


def make_workspace(folder: Path, traces: int, chunks: int) -> Path:
    """A workspace of one run with that many traces; made once in a folder that is kept."""
    workspace = folder / f"run-of-{traces}"
    if not (workspace / "pipeline_manifest.yaml").is_file():
        maker = [sys.executable, str(CHECKOUT / "bench/make_traces.py"), str(workspace)]
        subprocess.run([*maker, "--traces", str(traces), "--chunks", str(chunks)], check=True)
        manifest = {
            "manifest_version": "1.0",
            "name": f"{traces} traces",
            "chunks": {"path": "chunks.jsonl"},
            "runs": [{"run_id": "R001", "traces": {"path": "traces.jsonl"}}],
        }
        (workspace / "pipeline_manifest.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")
    return workspace


@contextmanager
def dashboard(workspace: Path, folder: Path) -> Iterator[str]:
    """The dashboard on a workspace whose index is up to date; gives its address."""
    environment = {
        **os.environ,
        "PROOFSPAN_WORKSPACE": str(workspace),
        "PROOFSPAN_CACHE_DIR": str(folder / "cache"),
    }
    subprocess.run(
        [sys.executable, "-m", "core.cli", "index", str(workspace)],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,  # 1 says that lines could not be read, which the demo has on purpose
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://localhost:{port}"
    try:
        wait_until_healthy(url)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=10)


def wait_until_healthy(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):  # noqa: S310 - our own address
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the dashboard at {url} did not start")


def measure(urls: dict[str, str], repeats: int) -> dict[str, Measured]:
    """Opens each workspace in a new browser and again in the same one, in turns."""
    measured = {name: Measured() for name in urls}
    with sync_playwright() as playwright:
        executable = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for url in urls.values():
            visit(browser.new_context(), url)  # the server's own first visit
        for _ in range(repeats):
            for name, url in urls.items():
                measure_once(browser, url, measured[name])
        browser.close()
    return measured


def measure_once(browser: Browser, url: str, into: Measured) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    new, sent = visit(context, url)
    warm, _ = visit(context, url)
    context.close()
    into.new.append(new)
    into.warm.append(warm)
    into.sent.append(sent)


def visit(context: BrowserContext, url: str) -> tuple[float, int]:
    """Milliseconds until the table stands there, and the bytes received until the script has ended."""
    page = context.new_page()
    page.add_init_script(WATCH)
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: received.append(len(data))))
    page.goto(url)
    page.locator("[data-testid=stDataFrame] canvas").first.wait_for(state="visible")
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(state="attached")
    shown_after = float(page.evaluate("() => window.tableAt"))
    page.close()
    return shown_after, sum(received)


def report(measured: dict[str, Measured], traces: int) -> None:
    large, demo = measured["large"], measured["demo"]
    for name, seen in ((f"{traces:,} traces", large), ("demo", demo)):
        sent, new, warm = map(statistics.median, (seen.sent, seen.new, seen.warm))
        print(f"{name:>16}: {sent / 1000:6.1f} kB over the websocket; ", end="")
        print(f"table after {new:5.0f} ms in a new browser, {warm:5.0f} ms in a warm one")
    ratio = statistics.median(large.warm) / statistics.median(demo.warm)
    print(f"{traces:,} traces against the demo, warm: {ratio:.2f} times")
    print(f"bytes: {max(large.sent) / FIGURES['bytes']:.2f} of the {FIGURES['bytes'] // 1000} kB allowed")
    print(f"warm, {traces:,} traces: {statistics.median(large.warm) / FIGURES['warm']:.2f} of 600 ms")
    print(f"demo in a new browser: {statistics.median(demo.new) / FIGURES['demo_new']:.2f} of 2 s")


if __name__ == "__main__":
    main()
