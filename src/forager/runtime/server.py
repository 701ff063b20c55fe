"""Runs an ASGI application on the settings' host and port until asked to stop, in one process or several. Independent
of what it serves."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import uvicorn

from forager.config.loader import to_environment
from forager.config.settings import Settings
from forager.engine.child_process import Child
from forager.engine.stop import StopRequest
from forager.errors import ConfigurationError
from forager.interpreter import python_module
from forager.runtime.connections import ConnectionLimits, ConnectionTable, EventLog
from forager.runtime.http_protocol import protocol_for

KEEP_ALIVE_S = 30
GRACE_S = 5
"""How long open requests have to end before their connections are closed."""
BACKLOG = 1024
BIND_AGAIN_S = 0.1
PREDECESSOR_S = 15.0
"""When `forager up` was killed, its API notices within some 2 s, finishes open requests and frees the port."""


def bind(host: str, port: int, *, is_shared: bool = False) -> socket.socket:
    """Returns the socket to listen on; with the port 0, on any free port. It listens at once: until then a second
    process could bind the same port, and early clients wait instead of being refused."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        reason = (error.strerror or str(error)).lower()
        raise ConfigurationError(
            f"The API cannot listen on {host}:{port}: {reason}. Choose another with --port or api.port."
        ) from None
    listening.setblocking(False)
    return listening


async def wait_until_free(host: str, port: int) -> None:
    """Waits until the port can be bound, or `PREDECESSOR_S` have passed: binding it then raises the reason."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PREDECESSOR_S):
            while True:
                with contextlib.suppress(ConfigurationError):
                    return bind(host, port).close()
                await asyncio.sleep(BIND_AGAIN_S)


@contextlib.contextmanager
def bind_many(host: str, port: int, number: int) -> Iterator[list[socket.socket]]:
    """Yields a socket for each process, all on one port: the kernel distributes connections among them. They stay open
    here, so that connections waiting at the socket of a dead process are served by its successor."""
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(bind(host, port))  # not shared: a shared bind ignores others on the port
        if number > 1:
            port = first.getsockname()[1]
            first.close()
            yield [stack.enter_context(bind(host, port, is_shared=True)) for _ in range(number)]
        else:
            yield [first]


def inherit_socket(fd: int) -> socket.socket:
    """Returns a socket that the parent process has bound."""
    try:
        listening = socket.socket(fileno=fd)
    except OSError:
        raise ConfigurationError(f"File {fd} is no socket to listen on: only `forager up` names one.") from None
    listening.setblocking(False)
    return listening


def children(settings: Settings, sockets: Sequence[socket.socket]) -> list[Child]:
    """Returns one API process for each socket."""
    command = python_module("forager", "api", "--attached", "--listening")
    environ = os.environ | to_environment(settings)
    names = ["api"] if len(sockets) == 1 else [f"api {number}" for number in range(1, len(sockets) + 1)]
    return [
        Child(name, (*command, str(each.fileno())), environ, fds=(each.fileno(),))
        for name, each in zip(names, sockets, strict=True)
    ]


async def is_serving(host: str, port: int, *, within_s: float) -> bool:
    """Returns whether a server speaks HTTP there, whatever the status: a socket accepts connections before it is
    served."""
    try:
        async with asyncio.timeout(within_s):
            reader, writer = await asyncio.open_connection(host, port)
            try:
                writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return (await reader.readline()).startswith(b"HTTP/")
            finally:
                writer.close()
    except OSError:  # refused, cut off, or timed out
        return False


def limits_of(settings: Settings) -> ConnectionLimits:
    return ConnectionLimits(
        in_all=settings.api.max_clients,
        per_address=settings.api.max_clients_per_address,
        trusted=settings.api.trusted_proxies,
    ).within_handles()


async def serve(
    app: Any, listening: socket.socket, stop: StopRequest, *, limits: ConnectionLimits, on_stop: Callable[[], None]
) -> None:
    """`on_stop` ends what would never end by itself, such as event streams."""
    table = ConnectionTable(limits, EventLog(asyncio.get_running_loop().call_later))
    config = uvicorn.Config(
        app,
        http=protocol_for(table),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=GRACE_S,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    stopping = asyncio.create_task(stop.wait_requested())
    try:
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        on_stop()
        server.should_exit = True
        await serving
    finally:
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The caller handles signals."""
        yield
