"""Databases for tests: real servers, one empty Forager database per test.

The embedded server is started once per test run and shared by all its processes, as Forager processes share it; each
test gets a copy of a template. `@pytest.mark.both_servers` runs a test on a local PostgreSQL 15 too.
"""

import asyncio
import contextlib
import fcntl
import functools
import gc
import os
import shutil
import signal
import sys
import tempfile
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import asyncpg
import hypothesis
import pytest
import typer
from tests.order import spread
from tests.starter import fork_from_now_on

from forager.db import embedded, schema
from forager.db.embedded.paths import ROLE, SUPERUSER, Place
from forager.db.pool import close, close_pool, connect, open_pool
from forager.errors import DatabaseUnreachableError

EXTERNAL_URL = "postgresql://postgres@127.0.0.1:5432/postgres"
hypothesis.settings.register_profile("busy", deadline=None)  # two cores, six tests at once: any example may take long
hypothesis.settings.load_profile("busy")
KEPT = frozenset({"FORAGER_REQUIRE_SERVICES", "FORAGER_TEST_SEARCH_URL"})
ROOM_BYTES = 6 * 1024**3
RUN_FOLDER = pytest.StashKey[Path]()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    dsn_of: Callable[[str], str]
    copying: str
    """How it copies a template: as files where nothing is ever flushed (35 ms of CPU, not 60), else through the log."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = spread(items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test of a group is remembered by its own name: by the one that xdist gives it `--last-failed` does not find it,
    and what failed is not run again. Only where reports come together: who runs the test knows it by the other."""
    if "xdist_group" in report.keywords and getattr(report, "node", None) is not None:
        report.nodeid = report.nodeid.rpartition("@")[0] or report.nodeid


# One folder per test run, made and removed by the process that was started by hand ----------------------------------


def pytest_configure(config: pytest.Config) -> None:
    for name in [name for name in os.environ if name.startswith("FORAGER_") and name not in KEPT]:
        del os.environ[name]
    os.environ["FORAGER_ALLOW_ROOT"] = "1"  # tests write and read the homes of the processes they start
    os.environ["FORAGER_CRAWL_SITEMAPS"] = "false"  # most tests compare requests with the pages they serve
    os.environ["FORAGER_CRAWL_FEEDS"] = "false"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else each process spins for a while when it loads numpy
    _keep_bytecode()
    _hear_signals()
    COMMANDS_ONCE.start()
    fork_from_now_on()
    shared = getattr(config, "workerinput", {}).get("run_folder")
    config.stash[RUN_FOLDER] = Path(shared) if shared else _make_run_folder()


# 80 ms of CPU for each of a thousand runs of the program in this process: its commands are built once.
COMMANDS_ONCE = mock.patch.object(typer.main, "get_command", functools.cache(typer.main.get_command))


def _keep_bytecode() -> None:
    """Even if the environment says otherwise: collecting then takes a third of the time, a child process two thirds."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


def _hear_signals() -> None:
    """A shell that starts us in the background has Ctrl-C ignored, `nohup` the end of the terminal; what we start would
    inherit that, and tests of signals wait in vain."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def _make_run_folder() -> Path:
    """Outside pytest's own folder, which is closed to the account that root lends to PostgreSQL. In memory, where there
    is plenty: a database is thousands of small files, and making and dropping one takes half of the processor time."""
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ROOM_BYTES
    folder = Path(tempfile.mkdtemp(prefix="forager-test-", dir=memory if has_room else None)).resolve()
    folder.chmod(0o711)
    return folder


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["run_folder"] = str(node.config.stash[RUN_FOLDER])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Nine thousand tests and all they import stay to the end: nobody need look through them for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    folder = config.stash.get(RUN_FOLDER, None)
    if folder is None or hasattr(config, "workerinput"):
        in_thread(_let_go_of_all())
        return
    if (folder / EXTERNAL_MARK).exists():
        in_thread(_drop_all(external_dsn, f"{folder.name}-"))
    in_thread(_let_go_of_all())
    for server in folder.glob("*/postgres"):
        embedded.stop(server.parent)
    shutil.rmtree(folder, ignore_errors=True)


EXTERNAL_MARK = "external.used"


# Servers ------------------------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.definition.get_closest_marker("both_servers"):
        metafunc.parametrize(
            "server", ["embedded_server", "external_server"], indirect=True, ids=["embedded", "external"]
        )


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest) -> Path:
    return request.config.stash[RUN_FOLDER]


@pytest.fixture(scope="session")
def embedded_server(run_folder: Path) -> Iterator[Server]:
    home = run_folder / "server"
    seat = embedded.join(home)
    try:
        in_thread(_prepare_server(Place.of(home).dsn_of("postgres", SUPERUSER)))
        yield Server("embedded", Place.of(home).dsn_of, "FILE_COPY")
    finally:
        in_thread(_let_go_of_all())
        seat.leave()


@pytest.fixture(scope="session")
def external_server(run_folder: Path) -> Server:
    try:
        in_thread(_with_connection(external_dsn("postgres"), lambda c: c.fetchval("SELECT 1")))
    except DatabaseUnreachableError as error:
        if os.environ.get("FORAGER_REQUIRE_SERVICES") == "1":
            raise
        pytest.skip(f"no local PostgreSQL: {error}")
    (run_folder / EXTERNAL_MARK).touch()
    return Server("external", external_dsn, "WAL_LOG")


