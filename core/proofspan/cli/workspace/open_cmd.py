"""`proofspan open`: start the dashboard on a workspace, or on one made of files; stop it with Ctrl-C."""

from __future__ import annotations

import ipaddress
import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from proofspan.cli.output import NamedPath
from proofspan.cli.workspace.opening import Asking, is_one_workspace, made_workspace
from proofspan.errors import Fault, InputFault, printable
from proofspan.manifest import trust
from proofspan.manifest.load import load_manifest
from proofspan.manifest.types import Manifest
from proofspan.resources import APP, DASHBOARD
from proofspan.services.opening.uploads import FROM_VARIABLE
from proofspan.services.workspace.open import WORKSPACE_VARIABLE, chosen_folder
from proofspan.traces.formats.types import PageBase

DEFAULT_PORT = 8501
PORTS_TRIED = 100
START_SECONDS = 60
STOP_SECONDS = 5
POLL_SECONDS = 0.2
#: Sent by `kill` and by a closed terminal; Python handles Ctrl-C itself.
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

#: Sections of `.streamlit/config.toml` that hold wherever the dashboard is started from: flags override the
#: user's own configuration and environment.
ENFORCED_SECTIONS = ("server", "browser", "client", "runner")
#: Besides: this command prints the address itself, and no agent may drive the pages.
ENFORCED = {"server.enableAgentApi": False, "logger.hideWelcomeMessage": True}


