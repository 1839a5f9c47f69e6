"""Fixtures for all tests: golden texts, data and programs from outside the checkout, PDF workers.

A test that needs a browser, real data or the reference script is skipped with a reason if that is missing.
`PROOFSPAN_REQUIRE` lists the markers of tests that must not skip, such as `browser,real_data,reference`.
"""

from __future__ import annotations

import fcntl
import gc
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from proofspan.evidence.pdf.pool import PdfPool

# Two cores are shared by all tests: a slow moment is no finding. Where it is decided whether a change lands,
# the examples are the same each time, so that the outcome is the change's; everywhere else they are new.
settings.register_profile(
    "proofspan",
    max_examples=40,
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
# For a first look (`--hypothesis-profile=quick`) fewer examples where a test names no number; for a change of
# rules (`--hypothesis-profile=thorough`) many, and new ones each time.
settings.register_profile("quick", settings.get_profile("proofspan"), max_examples=20)
settings.register_profile(
    "thorough", settings.get_profile("proofspan"), max_examples=1_000, derandomize=False
)
settings.load_profile("proofspan")

# An environment made for building images often keeps Python from writing bytecode. Here hundreds of
# processes import the package: without its bytecode each compiles all of it, a third of a command's time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

#: Markers whose tests fail instead of being skipped.
REQUIRED = frozenset(filter(None, os.environ.get("PROOFSPAN_REQUIRE", "").split(",")))
#: The marker that every test of a folder beside this file has.
MARKERS = {"browser": "browser", "real": "real_data", "spark": "spark"}
#: Texts that people read, one file a page or command.
GOLDEN_TEXTS = Path(__file__).parent / "golden" / "text"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites golden texts."""
    parser.addoption("--update-goldens", action="store_true", help="rewrite the files in tests/golden/text")


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, str], None]:
    """Compare a text with `tests/golden/text/NAME.txt`, or write it there with `--update-goldens`.

    Call it as `golden("check/good", result.stdout)`. In the file `TMP` replaces the test's own folder,
    and no line ends in blanks.
    """

    def compare(name: str, text: str) -> None:
        file = GOLDEN_TEXTS / f"{name}.txt"
        text = "".join(f"{line.rstrip()}\n" for line in text.replace(str(tmp_path), "TMP").splitlines())
        if request.config.getoption("--update-goldens"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"no golden text {name}: run pytest with --update-goldens and read the file"
        assert text == file.read_text(encoding="utf-8"), f"{name}: if this is intended, use --update-goldens"

    return compare


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests of a folder that is about one thing."""
    below = item.path.parts[len(Path(__file__).parent.parts) :]
    if below and below[0] in MARKERS:
        item.add_marker(MARKERS[below[0]])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage meanwhile: what is imported and collected stays until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Leave the thousands of collected tests out of each collection of garbage from here on."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the first two of several workers begin with files that have half of the browser tests each.

    `--dist worksteal` gives each worker an equal stretch of the list. Browser tests wait more than they work:
    left together they are one worker's and last longer than all others do.
    """
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers == 1:
        return
    browser = [item for item in items if item.get_closest_marker("browser")]
    halves: list[list[pytest.Item]] = [[], []]
    for path, _ in Counter(item.path for item in browser).most_common():  # the largest files first
        min(halves, key=len).extend(item for item in browser if item.path == path)
    first, second = halves
    others = [item for item in items if not item.get_closest_marker("browser")]
    # What is stolen is taken from the end: a file whose preparation is long had better not be cut in two.
    others.sort(key=lambda item: not item.get_closest_marker("real_data"))
    here = max(0, len(items) // workers - len(first))
    items[:] = [*first, *others[:here], *second, *others[here:]]


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data for trying the project out, never part of the checkout."""
    return _from_environment("PROOFSPAN_REAL_DATA", "the folder of real data")


@pytest.fixture(scope="session")
def reference() -> Path:
    """The reference triage script that outcomes are compared with."""
    return _from_environment("PROOFSPAN_REFERENCE", "the reference triage script")


@pytest.fixture
def read_only_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system that is mounted read-only: permissions alone do not stop root."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, check=False, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"mounting a read-only file system needs rights: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """SIGINT means what it does in a terminal, for this process and those that it starts.

    Where tests run in a shell's background it is ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def main_module() -> Iterator[None]:
    """The program stays this one: else a page that AppTest ran would be what new processes begin with."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """`made_once(name, make)`: a folder, made by `make(folder)` once for the tests of all workers.

    It is not to be changed but copied.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def folder(name: str, make: Callable[[Path], object]) -> Path:
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (shared / name).exists():
                make(own / name)
                (own / name).replace(shared / name)
        return shared / name

    return folder


@pytest.fixture(scope="session")
def indexed(made_once: Callable[[str, Callable[[Path], object]], Path]) -> Callable[[Path], Path]:
    """`indexed(workspace)`: a cache folder with its index, for a workspace that no test changes."""

    def index(workspace: Path) -> Path:
        from proofspan.manifest.load import load_manifest
        from proofspan.store.index.build import build_index

        manifest = load_manifest(workspace)
        return made_once(f"indexed-{workspace.name}", lambda folder: build_index(manifest, cache_dir=folder))

    return index


@pytest.fixture(scope="session")
def checked(
    made_once: Callable[[str, Callable[[Path], object]], Path], indexed: Callable[[Path], Path]
) -> Callable[[Path], Path]:
    """`checked(workspace)`: the same with checked claims."""

    def check(workspace: Path) -> Path:
        from proofspan.manifest.load import load_manifest
        from proofspan.services.passes.checking import check_runs

        manifest = load_manifest(workspace)
        run_ids = [run.run_id for run in manifest.runs]

        def make(folder: Path) -> None:
            copytree(indexed(workspace), folder)
            list(check_runs(manifest, run_ids, cache_dir=folder))

        return made_once(f"checked-{workspace.name}", make)

    return check


@pytest.fixture(scope="session")
def pool() -> Iterator[PdfPool]:
    """PDF workers for all tests that only ask them something; they start with the first question."""
    from proofspan.evidence.pdf.pool import PdfPool  # only who asks for it waits for it to be imported

    with PdfPool(timeout_s=30) as pool:
        yield pool


@pytest.fixture
def one_pool(pool: PdfPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command asks the same workers: starting them takes longer than what they are asked."""
    for command in (
        "evidence.bundle",
        "workspace.check",
        "evidence.locate",
        "evidence.pack",
        "evidence.render",
    ):
        monkeypatch.setattr(f"proofspan.cli.{command}_cmd.PdfPool", lambda **options: nullcontext(pool))
    # `index` imports it when it is to locate.
    monkeypatch.setattr("proofspan.evidence.pdf.pool.PdfPool", lambda **options: nullcontext(pool))


def _from_environment(variable: str, what: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} is not set: it names {what}")
    path = Path(value)
    if not path.exists():
        pytest.skip(f"{variable} names {path}, which does not exist")
    return path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn the skip of a test with a required marker into a failure."""
    report = yield
    is_skip = report.skipped and not hasattr(report, "wasxfail")
    if is_skip and any(item.get_closest_marker(name) for name in REQUIRED):
        _fail(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Do the same for a module that skips as a whole: its tests, and so their markers, are not known."""
    report = yield
    if report.skipped and REQUIRED:
        _fail(report)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    report.outcome = "failed"
    report.longrepr = f"required by PROOFSPAN_REQUIRE, but skipped: {reason}"


#: No test uses the network, and none lets a process do so that it starts.
pytest_plugins = ("tests.no_network",)
