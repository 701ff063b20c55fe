"""Pages are read in other processes: what comes back, and what happens when one of them dies."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.builders import a_fetched

from forager import extract
from forager.crawl.pauses import Pauses
from forager.crawl.reader import Manner
from forager.crawl.reading_room import ReadingRoom, open_room
from forager.crawl.stop import StopRequest
from forager.errors import DecodeError, ParserCrashError, ParserUnavailableError
from forager.records import Fetched

MANNER = Manner(keyword_words=50, robots_agent="forager")
PAGE = b"""<!doctype html><html lang="de"><head><title>Ein Haus</title><meta name="description" content="Am See">
<link rel="alternate" hreflang="fr" href="/fr"></head><body><h1>Haus</h1><p>Das Haus steht am See und ist sehr alt.</p>
<a href="/a">eins</a> <a href="/b" rel="nofollow">zwei</a><img src="/bild.jpg" alt="Bild"></body></html>"""
KILLER = """
import os
from forager import extract
real = extract.read
def read(fetched, **how):
    if b"Killer" in fetched.body:
        os.kill(os.getpid(), 9)
    if b"Bug" in fetched.body:
        raise ValueError("an odd page")
    return real(fetched, **how)
extract.read = read
"""


NO_GUARD = """
from forager.crawl import black_box
from forager.extract import page
black_box.LONGEST_READ_S = 1.0
page.may_stall = lambda page: False
"""
"""Nothing is held back from the parser, and a page has a second."""
STALLS = b"<title>Stalls</title><a href=/next>x</a>" + b"".join(b"<p a%d>" % i for i in range(10)) + b"<div>" * 60_000
FILLS = (
    b"<title>Fills</title><a href=/next>x</a><p>"
    + b"".join(b"<b a=%d>" % i for i in range(6_000))
    + b"</p>"
    + b"<p>x" * 6_000
)


@pytest.mark.parametrize("body", [STALLS, FILLS], ids=["takes too long", "takes too much memory"])
async def test_a_page_that_ends_its_reader_is_read_the_sanitising_way(
    body: bytes, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_GUARD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    async with open_room(MANNER, 1) as room:
        assert room is not None
        reading = await room.read(a_page(body))
    assert (reading.title, [link.href for link in reading.links]) == (body[7:].partition(b"<")[0].decode(), ["/next"])
    assert "flattened" in reading.flags


@pytest.fixture
async def room() -> AsyncIterator[ReadingRoom]:
    async with open_room(MANNER, 1) as room:
        assert room is not None
        yield room


@pytest.fixture
def a_killer(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers that die of a page that says so."""
    (tmp_path / "sitecustomize.py").write_text(KILLER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def a_page(body: bytes = PAGE, number: int = 0) -> Fetched:
    return a_fetched(200, body, f"http://a.example/{number}", content_type="text/html; charset=utf-8")


def a_numbered(number: int) -> Fetched:
    return a_page(b"<title>Page %d</title><p>Some words here." % number, number)


def readers() -> list[int]:
    """The processes below us that read pages."""
    children = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_ours = f"PPid:\t{os.getpid()}\n" in (process / "status").read_text()
            if is_ours and "forager.crawl.reader" in (process / "cmdline").read_text():
                children.append(int(process.name))
    return children


async def test_what_is_read_elsewhere_is_what_is_read_here(room: ReadingRoom) -> None:
    for page in (a_page(), a_page(b"%PDF-1.7 binary"), a_page(b"<p>x"), a_page(b"")):
        assert await room.read(page) == extract.read(page, keyword_words=50, memory=extract.LanguageMemory())


async def test_many_at_once_each_get_their_own(room: ReadingRoom) -> None:
    found = await asyncio.gather(*(room.read(a_numbered(number)) for number in range(100)))
    assert [reading.title for reading in found] == [f"Page {number}" for number in range(100)]


async def test_a_large_page_passes(room: ReadingRoom) -> None:
    words = b"<p>" + b"word " * 1_000_000
    assert (await room.read(a_page(b"<title>Large</title>" + words))).title == "Large"


async def test_who_gave_up_does_not_mix_up_the_answers(room: ReadingRoom) -> None:
    impatient = [asyncio.create_task(room.read(a_numbered(number))) for number in range(4)]
    await asyncio.sleep(0)
    patient = [asyncio.create_task(room.read(a_numbered(number))) for number in range(4, 8)]
    await asyncio.sleep(0)
    for task in impatient:
        task.cancel()
    assert [(await task).title for task in patient] == [f"Page {number}" for number in range(4, 8)]


async def test_a_page_that_kills_its_readers_is_given_up_and_the_others_are_read(a_killer: None) -> None:
    async with open_room(MANNER, 1) as room:
        assert room is not None
        pages = [a_numbered(number) for number in range(20)]
        pages[5] = a_page(b"<title>Killer</title>")
        found = await asyncio.gather(*map(room.read, pages), return_exceptions=True)
    crash = found.pop(5)
    assert isinstance(crash, ParserCrashError)
    assert [reading.title for reading in found if not isinstance(reading, BaseException)] == [
        f"Page {number}" for number in range(20) if number != 5
    ]


async def test_a_reader_killed_from_outside_costs_nothing(room: ReadingRoom) -> None:
    await room.warm_up()
    (pid,) = readers()
    reads = asyncio.gather(*(room.read(a_numbered(number)) for number in range(40)))
    await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    assert [reading.title for reading in await reads] == [f"Page {number}" for number in range(40)]
    assert readers() not in ([], [pid])


async def test_our_own_bug_comes_with_its_stack(a_killer: None) -> None:
    async with open_room(MANNER, 1) as room:
        assert room is not None
        with pytest.raises(RuntimeError, match="ValueError: an odd page") as bug:
            await room.read(a_page(b"Bug"))
        assert 'raise ValueError("an odd page")' in bug.value.__notes__[0]
        assert (await room.read(a_page())).title == "Ein Haus"


async def test_a_page_that_cannot_be_parsed_says_so(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from forager import extract\nfrom forager.errors import DecodeError\n"
        "def read(fetched, **how):\n    raise DecodeError('the page cannot be parsed: too deep')\nextract.read = read\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    async with open_room(MANNER, 1) as room:
        assert room is not None
        with pytest.raises(DecodeError, match="too deep"):
            await room.read(a_page())


BROKEN = "import os, sys\nsys.stderr.write('no such module\\n')\nsys.stderr.flush()\nos._exit(3)\n"


async def test_a_page_waits_while_no_reader_starts_and_the_worker_is_paused(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fault = tmp_path / "sitecustomize.py"
    fault.write_text(BROKEN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pauses, failed = Pauses(), asyncio.Event()
    pauses.on_change(failed.set)
    async with open_room(MANNER, 1, pauses=pauses) as room:
        assert room is not None
        await room.warm_up()
        reads = asyncio.gather(*(room.read(a_numbered(number)) for number in range(20)))
        await failed.wait()
        assert pauses.current is not None
        assert (pauses.current.reason, pauses.current.detail) == ("no_parser", "exit code 3: no such module")
        assert pauses.stops(stores_bodies=False)
        fault.unlink()
        assert [reading.title for reading in await reads] == [f"Page {number}" for number in range(20)]
    assert not pauses.stops(stores_bodies=True)
    assert not [line for line in capfd.readouterr().err.splitlines() if line.startswith("no such module")]


async def test_who_stops_does_not_wait_for_a_reader_that_never_starts(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(BROKEN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pauses, stop = Pauses(), StopRequest()
    pauses.on_change(stop.ask)
    async with open_room(MANNER, 1, pauses=pauses, stop=stop) as room:
        assert room is not None
        found = await asyncio.gather(*(room.read(a_numbered(number)) for number in range(3)), return_exceptions=True)
    assert [type(error) for error in found] == [ParserUnavailableError] * 3


async def test_readers_killed_again_and_again_also_while_they_start_cost_no_page() -> None:
    async with open_room(MANNER, 1) as room:
        assert room is not None
        reads = asyncio.gather(
            *(room.read(a_numbered(number)) for number in range(60)),
            return_exceptions=True,
        )
        for _ in range(12):
            for pid in readers():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            await asyncio.sleep(0.05)
        found = await reads
    lost = [error for error in found if isinstance(error, BaseException)]
    assert all(isinstance(error, ParserCrashError) for error in lost)
    assert len(lost) <= 6


async def test_nobody_is_left_when_the_room_is_closed() -> None:
    async with open_room(MANNER, 2) as room:
        assert room is not None
        await room.warm_up()
        assert len(readers()) == 2
    assert readers() == []


async def test_none_where_the_worker_reads_by_itself() -> None:
    async with open_room(MANNER, 0) as room:
        assert room is None
