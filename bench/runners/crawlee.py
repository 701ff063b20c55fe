"""Crawlee for Python, in memory and on the PostgreSQL that listens on this machine."""

import asyncio
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg

from bench.measure import is_postgres, read_process
from bench.run import Job, Run, Skipped
from bench.runners.peer import run_peer

PACKAGE = "crawlee"
MODULE = "bench.peers.crawlee_parsel"
SERVER_VARIABLE = "BENCH_POSTGRES_URL"
DEFAULT_SERVER = "postgresql://127.0.0.1:5432"
CONNECT_TIMEOUT_S = 5.0


def run_memory(crawler: str, job: Job) -> Run | Skipped:
    return run_peer(crawler, MODULE, job, needs=(PACKAGE,), mode="memory")


def run_memory_seen(crawler: str, job: Job) -> Run | Skipped:
    return run_peer(crawler, MODULE, job, needs=(PACKAGE,), mode="memory-seen")


def run_postgres(crawler: str, job: Job) -> Run | Skipped:
    return _run_on_postgres(crawler, job, "postgres")


def run_postgres_seen(crawler: str, job: Job) -> Run | Skipped:
    return _run_on_postgres(crawler, job, "postgres-seen")


def _run_on_postgres(crawler: str, job: Job, mode: str) -> Run | Skipped:
    server = os.environ.get(SERVER_VARIABLE, DEFAULT_SERVER)
    try:
        postmaster = asyncio.run(find_postmaster(server))
    except (OSError, asyncpg.PostgresError, TimeoutError) as error:
        place = server.rpartition("@")[2]  # without a password
        return Skipped(crawler, f"no PostgreSQL at {place} ({error}); name one with {SERVER_VARIABLE}")
    with fresh_database(server) as database:
        url = f"{server}/{database}".replace("postgresql://", "postgresql+asyncpg://", 1)
        return run_peer(crawler, MODULE, job, needs=(PACKAGE,), mode=mode, state=url, postmaster=lambda: postmaster)


async def find_postmaster(server: str) -> int | None:
    """The server's main process: the parent of the one that answers us. None when it is on another machine."""
    conn = await asyncpg.connect(f"{server}/postgres", timeout=CONNECT_TIMEOUT_S)
    try:
        backend = read_process(await conn.fetchval("SELECT pg_backend_pid()"))
        return backend.parent if backend and is_postgres(backend) else None
    finally:
        await conn.close()


@contextmanager
def fresh_database(server: str) -> Iterator[str]:
    """A database of our own; dropped afterwards, with whoever is still connected."""
    name = f"forager_bench_{secrets.token_hex(4)}"
    asyncio.run(_execute(server, f"CREATE DATABASE {name}"))
    try:
        yield name
    finally:
        asyncio.run(_execute(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))


async def _execute(server: str, statement: str) -> None:
    conn = await asyncpg.connect(f"{server}/postgres", timeout=CONNECT_TIMEOUT_S)
    try:
        await conn.execute(statement)
    finally:
        await conn.close()