def external_dsn(database: str) -> str:
    return EXTERNAL_URL.rpartition("/")[0] + "/" + database


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(getattr(request, "param", "embedded_server"))
    return found


# One database per test ----------------------------------------------------------------------------------------------


@pytest.fixture
def empty_database_url(server: Server, run_folder: Path) -> Iterator[str]:
    """A database without any table."""
    with _database(server, f"{run_folder.name}-{uuid.uuid4().hex[:12]}", "template0") as dsn:
        yield dsn


@pytest.fixture
def database_url(server: Server, run_folder: Path) -> Iterator[str]:
    """A database of the test's own, with Forager's tables, all empty."""
    template = _template(server, run_folder)
    with _database(server, f"{run_folder.name}-{uuid.uuid4().hex[:12]}", template) as dsn:
        yield dsn


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[asyncpg.Pool]:
    opened = await open_pool(database_url, size=8, application="forager test")
    yield opened
    await close_pool(opened)


@pytest.fixture
async def conn(database_url: str) -> AsyncIterator[asyncpg.Connection]:
    opened = await connect(database_url, application="forager test")
    yield opened
    await close(opened)


@pytest.fixture
def home(run_folder: Path) -> Iterator[Path]:
    """An empty Forager home; whatever server a test leaves running there is stopped."""
    folder = run_folder / f"home-{uuid.uuid4().hex[:8]}"
    folder.mkdir(mode=0o755)
    yield folder
    assert embedded.stop(folder)
    shutil.rmtree(folder)


@contextlib.contextmanager
def _database(server: Server, name: str, template: str) -> Iterator[str]:
    do(server.dsn_of("postgres"), _create(name, template, server.copying))
    yield server.dsn_of(name)
    do(server.dsn_of("postgres"), _drop(name))


def _create(name: str, template: str, copying: str) -> str:
    return f'CREATE DATABASE "{name}" TEMPLATE "{template}" ENCODING \'UTF8\' STRATEGY {copying}'


def _drop(name: str) -> str:
    return f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'


def _template(server: Server, run_folder: Path) -> str:
    """Made once per test run, by whichever of its processes comes first."""
    name = f"{run_folder.name}-template"
    made = run_folder / f"template.{server.name}"
    with (run_folder / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            do(server.dsn_of("postgres"), _create(name, "template0", server.copying))
            in_thread(_with_connection(server.dsn_of(name), lambda c: schema.create_if_empty(c, name)))
            made.touch()
    return name


async def _with_connection(dsn: str, act: Callable[[Any], Coroutine[Any, Any, T]]) -> T:
    connection = await connect(dsn, application="forager test")
    try:
        return await act(connection)
    finally:
        await close(connection)


async def _prepare_server(dsn: str) -> None:
    """These databases live for one test; a power cut may have them. Tests may do a little more than Forager does: put
    rows where triggers would not, and make roles."""

    async def set_and_reload(connection: Any) -> None:
        await connection.execute("ALTER SYSTEM SET fsync = off")
        await connection.execute("ALTER SYSTEM SET full_page_writes = off")
        await connection.execute("ALTER SYSTEM SET max_wal_size = '512MB'")
        await connection.execute("SELECT pg_reload_conf()")
        await connection.execute(f"GRANT SET ON PARAMETER session_replication_role TO {ROLE}")
        await connection.execute(f"ALTER ROLE {ROLE} CREATEROLE")

    await _with_connection(dsn, set_and_reload)


async def _drop_all(dsn_of: Callable[[str], str], prefix: str) -> None:
    async def drop(connection: Any) -> None:
        for row in await connection.fetch("SELECT datname FROM pg_database WHERE starts_with(datname, $1)", prefix):
            await connection.execute(_drop(row["datname"]))

    await _with_connection(dsn_of("postgres"), drop)


# Beside the test -----------------------------------------------------------------------------------------------------

CONNECTIONS: dict[str, asyncpg.Connection] = {}
"""Database → a connection for what comes again before and after every test; a new one costs more than the work."""


def do(dsn: str, sql: str) -> None:
    in_thread(_do(dsn, sql))


async def _do(dsn: str, sql: str) -> None:
    await (await kept(dsn)).execute(sql)


async def kept(dsn: str) -> asyncpg.Connection:
    if dsn not in CONNECTIONS or CONNECTIONS[dsn].is_closed():
        CONNECTIONS[dsn] = await connect(dsn, application="forager test")
    return CONNECTIONS[dsn]


async def let_go(dsn: str) -> None:
    if dsn in CONNECTIONS:
        await close(CONNECTIONS.pop(dsn))


async def _let_go_of_all() -> None:
    while CONNECTIONS:
        await close(CONNECTIONS.popitem()[1])


@functools.cache
def _loop_beside() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="beside the tests", daemon=True).start()
    return loop


def in_thread(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on another loop: the test's loop is not disturbed, and tests without one can do it too."""
    return asyncio.run_coroutine_threadsafe(work, _loop_beside()).result()
