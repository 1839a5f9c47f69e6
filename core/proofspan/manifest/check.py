"""Check that every artifact of the manifest is present, unchanged, and has the expected content."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from proofspan.errors import ManifestFault, Problem
from proofspan.fingerprints import sha256_of
from proofspan.manifest.paths import artifact_path, is_missing, resolve_reference
from proofspan.manifest.sniff import content_problem
from proofspan.manifest.types import Artifact, Manifest

State = Literal["ok", "missing", "unreadable", "hash_differs", "wrong_content"]
#: Called while hashing and reading with the artifact's key, and the bytes done and in all over all files.
OnProgress = Callable[[str, int, int], None]
#: Called with the number of bytes of one file that are done.
OnBytes = Callable[[int], None]
#: Reads a file and returns the problems of its content, such as records that break their schema.
Examine = Callable[[Artifact, Path, OnBytes], Iterable[Problem]]

#: The warnings that count as findings: the file can be used, but not all of its content.
LINES_UNREADABLE = "lines_unreadable"
ATTACHMENTS_WRONG = "attachments_wrong"
FINDINGS = frozenset({LINES_UNREADABLE, ATTACHMENTS_WRONG})

#: The fix for bundles that are missing or wrong.
BUILD_BUNDLES = "build them: proofspan bundle build WORKSPACE"

_RANK = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class ArtifactCheck:
    """The check of one artifact: `state` is the worst of its `problems`, `sha256` is None if not computed.

    `file` is None if the path could not be resolved; `size` is in bytes.
    """

    artifact: Artifact
    state: State
    problems: tuple[Problem, ...] = ()
    file: Path | None = None
    size: int | None = None
    sha256: str | None = None

    @property
    def is_good(self) -> bool:
        """Return whether all of the file can be used."""
        return self.state == "ok" and not any(map(is_finding, self.problems))


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The checks of all artifacts, sorted by key, and the `others`: problems of the manifest itself.

    `hashed` is whether hashes were compared at all.
    """

    manifest: Manifest
    artifacts: tuple[ArtifactCheck, ...]
    others: tuple[Problem, ...] = ()
    hashed: bool = True

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return all problems, errors first, notes last."""
        problems = [*self.others, *(problem for check in self.artifacts for problem in check.problems)]
        return tuple(sorted(problems, key=lambda problem: _RANK[problem.severity]))

    @property
    def findings(self) -> tuple[Problem, ...]:
        """Return the problems to fix: errors, and the warnings that count as findings."""
        return tuple(filter(is_finding, self.problems))

    @property
    def ok(self) -> bool:
        """Return whether there is nothing to fix."""
        return not self.findings


def is_finding(problem: Problem) -> bool:
    """Return whether a problem has to be fixed: an error, or a warning that something is lost."""
    return problem.severity == "error" or problem.code in FINDINGS


def check_workspace(
    manifest: Manifest,
    *,
    hashes: bool = True,
    every_hash: bool = False,
    on_progress: OnProgress | None = None,
    examine: Examine | None = None,
    others: Iterable[Problem] = (),
) -> CheckReport:
    """Check every artifact of a workspace. Raises nothing: all problems are in the report.

    `hashes` compares with the manifest's sha256; `every_hash` also computes those that it does not state.
    `examine` reads each file that passed so far. `others` are problems of the manifest found elsewhere.
    """
    artifacts = sorted(manifest.artifacts(), key=lambda artifact: artifact.key)
    checks = [_check_artifact(manifest, artifact) for artifact in artifacts]

    def is_hashed(check: ArtifactCheck) -> bool:
        is_asked_for = every_hash or (hashes and check.artifact.sha256 is not None)
        return is_asked_for and check.file is not None and check.state in ("ok", "wrong_content")

    total = sum(
        (check.size or 0) * (is_hashed(check) + (examine is not None and check.state == "ok"))
        for check in checks
    )
    done = 0

    def progress_of(check: ArtifactCheck) -> OnBytes:
        """Return the callback for the next file; the files before it count as done."""
        nonlocal done
        before, size = done, check.size or 0
        done += size

        def on_bytes(count: int) -> None:
            if on_progress is not None:
                on_progress(check.artifact.key, before + min(count, size), total)

        return on_bytes

    for at, check in enumerate(checks):
        if check.file is not None and is_hashed(check):
            checks[at] = _hashed(manifest, check, check.file, progress_of(check))
    for at, check in enumerate(checks):
        if examine is not None and check.file is not None and check.state == "ok":
            on_bytes = progress_of(check)
            problems = tuple(examine(check.artifact, check.file, on_bytes))
            on_bytes(check.size or 0)
            is_wrong = any(problem.severity == "error" for problem in problems)
            state: State = "wrong_content" if is_wrong else "ok"
            checks[at] = replace(check, state=state, problems=(*check.problems, *problems))
    beside = [*manifest.warnings, *others]
    if manifest.attachments_root is not None:
        try:
            resolve_reference(manifest.folder, manifest.attachments_root, folder=True)
        except ManifestFault as fault:
            beside += [
                replace(each, message=f"`attachments_root`: {each.message}") for each in fault.problems
            ]
    return CheckReport(manifest, tuple(checks), tuple(beside), hashes)


def sha256_lines(report: CheckReport) -> Iterator[str]:
    """Yield the manifest line of each artifact that can be read: `sha256: "…"  # key, path`."""
    for check in report.artifacts:
        if check.sha256 is not None:
            yield f'sha256: "{check.sha256}"  # {check.artifact.key}, {check.artifact.path}'


def _check_artifact(manifest: Manifest, artifact: Artifact) -> ArtifactCheck:
    try:
        file = artifact_path(manifest, artifact)
    except ManifestFault as fault:
        problems, is_absent = fault.problems, is_missing(fault)
        if is_absent and artifact.kind == "journal" and artifact.sha256 is None:
            message, fix = f"`{artifact.key}`: not written yet", "the first entry creates the file"
            note = Problem("not_written_yet", message, problems[0].where, fix, severity="warning")
            return ArtifactCheck(artifact, "ok", (note,))
        if is_absent and artifact.key.endswith("].bundles"):
            problems = tuple(replace(problem, fix=BUILD_BUNDLES) for problem in problems)
        return ArtifactCheck(artifact, "missing" if is_absent else "unreadable", problems)
    try:
        size = file.stat().st_size
        problem = content_problem(file, artifact.kind, is_fixed=artifact.fix_encoding)
    except OSError as error:
        message, fix = (
            f"`{artifact.key}`: cannot be read: {error.strerror}",
            f"chmod u+r {shlex.quote(str(file))}",
        )
        problem = Problem("unreadable", message, where=str(file), fix=fix)
        return ArtifactCheck(artifact, "unreadable", (problem,), file)
    if problem is None:
        return ArtifactCheck(artifact, "ok", (), file, size)
    problem = replace(problem, message=f"`{artifact.key}`: {problem.message}", where=str(file))
    state: State = "wrong_content" if problem.severity == "error" else "ok"
    return ArtifactCheck(artifact, state, (problem,), file, size)


def _hashed(manifest: Manifest, check: ArtifactCheck, file: Path, on_bytes: OnBytes) -> ArtifactCheck:
    key = check.artifact.key
    try:
        actual = sha256_of(file, on_bytes=on_bytes)
    except OSError as error:
        message = f"`{key}`: reading stopped: {error.strerror}"
        problem = Problem("unreadable", message, where=str(file), fix="check its disk or network")
        return replace(check, state="unreadable", problems=(*check.problems, problem))
    expected = check.artifact.sha256
    if expected is None or expected == actual:
        return replace(check, sha256=actual)
    problem = Problem(
        "hash_differs",
        f"`{key}`: is not the file in the manifest: sha256 {actual[:12]}… instead of {expected[:12]}…",
        where=str(file),
        fix="restore the file, or, if the new one is right, paste its line from: "
        f"proofspan check {shlex.quote(str(manifest.folder))} --sha256-lines",
    )
    return replace(check, state="hash_differs", problems=(*check.problems, problem), sha256=actual)
