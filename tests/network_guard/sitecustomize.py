"""Refuse what would leave this machine: every Python process with this folder on its path imports this first.

What is refused is also written down, since a program may well swallow the error. Only Python's own sockets
are seen, not those that a library opens in native code.
"""

from __future__ import annotations

import os
import sys

#: The variable that names the file to write to; without it nothing is refused.
RECORD = "PROOFSPAN_TEST_NETWORK_RECORD"

#: Audit events whose second argument is an address, and those whose first is a host or an address.
SENDING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
LOOKING_UP = frozenset(
    {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"}
)


def guard(event: str, args: tuple[object, ...]) -> None:
    """Audit hook: raise PermissionError for a connection or a lookup beyond this machine."""
    if event in SENDING:
        import socket  # only here, and it is loaded already: no process should start slower for this

        sender, address = args[:2]
        is_local = sender.family not in (socket.AF_INET, socket.AF_INET6) or _is_local(address)  # type: ignore[attr-defined]
    elif event in LOOKING_UP:
        address = args[0]
        is_local = _is_local(address)
    else:
        return
    if not is_local:
        used = f"{event} {address!r}"
        if record := os.environ.get(RECORD):
            with open(record, "a", encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow to import
                file.write(f"{used}\n")
        raise PermissionError(f"no test may use the network: {used}")


def _is_local(address: object) -> bool:
    """Return whether a host, or that in a socket's address, is this machine; None is nothing to look up."""
    host = address[0] if isinstance(address, tuple) else address
    if isinstance(host, bytes | bytearray):
        host = host.decode("utf-8", "replace")
    if host in (None, "", "localhost"):
        return True
    import ipaddress

    try:
        ip = ipaddress.ip_address(str(host))
    except ValueError:
        return False
    return ip.is_loopback or ip.is_unspecified


if RECORD in os.environ:
    sys.addaudithook(guard)
