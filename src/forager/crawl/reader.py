"""A process that reads pages for a worker, one after the other, until the worker hangs up.

The parser is C code and strangers write its input: here it may crash or run wild without harm to a crawl. The other
side is `reading_room`. Both trust each other, they are one program: frames are pickled.
"""

import gc
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from operator import attrgetter
from struct import Struct
from typing import Any, BinaryIO, NamedTuple

from forager.crawl.black_box import LONGEST_READ_S
from forager.errors import DecodeError
from forager.records import Fetched, LinkColumns, Reading

ORDER = Struct("<II")
"""How long the order is, and the body that follows it."""
ANSWER = Struct("<I")
READY = b"ready"
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


def main() -> None:
    from forager import extract

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker says when it is over, by hanging up
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    line = int(sys.argv[1])
    manner = Manner(int(sys.argv[2]), sys.argv[3])
    extract.warm_up()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    memory = extract.LanguageMemory()
    with (
        suppress(BrokenPipeError, ConnectionResetError, EOFError, pickle.UnpicklingError),  # the worker is gone
        open(line, "rb", buffering=1024 * 1024, closefd=False) as orders,
        open(os.dup(line), "wb", buffering=1024 * 1024) as answers,
    ):
        _answer(answers, READY)
        while len(head := orders.read(ORDER.size)) == ORDER.size:
            order_bytes, body_bytes = ORDER.unpack(head)
            order = Order(*pickle.loads(orders.read(order_bytes)))  # noqa: S301 (from our own worker)
            body = orders.read(body_bytes)
            signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_READ_S)  # ends us, in C code too
            answer = _read(order, body, manner, memory)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            _answer(answers, pickle.dumps(answer, protocol=5))


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
        )
    except DecodeError as error:
        return "unreadable", str(error)
    except Exception as bug:
        return "bug", (f"{type(bug).__name__}: {bug}", traceback.format_exc())
    return "reading", pack(reading)


def _answer(answers: BinaryIO, answer: bytes) -> None:
    answers.write(ANSWER.pack(len(answer)) + answer)
    answers.flush()


if __name__ == "__main__":
    main()
