"""Open a workspace: its folder, the run to show first, the profile, and the goals."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import yaml

from proofspan.diagnosis.types import Profile, profile_from
from proofspan.errors import InputFault, Problem
from proofspan.manifest.types import Manifest, Run
from proofspan.metrics.goals import Goal, read_goals
from proofspan.resources import DEMO

#: Names the workspace for `streamlit run app.py`; `proofspan open` sets it for the dashboard it starts.
WORKSPACE_VARIABLE = "PROOFSPAN_WORKSPACE"


def chosen_folder() -> Path:
    """Return the folder that the environment names, else the demo workspace."""
    named = os.environ.get(WORKSPACE_VARIABLE, "")
    return Path(named) if named else DEMO


def default_run(manifest: Manifest) -> Run | None:
    """Return the run that is shown first: the latest by time, else the last listed.

    Runs that were computed from a logged one come after all others: they have its answers and its time.
    """
    runs = [run for run in manifest.runs if run.derived_from is None] or manifest.runs
    if not runs:
        return None
    return max(enumerate(runs), key=lambda item: (item[1].ts or "", item[0]))[1]


def chosen_run(manifest: Manifest, wanted: str | None) -> Run:
    """Return the named run, else the one that is shown first. Raises InputFault if there is no such run."""
    run = manifest.run(wanted) if wanted is not None else default_run(manifest)
    if run is not None:
        return run
    known = ", ".join(run.run_id for run in manifest.runs)
    raise InputFault.of(
        "unknown_run",
        f"the manifest has no run {wanted!r}" if wanted is not None else "the manifest lists no run",
        where=str(manifest.folder),
        fix=f"name one of {known}" if known else "list a run with its traces under `runs`",
    )


def run_date(run: Run, *, year: bool = True) -> str:
    """Return the run's day, or the manifest's own text where that is no date."""
    if not run.ts:
        return ""
    try:
        day = datetime.fromisoformat(run.ts)
    except ValueError:
        return run.ts
    return f"{day.day} {day:%b %Y}" if year else f"{day.day} {day:%b}"


def with_profile(manifest: Manifest, profile: Profile | None) -> Manifest:
    """Return the manifest with `profile` as its `triage`, unchanged for None. The index key depends on it."""
    if profile is None:
        return manifest
    return replace(manifest, triage={"template": profile.template, "refusal": list(profile.refusal)})


def profile_of_options(template: str | None, refusal: Sequence[str]) -> Profile | None:
    """Return the profile that `--template` and `--refusal` name, None if neither is given."""
    given = {"template": template, "refusal": list(refusal)}
    named = {name: value for name, value in given.items() if value}
    return profile_from(named, where="--option") if named else None


def profile_snippet(profile: Profile) -> str:
    """Return the lines of a manifest that make `profile` the workspace's own."""
    body = {"triage": {"template": profile.template, "refusal": list(profile.refusal)}}
    return yaml.safe_dump(body, sort_keys=False, allow_unicode=True, width=110)


def goals_of(manifest: Manifest) -> tuple[dict[str, Goal], tuple[Problem, ...]]:
    """Return the goals of a workspace by metric, and the problems of those in its manifest."""
    return read_goals(manifest.goals, where=f"{manifest.file or manifest.folder}: goals")
