"""Pages are read in other processes: what comes back, what a page may take, and what happens when a process dies."""

import asyncio
import gzip
import os
import re
import resource
import signal
import socket
import zlib
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import brotli  # type: ignore[import-untyped]
import pytest
from tests.builders import a_fetched
from tests.pdf_files import a_pdf

from forager.engine import parser_limits, parser_pool
from forager.engine.parser_pool import ParserPool, open_pool, read_isolated
from forager.engine.parser_protocol import ParserConfig
from forager.engine.pauses import Pauses
from forager.engine.stop import StopRequest
from forager.errors import (
    BrokenError,
    DecodeError,
    ErrorSource,
    ParserCrashError,
    ParserUnavailableError,
    ResponseError,
)
from forager.fetch.decode import decode
from forager.fetch.models import BodyCoding, Fetched
from forager.parsing import page as parser
from forager.parsing.language import LanguageMemory
from forager.parsing.models import DEFAULT_OPTIONS, Reading

CONFIG = ParserConfig(robots_agent="forager")
PAGE = b"""<!doctype html><html lang="de"><head><title>Ein Haus</title><meta name="description" content="Am See">
<link rel="alternate" hreflang="fr" href="/fr"></head><body><h1>Haus</h1><p>Das Haus steht am See und ist sehr alt.</p>
<a href="/a">eins</a> <a href="/b" rel="nofollow">zwei</a><img src="/bild.jpg" alt="Bild"></body></html>"""
FIXTURES = """
import os, time
from pathlib import Path
from forager.parsing import page as parser
from forager.parsing.language import LanguageMemory
from forager.engine import parser_limits

folder = Path({folder!r})
parser_limits.SHARED_CPU_S = parser_limits.ISOLATED_CPU_S = 0.3
real = parser.read

def read(fetched, **how):
    if b"<title>Crash" in fetched.body:
        os.kill(os.getpid(), 11)
    if b"<title>Memory" in fetched.body:
        bytes(parser_limits.MEMORY_BYTES + 64 * 1024**2)
    if b"<title>Time" in fetched.body:
        __import__("re").match("(a|a)*b", "a" * 64)
    if b"<title>Once" in fetched.body and not (folder / "once").exists():
        (folder / "once").touch()
        os.abort()
    while b"<title>Slow" in fetched.body and not (folder / "go on").exists():
        time.sleep(0.01)
    if b"<title>Extractor" in fetched.body and how["extractors"]:
        os.kill(os.getpid(), 11)
    if b"Bug" in fetched.body:
        raise ValueError("an odd page")
    return real(fetched, **how)

parser.read = read
"""


@pytest.fixture
async def pool() -> AsyncIterator[ParserPool]:
    async with open_pool(CONFIG, 1) as pool:
        assert pool is not None
        yield pool


