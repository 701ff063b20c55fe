"""A process that reads pages for a worker, one after the other, until the worker hangs up.

The parser is C code and strangers write its input: here it may crash or run wild without harm to a crawl. The other
side is `reading_room`. Both trust each other, they are one program: frames are pickled.
"""

import gc
import math
import os
import pickle
import resource
import select
import signal
import socket
import sys
import time
import traceback
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter
from struct import Struct
from threading import Thread
from typing import Any, NamedTuple

from forager.crawl.black_box import LONGEST_READ_S, MOST_MEMORY_BYTES
from forager.errors import DecodeError
from forager.records import Fetched, LinkColumns, Reading

ORDER = Struct("<II")
"""How long the order is, and the body that follows it."""
ANSWER = Struct("<I")
READY = b"ready"
MOST_BYTES = 8 * 1024 * 1024
"""Of orders, and of answers, that wait with a reader; about, since the last one may be large."""
RENEWED_AFTER_S = LONGEST_READ_S / 10
"""So much of its time a page may have lost to those before it."""
OUT_OF_MEMORY = 3
"""Exit code: the page is read again the sanitising way."""
FIELDS = attrgetter(*Reading.__slots__)
LINKS = Reading.__slots__.index("links")
BETWEEN = "\0"
"""No link of a page holds one; where one of a feed does, its column travels as it is."""


class Manner(NamedTuple):
    """How all pages of a worker are read."""

    keyword_words: int
    robots_agent: str


class Order(NamedTuple):
    """One page to read; its body follows."""

    url: str
    headers: dict[str, str]
    is_truncated: bool
    parser_name: str
    is_sanitized: bool
    """Because a process died while it read this page."""


def pack(reading: Reading) -> tuple[Any, ...]:
    """Flat, and of the links their columns: sixty strings one by one take three times as long as one long string."""
    links = LinkColumns.of(reading.links)
    values = list(FIELDS(reading))
    values[LINKS] = None
    return _join(links.hrefs), _join(links.anchors), tuple(links.rels), *values


def unpack(packed: tuple[Any, ...]) -> Reading:
    hrefs, anchors, rels, *values = packed
    values[LINKS] = LinkColumns(_split(hrefs), _split(anchors), rels)
    return Reading(*values)


def _join(column: Sequence[str]) -> str | Sequence[str]:
    joined = BETWEEN.join(column)
    return joined if joined.count(BETWEEN) == len(column) - 1 else tuple(column)


def _split(column: str | Sequence[str]) -> Sequence[str]:
    return column.split(BETWEEN) if isinstance(column, str) else column


class Desk:
    """What lies before the reader: orders it has not come to, and answers the worker has not fetched.

    The worker sees to its line only between other things, and the line holds few pages. So between two pages whatever
    has come is taken off it, and an answer there is no room for waits here: the reader reads on meanwhile.
    """

    def __init__(self, line: socket.socket) -> None:
        line.setblocking(False)
        self._line = line
        self._orders: deque[tuple[bytes, bytes]] = deque()
        """With their bodies."""
        self._order_bytes = 0
        self._frame: list[bytes] = []
        """Of what comes now: its measures, the order, the body, as far as they are whole."""
        self._parts: list[bytes] = []
        self._missing = ORDER.size
        """What came of the next of them, and how much is to come."""
        self._answers = bytearray()

    def next_order(self) -> tuple[Order, bytes]:
        """Raises EOFError when the worker has hung up."""
        self._fetch()
        while not self._orders or len(self._answers) > MOST_BYTES:
            self._wait()
            self._fetch()
            self._send()
        order, body = self._orders.popleft()
        self._order_bytes -= len(order) + len(body)
        return Order(*pickle.loads(order)), body  # noqa: S301 (from our own worker)

    def answer(self, answer: bytes) -> None:
        self._answers += ANSWER.pack(len(answer)) + answer
        self._send()

    def _wait(self) -> None:
        """For what may come, and for room for what may go. A worker has many lines: `select` knows the first 1,024."""
        wants = (0 if self._orders else select.POLLIN) | (select.POLLOUT if self._answers else 0)
        waiting = select.poll()
        waiting.register(self._line, wants)
        waiting.poll()

    def _fetch(self) -> None:
        """All that is there, as far as there is room for it. A body is received where it is read: one that is gathered
        first is copied, and that in a buffer which was filled with zeros before."""
        with suppress(BlockingIOError):
            while self._order_bytes < MOST_BYTES:
                came = self._line.recv(self._missing)
                if not came:
                    raise EOFError
                self._parts.append(came)
                self._missing -= len(came)
                if not self._missing:
                    self._take_piece()

    def _take_piece(self) -> None:
        self._frame.append(self._parts[0] if len(self._parts) == 1 else b"".join(self._parts))
        self._parts.clear()
        order_bytes, body_bytes = ORDER.unpack(self._frame[0])
        self._missing = (order_bytes, body_bytes, 0)[len(self._frame) - 1]
        if not self._missing:
            _, order, *body = self._frame
            self._orders.append((order, b"".join(body)))
            self._order_bytes += order_bytes + body_bytes
            self._frame, self._missing = [], ORDER.size

    def _send(self) -> None:
        with suppress(BlockingIOError):
            while self._answers:
                del self._answers[: self._line.send(self._answers)]


class Limit:
    """Ends this process where a page takes longer than a page may, in C code too. Wound up once in a while: for each
    page it would cost more than to look for its title."""

    def __init__(self) -> None:
        self._set_at = -math.inf

    def renew(self) -> None:
        now = time.monotonic()
        if now - self._set_at > RENEWED_AFTER_S:
            signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_READ_S)
            self._set_at = now


def main() -> None:
    from forager import extract

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker says when it is over, by hanging up
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    manner = Manner(int(sys.argv[2]), sys.argv[3])
    extract.warm_up()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    memory = extract.LanguageMemory()
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))
    with (
        suppress(BrokenPipeError, ConnectionResetError, EOFError),  # the worker is gone
        socket.socket(fileno=int(sys.argv[1])) as line,
    ):
        desk, limit = Desk(line), Limit()
        desk.answer(READY)
        Thread(target=extract.keep_detector, daemon=True).start()
        while True:
            order, body = desk.next_order()
            limit.renew()
            desk.answer(pickle.dumps(_read(order, body, manner, memory), protocol=5))


def _read(order: Order, body: bytes, manner: Manner, memory: Any) -> tuple[str, Any]:
    from forager import extract

    fetched = Fetched(order.url, 200, order.headers, body, len(body), 0, is_truncated=order.is_truncated)
    try:
        reading = extract.read(
            fetched,
            keyword_words=manner.keyword_words,
            robots_agent=manner.robots_agent,
            memory=memory,
            parser_name=order.parser_name,
            is_sanitized=order.is_sanitized,
        )
    except DecodeError as error:
        return "unreadable", str(error)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except Exception as bug:
        return "bug", (f"{type(bug).__name__}: {bug}", traceback.format_exc())
    return "reading", pack(reading)


if __name__ == "__main__":
    main()
