"""A parser process's channel over a real socket, whose other end is served now and then only."""

import pickle
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from forager.engine import parser_process
from forager.engine.parser_process import Channel
from forager.engine.parser_protocol import JOB_HEADER, RESULT_HEADER, Job
from forager.parsing.models import ParseOptions

BODY = b"x" * 30_000
RESULT = b"y" * 20_000
MORE_THAN_A_LINE_HOLDS = 60


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, socket.socket]]:
    worker, reader = socket.socketpair()
    with worker, reader:
        yield worker, reader


def a_job(number: int, body: bytes = BODY) -> bytes:
    job = pickle.dumps(
        tuple(Job(f"http://a.example/{number}", {}, is_truncated=False, options=ParseOptions(), coding=None))
    )
    return JOB_HEADER.pack(len(job), len(body)) + job + body


def test_pages_are_read_although_nobody_fetches_the_results(line: tuple[socket.socket, socket.socket]) -> None:
    worker, reader = line
    channel, jobs = Channel(reader), list(map(a_job, range(MORE_THAN_A_LINE_HOLDS)))
    worker.sendall(jobs[0])
    for number, following in enumerate([*jobs[1:], b""]):
        job, body = channel.next_job()
        assert (job.url, body) == (f"http://a.example/{number}", BODY)
        worker.sendall(following)
        channel.send(b"%d " % number + RESULT)
    results = [b"%d " % number + RESULT for number in range(MORE_THAN_A_LINE_HOLDS)]
    expected = b"".join(RESULT_HEADER.pack(len(result)) + result for result in results)
    came = bytearray()
    while len(came) < len(expected):
        came += worker.recv(1 << 20)
        channel._send()
    assert came == expected


def test_jobs_are_taken_off_the_line_as_they_come(line: tuple[socket.socket, socket.socket]) -> None:
    """The worker could hand over more than the line holds in one go, though only one page is being read."""
    worker, reader = line
    channel, ahead = Channel(reader), 0
    worker.sendall(a_job(0))
    channel.next_job()
    worker.sendall(a_job(1))
    while ahead < MORE_THAN_A_LINE_HOLDS:
        for number in (ahead + 2, ahead + 3):
            worker.sendall(a_job(number))
        channel.next_job()  # one is read while two come
        ahead += 2
    for number in range(ahead // 2 + 1, ahead + 2):
        assert channel.next_job()[0].url == f"http://a.example/{number}"


def test_what_waits_is_bounded(line: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parser_process, "MOST_BYTES", 3 * len(BODY))
    worker, ours = line
    channel, sent = Channel(ours), 0
    worker.setblocking(False)
    whole = b"".join(map(a_job, range(200)))
    with suppress(BlockingIOError):
        while sent < len(whole):
            sent += worker.send(whole[sent:])
            channel._receive()
    assert sent < len(whole) / 2


def test_a_job_may_come_in_crumbs(line: tuple[socket.socket, socket.socket]) -> None:
    worker, reader = line
    channel, sent = Channel(reader), a_job(7, b"body") + a_job(8, b"")
    for place in range(len(sent)):
        worker.sendall(sent[place : place + 1])
        channel._receive()
    assert [(job.url[-1], body) for job, body in (channel.next_job(), channel.next_job())] == [
        ("7", b"body"),
        ("8", b""),
    ]


def test_a_worker_that_hung_up_ends_it(line: tuple[socket.socket, socket.socket]) -> None:
    worker, reader = line
    worker.sendall(a_job(0)[:-1])
    worker.close()
    with pytest.raises(EOFError):
        Channel(reader).next_job()
