"""Files beside the traces that an index is made with, such as the gold file: versions and records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from proofspan.contracts.records.records import Chunk, LineIssue
from proofspan.errors import Fault, Problem
from proofspan.fingerprints import sha256_of
from proofspan.manifest.paths import artifact_path
from proofspan.manifest.types import Artifact, Manifest
from proofspan.traces.lines.unpack import plain_source
from proofspan.traces.records.chunks import read_chunks
from proofspan.traces.records.redirects import read_redirects, with_redirects

T = TypeVar("T")


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


#: The files by their key in the manifest: the problem's code, the name of the file, and what its loss means.
_LOSSES: Mapping[str, tuple[str, str, str]] = {
    "chunks": ("chunks_unusable", "the chunk file", "the questions have no label"),
    "gold": ("gold_unusable", "the gold file", "answers are not compared with gold passages"),
    "catalogue": ("catalogue_unusable", "the catalogue", "omitted warnings are not known"),
    "redirects": ("redirects_unusable", "the redirects file", "ids of earlier builds name no chunk"),
}


def find_side_file(
    manifest: Manifest,
    artifact: Artifact | None,
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
    code, file, effect = _LOSSES[artifact.key]
    losses = tuple(
        Problem(
            code,
            f"{file} {each.message.removeprefix(f'`{artifact.key}`: ').removeprefix('the file ')}; {effect}",
            f"{artifact.key}: {each.where or artifact.path}",
            each.fix or "put the file back and run `proofspan index` again",
        )
        for each in problems
    )
    return SideFile(None, artifact.path, "unusable", losses)


def read_side_file(
    file: SideFile, read: Callable[..., tuple[Mapping[str, T], list[LineIssue]]]
) -> tuple[Mapping[str, T], Sequence[LineIssue], tuple[Problem, ...]]:
    """Return the file's records by id, its lines that hold none, and why the whole file could not be read.

    There are no records where there is no file. `read` raises a Fault for another kind of file.
    """
    if file.path is None:
        return {}, (), ()
    try:
        by_id, issues = read(file.path, file=file.file)
    except Fault as fault:
        return {}, (), fault.problems
    return by_id, issues, ()


def read_led_chunks(
    manifest: Manifest, path: Path, *, file: str, cache_dir: Path
) -> tuple[Mapping[str, Chunk], list[LineIssue]]:
    """Return the chunks of the file at `path`, by former ids too, and the lines that hold none.

    Problems of the redirects file are left to the index. InputFault where the chunk file cannot be used.
    """
    chunks, issues = read_chunks(plain_source(path, cache_dir=cache_dir), file=file)
    redirects = find_side_file(manifest, manifest.redirects, cache_dir=cache_dir)
    return with_redirects(chunks, read_side_file(redirects, read_redirects)[0]), issues
