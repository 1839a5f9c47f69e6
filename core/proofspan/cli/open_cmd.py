"""`proofspan open`: start the dashboard on a workspace, safely, and stop it with Ctrl-C."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from proofspan.cli.output import NamedPath
from proofspan.errors import Fault, InputFault, printable
from proofspan.manifest import trust
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.resources import APP, DASHBOARD
from proofspan.services.workspace.open import WORKSPACE_VARIABLE, chosen_folder

DEFAULT_PORT = 8501
PORTS_TRIED = 100
START_SECONDS = 60
STOP_SECONDS = 5
LOOK_SECONDS = 0.2
#: Ctrl-C is Python's own; these come from `kill` and from a terminal that is closed.
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

#: What must hold wherever the dashboard is started from; the same as in `.streamlit/config.toml`.
SERVER_SETTINGS: tuple[tuple[str, str], ...] = (
    ("server.headless", "true"),
    ("server.enableCORS", "true"),
    ("server.enableXsrfProtection", "true"),
    ("server.xsrfCookieSameSite", "strict"),
    ("server.maxUploadSize", "1"),
    ("server.maxMessageSize", "50"),
    ("server.enableStaticServing", "false"),
    ("server.showEmailPrompt", "false"),
    ("server.disconnectedSessionTTL", "60"),
    ("server.fileWatcherType", "none"),
    ("browser.gatherUsageStats", "false"),
    ("client.showErrorDetails", "type"),
    ("client.showErrorLinks", "false"),
    ("client.toolbarMode", "viewer"),
    ("runner.magicEnabled", "false"),
    ("runner.fastReruns", "false"),
)
#: Only here: this command prints the address itself, and no agent may drive the pages.
QUIET_SETTINGS: tuple[tuple[str, str], ...] = (
    ("server.enableAgentApi", "false"),
    ("logger.hideWelcomeMessage", "true"),
)


@click.command("open")
@click.argument("workspace", required=False, type=NamedPath())
@click.option("--port", type=click.IntRange(1, 65535), help="Port to serve on; 8501 or the next free one.")
@click.option("--address", default="127.0.0.1", show_default=True, help="Address to serve on.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="Name of a proxy in front (repeatable).")
@click.option("--allow-unauthenticated", is_flag=True, help="Serve to other machines without a login.")
@click.option("--trust-roots", is_flag=True, help="Confirm the folders in `roots` without asking.")
@click.option("--browser/--no-browser", default=True, help="Show the dashboard in the browser.")
def command(
    workspace: Path | None,
    port: int | None,
    address: str,
    allow_host: tuple[str, ...],
    allow_unauthenticated: bool,
    trust_roots: bool,
    browser: bool,
) -> None:
    """Start the dashboard on WORKSPACE: the demo workspace when none is named."""
    refuse_bare_package()
    address = as_browsers_write(address)
    refuse_open_address(address, allow_unauthenticated=allow_unauthenticated)
    manifest = load_manifest(workspace or chosen_folder())
    confirm_roots(manifest, trust_all=trust_roots)
    served_at = choose_port(address, port)
    run_dashboard(manifest, address, served_at, allow_host, browser=browser)


def as_browsers_write(address: str) -> str:
    """Return the address as a browser's Host header has it: the server answers to no other spelling."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address.lower().rstrip(".")


def refuse_bare_package() -> None:
    """Raise InputFault where the dashboard's libraries are not installed."""
    missing = [name for name in ("streamlit", "plotly") if find_spec(name) is None]
    if missing:
        raise InputFault.of(
            "no_dashboard",
            f"the dashboard needs {' and '.join(missing)}, which this installation does not have",
            fix='install "proofspan[dashboard]"',
        )


def refuse_open_address(address: str, *, allow_unauthenticated: bool) -> None:
    """Raises InputFault where other machines could reach the dashboard and nobody said that they may."""
    if allow_unauthenticated or is_loopback(address):
        return
    raise InputFault.of(
        "not_loopback",
        f"{address} can be reached from other machines, and the dashboard has no login",
        where="--address",
        fix="put a proxy that authenticates in front of 127.0.0.1, or add --allow-unauthenticated",
    )


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches `address`; a host name other than localhost does not count."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def confirm_roots(manifest: Manifest, *, trust_all: bool) -> None:
    """Ask about every folder outside the workspace that nobody has confirmed; a no leaves its files out."""
    for name, folder in trust.untrusted_roots(manifest):
        question = (
            f"{printable(manifest.name)} wants to read files in {printable(str(folder))} "
            f"(its root `{name}`). Do you trust it?"
        )
        if trust_all or (sys.stdin.isatty() and click.confirm(question, err=True)):
            trust.remember(manifest.folder, folder)
        else:
            click.echo(
                f"note: {printable(str(folder))} (root `{name}`) stays out; --trust-roots lets it in",
                err=True,
            )


