"""A process that parses pages for a worker, one after the other, until the worker closes its end of the socket.

The parser is C code and its input is untrusted: here it may crash, hang or use up memory without harm to a crawl. Each
page has limits (`parser_limits`); a page that exceeds them ends the process. Forked by `parser_server`; the worker's
side is `parser_client`.
"""

import mmap
import os
import pickle
import select
import socket
import traceback
from collections import deque
from contextlib import suppress
from typing import Any

from forager.engine import parser_limits
from forager.engine.parser_protocol import JOB_HEADER, READY, RESULT_HEADER, Job, ParserConfig, pack
from forager.errors import ResponseError
from forager.fetch.decode import decompress
from forager.fetch.models import Fetched
from forager.parsing import page as parser
from forager.parsing.language import LanguageMemory
from forager.plugins import registry
from forager.plugins.guards import ProcessGuard

MOST_BYTES = 4 * 1024 * 1024
"""Approximate limit of buffered jobs, and of buffered results, in bytes; the last one may exceed it."""


class Channel:
    """Buffers jobs that wait to be read, and results that the worker has not received.

    The worker serves its sockets only between other work, and a socket buffer holds few pages. So between two pages
    this process receives everything that has arrived, and keeps results that do not fit into the socket buffer: it
    reads the next page meanwhile.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._jobs: deque[tuple[bytes, bytes]] = deque()
        """Each job with its body."""
        self._job_bytes = 0
        self._frame: list[bytes] = []
        """The complete parts of the frame being received: header, job, body."""
        self._parts: list[bytes] = []
        self._missing = JOB_HEADER.size
        """The received pieces of the next part, and the number of bytes still missing."""
        self._results = bytearray()

    def next_job(self) -> tuple[Job, bytes]:
        """Returns the next job; raises EOFError when the worker has closed its end."""
        self._receive()
        while not self._jobs or len(self._results) > MOST_BYTES:
            self._wait()
            self._receive()
            self._send()
        job, body = self._jobs.popleft()
        self._job_bytes -= len(job) + len(body)
        return Job(*pickle.loads(job)), body  # noqa: S301 (from our own worker)

    def send(self, result: bytes) -> None:
        self._results += RESULT_HEADER.pack(len(result)) + result
        self._send()

    def _wait(self) -> None:
        """Waits for jobs, and for free space in the socket buffer for results. Uses `poll`, as a worker has many
        sockets and `select` supports descriptors below 1,024 only."""
        wants = (0 if self._jobs else select.POLLIN) | (select.POLLOUT if self._results else 0)
        waiting = select.poll()
        waiting.register(self._socket, wants)
        waiting.poll()

    def _receive(self) -> None:
        """Receives everything available, up to the buffer limit. A body is received directly into its final buffer:
        collecting it first would copy it, into a buffer that was zeroed before."""
        with suppress(BlockingIOError):
            while self._job_bytes < MOST_BYTES:
                came = self._socket.recv(self._missing)
                if not came:
                    raise EOFError
                self._parts.append(came)
                self._missing -= len(came)
                if not self._missing:
                    self._add_part()

    def _add_part(self) -> None:
        self._frame.append(self._parts[0] if len(self._parts) == 1 else b"".join(self._parts))
        self._parts.clear()
        job_bytes, body_bytes = JOB_HEADER.unpack(self._frame[0])
        self._missing = (job_bytes, body_bytes, 0)[len(self._frame) - 1]
        if not self._missing:
            _, job, *body = self._frame
            self._jobs.append((job, b"".join(body)))
            self._job_bytes += job_bytes + body_bytes
            self._frame, self._missing = [], JOB_HEADER.size

    def _send(self) -> None:
        with suppress(BlockingIOError):
            while self._results:
                del self._results[: self._socket.send(self._results)]


def serve(sock: socket.socket, config: ParserConfig, *, cpu_s: float, marker: mmap.mmap) -> None:
    """Reads pages until the worker closes its end; a page that takes longer than `cpu_s` ends the process. `marker`
    names the plug-in that is being called."""
    plugins = config.plugin_config
    registry.configure(plugins).guard = ProcessGuard(
        marker, timeout_s=plugins.timeout_s, memory_exit_code=parser_limits.OUT_OF_MEMORY
    )
    memory, free_memory = LanguageMemory(), parser_limits.FreeMemory()
    parser_limits.limit_memory()
    with suppress(BrokenPipeError, ConnectionResetError, EOFError), sock:  # the worker is gone
        channel = Channel(sock)
        channel.send(READY)
        while True:
            job, body = channel.next_job()
            registry.current().leave_out(job.left_out)
            parser_limits.start_cpu_limit(cpu_s)
            channel.send(pickle.dumps(_read(job, body, config, memory), protocol=5))
            del body
            free_memory.give_back()


def _read(job: Job, body: bytes, config: ParserConfig, memory: Any) -> tuple[str, Any]:
    try:
        fetched = decompress(
            Fetched(job.url, 200, job.headers, body, len(body), 0, is_truncated=job.is_truncated, coding=job.coding)
        )
        if not fetched.body and body:
            return "empty", None
        reading = parser.read(fetched, **config.read_arguments, memory=memory, **job.options._asdict())
        return "reading", pack(reading)
    except ResponseError as error:
        return "unreadable", (type(error).__name__, str(error))
    except MemoryError:
        os._exit(parser_limits.OUT_OF_MEMORY)
    except Exception as bug:
        return "bug", (f"{type(bug).__name__}: {bug}", traceback.format_exc())
