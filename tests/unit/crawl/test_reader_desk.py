"""A reader's desk over a real line, whose other end sees to it now and then only."""

import pickle
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from forager.crawl import reader
from forager.crawl.reader import ANSWER, ORDER, Desk, Order

BODY = b"x" * 30_000
ANSWERED = b"y" * 20_000
MORE_THAN_A_LINE_HOLDS = 60


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, socket.socket]]:
    worker, reader = socket.socketpair()
    with worker, reader:
        yield worker, reader


def an_order(number: int, body: bytes = BODY) -> bytes:
    order = pickle.dumps(
        tuple(Order(f"http://a.example/{number}", {}, is_truncated=False, parser_name="auto", is_sanitized=False))
    )
    return ORDER.pack(len(order), len(body)) + order + body


def test_pages_are_read_although_nobody_fetches_the_answers(line: tuple[socket.socket, socket.socket]) -> None:
    worker, reader = line
    desk, orders = Desk(reader), list(map(an_order, range(MORE_THAN_A_LINE_HOLDS)))
    worker.sendall(orders[0])
    for number, following in enumerate([*orders[1:], b""]):
        order, body = desk.next_order()
        assert (order.url, body) == (f"http://a.example/{number}", BODY)
        worker.sendall(following)
        desk.answer(b"%d " % number + ANSWERED)
    answers = [b"%d " % number + ANSWERED for number in range(MORE_THAN_A_LINE_HOLDS)]
    expected = b"".join(ANSWER.pack(len(answer)) + answer for answer in answers)
    came = bytearray()
    while len(came) < len(expected):
        came += worker.recv(1 << 20)
        desk._send()
    assert came == expected


def test_orders_are_taken_off_the_line_as_they_come(line: tuple[socket.socket, socket.socket]) -> None:
    """The worker could hand over more than the line holds in one go, though only one page is being read."""
    worker, reader = line
    desk, ahead = Desk(reader), 0
    worker.sendall(an_order(0))
    desk.next_order()
    worker.sendall(an_order(1))
    while ahead < MORE_THAN_A_LINE_HOLDS:
        for number in (ahead + 2, ahead + 3):
            worker.sendall(an_order(number))
        desk.next_order()  # one is read while two come
        ahead += 2
    for number in range(ahead // 2 + 1, ahead + 2):
        assert desk.next_order()[0].url == f"http://a.example/{number}"


def test_what_waits_is_bounded(line: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_BYTES", 3 * len(BODY))
    worker, ours = line
    desk, sent = Desk(ours), 0
    worker.setblocking(False)
    whole = b"".join(map(an_order, range(200)))
    with suppress(BlockingIOError):
        while sent < len(whole):
            sent += worker.send(whole[sent:])
            desk._fetch()
    assert sent < len(whole) / 2


def test_an_order_may_come_in_crumbs(line: tuple[socket.socket, socket.socket]) -> None:
    worker, reader = line
    desk, sent = Desk(reader), an_order(7, b"body") + an_order(8, b"")
    for place in range(len(sent)):
        worker.sendall(sent[place : place + 1])
        desk._fetch()
    assert [(order.url[-1], body) for order, body in (desk.next_order(), desk.next_order())] == [
        ("7", b"body"),
        ("8", b""),
    ]


def test_a_worker_that_hung_up_ends_it(line: tuple[socket.socket, socket.socket]) -> None:
    worker, reader = line
    worker.sendall(an_order(0)[:-1])
    worker.close()
    with pytest.raises(EOFError):
        Desk(reader).next_order()