def choose_port(address: str, wanted: int | None) -> int:
    """`wanted` if it is free, else a fault; without a wish the first free port from 8501 on."""
    candidates = [wanted] if wanted is not None else range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED)
    for port in candidates:
        if _is_free(address, port):
            return port
    raise InputFault.of(
        "port_taken",
        f"port {wanted or DEFAULT_PORT} is taken on {address}, or the address is not this machine's",
        where="--port" if wanted is not None else "--address",
        fix="name another with --port, or stop what listens there",
    )


def _is_free(address: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


def server_command(address: str, port: int, proxies: Iterable[str] = ()) -> list[str]:
    """The program and its flags; they hold over configuration files and the environment."""
    settings = [
        ("server.address", address),
        ("server.port", str(port)),
        *(("server.allowedHosts", host) for host in [*allowed_hosts(address), *proxies]),
        *SERVER_SETTINGS,
        *QUIET_SETTINGS,
    ]
    flags = [f"--{name}={value}" for name, value in settings]
    return [sys.executable, "-P", "-m", "streamlit", "run", str(APP), *flags]


def allowed_hosts(address: str) -> list[str]:
    """Host names that a browser may ask for. An address that stands for all of them allows any."""
    local = ["localhost", "127.0.0.1"]
    return ["*"] if address in ("0.0.0.0", "::") else sorted({*local, address})  # noqa: S104


def run_dashboard(
    manifest: Manifest, address: str, port: int, proxies: Iterable[str], *, browser: bool
) -> None:
    """Serve until Ctrl-C or the end of this process; raises Fault where the server does not stay up."""
    url = url_of(address, port)
    environment = {**os.environ, WORKSPACE_VARIABLE: str(manifest.file or manifest.folder)}
    # The working directory is where Streamlit looks for `.streamlit/config.toml`, and so for the theme. In a
    # session of its own the server does not hear the terminal's Ctrl-C: this process does, and ends it.
    server = subprocess.Popen(
        server_command(address, port, proxies), cwd=DASHBOARD, env=environment, start_new_session=True
    )
    with _stopped_at_the_end(server):
        _wait_until_it_answers(server, url)
        click.echo(f"{printable(manifest.name)}: {url}")
        click.echo("Press Ctrl-C to stop.")
        if browser:
            _show(url)
        _fault_if_it_ended(_ended(server))


def _ended(server: subprocess.Popen[bytes]) -> int:
    """The server's exit status, once it has one.

    Looked for again and again: a signal that comes just as a wait for the process begins is heard only when
    that wait ends.
    """
    while (status := server.poll()) is None:
        time.sleep(LOOK_SECONDS)
    return status


def url_of(address: str, port: int) -> str:
    """Where a browser on this machine finds the dashboard."""
    host = {"0.0.0.0": "localhost", "::": "localhost", "127.0.0.1": "localhost"}.get(address, address)  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _stopped_at_the_end(server: subprocess.Popen[bytes]) -> Iterator[None]:
    """Takes the server down with this command, whichever signal ends it; Ctrl-C is no error."""
    previous = {number: signal.signal(number, _interrupt) for number in ENDING_SIGNALS}
    try:
        yield
    except KeyboardInterrupt:
        click.echo("\nstopped", err=True)
    finally:
        _stop(server)
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _stop(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
    try:
        server.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def _wait_until_it_answers(server: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            _fault_if_it_ended(server.returncode)
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):  # noqa: S310 - our own address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise Fault.of(
        "not_started", f"the dashboard did not answer within {START_SECONDS} s", where=url, fix="try again"
    )


def _fault_if_it_ended(status: int) -> None:
    if status != 0:
        raise Fault.of(
            "server_ended",
            f"the dashboard's server ended with status {status}",
            fix="its own message stands above",
        )


def _show(url: str) -> None:
    """Open a browser window where there is a screen for one; a text browser would take the terminal."""
    has_screen = sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if has_screen:
        webbrowser.open(url)
