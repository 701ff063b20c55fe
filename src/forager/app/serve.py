"""Runs an ASGI application on the settings' host and port until asked to stop. Knows nothing of what it serves."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from forager.crawl.stop import StopRequest
from forager.errors import ConfigurationError

KEEP_ALIVE_S = 30
GRACE_S = 5
"""Requests under way have so long to end, then their connections are closed."""
BACKLOG = 1024


def bind(host: str, port: int) -> socket.socket:
    """The socket to listen on; with the port 0, on any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        reason = (error.strerror or str(error)).lower()
        raise ConfigurationError(
            f"The API cannot listen on {host}:{port}: {reason}. Choose another with --port or api_port."
        ) from None
    listening.setblocking(False)
    return listening


async def serve(app: Any, listening: socket.socket, stop: StopRequest, *, on_stop: Callable[[], None]) -> None:
    """`on_stop` ends what would never end by itself, such as streams of events."""
    config = uvicorn.Config(
        app,
        http="httptools",
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
    stopping = asyncio.create_task(stop.wait_asked())
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
        """Signals are our caller's."""
        yield
