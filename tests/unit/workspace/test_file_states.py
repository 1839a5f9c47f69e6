"""The states of a workspace's files: looked up once in a run of a page's script, and each time outside."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

from proofspan.manifest.load import load_manifest
from proofspan.ui.visit import files
from tests.unit.store_workspace import trace, write_workspace


def test_a_file_is_looked_up_once_in_a_run(tmp_path: Path) -> None:
    manifest = write_workspace(tmp_path, {"R1": [trace("Q1")], "R2": [trace("Q1")]})
    looked: list[Path] = []
    states = []

    @files.looks_once
    def script() -> None:
        for _ in range(3):
            states.append([files.states_of_run(manifest, run) for run in ("R1", "R2")])

    with patch.object(files, "artifact_path", lambda _, artifact: looked.append(tmp_path) or tmp_path):
        script()
        assert len(looked) == len([*manifest.artifacts()])  # what all runs share, too
        script()
        assert len(looked) == 2 * len([*manifest.artifacts()])
        for _ in range(2):
            files.state_of(manifest, manifest.chunks)
    assert len(looked) == 2 * len([*manifest.artifacts()]) + 2
    assert states[0] == states[1]


def test_the_state_of_a_run_changes_with_its_files_alone(tmp_path: Path) -> None:
    manifest = load_manifest(write_workspace(tmp_path, {"R1": [trace("Q1")], "R2": [trace("Q1")]}).folder)
    before = [files.states_of_run(manifest, run) for run in ("R1", "R2")]
    traces = manifest.runs[0].traces
    assert traces is not None
    (manifest.folder / traces.path).write_bytes(b"")
    after = [files.states_of_run(manifest, run) for run in ("R1", "R2")]
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True]
    (manifest.folder / traces.path).unlink()
    assert "missing" in files.states_of_run(manifest, "R1")
