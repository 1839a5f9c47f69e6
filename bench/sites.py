"""Arguments, workspaces, servers and browsers of the benchmarks that open pages."""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from playwright.sync_api import BrowserContext, Page, Playwright

CHECKOUT = Path(__file__).resolve().parents[1]
DEMO = CHECKOUT / "data/demo"
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]


def arguments_of(description: str | None, *, traces: int) -> argparse.ArgumentParser:
    """Return the parser of what they have in common: the size of the run, and a folder to keep."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--traces", type=int, default=traces)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument(
        "--keep", type=Path, help="a folder to work in and to leave behind, for the next time"
    )
    return parser


@contextmanager
def folder_of(arguments: argparse.Namespace) -> Iterator[Path]:
    """Return the folder to keep, made where it is missing, else one that is removed at the end."""
    if arguments.keep is not None:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        yield arguments.keep
    else:
        with tempfile.TemporaryDirectory(prefix="proofspan-bench-") as folder:
            yield Path(folder)


def make_workspace(folder: Path, traces: int, chunks: int, *, is_whole: bool = False) -> Path:
    """Return a workspace of one run with that many traces; made once in a folder that is kept.

    With `is_whole` it has documents, gold and an earlier run as well.
    """
    workspace = folder / (f"workspace-of-{traces}" if is_whole else f"run-of-{traces}")
    if not (workspace / "pipeline_manifest.yaml").is_file():
        maker = [sys.executable, str(CHECKOUT / "bench/make_traces.py"), str(workspace)]
        sizes = ["--traces", str(traces), "--chunks", str(chunks)]
        subprocess.run([*maker, *sizes, *(["--whole"] if is_whole else [])], check=True)
        runs = [("R001", "traces"), *([("R000", "earlier")] if is_whole else [])]
        manifest = {
            "manifest_version": "1.0",
            "name": f"{traces} traces",
            "chunks": {"path": "chunks.jsonl"},
            "runs": [
                {"run_id": run_id, "traces": {"path": f"{name}.jsonl"}} for run_id, name in sorted(runs)
            ],
        }
        if is_whole:
            documents = sorted(workspace.glob("*.pdf"))
            manifest["documents"] = [{"doc_id": each.stem, "path": each.name} for each in documents]
            manifest["gold"] = {"path": "gold.jsonl"}
        (workspace / "pipeline_manifest.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")
    return workspace


@contextmanager
def dashboard(workspace: Path, folder: Path) -> Iterator[str]:
    """Serve the dashboard on a workspace whose index is up to date; gives its address."""
    environment = {
        **os.environ,
        "PROOFSPAN_WORKSPACE": str(workspace),
        "PROOFSPAN_CACHE_DIR": str(folder / "cache"),
    }
    subprocess.run(
        [sys.executable, "-m", "proofspan.cli", "index", str(workspace)],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,  # 1 says that lines could not be read, which the demo has on purpose
    )
    with served(CHECKOUT / "app.py", environment) as url:
        yield url


@contextmanager
def bare_page(folder: Path, script: str) -> Iterator[str]:
    """Serve a script as Streamlit does by itself; gives its address."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="bare-") as place:
        file = Path(place) / "app.py"
        file.write_text(script, encoding="utf-8")
        with served(file, dict(os.environ)) as url:
            yield url


@contextmanager
def served(script: Path, environment: dict[str, str]) -> Iterator[str]:
    """Run a Streamlit server for a script until the block ends; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [f"--server.port={port}", "--server.headless=true", "--browser.gatherUsageStats=false"]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script.name, *options],
        cwd=script.parent,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://localhost:{port}"
    try:
        _wait_until_healthy(url)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=10)


def _wait_until_healthy(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):  # noqa: S310 - our own address
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the dashboard at {url} did not start")


def chromium() -> str | None:
    """Return the path of an installed Chromium."""
    names = ("chromium-headless-shell", "chromium", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


def warm_browser(playwright: Playwright, profile: Path) -> BrowserContext:
    """Return a browser with a profile on disk, which keeps what it has fetched and compiled."""
    return playwright.chromium.launch_persistent_context(
        profile, executable_path=chromium(), args=FLAGS, viewport={"width": 1400, "height": 900}
    )


def wait_for_script(page: Page) -> None:
    """Wait until no run of the page's script is under way."""
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(state="attached")
