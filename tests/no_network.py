"""Plugin: a test fails when it, or a Python process that it started, reaches beyond this machine.

A process that runs longer than one test, such as a dashboard, fails the test that runs at that moment.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.network_guard.sitecustomize import RECORD, guard

GUARD = Path(__file__).parent / "network_guard"


def pytest_configure(config: pytest.Config) -> None:
    """Guard this process, and through the environment those that it starts."""
    handle, record = tempfile.mkstemp(prefix="network-")
    os.close(handle)
    config.add_cleanup(partial(Path(record).unlink, missing_ok=True))
    os.environ[RECORD] = record
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(GUARD), os.environ.get("PYTHONPATH")]))
    sys.addaudithook(guard)


@pytest.fixture(autouse=True)
def no_network() -> Iterator[None]:
    """Fail the test while whose run something reached for the network."""
    yield
    _fail_if_used()


@pytest.fixture(scope="session", autouse=True)
def no_network_at_the_end() -> Iterator[None]:
    """The same for what happens as the fixtures of the whole session end."""
    yield
    _fail_if_used()


def _fail_if_used() -> None:
    record = Path(os.environ[RECORD])
    used = record.read_text(encoding="utf-8")
    if used:
        record.write_text("")
        pytest.fail(f"the network was used:\n{used}")
