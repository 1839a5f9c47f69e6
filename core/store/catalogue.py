"""The catalogue as an index needs it: which file, which version of it, and the notices to look for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.contracts.records import Attachment, LineIssue
from core.errors import Fault, Problem
from core.manifest.paths import artifact_path
from core.manifest.types import Artifact, Manifest
from core.store.prints import sha256_of
from core.traces.catalogue import read_catalogue
from core.traces.unpack import plain_source
from core.triage.notices import KINDS, MOST_NOTICES, Notices


@dataclass(frozen=True, slots=True)
class CatalogueInput:
    """The catalogue of a workspace. `path` is None where there is none to read; `problems` then says why.

    A packed file's `path` is its unpacked copy; `version` is the sha256 of the file as it lies there, or why
    there is none: a catalogue that appears or changes makes another index.
    """

    path: Path | None = None
    file: str = ""
    version: str = "none"
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogued:
    """The warnings and cautions of a catalogue; None where there is no file, or one without any attachment.

    `issues` are the lines that hold no attachment, `problems` say why the whole file could not be used.
    """

    notices: tuple[Attachment, ...] | None = None
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()


NO_CATALOGUE_FILE = CatalogueInput()
NOT_CATALOGUED = Catalogued()


def find_catalogue(manifest: Manifest, *, cache_dir: Path) -> CatalogueInput:
    """The catalogue as it is now; one that is lost leaves the labels standing and is a problem."""
    artifact = manifest.catalogue
    if artifact is None:
        return NO_CATALOGUE_FILE
    try:
        path = artifact_path(manifest, artifact)
        return CatalogueInput(plain_source(path, cache_dir=cache_dir), artifact.path, sha256_of(path))
    except Fault as fault:
        problems = tuple(_without_notices(problem, artifact) for problem in fault.problems)
    except OSError as error:
        unreadable = Problem("unreadable", f"cannot be read: {error.strerror}", artifact.path)
        problems = (_without_notices(unreadable, artifact),)
    return CatalogueInput(None, artifact.path, "unusable", problems)


def read_notices(catalogue: CatalogueInput) -> Catalogued:
    """Reads the catalogue's warnings and cautions. A file that is no catalogue at all gives a problem."""
    if catalogue.path is None:
        return NOT_CATALOGUED
    try:
        found, issues = read_catalogue(catalogue.path, file=catalogue.file)
    except Fault as fault:
        return Catalogued(problems=fault.problems)
    notices = tuple(attachment for attachment in found.values() if attachment.kind in KINDS)
    return Catalogued(notices if found else None, tuple(issues))


def crowded_problems(notices: Notices, *, file: str) -> tuple[Problem, ...]:
    """One problem for all sections with more notices than are looked for."""
    if not notices.crowded:
        return ()
    doc_id, section, count = notices.crowded[0]
    others = len(notices.crowded) - 1
    more = f", and so have {others:,} other sections" if others else ""
    message = (
        f"section {section[:80]} of {doc_id[:80] or 'no document'} has {count:,} warnings and cautions"
        f"{more}; only the first {MOST_NOTICES} of a section are looked for in the answers"
    )
    remedy = "give each entry of the catalogue the narrowest section that it stands in"
    return (Problem("section_crowded", message, file, remedy, severity="warning"),)


def _without_notices(problem: Problem, artifact: Artifact) -> Problem:
    said = problem.message.removeprefix(f"`{artifact.key}`: ")
    return Problem(
        "catalogue_unusable",
        f"the catalogue {said}; which warnings the answers leave out is not known",
        f"{artifact.key}: {problem.where or artifact.path}",
        problem.remedy or "put the file back and run `proofspan index` again",
    )
