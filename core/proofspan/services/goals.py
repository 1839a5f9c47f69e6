"""The goals of a workspace, as every page and command judges by them."""

from __future__ import annotations

from proofspan.errors import Problem
from proofspan.manifest.types import Manifest
from proofspan.metrics.goals import Goal, read_goals


def goals_of(manifest: Manifest) -> tuple[dict[str, Goal], tuple[Problem, ...]]:
    """What the runs of a workspace are to reach, by metric, and what is wrong with what its manifest says."""
    return read_goals(manifest.goals, where=f"{manifest.file or manifest.folder}: goals")
