"""The folders outside a workspace that the user has allowed it to read.

A manifest may come from anywhere, so a folder in its `roots` is read only after the user confirmed it, for
this workspace and this folder.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import platformdirs

from proofspan.errors import ManifestFault
from proofspan.manifest.types import Manifest
from proofspan.write_errors import write_refusal

_FILE = "trusted_roots.json"


def config_dir() -> Path:
    """Return the folder of the user's settings; `PROOFSPAN_CONFIG_DIR` overrides it."""
    override = os.environ.get("PROOFSPAN_CONFIG_DIR")
    return Path(override) if override else platformdirs.user_config_path("proofspan", appauthor=False)


def folder_of(manifest: Manifest, name: str) -> Path:
    """Return the folder of a name in `roots`, links resolved; it need not exist."""
    return (manifest.folder / manifest.roots[name]).resolve()


def untrusted_roots(manifest: Manifest) -> tuple[tuple[str, Path], ...]:
    """Return the names and folders in `roots` that are not confirmed for this workspace."""
    folders = [(name, folder_of(manifest, name)) for name in sorted(manifest.roots)]
    return tuple((name, folder) for name, folder in folders if not is_trusted(manifest.folder, folder))


def is_trusted(workspace: Path, folder: Path) -> bool:
    """Return whether `folder` is inside the workspace or confirmed for it."""
    home, wanted = workspace.resolve(), folder.resolve()
    return wanted.is_relative_to(home) or (str(home), str(wanted)) in _remembered()


def remember(workspace: Path, folder: Path) -> None:
    """Confirm `folder` for `workspace`. Raises ManifestFault if that cannot be saved."""
    pair = (str(workspace.resolve()), str(folder.resolve()))
    target = config_dir() / _FILE
    pairs = sorted(_remembered() | {pair})
    scratch = target.with_name(f"{_FILE}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(json.dumps({"trusted": pairs}, indent=1) + "\n", encoding="utf-8")
        scratch.replace(target)
    except OSError as error:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        message = f"the confirmation cannot be saved: {write_refusal(error, target).reason}"
        fix = "name a folder that can be written: PROOFSPAN_CONFIG_DIR=FOLDER proofspan …"
        raise ManifestFault.of("not_remembered", message, where=str(target), fix=fix) from None


def _remembered() -> set[tuple[str, str]]:
    """Return the confirmed pairs; a missing or damaged file confirms nothing."""
    try:
        pairs = json.loads((config_dir() / _FILE).read_text(encoding="utf-8"))["trusted"]
        return {(str(workspace), str(folder)) for workspace, folder in pairs}
    except (OSError, ValueError, KeyError, TypeError):
        return set()
