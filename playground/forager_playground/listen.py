"""Listening sockets on loopback: one address per site and one port for all.

Where only 127.0.0.1 exists, one port per site instead. Never binds anything outside 127.0.0.0/8.
"""

import errno
import ipaddress
import socket
from collections.abc import Sequence
from contextlib import suppress

from forager.errors import UsageError

BACKLOG = 1024
PORT_TRIES = 50
LOOPBACK = ipaddress.ip_network("127.0.0.0/8")


def list_addresses(host_base: str, count: int) -> list[str]:
    """`count` addresses that follow each other."""
    try:
        first = ipaddress.IPv4Address(host_base)
        last = first + (count - 1)
    except ValueError:
        raise UsageError(f"{host_base!r} is no IPv4 address; write one like 127.0.0.11.") from None
    if first not in LOOPBACK or last not in LOOPBACK:
        raise UsageError(f"The playground serves on loopback only; {first}–{last} is not within {LOOPBACK}.")
    return [str(first + step) for step in range(count)]


def open_sockets(host_base: str, count: int, port: int) -> list[socket.socket]:
    addresses = list_addresses(host_base, count)
    if not _can_bind(addresses[0]):
        return _bind_ports("127.0.0.1", count, port)
    if port:
        return _bind_named(addresses, port)
    for _ in range(PORT_TRIES):
        with suppress(OSError):
            return _bind_all(addresses, 0)
    raise UsageError(f"No port is free on all of {addresses[0]}–{addresses[-1]}; name one with --port.")


def _can_bind(address: str) -> bool:
    """macOS has only 127.0.0.1 unless somebody adds aliases."""
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                return False
            raise
    return True


def _bind_named(addresses: Sequence[str], port: int) -> list[socket.socket]:
    try:
        return _bind_all(addresses, port)
    except OSError as error:
        raise _port_error(f"{addresses[0]}–{addresses[-1]}", port, error) from None


def _bind_all(addresses: Sequence[str], port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        for address in addresses:
            sockets.append(_bind(address, port))
            port = sockets[0].getsockname()[1]
    except OSError:
        _close(sockets)
        raise
    return sockets


def _bind_ports(address: str, count: int, port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    try:
        sockets.extend(_bind(address, port + step if port else 0) for step in range(count))
    except OSError as error:
        _close(sockets)
        raise _port_error(address, port, error) from None
    return sockets


def _bind(address: str, port: int) -> socket.socket:
    sock = socket.socket()
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((address, port))
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def _port_error(where: str, port: int, error: OSError) -> UsageError:
    return UsageError(
        f"Port {port} cannot be used on {where} ({error.strerror}); choose another, or 0 for any free one."
    )


def _close(sockets: Sequence[socket.socket]) -> None:
    for sock in sockets:
        sock.close()
