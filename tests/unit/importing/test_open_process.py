"""`proofspan open` as a process: it serves, keeps its settings from anywhere, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

from proofspan.cli.workspace import open_cmd
from proofspan.ui.app import security

pytestmark = pytest.mark.slow

SECONDS = 60


@dataclass
class Running:
    process: subprocess.Popen[str]
    url: str
    lines: list[str]

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])


def start(folder: Path, *arguments: str, **env: str) -> Running:
    process = subprocess.Popen(
        [sys.executable, "-m", "proofspan.cli", "open", "--no-browser", *arguments],
        cwd=folder,
        env={**os.environ, "PROOFSPAN_CACHE_DIR": str(folder), "PROOFSPAN_CONFIG_DIR": str(folder), **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watchdog = threading.Timer(SECONDS, process.kill)
    watchdog.start()
    lines: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line.rstrip())
        if line.startswith("Press Ctrl-C"):
            break
    watchdog.cancel()
    urls = [part for line in lines for part in line.split() if part.startswith("http://")]
    return Running(process, urls[0] if urls else "", lines)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The demo, started from a folder that is not the checkout, under an environment that wants it open."""
    folder = tmp_path_factory.mktemp("elsewhere")
    # Where tests run in a shell's background Ctrl-C is ignored, and so it would be by what they start.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = start(folder, STREAMLIT_SERVER_ADDRESS="0.0.0.0", STREAMLIT_SERVER_ALLOWED_HOSTS="*")  # noqa: S104
    signal.signal(signal.SIGINT, before)
    yield started
    if started.process.poll() is None:
        started.process.terminate()
    started.process.wait(timeout=SECONDS)


def first_line(port: int, request: str) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(request.encode())
        return connection.recv(4096).split(b"\r\n", 1)[0].decode()


def handshake(port: int, host: str) -> str:
    return first_line(
        port,
        f"GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )


def test_it_prints_the_address_and_serves_with_the_headers(running: Running) -> None:
    assert running.lines[-2].startswith("Meridian owner's manual: http://localhost:")
    with urllib.request.urlopen(running.url, timeout=SECONDS) as answer:  # noqa: S310
        assert (
            answer.headers["Content-Security-Policy"]
            == security.response_headers()["Content-Security-Policy"]
        )


def test_it_listens_on_this_machine_alone_whatever_the_environment_says(running: Running) -> None:
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", running.port)) == 0
    with socket.socket() as probe:  # another address of this machine, which `0.0.0.0` would include
        assert probe.connect_ex(("127.0.0.2", running.port)) != 0


def test_a_page_of_another_site_cannot_talk_to_it_under_a_borrowed_name(running: Running) -> None:
    assert "101" in handshake(running.port, f"localhost:{running.port}")
    assert "403" in handshake(running.port, "attacker.example")


def test_a_second_one_takes_another_port_and_each_signal_ends_one_cleanly(
    running: Running, tmp_path: Path
) -> None:
    second = start(tmp_path)
    assert second.url and second.port != running.port
    third = start(tmp_path)
    for one, sign in ((second, signal.SIGTERM), (third, signal.SIGHUP), (running, signal.SIGINT)):
        one.process.send_signal(sign)
        assert one.process.wait(timeout=SECONDS) == 0
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", one.port)) != 0


def test_a_server_that_cannot_start_is_reported_with_status_2(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        result = start(tmp_path, "--port", str(listener.getsockname()[1]))
    assert result.process.wait(timeout=SECONDS) == 2
    assert "is taken on 127.0.0.1" in result.lines[-1]


def test_a_signal_that_interrupts_no_wait_is_heard_all_the_same() -> None:
    """As one does that comes just as the wait for the server begins; here another thread receives it."""

    def hear(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def send() -> None:
        time.sleep(0.3)
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, hear)
    server = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    sender = threading.Thread(target=send)
    try:
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            open_cmd._wait_for(server)
        assert server.poll() is None
    finally:
        sender.join()
        signal.signal(signal.SIGUSR1, before)
        server.kill()
        server.wait()