@click.command("open")
@click.argument("things", metavar="[THING]...", nargs=-1, type=NamedPath())
@click.option("--documents", multiple=True, metavar="DIR", type=NamedPath(), help="Where PDFs are.")
@click.option("--to", type=NamedPath(), help="Folder to make the workspace in; else one in the cache.")
@click.option("--force", is_flag=True, help="Replace what was made in --to before, and only that.")
@click.option("--page-base", type=click.Choice(["0", "1"]), help="Number of a first page, where unknown.")
@click.option("--list", "lists_all", is_flag=True, help="List all fields, missing documents and problems.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to serve on; 8501 or the next free one.")
@click.option("--address", default="127.0.0.1", show_default=True, help="Address to serve on.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="Name of a proxy in front (repeatable).")
@click.option("--allow-unauthenticated", is_flag=True, help="Serve to other machines without a login.")
@click.option("--trust-roots", is_flag=True, help="Confirm folders in `roots` and links without asking.")
@click.option("--browser/--no-browser", default=True, help="Show the dashboard in the browser.")
def command(
    things: tuple[Path, ...],
    documents: tuple[Path, ...],
    to: Path | None,
    force: bool,
    page_base: str | None,
    lists_all: bool,
    port: int | None,
    address: str,
    allow_host: tuple[str, ...],
    allow_unauthenticated: bool,
    trust_roots: bool,
    browser: bool,
) -> None:
    """Open THINGs in the dashboard: a workspace, or what other tools and model APIs write; else the demo.

    THINGs other than a workspace are trace files, exports, API responses, folders of them, and PDFs. Their
    format is recognized by their content. A workspace is made of them, in the cache or in --to, and opens on
    the first finding. PDFs are found by the names that the answers use, also beside the files and in
    --documents.
    """
    address = as_browsers_write(address)
    refuse_open_address(address, allow_unauthenticated=allow_unauthenticated)
    is_workspace, page = is_one_workspace(things), ""
    if is_workspace:
        if documents or to or page_base or force:
            raise click.UsageError("a workspace has its documents and its folder: name it alone")
        manifest = load_manifest(things[0] if things else chosen_folder())
    served_at = choose_port(address, port)
    is_own = is_loopback(address) and not (allow_host or allow_unauthenticated)
    with loading_server(server_command(address, served_at, allow_host)) as server:
        if is_workspace:
            confirm_roots(manifest, trust_all=trust_roots)
        else:
            base: PageBase | None = None if page_base is None else 0 if page_base == "0" else 1
            asking = Asking(page_base=base, trust_all=trust_roots, force=force, lists_all=lists_all)
            manifest, page = made_workspace(things, documents, to, asking)
        environment = {
            WORKSPACE_VARIABLE: str(manifest.file or manifest.folder),
            **({FROM_VARIABLE: str(Path.cwd())} if is_own else {}),
        }
        served_at = choose_port(address, port)  # another may have taken it meanwhile
        run_dashboard(
            server,
            environment,
            url_of(address, served_at),
            served_at,
            name=manifest.name,
            page=page,
            browser=browser,
        )


def as_browsers_write(address: str) -> str:
    """Return the address as browsers write it in the Host header: the server accepts no other spelling."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return address.lower().rstrip(".")


def refuse_open_address(address: str, *, allow_unauthenticated: bool) -> None:
    """Raise InputFault for an address that other machines can reach, unless that was allowed."""
    if allow_unauthenticated or is_loopback(address):
        return
    raise InputFault.of(
        "not_loopback",
        f"{address} can be reached from other machines, and the dashboard has no login",
        where="--address",
        fix="put a proxy that authenticates in front of 127.0.0.1, or add --allow-unauthenticated",
    )


def is_loopback(address: str) -> bool:
    """True if only this machine can reach `address`; of host names only localhost counts."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def confirm_roots(manifest: Manifest, *, trust_all: bool) -> None:
    """Ask about every unconfirmed folder outside the workspace; its files are left out unless confirmed."""
    for name, folder in trust.untrusted_roots(manifest):
        question = (
            f"{printable(manifest.name)} wants to read files in {printable(str(folder))} "
            f"(its root `{name}`). Do you trust it?"
        )
        if trust_all or (sys.stdin.isatty() and click.confirm(question, err=True)):
            trust.remember(manifest.folder, folder)
        else:
            note = (
                f"note: {printable(str(folder))} (root `{name}`) is not read; confirm it with --trust-roots"
            )
            click.echo(note, err=True)


def choose_port(address: str, requested: int | None) -> int:
    """Return the requested port, or else the first free one from 8501. Raises InputFault if it is taken."""
    candidates = [requested] if requested is not None else range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in candidates:
        with socket.socket(family) as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
            return port
    raise InputFault.of(
        "port_taken",
        f"port {requested or DEFAULT_PORT} is taken on {address}, or the address is not this machine's",
        where="--port" if requested is not None else "--address",
        fix="choose another with --port, or stop the program that listens there",
    )


def server_command(address: str, port: int, proxies: Iterable[str] = ()) -> list[str]:
    """Return the server's command line; its flags override configuration files and the environment."""
    config = tomllib.loads((DASHBOARD / ".streamlit" / "config.toml").read_text("utf-8"))
    settings = {
        f"{section}.{name}": value for section in ENFORCED_SECTIONS for name, value in config[section].items()
    }
    hosts = [*allowed_hosts(address), *proxies]
    settings |= {**ENFORCED, "server.address": address, "server.port": port, "server.allowedHosts": hosts}
    flags = [
        f"--{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, values in settings.items()
        for value in (values if isinstance(values, list) else [values])
    ]
    return [sys.executable, "-P", "-m", "proofspan.ui.app.server", str(APP), *flags]


def allowed_hosts(address: str) -> list[str]:
    """Return the host names that requests may use; the address of all interfaces allows any."""
    local = ["localhost", "127.0.0.1"]
    return ["*"] if address in ("0.0.0.0", "::") else sorted({*local, address})  # noqa: S104


@contextmanager
def loading_server(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start the server's process, which loads until `run_dashboard`, and stop it at the end of the block."""
    environment = {name: value for name, value in os.environ.items() if name != FROM_VARIABLE}
    # Streamlit reads `.streamlit/config.toml`, and so the theme, from the working directory. In a session of
    # its own the server does not receive the terminal's Ctrl-C: this process does, and stops it.
    server = subprocess.Popen(
        command, cwd=DASHBOARD, env=environment, stdin=subprocess.PIPE, start_new_session=True
    )
    previous = {number: signal.signal(number, _interrupt) for number in ENDING_SIGNALS}
    try:
        yield server
    finally:
        if server.poll() is None:
            server.terminate()
        try:
            server.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        if server.stdin is not None:
            with suppress(OSError):
                server.stdin.close()
        for number, handler in previous.items():
            signal.signal(number, handler)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def run_dashboard(
    server: subprocess.Popen[bytes],
    environment: Mapping[str, str],
    url: str,
    port: int,
    *,
    name: str,
    page: str,
    browser: bool,
) -> None:
    """Serve until Ctrl-C or a signal, and show `page`. Raises Fault if the server does not start or fails.

    `environment` says which workspace is shown, and from where pages may open files by their paths.
    """
    if server.stdin is not None:
        with suppress(BrokenPipeError):  # a server that has ended is noticed below
            given = {"environment": environment, "port": port}
            server.stdin.write(json.dumps(given).encode() + b"\n")
            server.stdin.flush()
    try:
        _wait_until_it_answers(server, url)
        shown = f"{url}/{page}" if page else url
        click.echo(f"{printable(name)}: {shown}")
        click.echo("Press Ctrl-C to stop.")
        # Without a screen a text browser would take over the terminal.
        screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if browser and (screen or sys.platform in ("darwin", "win32")):
            webbrowser.open(shown)
        _check_status(_wait_for(server))
    except KeyboardInterrupt:  # Ctrl-C is not an error
        click.echo("\nstopped", err=True)


def url_of(address: str, port: int) -> str:
    """Return the dashboard's address for a browser on this machine."""
    host = {"0.0.0.0": "localhost", "::": "localhost", "127.0.0.1": "localhost"}.get(address, address)  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _wait_until_it_answers(server: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            _check_status(server.returncode)
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):  # noqa: S310 - our own address
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise Fault.of(
        "not_started", f"the dashboard did not answer within {START_SECONDS} s", where=url, fix="try again"
    )


def _wait_for(server: subprocess.Popen[bytes]) -> int:
    # Popen.wait would not notice a signal that arrives just as it begins to wait.
    while (status := server.poll()) is None:
        time.sleep(POLL_SECONDS)
    return status


def _check_status(status: int) -> None:
    if status != 0:
        message = f"the dashboard's server ended with status {status}"
        raise Fault.of("server_ended", message, fix="see its message above")