@pytest.fixture
def fixtures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes in which some titles do what the parser might do."""
    (tmp_path / "sitecustomize.py").write_text(FIXTURES.format(folder=str(tmp_path)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def titles(found: Iterable[Reading | BaseException | None]) -> list[str | None]:
    return [reading.title for reading in found if isinstance(reading, Reading)]


def kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def a_page(body: bytes = PAGE, number: int = 0) -> Fetched:
    return a_fetched(200, body, f"http://a.example/{number}", content_type="text/html; charset=utf-8")


def a_numbered(number: int) -> Fetched:
    return a_page(b"<title>Page %d</title><p>Some words here." % number, number)


def children_of(pid: int) -> list[int]:
    children = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            status = (process / "status").read_text()
            if f"PPid:\t{pid}\n" in status and "State:\tZ" not in status:
                children.append(int(process.name))
    return children


def servers() -> list[int]:
    return [pid for pid in children_of(os.getpid()) if "engine.parser_server" in command_of(pid)]


def parsers() -> list[int]:
    """The processes that read pages for us, without the one that keeps the language model."""
    return [
        pid for server in servers() for pid in children_of(server) if memory_limit_of(pid) != resource.RLIM_INFINITY
    ]


def memory_limit_of(pid: int) -> int:
    try:
        return resource.prlimit(pid, resource.RLIMIT_AS)[0]
    except ProcessLookupError:
        return resource.RLIM_INFINITY


def size_of(pid: int) -> tuple[int, int]:
    """Its address space, and its memory without files it maps."""
    total, resident, shared = map(int, Path(f"/proc/{pid}/statm").read_text().split()[:3])
    return total * parser_limits.PAGE_BYTES, (resident - shared) * parser_limits.PAGE_BYTES


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


async def test_what_is_read_elsewhere_is_what_is_read_here(pool: ParserPool) -> None:
    for page in (a_page(), a_page(b"%PDF-1.7 binary"), a_page(b"<p>x"), a_page(b"")):
        assert await pool.read(page) == parser.read(page, **DEFAULT_OPTIONS._asdict(), memory=LanguageMemory())


async def test_many_at_once_each_get_their_own(pool: ParserPool) -> None:
    found = await asyncio.gather(*(pool.read(a_numbered(number)) for number in range(100)))
    assert titles(found) == [f"Page {number}" for number in range(100)]


async def test_a_large_page_passes(pool: ParserPool) -> None:
    words = b"<p>" + b"word " * 1_000_000
    assert titles([await pool.read(a_page(b"<title>Large</title>" + words))]) == ["Large"]


async def test_who_gave_up_does_not_mix_up_the_answers(pool: ParserPool) -> None:
    impatient = [asyncio.create_task(pool.read(a_numbered(number))) for number in range(4)]
    await asyncio.sleep(0)
    patient = [asyncio.create_task(pool.read(a_numbered(number))) for number in range(4, 8)]
    await asyncio.sleep(0)
    for task in impatient:
        task.cancel()
    assert titles([await task for task in patient]) == [f"Page {number}" for number in range(4, 8)]


@pytest.mark.parametrize("kind", ["Crash", "Memory", "Time"])
async def test_a_page_that_ends_its_processes_fails_and_the_others_are_read(fixtures: None, kind: str) -> None:
    async with open_pool(CONFIG, 1) as pool:
        assert pool is not None
        pages = [a_numbered(number) for number in range(20)]
        pages[5] = a_page(b"<title>%s</title>" % kind.encode())
        found = await asyncio.gather(*map(pool.read, pages), return_exceptions=True)
    error = found.pop(5)
    assert isinstance(error, ParserCrashError)
    assert error.blame is ErrorSource.PARSER
    code, says = {
        "Crash": ("parser_crash", "signal 11"),
        "Memory": ("parser_limit", "out of memory"),
        "Time": ("parser_limit", "out of processor time"),
    }[kind]
    assert error.code == code
    assert says in str(error)
    assert titles(found) == [f"Page {number}" for number in range(20) if number != 5]


async def test_a_page_whose_extractors_end_its_processes_is_read_without_them(fixtures: None, tmp_path: Path) -> None:
    async with open_pool(CONFIG._replace(extractors_folder=str(tmp_path)), 1) as pool:
        assert pool is not None
        with pytest.raises(ParserCrashError):  # there are no extractors that could be at fault
            await pool.read(a_page(b"<title>Extractor</title>"))
        (tmp_path / "lamps.toml").write_text('name = "lamps"')
        reading = await pool.read(a_page(b"<title>Extractor</title>"))
    assert titles([reading]) == ["Extractor"]


async def test_a_page_that_ends_a_shared_process_is_read_in_one_of_its_own(fixtures: None) -> None:
    async with open_pool(CONFIG, 1) as pool:
        assert pool is not None
        found = await asyncio.gather(
            pool.read(a_page(b"<title>Once</title>")), *map(pool.read, map(a_numbered, [1, 2]))
        )
    assert titles(found) == ["Once", "Page 1", "Page 2"]


async def test_a_server_that_gets_no_socket_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    real, refusals = socket.socketpair, [OSError(24, "Too many open files")] * 2

    def socketpair() -> tuple[socket.socket, socket.socket]:
        if refusals:
            raise refusals.pop()
        return real()

    monkeypatch.setattr(socket, "socketpair", socketpair)
    pauses = Pauses()
    async with open_pool(CONFIG, 1, pauses=pauses) as pool:
        assert pool is not None
        reading = await pool.read(a_numbered(1))
    assert titles([reading]) == ["Page 1"]
    assert refusals == []
    assert pauses.current is None


async def test_a_suspect_page_is_never_read_where_others_wait(fixtures: None) -> None:
    async with open_pool(CONFIG, 1) as pool:
        assert pool is not None
        await pool.warm_up()
        shared = parsers()
        with pytest.raises(ParserCrashError, match="signal 11"):
            await pool.read(a_page(b"<title>Crash</title>"), is_suspect=True)
        assert {*shared} <= {*parsers()}


async def test_a_slow_page_holds_up_no_others(fixtures: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also large ones: they are read until there is a process for each slow page that may have one."""
    monkeypatch.setattr(parser_pool, "SLOW_S", 0.05)
    large = b"<p>" + b"word " * 100_000
    async with open_pool(CONFIG, 1) as pool:
        assert pool is not None
        slow = [asyncio.create_task(pool.read(a_page(b"<title>Slow</title>" + large))) for _ in range(3)]
        await asyncio.sleep(0)
        others = [a_page(b"<title>Page %d</title>" % number + large) for number in range(20)]
        assert titles(await asyncio.gather(*map(pool.read, others))) == [f"Page {number}" for number in range(20)]
        assert not any(task.done() for task in slow)
        assert len(parsers()) >= 3
        (tmp_path / "go on").touch()
        assert titles(await asyncio.gather(*slow)) == ["Slow"] * 3
        assert titles([await pool.read(a_numbered(1))]) == ["Page 1"]


