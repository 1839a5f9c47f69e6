"""The redirects of a workspace as an index and its pages need them, and what is lost without their file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.contracts.records import LineIssue
from core.contracts.redirects import Redirect
from core.errors import Fault, Problem
from core.manifest.types import Manifest
from core.store.sidefile import Loss, SideFile, find_side_file
from core.traces.redirects import read_redirects


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


def redirects_of(manifest: Manifest, *, cache_dir: Path) -> Mapping[str, Redirect]:
    """The workspace's redirects; none where their file cannot be used, of which the index tells."""
    found = find_side_file(manifest, manifest.redirects, REDIRECTS_LOSS, cache_dir=cache_dir)
    return read_side_redirects(found).by_id
