"""Serve the dashboard in a process of its own: loaded at once, served when the workspace is known.

    python -m proofspan.ui.app.server APP [FLAG]...

Importing takes longer than making a small workspace, so `proofspan open` starts this first. It serves when
standard input has a line of JSON, with the environment and the port to serve on, and ends without one.
"""

from __future__ import annotations

import json
import os
import sys

from streamlit.web import cli

from proofspan.ui.app import shell  # noqa: F401 - with what the pages need
from proofspan.ui.question import load, navigation, panels, verdict  # noqa: F401


def main() -> None:
    """Wait for what to serve, and serve it."""
    line = sys.stdin.readline()
    if not line:
        return
    given = json.loads(line)
    os.environ.update(given["environment"])
    cli.main(["run", *sys.argv[1:], f"--server.port={given['port']}"], prog_name="streamlit")


if __name__ == "__main__":
    main()
