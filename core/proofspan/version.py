"""The version, the commit, and the versions of the locator and of the checking of claims."""

from __future__ import annotations

import subprocess
from importlib import metadata
from typing import Final

from proofspan.resources import CHECKOUT, PACKAGE

try:
    __version__ = metadata.version("proofspan")
except metadata.PackageNotFoundError:  # a source folder on the import path that nobody installed
    __version__ = "0+unknown"

#: Raise this when a quote may be located elsewhere than before, or when more is stored of a located span:
#: then citations that another version located are located again.
#: `tests/unit/locating/test_locator_version.py` fails until it is raised.
LOCATOR_VERSION: Final = 5
#: Raise this when a claim may be checked otherwise than before: then the claims that another version checked
#: are checked again. `tests/unit/claims/test_version.py` fails until it is raised.
CLAIMS_VERSION: Final = 2


def commit() -> str:
    """Return the commit as `git describe` abbreviates it, ending in `-dirty` for changed files; else ""."""
    if CHECKOUT is None:
        file = PACKAGE / "commit.txt"
        return file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    asked = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    try:
        answer = subprocess.run(asked, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    except OSError:  # no git on this machine
        return ""
    return answer.stdout.strip()


def version_text() -> str:
    """Return what `proofspan --version` prints: `proofspan 0.1.0 (3b1a27f0c1d2)`."""
    return f"proofspan {__version__} ({known})" if (known := commit()) else f"proofspan {__version__}"
