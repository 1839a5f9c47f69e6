"""Resolve the references of a manifest to files, never to one outside its root."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path

from proofspan.errors import ManifestFault
from proofspan.manifest import trust
from proofspan.manifest.types import Artifact, Manifest

MAX_REFERENCE = 1024
#: How the message about a link that leaves its root begins; the target path follows.
OUTSIDE = "leads outside its folder"
#: The summary in a workspace that was made of opened files: what is missing there is to be opened too.
OPENED = "opened.json"
#: The real folder of each root, inside `roots_resolved_once`; None outside of it.
_resolved: ContextVar[dict[Path, Path] | None] = ContextVar("resolved", default=None)


@contextmanager
def roots_resolved_once() -> Iterator[None]:
    """Follow the links of each root once in this block, however many files are looked up below it."""
    before = _resolved.set({})
    try:
        yield
    finally:
        _resolved.reset(before)


def refusal_of(ref: str) -> str | None:
    """Return why a reference is refused without a look at the disk; None if it may be resolved."""
    if not ref:
        return "it is empty"
    if len(ref) > MAX_REFERENCE:
        return f"it is longer than {MAX_REFERENCE:,} characters"
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in ref):
        return "it has a control character"
    if any(0xD800 <= ord(character) <= 0xDFFF for character in ref):
        return "it has a lone surrogate"
    if "\\" in ref:
        return "it has a backslash; write `/` between folders"
    if ":" in ref:
        return "it has a colon"
    if ref.startswith(("/", "~")):
        return f"it begins with `{ref[0]}`; write it relative to its folder"
    if any(segment in ("", ".", "..") for segment in ref.split("/")):
        return "it has an empty, `.` or `..` segment"
    return None


def resolve_reference(root: Path, ref: str, *, folder: bool = False) -> Path:
    """Resolve `ref` to a file (or folder) below `root`; symbolic links are followed and must stay inside.

    Raises ManifestFault: `path_refused` (the text itself), `missing`, `unreadable`, `path_outside` (a link
    leaves the root), `not_a_file` or `not_a_folder`.
    """
    reason = refusal_of(ref)
    if reason is not None:
        message = f"has the path {ref[:200]!r}, which is refused: {reason}"
        fix = "write a path relative to the workspace, such as corpus/chunks.jsonl"
        raise ManifestFault.of("path_refused", message, fix=fix)
    if not folder and (plain := _without_links(root, ref)) is not None:
        return plain
    place = root / ref
    try:
        path = place.resolve(strict=True)
    except (FileNotFoundError, NotADirectoryError):
        if (root / OPENED).is_file():
            message = "is not among the files that were opened"
            fix = "open them again with it, or name its folder: proofspan open FILE --documents DIR"
            raise ManifestFault.of("missing", message, where=place.name, fix=fix) from None
        fix = f"correct its path, or put it there: cp FILE {shlex.quote(str(place))}"
        raise ManifestFault.of("missing", "does not exist", where=str(place), fix=fix) from None
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
        reason = getattr(error, "strerror", None) or "a loop of symbolic links"
        fix = "check its permissions and links"
        message = f"cannot be reached: {reason}"
        raise ManifestFault.of("unreadable", message, where=str(place), fix=fix) from None
    if not path.is_relative_to(_real(root)):
        fix = "copy the file in, or name its folder in the manifest's `roots`"
        raise ManifestFault.of("path_outside", f"{OUTSIDE}, to {path}", where=str(place), fix=fix)
    if folder and not path.is_dir():
        raise ManifestFault.of("not_a_folder", "is not a folder", where=str(path), fix="name a folder")
    if not folder and not path.is_file():
        raise ManifestFault.of("not_a_file", "is not a regular file", where=str(path), fix="name a file")
    return path


def _real(root: Path) -> Path:
    known = _resolved.get()
    if known is None:
        return root.resolve()
    if root not in known:
        known[root] = root.resolve()
    return known[root]


def _without_links(root: Path, ref: str) -> Path | None:
    """Return a regular file that is reached from the root without a link, as most are; None for any other."""
    place, mode = str(_real(root)), 0
    try:
        for segment in ref.split("/"):
            place = f"{place}{os.sep}{segment}"
            mode = os.lstat(place).st_mode
            if stat.S_ISLNK(mode):
                return None
    except (OSError, ValueError):  # `resolve_reference` says why
        return None
    return Path(place) if stat.S_ISREG(mode) else None


def journal_path(manifest: Manifest, artifact: Artifact) -> Path:
    """Return the path of a journal, which need not exist yet; its folder must. Raises ManifestFault."""
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
        raise _of_artifact(fault, f"the folder of `{artifact.key}`") from None


def is_missing(fault: ManifestFault) -> bool:
    """Return whether the only problem is that the file does not exist."""
    return all(problem.code == "missing" for problem in fault.problems)


def root_folder(manifest: Manifest, name: str | None) -> Path:
    """Return the workspace folder, or the confirmed root of that name. Raises ManifestFault."""
    if name is None:
        return manifest.folder
    folder = trust.folder_of(manifest, name)
    if not trust.is_trusted(manifest.folder, folder):
        message = f"the root `{name}` ({folder}) is outside the workspace and was not confirmed"
        fix = f"if you trust it: proofspan check {shlex.quote(str(manifest.folder))} --trust-roots"
        raise ManifestFault.of("root_not_trusted", message, where=f"roots.{name}", fix=fix)
    return folder


def artifact_path(manifest: Manifest, artifact: Artifact) -> Path:
    """Return an artifact's file, inside the workspace or a confirmed root. Raises ManifestFault."""
    try:
        return resolve_reference(root_folder(manifest, artifact.root), artifact.path)
    except ManifestFault as fault:
        raise _of_artifact(fault, f"`{artifact.key}`:", str(manifest.file or manifest.folder)) from None


def _of_artifact(fault: ManifestFault, name: str, where: str = "") -> ManifestFault:
    """Return the fault with the artifact's name before each message."""
    return ManifestFault(
        *(
            replace(problem, message=f"{name} {problem.message}", where=problem.where or where)
            for problem in fault.problems
        )
    )
