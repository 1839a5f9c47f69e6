"""The demo's citations located by the command: its planted faults are found by a filter."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofspan.manifest.load import load_manifest
from proofspan.store.files.evidence_states import EvidenceState
from proofspan.store.index.build import index_folder
from proofspan.store.query.filters import Filter, Sort
from proofspan.store.query.store import Store
from tests.places import DEMO

pytestmark = pytest.mark.slow

#: The run with the planted faults (see its FAULTS.md).
FAULTY = "R005"


def index(cache: Path, *options: str) -> list[str]:
    """The command; both cores may be busy with it."""
    return [sys.executable, "-m", "proofspan.cli", "index", str(DEMO), "--cache-dir", str(cache), *options]


@pytest.fixture(scope="module")
def located(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    """The cache after two processes located the same runs at once, and what they printed."""
    cache = tmp_path_factory.mktemp("cache")
    command = index(cache, "--json", "--run", FAULTY, "--run", "R001")
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [1, 1], "one line of the run cannot be read"
    yield cache, printed


def shown(cache: Path, state: EvidenceState) -> list[str]:
    """The questions of the faulty run that a filter leaves."""
    store = Store(load_manifest(DEMO), cache)
    return list(store.page(Filter(FAULTY, evidence=(state,)), Sort("q_id"), limit=99, offset=0)["q_id"])


def test_pages_one_too_high_and_misquoted_figures_are_found_by_a_filter(
    located: tuple[Path, list[str]],
) -> None:
    cache, _ = located
    assert shown(cache, "page_mismatch") == ["Q77"]
    assert shown(cache, "numbers_differ") == ["Q78", "Q84"]
    assert shown(cache, "not_found") == []
    assert Store(load_manifest(DEMO), cache).matching(Filter("R001", evidence=("page_mismatch",))) == 0


def test_two_processes_at_once_come_to_the_same_and_the_later_finds_it_done(
    located: tuple[Path, list[str]],
) -> None:
    cache, printed = located
    first, second = (json.loads(text)["located"] for text in printed)
    for run in (*first, *second):
        run.pop("located")
    assert first == second
    folder = index_folder(load_manifest(DEMO), FAULTY, cache) / "placed"
    assert sorted(path.suffix for path in folder.iterdir()) == ["", ".json", ".parquet"]


def test_the_line_of_a_run_counts_its_located_citations(located: tuple[Path, list[str]]) -> None:
    cache, _ = located
    output = subprocess.run(index(cache, "--run", FAULTY), check=False, capture_output=True, text=True).stdout
    line = next(line for line in output.splitlines() if "citations" in line)
    assert line.startswith(f"{FAULTY}: 41 citations: ")
    assert line.endswith(" · 1 on another page than cited · 2 with other numbers")


def test_programs_hear_of_it_as_they_hear_of_the_index(tmp_path: Path) -> None:
    command = index(tmp_path, "--progress-json", "--run", FAULTY)
    steps = [json.loads(line) for line in subprocess.run(command, capture_output=True).stdout.splitlines()]
    events = [step["event"] for step in steps]
    assert events[0] == "progress" and events[-1] == "done" and set(events[1:-1]) == {"checking", "locating"}
    done = steps[-1]
    last = next(step for step in reversed(steps) if step["event"] == "locating")
    assert (last["run_id"], last["done"], last["rows"]) == (FAULTY, last["total"], 41)
    assert [run["citations"] for run in done["located"]] == [41]
