"""`proofspan cohort`: what a bucket holds is frozen once, and counted on in every later run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from proofspan.cli.runs.cohort_cmd import command
from proofspan.errors import InputFault
from proofspan.journal.cohorts import Cohort, read_cohorts
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.services.metrics.cohorts import Conversion, conversions
from proofspan.store.index.build import build_index
from proofspan.store.query.store import Store
from tests.unit.store_workspace import lines, manifest_of, trace, write_workspace

GOLD = [{"q_id": f"Q{n}", "q": "What?", "sections": ["4.2"]} for n in range(1, 5)]
FIRST, SECOND, NOWHERE = ["c1", "c2"], ["c2", "c1"], ["c2", "c3"]


def ranked(q_id: str, chunks: list[str]) -> dict[str, object]:
    """A trace whose gold section, that of c1, has the rank that it has in `chunks`."""
    return trace(q_id, chunks=[{"id": chunk_id} for chunk_id in chunks])


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    """R1 has one hit, one out of order and two gaps; R2 finds one of those and loses the other."""
    runs = {
        "R1": [*map(ranked, ["Q1", "Q2", "Q3", "Q4"], [FIRST, SECOND, NOWHERE, NOWHERE])],
        "R2": [*map(ranked, ["Q1", "Q2", "Q3"], [FIRST, FIRST, SECOND])],
    }
    written = write_workspace(tmp_path, runs)
    (tmp_path / "gold.jsonl").write_bytes(lines(GOLD))
    listed: list[dict[str, Any]] = [
        {"run_id": run.run_id, "traces": {"path": f"runs/{run.run_id}.jsonl"}} for run in written.runs
    ]
    listed[0]["ts"] = "2026-02-23T10:00:00Z"
    return manifest_of(
        tmp_path,
        chunks={"path": "chunks.jsonl"},
        gold={"path": "gold.jsonl"},
        cohorts={"path": "cohorts.jsonl"},
        runs=listed,
    )


def cohort(manifest: Manifest, name: str, *options: str) -> Result:
    where = ["--cache-dir", str(manifest.folder / "cache")]
    return CliRunner().invoke(command, [name, str(manifest.folder), *options, *where])


def freeze(manifest: Manifest, *options: str, bucket: str = "retrieval_gap") -> Result:
    return cohort(manifest, "freeze", "GAP", "--run", "R1", "--bucket", bucket, *options)


def test_a_bucket_is_frozen_with_the_time_of_its_run(manifest: Manifest) -> None:
    result = freeze(manifest)
    assert (result.exit_code, result.stdout) == (0, "GAP: 2 questions, retrieval_gap of R1: Q3, Q4\n")
    frozen = Cohort("GAP", ("Q3", "Q4"), "R1", "retrieval_gap", "2026-02-23T10:00:00Z")
    assert dict(read_cohorts(manifest)) == {"GAP": frozen}
    written = (manifest.folder / "cohorts.jsonl").read_text(encoding="utf-8")
    assert json.loads(written)["ts"] == "2026-02-23T10:00:00Z"


def test_conversions_are_counted_run_by_run(manifest: Manifest) -> None:
    freeze(manifest)
    build_index(manifest, cache_dir=manifest.folder / "cache")
    store = Store(manifest, manifest.folder / "cache")
    found = conversions(store, manifest, read_cohorts(manifest)["GAP"])
    assert found == (Conversion("R1", 2, 2, 0, 0), Conversion("R2", 2, 1, 0, 1))
    assert found[1].in_words("GAP") == "0 of the 2 of GAP converted, 1 in the top 20; 1 not judged here"


def test_the_list_has_every_cohort_in_every_run(manifest: Manifest) -> None:
    freeze(manifest)
    cohort(manifest, "freeze", "ORDER", "--run", "R1", "--bucket", "score_policy")
    result = cohort(manifest, "list")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "GAP: 2 questions, retrieval_gap of R1",
        "  R1: 0 of the 2 of GAP converted, 0 in the top 20",
        "  R2: 0 of the 2 of GAP converted, 1 in the top 20; 1 not judged here",
        "ORDER: 1 question, score_policy of R1",
        "  R1: 0 of the 1 of ORDER converted, 1 in the top 20",
        "  R2: 1 of the 1 of ORDER converted, 1 in the top 20",
    ]
    output = json.loads(cohort(manifest, "list", "--run", "R2", "--json").stdout)
    assert [[run["run_id"], run["hits"]] for each in output["cohorts"] for run in each["runs"]] == [
        ["R2", 0],
        ["R2", 1],
    ]


def test_a_name_is_taken_once(manifest: Manifest) -> None:
    freeze(manifest)
    again = freeze(manifest)
    assert isinstance(again.exception, InputFault)
    assert [problem.code for problem in again.exception.problems] == ["cohort_exists"]
    assert freeze(manifest, "--again", bucket="hit").exit_code == 0
    assert read_cohorts(manifest)["GAP"].q_ids == ("Q1",)


def test_a_bucket_that_holds_nothing_is_not_frozen(manifest: Manifest) -> None:
    result = cohort(manifest, "freeze", "NONE", "--run", "R2", "--bucket", "retrieval_gap")
    assert isinstance(result.exception, InputFault)
    assert "no question of R2 is in retrieval_gap" in str(result.exception)
    assert not (manifest.folder / "cohorts.jsonl").exists()


def test_without_the_key_the_line_to_add_is_reported(manifest: Manifest) -> None:
    without = {
        name: value for name, value in manifest.raw.items() if name not in ("cohorts", "manifest_version")
    }
    manifest_of(manifest.folder, **without)
    result = freeze(load_manifest(manifest.folder))
    assert isinstance(result.exception, InputFault)
    assert "add the line: cohorts: {path: cohorts.jsonl}" in str(result.exception)
    assert "No cohort is frozen yet" in cohort(manifest, "list").stdout


def test_lines_that_are_no_cohort_are_findings(manifest: Manifest) -> None:
    freeze(manifest)
    with (manifest.folder / "cohorts.jsonl").open("ab") as file:
        file.write(b'{"name": "by hand", "q_ids": ["Q1", "Q9"]}\n{"name": 7}\n')
    result = cohort(manifest, "list")
    assert result.exit_code == 1
    assert "by hand: 2 questions, chosen by hand" in result.stdout
    assert "  R1: 1 of the 2 of by hand converted, 1 in the top 20; 1 not judged here" in result.stdout
    assert "cohorts.jsonl:3: name is missing" in result.stderr


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb", "\u202egap"])
def test_a_name_is_one_line_of_text(manifest: Manifest, name: str) -> None:
    assert cohort(manifest, "freeze", name, "--run", "R1", "--bucket", "hit").exit_code == 2
