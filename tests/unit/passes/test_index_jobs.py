"""An index build as a process of its own: progress, failure, and no process started twice."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from proofspan.diagnosis.types import Profile
from proofspan.services.workspace import index_job
from proofspan.services.workspace.index_job import IndexJob, IndexJobs, index_command
from proofspan.store.files.types import Progress

pytestmark = pytest.mark.slow

STEP = '{"event": "progress", "run_id": "R1", "done": 5, "total": 10, "rows": 3}'


def python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def ended(job: IndexJob) -> IndexJob:
    job.wait(60)
    assert not job.is_running
    return job


def test_progress_is_read_from_json_lines_between_words_for_people() -> None:
    job = ended(IndexJob(python(f"print('hello'); print('''{STEP}'''); print('{{}}'); print('[1')")))
    assert job.failure is None
    assert job.progress == Progress("R1", 5, 10, 3)
    assert job.progress.share == 0.5


@pytest.mark.parametrize("status", [0, 1])
def test_findings_are_no_failure(status: int) -> None:
    assert ended(IndexJob(python(f"import sys; sys.exit({status})"))).failure is None


def test_a_failure_has_the_output_of_the_process() -> None:
    job = ended(IndexJob(python("import sys; print('error: no room left', file=sys.stderr); sys.exit(2)")))
    assert job.failure == "error: no room left"


def test_a_process_that_is_killed_has_failed_too() -> None:
    job = ended(IndexJob(python("import os; os.kill(os.getpid(), 9)")))
    assert job.failure == "The process ended with status -9 and no output."


def test_one_key_has_one_process(tmp_path: Path) -> None:
    jobs, gate = IndexJobs(), tmp_path / "gate"
    os.mkfifo(gate)
    waiting = python(f"open({str(gate)!r}).read()")
    first = jobs.ensure("R1", lambda: waiting)
    assert first is not None
    assert jobs.ensure("R1", lambda: waiting) is first
    gate.write_text("go on")
    ended(first)
    assert jobs.ensure("R1", lambda: pytest.fail("nothing is left to do")) is None


def test_a_failed_job_waits_for_forget() -> None:
    jobs = IndexJobs()
    failing = python("raise SystemExit(2)")
    first = jobs.ensure("R1", lambda: failing)
    assert first is not None
    ended(first)
    assert jobs.ensure("R1", lambda: failing) is first
    jobs.forget()
    second = jobs.ensure("R1", lambda: failing)
    assert second is not None
    assert second is not first
    ended(second)


def test_what_changed_again_later_is_indexed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_job, "REST_SECONDS", 0.0)
    jobs, gate = IndexJobs(), tmp_path / "gate"
    os.mkfifo(gate)
    waiting = python(f"open({str(gate)!r}).read()")
    first = jobs.ensure("R1", lambda: waiting)
    assert first is not None
    gate.write_text("go on")
    ended(first)
    second = jobs.ensure("R1", lambda: waiting)
    assert second is not None
    assert second is not first
    gate.write_text("go on")
    ended(second)


def test_the_command_names_runs_cache_and_profile() -> None:
    command = index_command(
        Path("/w"), runs=["R1"], profile=Profile("none", ("no idea", "unknown")), cache_dir=Path("/c")
    )
    assert command[1:] == [
        *("-P", "-m", "proofspan.cli", "index", "/w", "--progress-json", "--cache-dir", "/c"),
        *("--no-claims", "--no-locate", "--run", "R1"),
        *("--template", "none", "--refusal", "no idea", "--refusal", "unknown"),
    ]


def test_each_step_and_each_milestone_of_any_job_is_a_change() -> None:
    jobs, ended = IndexJobs(), threading.Event()
    steps = [STEP, STEP, STEP.replace("R1", "R2"), STEP.replace('"progress"', '"checking"')]
    seen: list[bool] = []

    def call() -> None:
        seen.append(jobs.is_running("others"))
        if jobs.progress.count > len(steps):
            ended.set()
        else:
            jobs.progress.at_next("one", jobs.progress.count, call)

    jobs.progress.at_next("one", 0, call)
    jobs.once("others", lambda: python(f"print({chr(10).join(steps)!r})"))
    assert ended.wait(60)
    assert seen[-1] is False, "its end is a change once the process has ended"
    assert (jobs.progress.count, jobs.milestones.count) == (len(steps) + 1, 4)
