"""Start dashboards as forks of one process that has imported what they need: that takes each of them seconds.

    python -m tests.browser.forks

reads lines of JSON from standard input and answers each with one. `{"app", "port", "environment", "output"}`
starts a dashboard and gives its process id; `{"pid"}` gives its exit code, or null while it runs. The process
ends with its input, after the dashboards have.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import proofspan.ui
from tests.places import CHECKOUT

#: What a dashboard's server imports as it starts.
SERVER = (
    "streamlit.starlette",
    "streamlit.web.cli",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
)


class Forks:
    """The process to fork, as tests use it. It starts, and imports, with the first dashboard."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, app: Path, port: int, environment: dict[str, str], output: Path) -> Fork:
        """Start a dashboard in a session of its own, whose output goes to the file `output`."""
        output.touch()
        given = {"app": str(app), "port": port, "environment": environment, "output": str(output)}
        return Fork(self, self.ask(given))

    def ask(self, given: dict[str, Any]) -> Any:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.browser.forks"],
                cwd=CHECKOUT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None and answers is not None
        asked.write(json.dumps(given).encode() + b"\n")
        asked.flush()
        return json.loads(answers.readline())

    def close(self) -> None:
        """End the process; the dashboards have ended or been killed."""
        if self._process is not None:
            self._process.communicate()


class Fork:
    """A dashboard's process, with the methods of `subprocess.Popen` that tests need."""

    def __init__(self, forks: Forks, pid: int) -> None:
        self._forks, self._code = forks, None
        self.pid = pid

    def poll(self) -> int | None:
        if self._code is None:
            self._code = self._forks.ask({"pid": self.pid})
        return self._code

    def wait(self, timeout: float = 10) -> None:
        """Raise `subprocess.TimeoutExpired` if it still runs after that many seconds."""
        deadline = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("dashboard", timeout)
            time.sleep(0.02)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it and to what it has started, if it still runs."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)


def _serve(given: dict[str, Any]) -> NoReturn:
    """Be the dashboard that `python -m streamlit run` starts."""
    from streamlit.web import cli

    os.setsid()
    descriptor = os.open(given["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.environ.clear()
    os.environ.update(given["environment"])
    sys.argv = ["streamlit", "run", given["app"], f"--server.port={given['port']}"]
    cli.main(prog_name="streamlit")
    raise AssertionError("Streamlit's command ends the process")


def _exit_code(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def main() -> None:
    """Fork as standard input says."""
    pages = (module.name for module in pkgutil.walk_packages(proofspan.ui.__path__, "proofspan.ui."))
    for name in (*SERVER, *pages):
        importlib.import_module(name)
    from streamlit.components.v2 import manifest_scanner

    # Each dashboard looks for components in all installed packages: here it is done once for all of them.
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
    manifest_scanner.scan_component_manifests()
    gc.collect()
    gc.freeze()  # what all share stays shared
    while line := sys.stdin.readline():
        given = json.loads(line)
        if "pid" in given:
            answer = _exit_code(given["pid"])
        else:
            answer = os.fork()
            if not answer:
                _serve(given)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
