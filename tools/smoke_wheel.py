"""Install a wheel in a fresh virtual environment, beside a hostile package, and use it as a stranger would.

    python tools/smoke_wheel.py dist/proofspan-0.1.0-py3-none-any.whl [--python python3.13]

The environment is made outside the checkout. A decoy distribution whose top-level package `core` raises when
it is imported is installed first. Each step prints one line; the first that fails ends the script with exit
status 1. `--lock` installs the dependencies from a hash-locked file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
DECOY = 'raise RuntimeError("the package of somebody else was imported")\n'
#: On PDF page 58 of the demo's manual.
QUOTE = "The distance between the MIN and MAX marks is 1.0 litre"
#: A response of Anthropic's Messages API that cites it; pages count from 1 and end before the last.
RESPONSE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "stop_reason": "end_turn",
    "content": [
        {
            "type": "text",
            "text": f"{QUOTE}.",
            "citations": [
                {
                    "type": "page_location",
                    "cited_text": QUOTE,
                    "document_index": 0,
                    "document_title": "meridian-2026.pdf",
                    "start_page_number": 58,
                    "end_page_number": 59,
                }
            ],
        }
    ],
}


def main() -> None:
    """Run every step; exit with 1 and a sentence at the first that fails."""
    options = _options()
    wheel = options.wheel.resolve()
    with tempfile.TemporaryDirectory(prefix="proofspan-wheel-", ignore_cleanup_errors=True) as folder:
        room = Room(Path(folder), wheel)
        room.check_names()
        room.install(options.python, lock=options.lock)
        before = room.files()
        room.check_commands()
        room.check_examples()
        room.check_dashboard()
        room.check_package(before)
    print("the wheel works")


class Room:
    """A folder outside the checkout with a virtual environment, an own cache and an empty working folder."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.wheel, self.environment, self.work = wheel, folder / "venv", folder / "work"
        self.work.mkdir()
        self.programs = self.environment / "bin"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.variables = {**kept, "PROOFSPAN_CACHE_DIR": str(folder / "cache"), "HOME": str(self.work)}

    def check_names(self) -> None:
        """The wheel has one top-level package beside its metadata."""
        names = {name.partition("/")[0] for name in zipfile.ZipFile(self.wheel).namelist()}
        packages = {name for name in names if not name.endswith(".dist-info")}
        _expect(packages == {"proofspan"}, f"one top-level package: {', '.join(sorted(packages))}")

    def install(self, python: str, *, lock: Path | None) -> None:
        """Make the environment: the decoy first, then the dependencies and the wheel."""
        subprocess.run([python, "-m", "venv", str(self.environment)], check=True)
        purelib = self._python("import sysconfig; print(sysconfig.get_path('purelib'))").strip()
        before = _size(Path(purelib))
        decoy = Path(purelib) / "core"
        decoy.mkdir()
        (decoy / "__init__.py").write_text(DECOY, encoding="utf-8")
        pip = [str(self.programs / "python"), "-m", "pip", "install", "--quiet"]
        if lock is not None:
            subprocess.run([*pip, "--require-hashes", "-r", str(lock.resolve())], check=True)
            subprocess.run([*pip, "--no-deps", str(self.wheel)], check=True)
        else:
            subprocess.run([*pip, str(self.wheel)], check=True)
        megabytes = (_size(Path(purelib)) - before) / 1e6
        version = self._python("import sys; print(sys.version)").split()[0]
        _expect(True, f"installed with Python {version}: {megabytes:,.0f} MB")

    def check_commands(self) -> None:
        """Run the commands that need no documents of their own on the demo inside the wheel."""
        demo = self._demo()
        _expect(demo.is_relative_to(self.environment), "the demo is inside the installed package")
        self._command("--version", prints=r"^proofspan \d+\.\d+\.\d+( \([0-9a-f]{7,}(-dirty)?\))?$")
        self._command("validate", str(demo), exits=1, prints=r"analyzer_mismatch")
        traces = demo / "runs" / "R003" / "trace.jsonl"
        chunks = demo / "corpus" / "chunks.jsonl"
        self._command("triage", str(traces), str(chunks), "-o", "report.jsonl", prints=r"ok +\d+")
        spans = self.work / "spans.jsonl"
        spans.write_text(
            f'{{"id": 1, "pdf": "meridian-2026.pdf", "cited_page_idx": 57, "quote": "{QUOTE}"}}\n', "utf-8"
        )
        self._command("locate", "spans.jsonl", "--root", str(demo / "corpus"), "-o", "-", prints='"exact"')
        self._command("metrics", str(demo), "--run", "R006", exits=1, prints="SectionMatch@1")
        self._command(
            "gate", str(demo), "--run", "R006", exits=1, prints=r"R006, .*Not ready; \d+ of \d+ checks pass"
        )
        model = self.work / "model"
        model.mkdir()
        (model / "model.onnx").touch()
        self._command("rerank", str(demo), "--model", str(model), exits=2, prints=r"proofspan\[rerank\]")

    def check_examples(self) -> None:
        """The examples that need nothing but the package itself."""
        for name in ("quickstart", "semantic_kernel_citations"):
            shutil.copy(CHECKOUT / "examples" / f"{name}.py", self.work)
            self._run([str(self.programs / "python"), f"{name}.py"], f"examples/{name}.py runs")

    def check_dashboard(self) -> None:
        """`proofspan open` shows the demo and a response."""
        self._open([], "the demo's questions", lambda page: page.get_by_role("row").nth(5))
        response = self.work / "response.json"
        response.write_text(json.dumps(RESPONSE), "utf-8")
        manual = self._demo() / "corpus" / "meridian-2026.pdf"
        exact = "the quote is on the page word for word"
        self._open([response, manual], "a response on its page", lambda page: page.get_by_text(exact).first)

    def check_package(self, before: dict[str, tuple[int, int]]) -> None:
        """Nothing was written beside the package, as where a tool runs it from an environment of its own."""
        _expect(self.files() == before, "no file of the package was added or changed")

    def files(self) -> dict[str, tuple[int, int]]:
        """Return size and time of each file of the package, without bytecode."""
        package = self._demo().parents[1]
        found = ((file, file.stat()) for file in package.rglob("*") if file.suffix != ".pyc")
        return {str(file): (stat.st_size, stat.st_mtime_ns) for file, stat in found if file.is_file()}

    def _open(self, things: list[Path], what: str, wanted: Callable[[Any], Any]) -> None:
        port = _free_port()
        options = ["--no-browser", "--port", str(port)]
        command = [str(self.programs / "proofspan"), "open", *map(str, things), *options]
        began = time.monotonic()
        with _running(command, self.work, self.variables) as lines:
            line = next((line for line in lines if str(port) in line), "nothing")
            address = line[line.find("http") :].strip()
            shown = f"{line.strip()} after {time.monotonic() - began:.1f} s"
            _expect(address.startswith(f"http://localhost:{port}"), f"`proofspan open` prints {shown}")
            with urllib.request.urlopen(f"http://localhost:{port}/", timeout=10) as page:
                _expect(
                    "default-src 'self'" in page.headers["Content-Security-Policy"], "it sends its policy"
                )
            _look_at(address, began, what, wanted)

    def _demo(self) -> Path:
        return Path(self._python("from proofspan.resources import DEMO; print(DEMO)").strip())

    def _command(self, *arguments: str, exits: int = 0, prints: str) -> None:
        shown = " ".join(Path(each).name or each for each in arguments)
        self._run([str(self.programs / "proofspan"), *arguments], f"proofspan {shown}", exits, prints)

    def _run(self, command: list[str], what: str, exits: int = 0, prints: str = "") -> None:
        done = subprocess.run(
            command, cwd=self.work, env=self.variables, capture_output=True, text=True, check=False
        )
        output = done.stdout + done.stderr
        is_right = done.returncode == exits and re.search(prints, output, re.MULTILINE) is not None
        _expect(is_right, what, f"exit status {done.returncode}\n{output[-3000:]}")

    def _python(self, script: str) -> str:
        done = subprocess.run(
            [str(self.programs / "python"), "-c", script],
            cwd=self.work,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"FAILED: {script}\n{done.stderr}")
        return done.stdout


