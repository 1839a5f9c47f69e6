"""Which folders outside a workspace a person has allowed it to read, remembered from one start to the next.

A manifest may come from anywhere, so a folder that it names in `roots` is read only after somebody said yes.
The yes belongs to this workspace and this folder together: another workspace that names the same folder asks
again.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import platformdirs

from proofspan.errors import ManifestFault
from proofspan.manifest.types import Manifest

_FILE = "trusted_roots.json"


def config_dir() -> Path:
    """The user's folder for Proofspan's settings; `PROOFSPAN_CONFIG_DIR` overrides it."""
    override = os.environ.get("PROOFSPAN_CONFIG_DIR")
    return Path(override) if override else platformdirs.user_config_path("proofspan", appauthor=False)


def folder_of(manifest: Manifest, name: str) -> Path:
    """The folder that a name in `roots` stands for, links followed; it need not exist."""
    return (manifest.folder / manifest.roots[name]).resolve()


def untrusted_roots(manifest: Manifest) -> tuple[tuple[str, Path], ...]:
    """The names and folders in `roots` that nobody has confirmed for this workspace yet."""
    folders = [(name, folder_of(manifest, name)) for name in sorted(manifest.roots)]
    return tuple((name, folder) for name, folder in folders if not is_trusted(manifest.folder, folder))


def is_trusted(workspace: Path, folder: Path) -> bool:
    """Whether `folder` lies inside the workspace or was confirmed for it."""
    home, wanted = workspace.resolve(), folder.resolve()
    return wanted.is_relative_to(home) or (str(home), str(wanted)) in _remembered()


def remember(workspace: Path, folder: Path) -> None:
    """Confirm `folder` for `workspace`. Raises ManifestFault where that cannot be written down."""
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
        raise ManifestFault.of(
            "not_remembered",
            f"the confirmation cannot be written down: {error.strerror}",
            where=str(target),
            fix="name a folder that can be written: PROOFSPAN_CONFIG_DIR=FOLDER proofspan …",
        ) from None


def _remembered() -> set[tuple[str, str]]:
    """The confirmed pairs; a file that is missing or damaged confirms nothing."""
    try:
        pairs = json.loads((config_dir() / _FILE).read_text(encoding="utf-8"))["trusted"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    entries = pairs if isinstance(pairs, list) else []
    return {(entry[0], entry[1]) for entry in entries if _is_pair(entry)}


def _is_pair(entry: object) -> bool:
    return isinstance(entry, list) and len(entry) == 2 and all(isinstance(path, str) for path in entry)