async def test_a_slow_page_is_ended_however_busy_the_machine_is(
    fixtures: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes no processor time, so the system does not end it, and nobody blames the page."""
    monkeypatch.setattr(parser_pool, "MOST_S", 0.3)
    async with open_pool(CONFIG, 1) as pool:
        assert pool is not None
        with pytest.raises(BrokenError, match="took longer"):
            await pool.read(a_page(b"<title>Slow</title>"))


async def test_a_process_has_the_memory_a_page_may_take_above_its_own(pool: ParserPool) -> None:
    await pool.warm_up()
    (pid,) = parsers()
    limit, (size, _) = memory_limit_of(pid), size_of(pid)
    assert 0 <= limit - size <= parser_limits.MEMORY_BYTES
    assert limit - size > parser_limits.MEMORY_BYTES * 0.9


async def test_memory_of_a_large_page_goes_back_to_the_system(pool: ParserPool) -> None:
    await pool.read(a_page())
    (pid,) = parsers()
    _, before = size_of(pid)
    await pool.read(a_page(b"<ul>" + b"<li><a href=/some/page>text" * 300_000))
    await pool.read(a_page())
    assert size_of(pid)[1] - before < parser_limits.KEPT_BYTES + 16 * 1024 * 1024


LIMIT = 100_000
TEXT = b"<title>Packed</title>" + b"".join(b"<p>word %d" % (number**5) for number in range(1000))
CODINGS = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "br": ("br", bytes(brotli.compress(TEXT, quality=5))),
    "two layers": ("gzip, br", bytes(brotli.compress(gzip.compress(TEXT), quality=5))),
    "no coding": ("utf-8", TEXT),
    "cut off": ("gzip", gzip.compress(TEXT)[:-200]),
    "damaged": ("gzip", gzip.compress(TEXT)[:60] + b"x" * 60),
    "no gzip at all": ("gzip", TEXT),
    "four layers": ("gzip, gzip, gzip, gzip", TEXT),
    "not asked for": ("compress", TEXT),
    "a bomb": ("gzip", gzip.compress(bytes(LIMIT + 1))),
    "nothing in it": ("gzip", gzip.compress(b"")),
}


@pytest.mark.parametrize("name", CODINGS)
async def test_a_compressed_body_is_read_as_a_plain_one_is(pool: ParserPool, name: str) -> None:
    encoding, wire = CODINGS[name]
    packed = replace(a_page(wire), coding=BodyCoding(encoding, LIMIT))
    try:
        body, is_cut = decode(wire, encoding, LIMIT)
    except ResponseError as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            await pool.read(packed)
        return
    plain = replace(a_page(body), is_truncated=is_cut)
    expected = parser.read(plain, **DEFAULT_OPTIONS._asdict(), memory=LanguageMemory()) if body else None
    assert await pool.read(packed) == expected


async def test_a_process_killed_from_outside_costs_nothing(pool: ParserPool) -> None:
    await pool.warm_up()
    killed = parsers()
    reads = asyncio.gather(*(pool.read(a_numbered(number)) for number in range(40)))
    await asyncio.sleep(0)
    kill(killed)
    assert titles(await reads) == [f"Page {number}" for number in range(40)]
    assert not {*parsers()} & {*killed}


async def test_a_killed_server_is_replaced(pool: ParserPool) -> None:
    await pool.warm_up()
    killed = servers(), parsers()
    kill(killed[0])
    assert titles([await pool.read(a_numbered(1))]) == ["Page 1"], "its processes go on"
    kill(killed[1])
    assert titles(await asyncio.gather(*(pool.read(a_numbered(number)) for number in range(9)))) == [
        f"Page {number}" for number in range(9)
    ]
    assert len(servers()) == 1
    assert servers() != killed[0]


async def test_one_page_is_read_in_a_process_of_its_own_without_a_pool(fixtures: None) -> None:
    assert await read_isolated(a_page(), CONFIG) == parser.read(a_page(), **DEFAULT_OPTIONS._asdict())
    with pytest.raises(ParserCrashError):
        await read_isolated(a_page(b"<title>Crash</title>"), CONFIG)
    assert servers() == []


async def test_our_own_bug_comes_with_its_stack(fixtures: None) -> None:
    async with open_pool(CONFIG, 1) as pool:
        assert pool is not None
        with pytest.raises(RuntimeError, match="ValueError: an odd page") as bug:
            await pool.read(a_page(b"Bug"))
        assert 'raise ValueError("an odd page")' in bug.value.__notes__[0]
        assert titles([await pool.read(a_page())]) == ["Ein Haus"]


async def test_a_page_that_cannot_be_parsed_says_so(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from forager.parsing import page as parsing\nfrom forager.errors import DecodeError\n"
        "def read(fetched, **how):\n    raise DecodeError('the page cannot be parsed: too deep')\nparsing.read = read\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    async with open_pool(CONFIG, 1) as pool:
        assert pool is not None
        with pytest.raises(DecodeError, match="too deep"):
            await pool.read(a_page())


BROKEN = "import os, sys\nsys.stderr.write('no such module\\n')\nsys.stderr.flush()\nos._exit(3)\n"


async def test_a_page_waits_while_no_process_starts_and_the_worker_is_paused(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fault = tmp_path / "sitecustomize.py"
    fault.write_text(BROKEN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pauses, failed = Pauses(), asyncio.Event()
    pauses.on_change(failed.set)
    async with open_pool(CONFIG, 1, pauses=pauses) as pool:
        assert pool is not None
        await pool.warm_up()
        reads = asyncio.gather(*(pool.read(a_numbered(number)) for number in range(20)))
        await failed.wait()
        assert pauses.current is not None
        assert (pauses.current.reason, pauses.current.detail) == ("no_parser", "exit code 3: no such module")
        assert pauses.stops(stores_bodies=False)
        fault.unlink()
        assert titles(await reads) == [f"Page {number}" for number in range(20)]
    assert not pauses.stops(stores_bodies=True)
    assert not [line for line in capfd.readouterr().err.splitlines() if line.startswith("no such module")]


async def test_who_stops_does_not_wait_for_a_process_that_never_starts(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(BROKEN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pauses, stop = Pauses(), StopRequest()
    pauses.on_change(stop.ask)
    async with open_pool(CONFIG, 1, pauses=pauses, stop=stop) as pool:
        assert pool is not None
        found = await asyncio.gather(*(pool.read(a_numbered(number)) for number in range(3)), return_exceptions=True)
    assert [type(error) for error in found] == [ParserUnavailableError] * 3


async def test_a_command_is_told_why_no_process_starts(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(BROKEN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(parser_pool, "FIRST_WAIT_S", 0.01)
    with pytest.raises(ParserUnavailableError, match="no parser process starts: exit code 3: no such module"):
        await read_isolated(a_page(), CONFIG, most_starts=2)


async def test_processes_killed_again_and_again_cost_hardly_a_page() -> None:
    async with open_pool(CONFIG, 1) as pool:
        assert pool is not None
        reads = asyncio.gather(*(pool.read(a_numbered(number)) for number in range(60)), return_exceptions=True)
        for _ in range(12):
            kill(parsers())
            await asyncio.sleep(0.05)
        found = await reads
    lost = [error for error in found if isinstance(error, BaseException)]
    assert all(isinstance(error, ParserCrashError) for error in lost)
    assert len(lost) <= 4


async def test_no_process_is_left_when_the_pool_is_closed() -> None:
    async with open_pool(CONFIG, 2) as pool:
        assert pool is not None
        await pool.warm_up()
        assert len(parsers()) >= 2
        pids = [*servers(), *parsers()]
    assert not [pid for pid in pids if "parser_server" in command_of(pid)]


async def test_none_where_the_worker_reads_by_itself() -> None:
    async with open_pool(CONFIG, 0) as pool:
        assert pool is None


async def test_a_pdf_that_needs_too_much_ends_alone(pool: ParserPool) -> None:
    """100 KB that unpack to 100 MB of nested drawing states."""
    packer = zlib.compressobj(9)
    content = b"".join(packer.compress(b"q " * 1_000_000) for _ in range(50)) + packer.flush()
    whole = a_pdf(["HERE"])
    start, end = whole.index(b"<</Length"), whole.index(b"endstream")
    stream = b"<</Filter/FlateDecode/Length %d>>stream\n%s\n" % (len(content), content)
    bomb = whole[:start] + stream + whole[end : whole.index(b"xref\n")] + whole[whole.index(b"trailer") :]
    with pytest.raises(ParserCrashError):
        await pool.read(a_fetched(200, bomb, "http://a.example/bomb.pdf", content_type="application/pdf"))
    after = await pool.read(a_fetched(200, a_pdf(), "http://a.example/a.pdf", content_type="application/pdf"))
    assert after is not None
    assert after.text == "Hello world"
