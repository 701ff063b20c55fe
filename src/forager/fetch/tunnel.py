"""The handshake with a proxy before it carries our bytes: HTTP CONNECT (RFC 9110) or SOCKS5 (RFC 1928, 1929).

The proxy gets the address that was checked, never a name: a proxy that resolved names itself could be directed to any
address. Raises ProxyError where the proxy is at fault, ConnectError where it reports that it cannot reach the site.
"""

import asyncio
import base64
from collections.abc import Callable
from ipaddress import ip_address
from typing import cast

from forager.errors import ConnectError, ProxyError
from forager.proxies.models import Proxy

MOST_ANSWER_BYTES = 16 * 1024
NO_ACCOUNT, ACCOUNT = 0, 2
SITE_IS_AWAY = frozenset({502, 503, 504})
SOCKS_SITE_IS_AWAY = {
    3: "the network cannot be reached",
    4: "the host cannot be reached",
    5: "the connection was refused",
    6: "it took too many hops",
}
SOCKS_REFUSALS = {
    1: "general failure",
    2: "its rules forbid it",
    7: "it does not connect",
    8: "it knows no such address",
}


class ProxyHandshake(asyncio.Protocol):
    """Protocol for the handshake with a proxy; afterwards its transport belongs to the tunnelled connection."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._heard = bytearray()
        self._waiter: asyncio.Future[None] | None = None
        self._is_over = False

    @property
    def transport(self) -> asyncio.Transport:
        if self._transport is None or self._is_over:
            raise ConnectionResetError("it hung up")
        return self._transport

    @property
    def is_silent(self) -> bool:
        """Returns whether no unrequested bytes were received."""
        return not self._heard

    def say(self, words: bytes) -> None:
        self.transport.write(words)

    async def hear(self, length_of: Callable[[bytearray], int]) -> bytes:
        """Receives a message. `length_of` returns how many bytes the message has, given those received so far; 0:
        more are needed to know."""
        while not (wanted := length_of(self._heard)) or len(self._heard) < wanted:
            if len(self._heard) > MOST_ANSWER_BYTES:
                raise ConnectionResetError("it said more than a proxy has to say")
            if self._is_over:
                raise ConnectionResetError("it hung up")
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        words = bytes(self._heard[:wanted])
        del self._heard[:wanted]
        return words

    async def receive_bytes(self, count: int) -> bytes:
        return await self.hear(lambda _heard: count)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._heard += data
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._is_over = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


async def check_login(talk: ProxyHandshake, via: Proxy) -> None:
    """Performs the part of the handshake that needs no site: authenticates with a proxy that requires it first."""
    if via.protocol == "socks5":
        await _sign_in(talk, via)


async def open_tunnel(talk: ProxyHandshake, via: Proxy, address: str, port: int, where: str) -> None:
    """Opens a tunnel; `where` is the site's name for messages."""
    if via.protocol == "socks5":
        await _sign_in(talk, via)
        await _connect_socks(talk, via, address, port, where)
    else:
        await _connect_http(talk, via, address, port, where)
    if not talk.is_silent:
        raise ProxyError(f"{via.name} spoke before it was asked")


def authorization(via: Proxy) -> str:
    """Returns the authorization header line, which only the proxy receives; empty where it needs none."""
    if via.username is None:
        return ""
    account = base64.b64encode(f"{via.username}:{via.password or ''}".encode()).decode("ascii")
    return f"Proxy-Authorization: Basic {account}\r\n"


async def _connect_http(talk: ProxyHandshake, via: Proxy, address: str, port: int, where: str) -> None:
    place = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
    talk.say(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{authorization(via)}\r\n".encode("ascii"))
    answer = await talk.hear(_length_of_head)
    status = _status_of(answer, via)
    if 200 <= status < 300:
        return
    if status in SITE_IS_AWAY:
        raise ConnectError(f"{where} could not be reached through {via.name}, which answered {status}")
    if status == 407:
        raise proxy_auth_error(via)
    hint = "" if port == 443 else f"; one that forwards plain http is added with --forward (port {port} is asked for)"
    raise ProxyError(f"{via.name} refused a tunnel with {status}{hint}")


def proxy_auth_error(via: Proxy) -> ProxyError:
    ours = "the user name and password it was added with" if via.username else "us without a user name and password"
    return ProxyError(f"{via.name} does not accept {ours}")


def _length_of_head(heard: bytearray) -> int:
    end = heard.find(b"\r\n\r\n")
    return end + 4 if end >= 0 else 0


def _status_of(answer: bytes, via: Proxy) -> int:
    version, _, rest = answer.partition(b" ")
    code = rest[:3]
    if not version.startswith(b"HTTP/1.") or not code.isdigit() or rest[3:4] not in {b" ", b"\r"}:
        raise ProxyError(f"{via.name} does not answer in HTTP")
    return int(code)


async def _sign_in(talk: ProxyHandshake, via: Proxy) -> None:
    methods = bytes([NO_ACCOUNT]) if via.username is None else bytes([NO_ACCOUNT, ACCOUNT])
    talk.say(bytes([5, len(methods)]) + methods)
    version, method = await talk.receive_bytes(2)
    if version != 5:
        raise ProxyError(f"{via.name} does not speak SOCKS5")
    if method == ACCOUNT and via.username is not None:
        name, password = via.username.encode(), (via.password or "").encode()
        talk.say(bytes([1, len(name)]) + name + bytes([len(password)]) + password)
        _, verdict = await talk.receive_bytes(2)
        if verdict != 0:
            raise proxy_auth_error(via)
    elif method != NO_ACCOUNT:
        raise proxy_auth_error(via)


async def _connect_socks(talk: ProxyHandshake, via: Proxy, address: str, port: int, where: str) -> None:
    ip = ip_address(address)
    talk.say(bytes([5, 1, 0, 1 if ip.version == 4 else 4]) + ip.packed + port.to_bytes(2, "big"))
    answer = await talk.hear(_length_of_socks)
    if answer[0] != 5:
        raise ProxyError(f"{via.name} does not speak SOCKS5")
    verdict = answer[1]
    if verdict in SOCKS_SITE_IS_AWAY:
        raise ConnectError(f"{where} could not be reached through {via.name}: {SOCKS_SITE_IS_AWAY[verdict]}")
    if verdict != 0:
        raise ProxyError(f"{via.name} refused a tunnel: {SOCKS_REFUSALS.get(verdict, f'error {verdict}')}")


def _length_of_socks(heard: bytearray) -> int:
    """Returns the length of a SOCKS5 reply, which ends with the proxy's bound address in one of three forms."""
    if len(heard) < 5:
        return 0
    lengths = {1: 4, 3: 1 + heard[4], 4: 16}
    return 4 + lengths.get(heard[3], 4) + 2
