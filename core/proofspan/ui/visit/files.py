"""States of a workspace's files for keys of caches, each looked up once in a run of a page's script."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec

from proofspan.errors import Fault
from proofspan.fingerprints import file_state
from proofspan.manifest.paths import artifact_path, roots_resolved_once
from proofspan.manifest.types import Artifact, Manifest

P = ParamSpec("P")

#: The states seen in this run of the script; None outside of one, where every look is a new one.
_seen: ContextVar[dict[tuple[str, str | None, str], str] | None] = ContextVar("seen", default=None)


def looks_once(script: Callable[P, None]) -> Callable[P, None]:
    """Decorate a script: while it runs, a file is looked up once; a run shows the files of one moment."""

    @wraps(script)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        before = _seen.set({})
        try:
            with roots_resolved_once():
                script(*args, **kwargs)
        finally:
            _seen.reset(before)

    return run


def state_of(manifest: Manifest, artifact: Artifact | None) -> str:
    """Return what changes when the artifact's file does, or appears, or disappears; "" for None."""
    if artifact is None:
        return ""
    seen = _seen.get()
    if seen is None:
        return _state_of(manifest, artifact)
    key = (str(manifest.folder), artifact.root, artifact.path)
    if key not in seen:
        seen[key] = _state_of(manifest, artifact)
    return seen[key]


def states_of_run(manifest: Manifest, run_id: str) -> tuple[str, ...]:
    """Return what changes whenever a file of a run does, or one that all runs share.

    What people write of its answers changes none of them, and is written all the time.
    """
    named = (each for each in manifest.artifacts(of_run=run_id) if each is not manifest.annotations)
    return tuple(state_of(manifest, artifact) for artifact in named)


def _state_of(manifest: Manifest, artifact: Artifact) -> str:
    try:
        return file_state(artifact_path(manifest, artifact))
    except Fault as fault:
        return fault.problems[0].code
