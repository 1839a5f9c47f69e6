"""Fixtures for tests that drive a real Chromium against the real dashboard.

`serve` starts the dashboard, `page_at` opens a window, `wait_for_run` waits for Streamlit's script to end.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    TimeoutError,
    WebSocket,
    expect,
    sync_playwright,
)
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.forks import Fork, Forks
from tests.places import CHECKOUT, DEMO, HANDBOOK

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--process-per-site",
    # All pages have the same scripts: none is compiled again. A page is over before optimized code would pay.
    "--js-flags=--no-flush-bytecode --no-opt --no-maglev",
]
START_SECONDS = 120
#: A start that fails is made once more.
STARTS = 2
#: The app when it is connected and no run is under way.
IDLE = "[data-testid=stApp][data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"
#: Shown in the place of an element whose script has not arrived: it takes no click and no key.
NOT_LOADED = "[data-testid=stSkeleton]"
#: The first page is hidden until it is there as a whole.
ARRIVING = "html.ps-arriving"
#: Fonts move words when they load, and observers of sizes are called after a frame has been laid out.
AT_REST = """() => document.fonts.ready.then(
  () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
)"""
#: Opens an address as a link of the page does: without loading the page again.
FOLLOW = """(to) => {
  History.prototype.pushState.call(history, {}, "", to);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}"""
#: Nothing takes that long unless it hangs.
RUN_SECONDS = 120
# A busy machine makes a test slower, not red.
expect.set_options(timeout=RUN_SECONDS * 1000)

#: What a dashboard was started with: workspace, script and environment.
Started = tuple[Path, Path, tuple[tuple[str, str], ...]]
#: The dashboard's own script.
APP = CHECKOUT / "app.py"
#: Workspaces that no test changes.
LASTING = (HANDBOOK, DEMO)

Serve = Callable[..., "Dashboard"]
PageAt = Callable[..., Page]
WaitForRun = Callable[[Page], None]


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A running dashboard: its address, and the file that its output goes to."""

    url: str
    output: Path
    process: Fork


class Dashboards:
    """The dashboards that run, by workspace, script and environment."""

    def __init__(self, folders: pytest.TempPathFactory, checked: Callable[[Path], Path]) -> None:
        self._folders, self._checked = folders, checked
        self._forks = Forks()
        self._running: dict[Started, Dashboard] = {}
        self._ending: list[Dashboard] = []

    def get(self, workspace: Path = HANDBOOK, *, app: Path = APP, **env: str) -> Dashboard:
        """The one that was started with the same arguments, else a new one."""
        key = workspace, app, tuple(sorted(env.items()))
        if key not in self._running:
            folder = self._folders.mktemp("dashboard")
            if workspace in LASTING and not env:
                shutil.copytree(self._checked(workspace), folder / "cache")
            self._running[key] = self._start(workspace, app, env, folder)
        return self._running[key]

    def stop(self, keys: Iterable[Started]) -> None:
        """End these, and go on meanwhile: one with a document that hangs takes seconds."""
        for key in keys:
            dashboard = self._running.pop(key)
            dashboard.process.send(signal.SIGTERM)  # and to what it may be building: nobody waits for it
            self._ending.append(dashboard)

    def close(self) -> None:
        """End all, and wait until they have."""
        self.stop(self.all())
        for dashboard in self._ending:
            try:
                dashboard.process.wait()
            except subprocess.TimeoutExpired:
                dashboard.process.send(signal.SIGKILL)
                dashboard.process.wait()
        self._forks.close()

    def all(self) -> list[Started]:
        return [*self._running]

    def _start(self, workspace: Path, app: Path, env: dict[str, str], folder: Path) -> Dashboard:
        """A new one. A free port may be another's by the time that it is taken: then with another one."""
        variables = {
            **os.environ,
            "PROOFSPAN_CACHE_DIR": str(folder / "cache"),
            "PROOFSPAN_CONFIG_DIR": str(folder / "config"),
            "PROOFSPAN_WORKSPACE": str(workspace),
            **env,
        }
        output = folder / "output.txt"
        for _ in range(STARTS):
            port = self._port()
            process = self._forks.start(app, port, variables, output)
            dashboard = Dashboard(f"http://localhost:{port}", output, process)
            if _is_healthy(dashboard):
                return dashboard
            process.send(signal.SIGKILL)
            process.wait()
        pytest.fail(f"the dashboard did not start:\n{output.read_text()}")

    def _port(self) -> int:
        """A port of one that has ended, for which the browser has compiled the scripts, else a free one."""
        for dashboard in self._ending:
            port = urlsplit(dashboard.url).port
            if port and dashboard.process.poll() is not None:
                self._ending.remove(dashboard)
                return port
        return _free_port()


