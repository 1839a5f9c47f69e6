"""Files beside the traces that an index is made with, such as the gold file: versions and records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from proofspan.contracts.records.records import Chunk, LineIssue
from proofspan.errors import Fault, Problem
from proofspan.fingerprints import sha256_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.redirects import read_redirects, with_redirects

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file as it is now. `path` is None if it cannot be read; `problems` then says why.

    A packed file's `path` is its unpacked copy; `version` is the sha256 of the file itself, or why it
    has no hash: a file that appears or changes makes another index.
    """

    path: Path | None = None
    file: str = ""
    version: str = "none"
    problems: tuple[Problem, ...] = ()


NO_FILE = SideFile()


@dataclass(frozen=True, slots=True)
class Loss:
    """The effect of a missing file, with the problem's code and the file's name."""

    code: str
    file: str
    effect: str

    def of(self, artifact: Artifact, problem: Problem) -> Problem:
        """Return the problem of a file with its effect; `where` names the file."""
        message = problem.message.removeprefix(f"`{artifact.key}`: ").removeprefix("the file ")
        return Problem(
            self.code,
            f"{self.file} {message}; {self.effect}",
            f"{artifact.key}: {problem.where or artifact.path}",
            problem.fix or "put the file back and run `proofspan index` again",
        )


CHUNKS_LOSS = Loss("chunks_unusable", "the chunk file", "the questions have no label")
GOLD_LOSS = Loss("gold_unusable", "the gold file", "answers are not compared with gold passages")
CATALOGUE_LOSS = Loss("catalogue_unusable", "the catalogue", "omitted warnings are not known")
REDIRECTS_LOSS = Loss("redirects_unusable", "the redirects file", "ids of earlier builds name no chunk")


def find_side_file(
    manifest: Manifest,
    artifact: Artifact | None,
    loss: Loss,
    *,
    cache_dir: Path,
    digest: Callable[[Path], str] = sha256_of,
) -> SideFile:
    """Return the named file as it is now, unpacked; a missing or unreadable one has a problem."""
    if artifact is None:
        return NO_FILE
    try:
        path = artifact_path(manifest, artifact)
        version = digest(path)
        return SideFile(plain_source(path, cache_dir=cache_dir), artifact.path, version)
    except Fault as fault:
        problems = fault.problems
    except OSError as error:
        problems = (Problem("unreadable", f"cannot be read: {error.strerror}", artifact.path),)
    losses = tuple(loss.of(artifact, problem) for problem in problems)
    return SideFile(None, artifact.path, "unusable", losses)


@dataclass(frozen=True, slots=True)
class Records(Generic[T]):
    """A side file's records by id, the lines that hold none, and why the whole file could not be read."""

    by_id: Mapping[str, T] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()


class Reader(Protocol[T_co]):
    """Reads a file's records by id, and the lines that hold none; Fault where it is another kind of file."""

    def __call__(self, path: Path, *, file: str) -> tuple[Mapping[str, T_co], list[LineIssue]]: ...


def read_side_file(file: SideFile, read: Reader[T]) -> Records[T]:
    """Return the file's records; none where there is no file, and a problem where it cannot be used."""
    if file.path is None:
        return Records()
    try:
        by_id, issues = read(file.path, file=file.file)
    except Fault as fault:
        return Records(problems=fault.problems)
    return Records(by_id, tuple(issues))


def read_led_chunks(
    manifest: Manifest, path: Path, *, file: str, cache_dir: Path
) -> tuple[Mapping[str, Chunk], list[LineIssue]]:
    """Return the chunks of the file at `path`, by former ids too, and the lines that hold none.

    Problems of the redirects file are left to the index. InputFault where the chunk file cannot be used.
    """
    chunks, issues = read_chunks(plain_source(path, cache_dir=cache_dir), file=file)
    redirects = find_side_file(manifest, manifest.redirects, REDIRECTS_LOSS, cache_dir=cache_dir)
    return with_redirects(chunks, read_side_file(redirects, read_redirects).by_id), issues
