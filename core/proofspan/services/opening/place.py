"""Where workspaces are kept that were made of other files: in the cache, under a key of their contents."""

from __future__ import annotations

from pathlib import Path

from proofspan.errors import ManifestFault
from proofspan.manifest.load import MANIFEST_NAME

#: The folder of the cache, and the length of a workspace's name there, in hexadecimal digits.
FOLDER, KEY_CHARS = "opened", 16


def place_of(key: str, cache_dir: Path) -> Path:
    """Return the folder of a workspace; it need not exist."""
    return cache_dir / FOLDER / key


def opened_folder(key: str, cache_dir: Path) -> Path:
    """Return the folder of a workspace that was made. Raises ManifestFault if it is not in the cache."""
    folder = place_of(key, cache_dir)
    if (folder / MANIFEST_NAME).is_file():
        return folder
    message = "the files that this address shows were opened elsewhere, or the cache was emptied since"
    raise ManifestFault.of("not_opened", message, where=key, fix="open them again under `Open your data`")