def query(page: Page) -> dict[str, list[str]]:
    """The URL's parameters."""
    return parse_qs(urlsplit(page.url).query)


def wait_for_query(page: Page, /, **wanted: str) -> None:
    """Until the URL has these parameters: a run that ended may be another than the one that sets them."""
    values = {name: [value] for name, value in wanted.items()}
    page.wait_for_url(
        lambda url: values.items() <= parse_qs(urlsplit(url).query).items(), wait_until="commit"
    )


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for the whole session; each test opens windows of its own with `page_at`."""
    executable = next(
        filter(
            None,
            map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")),
        ),
        None,
    )
    if executable is None:
        pytest.skip("no Chromium found: install the package `chromium` to run the browser tests")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def profile(chromium: Browser) -> Iterator[BrowserContext]:
    """One profile for all windows, and a tab that stays: with it stays the process that draws them.

    That process has compiled Streamlit's scripts already, and their files are cached: a window opens in half
    the time that it takes in a profile of its own.
    """
    context = chromium.new_context()
    tab = context.new_page()
    tab.route("**", lambda route: route.fulfill(body=""))
    tab.goto("http://localhost/")
    yield context
    context.close()


@pytest.fixture(scope="session")
def spare(profile: BrowserContext) -> list[Page]:
    """The windows that tests have done with: at most one."""
    return []


@pytest.fixture
def page_at(profile: BrowserContext, spare: list[Page]) -> Iterator[PageAt]:
    """Open a window: `page_at(width=1280, height=900, dark=False, own=False)`.

    It comes without what an earlier test stored, was allowed or did: only the cache of files is shared. It
    may be the window of the test before, emptied, in which a page opens in two thirds of the time. A test
    that listens to its window, changes what runs in it or counts its history asks for a window of its `own`.

    Nothing moves by itself in it, as for people who ask for less motion: each frame of an animation costs.
    """
    there = [page for page in profile.pages if page not in spare]
    owned: list[Page] = []

    def open_page(width: int = 1280, height: int = 900, dark: bool = False, own: bool = False) -> Page:
        page = spare.pop() if spare and not own else profile.new_page()
        if own:
            owned.append(page)
        page.set_default_timeout(RUN_SECONDS * 1000)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
        if page in _RUNS:
            _RUNS[page].forget()
        else:
            _RUNS[page] = _Runs(page)
        return page

    yield open_page
    storage = profile.new_cdp_session(there[0])
    for page in [page for page in profile.pages if page not in (*there, *spare)]:
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(page.url))
        if not spare and page in _RUNS and page not in owned and _is_emptied(page):
            spare.append(page)
        else:
            _RUNS.pop(page, None)
            page.close()
        if origin.startswith("http"):
            storage.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage"})
    storage.detach()
    profile.clear_cookies()
    profile.clear_permissions()


def _is_emptied(page: Page) -> bool:
    """Leave a window as a new one is, if it still answers."""
    try:
        page.mouse.move(0, 0)
        page.evaluate("() => sessionStorage.clear()")
        page.goto("about:blank")
    except Error:
        return False
    return True


@pytest.fixture(scope="session")
def dashboards(
    tmp_path_factory: pytest.TempPathFactory, checked: Callable[[Path], Path]
) -> Iterator[Dashboards]:
    """The dashboards that run, by what they were started with."""
    running = Dashboards(tmp_path_factory, checked)
    yield running
    running.close()


@pytest.fixture(scope="module")
def serve(dashboards: Dashboards) -> Iterator[Serve]:
    """Start a dashboard on a free port: `serve(workspace, **environment)`, healthy when it returns.

    The same arguments give the same dashboard again; without a workspace it is `HANDBOOK`. `app` names
    another script than the dashboard's. Cache and configuration folders are fresh unless the environment
    names them. What serves one of `LASTING` has its index with checked claims from the start: who needs one
    that did nothing yet gives it an environment of its own. Without that, and with the dashboard's script, it
    runs until all tests have. Every other ends with the module's tests: even an idle one costs.
    """
    yield dashboards.get
    dashboards.stop(
        (workspace, app, env)
        for workspace, app, env in dashboards.all()
        if workspace not in LASTING or app != APP or env
    )


@pytest.fixture(scope="session")
def wait_for_run() -> WaitForRun:
    """`wait_for_run(page)`: until a run of the script has ended that was under way or asked for.

    Call it after everything that makes Streamlit run the script: opening a page, a click, a key. It waits
    for the end of a run that the previous call has not seen, so it needs no grace time; where nothing asked
    for a run it fails after two minutes.
    """

    def wait(page: Page) -> None:
        _RUNS[page].wait()

    return wait


class _Runs:
    """Follows a page's websocket: which runs were asked for, and which have ended."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.forget()
        #: What the browser says of errors and of what it could not fetch, for the message of a failure.
        self._page_errors: list[str] = []
        page.on("websocket", self._attach)
        page.on("pageerror", lambda error: self._page_errors.append(str(error)))
        page.on(
            "requestfailed", lambda request: self._page_errors.append(f"{request.url}: {request.failure}")
        )

    def forget(self) -> None:
        """Begin with a window that nothing was shown in."""
        self._started = 0
        self._ended = 0
        self._seen = 0
        #: How many runs of the whole page had started when one was asked for that has not ended.
        self._asked_after: int | None = None

    def _attach(self, websocket: WebSocket) -> None:
        websocket.on("framesent", self._on_sent)
        websocket.on("framereceived", self._on_received)

    def _on_sent(self, payload: str | bytes) -> None:
        """A part of the page that looks again by itself asks for a run that the server may leave out: when a
        run of the whole page has done away with that part meanwhile."""
        if not isinstance(payload, bytes):
            return
        message = BackMsg.FromString(payload)
        if message.WhichOneof("type") == "rerun_script" and not message.rerun_script.fragment_id:
            self._asked_after = self._started

    def _on_received(self, payload: str | bytes) -> None:
        if not isinstance(payload, bytes):
            return
        message = ForwardMsg.FromString(payload)
        kind = message.WhichOneof("type")
        is_part = bool(message.metadata.run.fragment_ids)
        if kind == "new_session" and not is_part:
            self._started += 1
        elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            self._ended += 1
            # A run that had started before, or of a part of the page, is not the one that was asked for.
            if not is_part and self._asked_after is not None and self._started > self._asked_after:
                self._asked_after = None

    def wait(self) -> None:
        self._wait_for_end()
        while self._asked_after is not None:  # the request of a click just before arrived meanwhile
            self._wait_for_end()
        self._seen = self._ended

    def _wait_for_end(self) -> None:
        deadline = time.monotonic() + RUN_SECONDS
        while self._ended == self._seen or self._asked_after is not None:
            if time.monotonic() > deadline:
                counts = f"{self._started} started, {self._ended} ended, {self._seen} seen"
                asked = "none" if self._asked_after is None else f"one asked for after {self._asked_after}"
                state = self._page.locator("[data-testid=stApp]").get_attribute("data-test-script-state")
                raise AssertionError(
                    f"no script run ended within {RUN_SECONDS} s on {self._page.url}: {counts}, {asked} due, "
                    f"script {state}, {self._page_errors}"
                )
            self._page.wait_for_timeout(25)  # lets the events above arrive
        self._rest()

    def _rest(self) -> None:
        try:
            self._page.locator(IDLE).wait_for(state="attached", timeout=RUN_SECONDS * 1000)
            expect(self._page.locator(NOT_LOADED)).to_have_count(0)
            expect(self._page.locator(ARRIVING)).to_have_count(0)
        except (TimeoutError, AssertionError) as error:
            shown = self._page.locator("body").inner_text()[:500]
            raise AssertionError(
                f"not at rest after {RUN_SECONDS} s on {self._page.url}: {shown!r}, {self._page_errors}"
            ) from error
        self._page.evaluate(AT_REST)


_RUNS: dict[Page, _Runs] = {}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _is_healthy(dashboard: Dashboard) -> bool:
    """Whether it serves within its time: it says so itself, and answers."""
    text = f":{urlsplit(dashboard.url).port}"
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and dashboard.process.poll() is None:
        try:
            with urllib.request.urlopen(f"{dashboard.url}/_stcore/health", timeout=2) as answer:  # noqa: S310
                if answer.status == 200 and text in dashboard.output.read_text():
                    return True
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.05)
    return False
