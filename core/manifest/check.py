"""Is everything there that the manifest names, and is it what it was? All answers at once."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from core.errors import ManifestFault, Problem
from core.manifest.paths import artifact_path, resolve_reference
from core.manifest.sniff import content_problem
from core.manifest.types import Artifact, Manifest

State = Literal["ok", "missing", "unreadable", "hash_differs", "wrong_content"]
#: Called while hashing: the artifact's key, the bytes hashed so far and the bytes to hash, over all files.
OnProgress = Callable[[str, int, int], None]
#: Looks into a file that is there, and reports what is wrong inside, such as records against their schema.
Examine = Callable[[Artifact, Path], Iterable[Problem]]

#: A warning that is a finding all the same: the file can be used, and some of its lines cannot.
LINES_UNREADABLE = "lines_unreadable"

_BLOCK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ArtifactCheck:
    """One artifact: `state` is the worst of its `problems`; `sha256` is computed, None where nothing asked.

    `file` is where it lies, None where the path could not be resolved; `size` in bytes.
    """

    artifact: Artifact
    state: State
    problems: tuple[Problem, ...] = ()
    file: Path | None = None
    size: int | None = None
    sha256: str | None = None

    @property
    def is_good(self) -> bool:
        """Whether all of the file can be used."""
        return self.state == "ok" and not any(problem.code == LINES_UNREADABLE for problem in self.problems)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Every artifact, sorted by key, and what is wrong with the manifest beside them.

    `hashed` tells whether hashes were compared at all.
    """

    manifest: Manifest
    artifacts: tuple[ArtifactCheck, ...]
    others: tuple[Problem, ...] = ()
    hashed: bool = True

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything found, errors first."""
        found = [*self.others, *(problem for check in self.artifacts for problem in check.problems)]
        return tuple(sorted(found, key=lambda problem: problem.severity != "error"))

    @property
    def ok(self) -> bool:
        """Whether there is nothing to mend; warnings do not count, but lines that cannot be read do."""
        wrong = (problem.severity == "error" or problem.code == LINES_UNREADABLE for problem in self.problems)
        return not any(wrong)


def check_workspace(
    manifest: Manifest,
    *,
    hashes: bool = True,
    every_hash: bool = False,
    on_progress: OnProgress | None = None,
    examine: Examine | None = None,
) -> CheckReport:
    """Look at every artifact of a workspace.

    `hashes` compares with the manifest's sha256 where there is one; `every_hash` computes the others too.
    `examine` looks into each file that is there and is what it should be. Nothing is raised: what is wrong
    is in the report.
    """
    checks = [_look_at(manifest, artifact) for artifact in sorted(manifest.artifacts(), key=_key)]
    if hashes or every_hash:
        checks = _with_hashes(manifest, checks, every_hash=every_hash, on_progress=on_progress)
    if examine is not None:
        checks = [_examined(check, examine) for check in checks]
    others = (*manifest.warnings, *_attachments_problems(manifest))
    return CheckReport(manifest, tuple(checks), others, hashes)


def _key(artifact: Artifact) -> str:
    return artifact.key


def sha256_lines(report: CheckReport) -> Iterator[str]:
    """The line to paste into the manifest for each artifact that can be read: `sha256: "…"  # key, path`."""
    for check in report.artifacts:
        if check.sha256 is not None:
            yield f'sha256: "{check.sha256}"  # {check.artifact.key}, {check.artifact.path}'


def _look_at(manifest: Manifest, artifact: Artifact) -> ArtifactCheck:
    """Everything but the hash."""
    try:
        file = artifact_path(manifest, artifact)
    except ManifestFault as fault:
        return _without_file(artifact, fault)
    try:
        size = file.stat().st_size
        problem = content_problem(file, artifact.kind)
    except OSError as error:
        problem = Problem(
            "unreadable",
            f"`{artifact.key}`: cannot be read: {error.strerror}",
            where=str(file),
            remedy=f"chmod u+r {shlex.quote(str(file))}",
        )
        return ArtifactCheck(artifact, "unreadable", (problem,), file)
    if problem is not None:
        placed = replace(problem, message=f"`{artifact.key}`: {problem.message}", where=str(file))
        state: State = "wrong_content" if problem.severity == "error" else "ok"
        return ArtifactCheck(artifact, state, (placed,), file, size)
    return ArtifactCheck(artifact, "ok", (), file, size)


def _without_file(artifact: Artifact, fault: ManifestFault) -> ArtifactCheck:
    is_missing = all(problem.code == "missing" for problem in fault.problems)
    if is_missing and artifact.kind == "journal" and artifact.sha256 is None:
        note = replace(
            fault.problems[0],
            code="not_written_yet",
            message=f"`{artifact.key}`: nothing was written yet",
            remedy="the first entry makes the file",
            severity="warning",
        )
        return ArtifactCheck(artifact, "ok", (note,))
    return ArtifactCheck(artifact, "missing" if is_missing else "unreadable", fault.problems)


def _with_hashes(
    manifest: Manifest, checks: list[ArtifactCheck], *, every_hash: bool, on_progress: OnProgress | None
) -> list[ArtifactCheck]:
    wanted = [
        check
        for check in checks
        if check.file is not None
        and check.state in ("ok", "wrong_content")
        and (every_hash or check.artifact.sha256 is not None)
    ]
    total = sum(check.size or 0 for check in wanted)
    done = 0
    hashed: dict[str, ArtifactCheck] = {}
    for check in wanted:

        def report(count: int, key: str = check.artifact.key, before: int = done) -> None:
            if on_progress is not None:
                on_progress(key, before + count, total)

        hashed[check.artifact.key] = _hashed(manifest, check, report)
        done += check.size or 0
    return [hashed.get(check.artifact.key, check) for check in checks]


def _hashed(manifest: Manifest, check: ArtifactCheck, on_bytes: Callable[[int], None]) -> ArtifactCheck:
    assert check.file is not None  # noqa: S101 - only files that are there are hashed
    try:
        actual = sha256_of(check.file, on_bytes=on_bytes)
    except OSError as error:
        problem = Problem(
            "unreadable",
            f"`{check.artifact.key}`: reading stopped: {error.strerror}",
            where=str(check.file),
            remedy="check the disk or network it lies on",
        )
        return replace(check, state="unreadable", problems=(*check.problems, problem))
    expected = check.artifact.sha256
    if expected is None or expected == actual:
        return replace(check, sha256=actual)
    problem = Problem(
        "hash_differs",
        f"`{check.artifact.key}`: is not the file that the manifest describes: "
        f"sha256 {actual[:12]}… instead of {expected[:12]}…",
        where=str(check.file),
        remedy="put the described file back; or, if the new one is right, paste its line from: "
        f"proofspan check {shlex.quote(str(manifest.folder))} --sha256-lines",
    )
    return replace(check, state="hash_differs", problems=(*check.problems, problem), sha256=actual)


def sha256_of(file: Path, *, on_bytes: Callable[[int], None] | None = None) -> str:
    """The file's SHA-256 in hexadecimal; `on_bytes` hears how many bytes are done, once a mebibyte."""
    digest = hashlib.sha256()
    done = 0
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            done += len(block)
            if on_bytes is not None:
                on_bytes(done)
    return digest.hexdigest()


def _examined(check: ArtifactCheck, examine: Examine) -> ArtifactCheck:
    if check.state != "ok" or check.file is None:
        return check
    found = tuple(examine(check.artifact, check.file))
    wrong = any(problem.severity == "error" for problem in found)
    return replace(check, state="wrong_content" if wrong else "ok", problems=(*check.problems, *found))


def _attachments_problems(manifest: Manifest) -> tuple[Problem, ...]:
    if manifest.attachments_root is None:
        return ()
    try:
        resolve_reference(manifest.folder, manifest.attachments_root, folder=True)
    except ManifestFault as fault:
        return tuple(
            replace(problem, message=f"`attachments_root`: {problem.message}") for problem in fault.problems
        )
    return ()
