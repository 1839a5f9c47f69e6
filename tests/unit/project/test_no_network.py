"""The guard against the network catches lookups and connections, in the test's process and in others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import CHECKOUT

pytestmark = pytest.mark.slow

#: 192.0.2.1 is an address of nobody; names below `.invalid` do not exist.
TESTS = """
import contextlib, socket, subprocess, sys, threading

def swallowed(call, *arguments):
    with contextlib.suppress(Exception):
        call(*arguments)

def test_lookup():
    swallowed(socket.getaddrinfo, "example.invalid", 80)

def test_old_lookup():
    swallowed(socket.gethostbyname, "example.invalid")

def test_connection():
    with socket.socket() as there:
        swallowed(there.connect, ("192.0.2.1", 80))

def test_datagram():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as there:
        swallowed(there.sendto, b"x", ("2001:db8::1", 53))

def test_thread():
    thread = threading.Thread(target=swallowed, args=(socket.create_connection, ("192.0.2.1", 80)))
    thread.start()
    thread.join()

def test_process():
    asks = "import socket; socket.create_connection(('192.0.2.1', 80))"
    subprocess.run([sys.executable, "-c", asks], stderr=subprocess.DEVNULL)

def test_this_machine():
    socket.getaddrinfo("localhost", 80)
    socket.gethostbyname("localhost")
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()):
            pass
    one, other = socket.socketpair()
    one.sendall(b"x")
    with one, other, socket.socket(socket.AF_UNIX) as there:
        swallowed(there.connect, "/none/at/all")
"""


def test_whatever_reaches_beyond_this_machine_fails_its_test(tmp_path: Path) -> None:
    (tmp_path / "test_reaching.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-rA", "--noconftest", "-p", "tests.no_network"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    ended = subprocess.run(
        [*command, str(tmp_path)], cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    failed = set(re.findall(r"^ERROR .*::test_(\w+)", ended.stdout, re.MULTILINE))
    reaching = {"lookup", "old_lookup", "connection", "datagram", "thread", "process"}
    assert failed == reaching, ended.stdout
    assert "the network was used:\n" in ended.stdout
    assert "socket.connect ('192.0.2.1', 80)" in ended.stdout
    assert "7 passed, 6 errors" in ended.stdout
