"""The time from `proofspan open response.json manual.pdf` to the first box on its page.

    python bench/bench_open.py [--pages 100] [--repeats 5] [--response FILE --pdf FILE]

Starts the command on a response that cites a sentence in the middle of a PDF of that many pages, with an
empty cache, opens the address that it prints in a new profile of a browser that runs already, and stops when
the box is on the page. The baseline is Streamlit itself: `streamlit run` of a page with one word, until that
word is shown. Both take turns in one run, so that the ratio holds whatever else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pymupdf
from playwright.sync_api import Browser, sync_playwright
from sites import FLAGS, chromium

LIMIT_S = 60_000
BOX, HELLO = "[data-testid=ps-box]", "text=Hello"
BARE = 'import streamlit as st\n\nst.write("Hello")\n'
WORDS = [
    "the",
    "engine",
    "holds",
    "oil",
    "of",
    "its",
    "grade",
    "and",
    "each",
    "belt",
    "is",
    "fastened",
    "first",
]
QUOTE = "The engine holds 4.5 litres of oil, grade 5W-30."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--response", type=Path, help="a response that cites --pdf, in place of a made one")
    parser.add_argument("--pdf", type=Path)
    given = parser.parse_args()
    ours: list[float] = []
    printed: list[float] = []
    bare: list[float] = []
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        folder = Path(scratch)
        response, pdf = given.response, given.pdf
        if response is None or pdf is None:
            response, pdf = made(folder, given.pages)
        (folder / "bare.py").write_text(BARE)
        with playwright.chromium.launch(executable_path=chromium(), args=FLAGS) as browser:
            for number in range(given.repeats + 1):
                at_address, at_box = opened(browser, [response, pdf], folder / f"cache-{number}")
                hello = bare_page(browser, folder / "bare.py")
                if number:  # the first reads programs from disk
                    printed.append(at_address)
                    ours.append(at_box)
                    bare.append(hello)
    print(f"address printed: {spread(printed)}")
    print(f"first box:       {spread(ours)}")
    print(f"bare Streamlit:  {spread(bare)}")
    print(f"ratio of the medians: {statistics.median(ours) / statistics.median(bare):.2f}")


def spread(seconds: list[float]) -> str:
    return f"median {statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})"


def made(folder: Path, pages: int) -> tuple[Path, Path]:
    """Write a PDF of full pages and an Anthropic response that cites its middle page."""
    pdf, response, cited = folder / "manual.pdf", folder / "response.json", pages // 2
    with pymupdf.open() as document:
        for number in range(pages):
            page = document.new_page()
            for line in range(45):
                text = " ".join(WORDS[(number + line + step) % len(WORDS)] for step in range(12))
                page.insert_text((60, 60 + 16 * line), f"{number}.{line} {text}")
            if number == cited:
                page.insert_text((60, 790), QUOTE)
        document.save(pdf)
    place = {"document_index": 0, "document_title": "manual", "start_page_number": cited + 1}
    citation = {**place, "type": "page_location", "cited_text": QUOTE, "end_page_number": cited + 2}
    content = [{"type": "text", "text": "It holds 4.5 litres of oil.", "citations": [citation]}]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
    response.write_text(json.dumps({**message, "stop_reason": "end_turn"}))
    return response, pdf


def opened(browser: Browser, things: list[Path], cache: Path) -> tuple[float, float]:
    """Return the seconds until the command has printed its address, and until the box is there."""
    command = [sys.executable, "-m", "proofspan.cli", "open", *map(str, things), "--no-browser"]
    environment = {**os.environ, "PROOFSPAN_CACHE_DIR": str(cache), "PROOFSPAN_CONFIG_DIR": str(cache)}
    begin = time.monotonic()
    with running(command, environment) as process:
        assert process.stdout is not None
        url = next((found[0] for line in process.stdout if (found := re.search(r"http://\S+", line))), "")
        at_address = time.monotonic() - begin
        return at_address, shown(browser, url, BOX) - begin


def bare_page(browser: Browser, script: Path) -> float:
    """Return the seconds until Streamlit shows a page of one word."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = [f"--server.port={port}", "--server.headless=true", "--browser.gatherUsageStats=false"]
    begin = time.monotonic()
    with running(
        [sys.executable, "-m", "streamlit", "run", str(script), *options], dict(os.environ)
    ) as process:
        assert process.stdout is not None
        next(line for line in process.stdout if "http://" in line)
        return shown(browser, f"http://localhost:{port}", HELLO) - begin


@contextmanager
def running(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=20)


def shown(browser: Browser, url: str, what: str) -> float:
    """Open an address in a profile of its own and return when an element is visible."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    try:
        page = context.new_page()
        page.goto(url, wait_until="commit")
        page.locator(what).first.wait_for(timeout=LIMIT_S)
        return time.monotonic()
    finally:
        context.close()


if __name__ == "__main__":
    main()
