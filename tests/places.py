"""Where the tests find the workspaces that they open."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]

#: What opens when no workspace is named; its contents are held by `tests/unit/demo/test_build.py`.
DEMO = CHECKOUT / "data" / "demo"

#: A small workspace that stays as it is (15 pages, 14 questions, two runs, six planted faults in its
#: FAULTS.md), so that tests of pages and commands can name its questions while the demo grows.
HANDBOOK = CHECKOUT / "tests" / "handbook"
