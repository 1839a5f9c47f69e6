"""A test that skips although its marker is required fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import CHECKOUT

pytestmark = pytest.mark.slow

CONFTEST = CHECKOUT / "tests" / "conftest.py"
TESTS = """
import pytest

@pytest.mark.browser
def test_marked():
    pytest.skip("no browser")

def test_unmarked():
    pytest.skip("not on this system")

@pytest.mark.real_data
@pytest.mark.xfail
def test_expected_to_fail():
    assert False

@pytest.mark.reference
def test_from_fixture(reference):
    pass
"""


@pytest.mark.parametrize(
    ("required", "summary"),
    [
        ("", "3 skipped, 1 xfailed"),
        ("browser", "1 failed, 2 skipped, 1 xfailed"),
        ("browser,real_data,reference", "1 failed, 1 skipped, 1 xfailed, 1 error"),
    ],
)
def test_a_skip_with_a_required_marker_is_a_failure(tmp_path: Path, required: str, summary: str) -> None:
    shutil.copy(CONFTEST, tmp_path / "conftest.py")
    (tmp_path / "test_some.py").write_text(TESTS)
    markers = "[pytest]\nmarkers =\n    browser\n    real_data\n    reference\n"
    (tmp_path / "pytest.ini").write_text(markers)
    environment = {name: value for name, value in os.environ.items() if name != "PROOFSPAN_REFERENCE"}
    result = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:langsmith_plugin",
            str(tmp_path),
        ],
        env={**environment, "PROOFSPAN_REQUIRE": required, "PYTHONPATH": str(CONFTEST.parents[1])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert summary in result.stdout.splitlines()[-1]
    assert ("required by PROOFSPAN_REQUIRE, but skipped: " in result.stdout) == bool(required)
