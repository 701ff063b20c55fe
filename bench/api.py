"""How many simple reads a second the API serves, alone and beside a crawl, against a bare FastAPI with a constant.

Each server is a process of its own on one port; requests come over connections that stay open. Rates are what a busy
machine leaves; the processor time of a read is the server's own, and the ratio to the bare one is made of that.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.folder import fresh_folder
from bench.measure import read_process
from bench.table import Figure, as_markdown, as_text
from bench.talk import tell
from bench.web import serve_web
from forager import clock
from forager.accounts import service as accounts
from forager.accounts.identity import Role, Scope, operator
from forager.config.settings import Settings
from forager.db import embedded
from forager.instance import open_forager

TALKERS = 16
WARM_S, MEASURED_S = 0.3, 2.0
WANTED_PER_S = 1000.0
BARE = "a bare FastAPI"
PATHS = (("one page", "/api/pages/1"), ("20 domains", "/api/domains?limit=20"), ("/api/stats", "/api/stats"))
BARE_APP = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/")
async def read():
    return {"id": 1, "url": "http://a.example/", "status": "fetched", "title": "A lamp", "depth": 1}
uvicorn.run(app, port=int(sys.argv[1]), http="httptools", loop="uvloop", log_level="error", access_log=False)
"""


@dataclass(frozen=True, slots=True)
class Reads:
    what: str
    beside: str
    """`nothing`, or `a crawl`."""
    per_s: float
    p95_ms: float
    cpu_us: float
    """Processor time of the server's process for one read; PostgreSQL's is not in it."""
    of_bare: float
    """Reads it could serve in the processor time in which the bare one serves one."""


def measure_api(*, sites: int = 4, pages: int = 2000) -> list[Reads]:
    tell("API: simple reads per second, alone and beside a crawl")
    with fresh_folder() as folder:
        home = folder / "home"
        settings = _settings(home)
        try:
            return _measure(settings, folder, sites, pages)
        finally:
            embedded.stop(home)


def _measure(settings: Settings, folder: Path, sites: int, pages: int) -> list[Reads]:
    token = asyncio.run(_prepare(settings))
    found: list[Reads] = []
    with serve_web(sites, pages) as web:
        with _process([sys.executable, "-c", BARE_APP, "8791"], folder) as server:
            bare = asyncio.run(_ask(server.pid, 8791, "/", None))
            found.append(Reads(BARE, "nothing", *bare, 1.0))
        api = [sys.executable, "-m", "forager", "api", "--port", "8790"]
        with _process(api, folder, _environ(settings)) as server:
            ask = partial(_reads, server.pid, token, bare[2])
            found += [ask(what, path, beside="nothing") for what, path in PATHS]
            crawl = [sys.executable, "-m", "forager", "crawl", *(site.seed for site in web.sites), "--quiet"]
            with _process(crawl, folder, _environ(settings)):
                found += [ask(what, path, beside="a crawl") for what, path in PATHS]
    return found


def _reads(pid: int, token: str, bare_us: float, what: str, path: str, *, beside: str) -> Reads:
    per_s, p95_ms, cpu_us = asyncio.run(_ask(pid, 8790, path, token))
    return Reads(what, beside, per_s, p95_ms, cpu_us, bare_us / cpu_us)


def judge_api(found: Sequence[Reads]) -> list[Figure]:
    return [
        Figure(f"API, {each.what}, beside {each.beside}", each.per_s, WANTED_PER_S, True, "/s")
        for each in found
        if each.what != BARE
    ]


def show_api(found: Sequence[Reads], *, is_markdown: bool) -> str:
    shape = as_markdown if is_markdown else as_text
    rows = [
        (r.what, r.beside, f"{r.per_s:,.0f}", f"{r.p95_ms:,.1f}", f"{r.cpu_us:,.0f}", f"{r.of_bare:.2f}") for r in found
    ]
    return "\nAPI\n\n" + shape(("read", "beside", "per second", "p95 ms", "CPU µs", "of bare"), rows, words=2) + "\n"


# Servers -------------------------------------------------------------------------------------------------------------


def _settings(home: Path) -> Settings:
    plenty = dict.fromkeys(("api_rate_limit_anonymous", "api_rate_limit_user", "api_rate_limit_admin"), 10_000_000)
    crawl = {"fetch_allow_networks": ("127.0.0.0/8",), "politeness_no_delay_hosts": ("127.0.0.0/8",)}
    return Settings.of(home=home, **plenty, **crawl)


def _environ(settings: Settings) -> dict[str, str]:
    from forager.config.loader import to_environment

    return {**os.environ, **to_environment(settings)}


async def _prepare(settings: Settings) -> str:
    """A database with a page and 100 domains, and a token that may read."""
    async with open_forager(settings, application="bench") as forager, forager.pool.acquire() as conn:
        await conn.execute(
            "INSERT INTO domains (name, parent_domain, base_url) SELECT 'd' || n || '.example', 'd.example', 'http://d'"
            " FROM generate_series(1, 100) n"
        )
        await conn.execute(
            "INSERT INTO pages (domain_id, url, url_hash, depth, priority) VALUES (1, 'http://d1.example/', $1, 0, 5)",
            bytes(16),
        )
        async with conn.transaction():
            who = operator("cli:bench")
            user = await accounts.add_user(conn, who, "bench", Role.USER, "no hash")
            return (await accounts.create_token(conn, who, user, name="bench", scope=Scope.READ)).token


@contextmanager
def _process(
    command: Sequence[str], folder: Path, environ: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / "log").open("ab") as log:
        started = subprocess.Popen(command, env=environ, stdout=log, stderr=log, cwd=folder)
        try:
            yield started
        finally:
            with suppress(ProcessLookupError):
                started.send_signal(signal.SIGTERM)
            try:
                started.wait(30)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


# Asking --------------------------------------------------------------------------------------------------------------


async def _ask(pid: int, port: int, path: str, token: str | None) -> tuple[float, float, float]:
    """Reads per second, how long 95 % of them took at most (ms), and the server's processor time for one (µs)."""
    await _await_port(port)
    header = f"Authorization: Bearer {token}\r\n" if token else ""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{header}\r\n".encode()
    await asyncio.gather(*(_talk(port, request, WARM_S) for _ in range(TALKERS)))
    began, spent_s = clock.monotonic(), _cpu_s(pid)
    talks = await asyncio.gather(*(_talk(port, request, MEASURED_S) for _ in range(TALKERS)))
    times = sorted(took for talk in talks for took in talk)
    cpu_us = (_cpu_s(pid) - spent_s) / len(times) * 1e6
    return len(times) / (clock.monotonic() - began), times[int(len(times) * 0.95)] * 1000, cpu_us


def _cpu_s(pid: int) -> float:
    process = read_process(pid)
    assert process is not None, "the server has ended"
    return process.cpu_s


async def _talk(port: int, request: bytes, seconds: float) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times: list[float] = []
    until = clock.monotonic() + seconds
    try:
        while (began := clock.monotonic()) < until:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(f"the server answered {head[:200]!r}")
            length = int(head.lower().split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])
            await reader.readexactly(length)
            times.append(clock.monotonic() - began)
    finally:
        writer.close()
    return times


async def _await_port(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            except OSError:
                await asyncio.sleep(0.1)
