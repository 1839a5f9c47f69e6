"""From a reference written in a manifest to a file on this machine, and never to one outside its root."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

from proofspan.errors import ManifestFault
from proofspan.manifest import trust
from proofspan.manifest.types import Artifact, Manifest

MAX_REFERENCE = 1024
#: What a message says of a link that leaves its root, before it names where that leads on this machine.
OUTSIDE = "leads outside its folder"


def refusal_of(ref: str) -> str | None:
    """Why a reference is refused before it is looked at on disk; None where it may be resolved."""
    if not ref:
        return "it is empty"
    if len(ref) > MAX_REFERENCE:
        return f"it is longer than {MAX_REFERENCE:,} characters"
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in ref):
        return "it holds a control character"
    if any(0xD800 <= ord(character) <= 0xDFFF for character in ref):
        return "it holds half of a character (a lone surrogate)"
    if "\\" in ref:
        return "it holds a backslash; write `/` between folders"
    if ":" in ref:
        return "it holds a colon"
    if ref.startswith(("/", "~")):
        return f"it begins with `{ref[0]}`; write it relative to its folder"
    if any(segment in ("", ".", "..") for segment in ref.split("/")):
        return "it has an empty, `.` or `..` segment"
    return None


def resolve_reference(root: Path, ref: str, *, folder: bool = False) -> Path:
    """The file (or folder) that `ref` names below `root`, symbolic links followed and still inside it.

    Raises ManifestFault: `path_refused` (the text itself), `missing`, `unreadable`, `path_outside` (a link
    leaves the root), `not_a_file` or `not_a_folder`.
    """
    reason = refusal_of(ref)
    if reason is not None:
        raise ManifestFault.of(
            "path_refused",
            f"has the path {ref[:200]!r}, which is refused: {reason}",
            fix="write a path relative to the workspace, such as corpus/chunks.jsonl",
        )
    path = _resolve(root, ref)
    if not path.is_relative_to(root.resolve()):
        raise ManifestFault.of(
            "path_outside",
            f"{OUTSIDE}, to {path}",
            where=str(root / ref),
            fix="copy the file in, or name its folder in the manifest's `roots`",
        )
    if folder and not path.is_dir():
        raise ManifestFault.of("not_a_folder", "is not a folder", where=str(path), fix="name a folder")
    if not folder and not path.is_file():
        raise ManifestFault.of("not_a_file", "is not a regular file", where=str(path), fix="name a file")
    return path


def _resolve(root: Path, ref: str) -> Path:
    try:
        return (root / ref).resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError):
        raise ManifestFault.of(
            "missing",
            "does not exist",
            where=str(root / ref),
            fix=f"correct its path, or put it there: cp FILE {shlex.quote(str(root / ref))}",
        ) from None
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
        reason = getattr(error, "strerror", None) or "a loop of symbolic links"
        raise ManifestFault.of(
            "unreadable",
            f"cannot be reached: {reason}",
            where=str(root / ref),
            fix="check its permissions and links",
        ) from None


def journal_path(manifest: Manifest, artifact: Artifact) -> Path:
    """Where a file that people write lies, or will lie: of one that is not there yet, the folder has to be.

    Raises ManifestFault as `artifact_path`.
    """
    try:
        return artifact_path(manifest, artifact)
    except ManifestFault as fault:
        if not is_missing(fault):
            raise
    root = root_folder(manifest, artifact.root)
    folder, _, name = artifact.path.rpartition("/")
    try:
        return (resolve_reference(root, folder, folder=True) if folder else root.resolve()) / name
    except ManifestFault as fault:
        raise ManifestFault(
            *(
                replace(each, message=f"the folder of `{artifact.key}` {each.message}")
                for each in fault.problems
            )
        ) from None


def is_missing(fault: ManifestFault) -> bool:
    """Whether nothing is wrong but that a file is not there."""
    return all(problem.code == "missing" for problem in fault.problems)


def root_folder(manifest: Manifest, name: str | None) -> Path:
    """The workspace folder, or the confirmed folder that `name` stands for. Raises ManifestFault."""
    if name is None:
        return manifest.folder
    folder = trust.folder_of(manifest, name)
    if not trust.is_trusted(manifest.folder, folder):
        raise ManifestFault.of(
            "root_not_trusted",
            f"the root `{name}` ({folder}) lies outside the workspace and was not confirmed",
            where=f"roots.{name}",
            fix=f"if you trust it: proofspan check {shlex.quote(str(manifest.folder))} --trust-roots",
        )
    return folder


def artifact_path(manifest: Manifest, artifact: Artifact) -> Path:
    """Where an artifact lies, inside the workspace or a confirmed root. Raises ManifestFault with its key."""
    try:
        return resolve_reference(root_folder(manifest, artifact.root), artifact.path)
    except ManifestFault as fault:
        file = str(manifest.file or manifest.folder)
        raise ManifestFault(
            *(
                replace(problem, message=f"`{artifact.key}`: {problem.message}", where=problem.where or file)
                for problem in fault.problems
            )
        ) from None
