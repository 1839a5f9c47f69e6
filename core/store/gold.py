"""The gold questions as an index needs them: which file, which version of it, what to look for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.contracts.records import GoldQuestion, LineIssue
from core.errors import Fault, Problem
from core.manifest.paths import artifact_path
from core.manifest.types import Artifact, Manifest
from core.store.prints import sha256_of
from core.traces.gold import read_gold
from core.traces.unpack import plain_source
from core.triage.gold import GoldTarget, gold_target


@dataclass(frozen=True, slots=True)
class GoldInput:
    """The gold file of a workspace. `path` is None where there is none to read; `problems` then says why.

    A packed file's `path` is its unpacked copy; `version` is the sha256 of the file as it lies there, or why
    there is none: gold that appears or changes makes another index.
    """

    path: Path | None = None
    file: str = ""
    version: str = "none"
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldTargets:
    """What to look for, by q_id; questions without a target are left out. `questions` are all of them.

    `issues` are the lines that hold no gold question, `problems` say why the whole file could not be used.
    """

    by_question: Mapping[str, GoldTarget] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()
    questions: Mapping[str, GoldQuestion] = field(default_factory=dict)


NO_GOLD_FILE = GoldInput()
NO_TARGETS = GoldTargets()


def find_gold(manifest: Manifest, *, cache_dir: Path) -> GoldInput:
    """The gold file as it is now; one that is lost leaves the labels standing and is a problem."""
    artifact = manifest.gold
    if artifact is None:
        return NO_GOLD_FILE
    try:
        path = artifact_path(manifest, artifact)
        return GoldInput(plain_source(path, cache_dir=cache_dir), artifact.path, sha256_of(path))
    except Fault as fault:
        problems = tuple(_without_ranks(problem, artifact) for problem in fault.problems)
    except OSError as error:
        unreadable = Problem("unreadable", f"cannot be read: {error.strerror}", artifact.path)
        problems = (_without_ranks(unreadable, artifact),)
    return GoldInput(None, artifact.path, "unusable", problems)


def read_targets(gold: GoldInput) -> GoldTargets:
    """Reads the gold file. One that is no gold file at all gives no targets and a problem."""
    if gold.path is None:
        return NO_TARGETS
    try:
        questions, issues = read_gold(gold.path, file=gold.file)
    except Fault as fault:
        return GoldTargets(problems=fault.problems)
    targets = {q_id: target for q_id, known in questions.items() if (target := gold_target(known))}
    return GoldTargets(targets, tuple(issues), questions=questions)


def _without_ranks(problem: Problem, artifact: Artifact) -> Problem:
    said = problem.message.removeprefix(f"`{artifact.key}`: ")
    return Problem(
        "gold_unusable",
        f"the gold file {said}; what became of the gold passages is not known",
        f"{artifact.key}: {problem.where or artifact.path}",
        problem.remedy or "put the file back and run `proofspan index` again",
    )
