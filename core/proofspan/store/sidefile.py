"""A file beside the traces that an index is made with, such as the gold file: which one, and its version."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proofspan.errors import Fault, Problem
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.store.prints import sha256_of
from proofspan.traces.unpack import plain_source


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file as it is now. `path` is None where there is none to read; `problems` then says why.

    A packed file's `path` is its unpacked copy; `version` is the sha256 of the file as it lies there, or why
    there is none: a file that appears or changes makes another index.
    """

    path: Path | None = None
    file: str = ""
    version: str = "none"
    problems: tuple[Problem, ...] = ()


NO_FILE = SideFile()


@dataclass(frozen=True, slots=True)
class Loss:
    """What is missing without a file: the problem's code, the file by name, and what is then not known."""

    code: str
    file: str
    lost: str

    def of(self, artifact: Artifact, problem: Problem) -> Problem:
        """The problem for those who miss what the file is for; which file it is stands in `where`."""
        said = problem.message.removeprefix(f"`{artifact.key}`: ").removeprefix("the file ")
        return Problem(
            self.code,
            f"{self.file} {said}; {self.lost}",
            f"{artifact.key}: {problem.where or artifact.path}",
            problem.remedy or "put the file back and run `proofspan index` again",
        )


def find_side_file(manifest: Manifest, artifact: Artifact | None, loss: Loss, *, cache_dir: Path) -> SideFile:
    """The named file as it is now, if any; one that is lost leaves the labels standing and is a problem."""
    if artifact is None:
        return NO_FILE
    try:
        path = artifact_path(manifest, artifact)
        return SideFile(plain_source(path, cache_dir=cache_dir), artifact.path, sha256_of(path))
    except Fault as fault:
        problems = tuple(loss.of(artifact, problem) for problem in fault.problems)
    except OSError as error:
        unreadable = Problem("unreadable", f"cannot be read: {error.strerror}", artifact.path)
        problems = (loss.of(artifact, unreadable),)
    return SideFile(None, artifact.path, "unusable", problems)
