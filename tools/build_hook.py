"""Put into a wheel what a checkout keeps beside `core`, and the commit that it was built from."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Place in the checkout → place in the wheel.
SHIPPED = {
    "app.py": "proofspan/dashboard/app.py",
    "pages": "proofspan/dashboard/pages",
    ".streamlit/config.toml": "proofspan/dashboard/.streamlit/config.toml",
    "data/demo": "proofspan/data/demo",
    "data/mappings": "proofspan/data/mappings",
    "data/schemas": "proofspan/data/schemas",
}
#: Where a source distribution keeps the commit, and with it a wheel that is built from one.
COMMIT_FILE = "core/proofspan/commit.txt"


class ShippedFiles(BuildHookInterface[Any]):
    """Add the files of `SHIPPED` and the commit to what hatchling packs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        included: dict[str, str] = build_data["force_include"]
        is_wheel = self.target_name == "wheel"
        if is_wheel:
            included.update(SHIPPED)
        if not (Path(self.root) / COMMIT_FILE).exists() and (commit := self._commit()):
            with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
                file.write(commit + "\n")
            self._written = Path(file.name)
            included[file.name] = COMMIT_FILE.removeprefix("core/") if is_wheel else COMMIT_FILE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_written"):
            self._written.unlink()

    def _commit(self) -> str:
        """Return the checkout's commit as `proofspan.version.commit` does; empty outside a git checkout."""
        if not (Path(self.root) / ".git").exists():
            return ""
        asked = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        try:
            answer = subprocess.run(asked, cwd=self.root, capture_output=True, text=True, check=False)
        except OSError:
            return ""
        return answer.stdout.strip()
