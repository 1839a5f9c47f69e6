"""The redirects of a workspace as an index and its pages need them, and what is lost without their file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proofspan.contracts.records import Chunk, LineIssue
from proofspan.contracts.redirects import Redirect
from proofspan.errors import Fault, Problem
from proofspan.manifest.types import Manifest
from proofspan.store.sidefile import Loss, SideFile, find_side_file
from proofspan.traces.chunks import read_chunks
from proofspan.traces.redirects import read_redirects, with_redirects
from proofspan.traces.unpack import plain_source


@dataclass(frozen=True, slots=True)
class Redirects:
    """Where old ids lead. `issues` are the lines that hold none, `problems` say why the file is of no use."""

    by_id: Mapping[str, Redirect] = field(default_factory=dict)
    issues: tuple[LineIssue, ...] = ()
    problems: tuple[Problem, ...] = ()


NO_REDIRECTS = Redirects()
REDIRECTS_LOSS = Loss("redirects_unusable", "the redirects file", "ids of earlier builds name no chunk")


def read_side_redirects(found: SideFile) -> Redirects:
    """Reads the file. One that is none at all gives no redirects and a problem."""
    if found.path is None:
        return NO_REDIRECTS
    try:
        by_id, issues = read_redirects(found.path, file=found.file)
    except Fault as fault:
        return Redirects(problems=fault.problems)
    return Redirects(by_id, tuple(issues))


def read_led_chunks(
    manifest: Manifest, path: Path, *, file: str, cache_dir: Path
) -> tuple[Mapping[str, Chunk], list[LineIssue]]:
    """The workspace's chunks, found by former ids too, and the bad lines of their file, which lies at `path`.

    Redirects that cannot be used lead nowhere; the index tells of them. InputFault where the chunks cannot.
    """
    chunks, issues = read_chunks(plain_source(path, cache_dir=cache_dir), file=file)
    found = find_side_file(manifest, manifest.redirects, REDIRECTS_LOSS, cache_dir=cache_dir)
    return with_redirects(chunks, read_side_redirects(found).by_id), issues