def _look_at(address: str, began: float, what: str, wanted: Callable[[Any], Any]) -> None:
    """Open an address in Chromium, where playwright and a browser are at hand, and wait for a part of it."""
    browser = next(
        filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None
    )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        browser = None
    if browser is None:
        print("- not looked at in a browser: it needs playwright and Chromium")
        return
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as tools:
        page = tools.chromium.launch(executable_path=browser, args=flags).new_page()
        page.goto(address)
        wanted(page).wait_for(timeout=60_000)
        _expect(True, f"Chromium shows {what} {time.monotonic() - began:.1f} s after the command")


@contextmanager
def _running(command: list[str], folder: Path, variables: dict[str, str]) -> Iterator[Iterator[str]]:
    """Start a command and give its output's lines; stop it at the end."""
    process = subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True)
    try:
        yield iter(process.stdout or ())
    finally:
        process.terminate()
        process.wait(timeout=20)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _expect(is_right: bool, what: str, why: str = "") -> None:
    if not is_right:
        sys.exit(f"FAILED: {what}\n{why}")
    print(f"- {what}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", default=sys.executable, help="The Python to make the environment with.")
    parser.add_argument("--lock", type=Path, help="A requirement file with hashes for the dependencies.")
    return parser.parse_args()


if __name__ == "__main__":
    main()
