"""The database is away in the middle of a crawl: frozen, frozen for longer than a lease, refusing connections; or the
connections to it are ended one and all.

Workers stop claiming, finish what is in flight, keep a bounded number of outcomes, make no request without a lease, and
go on by themselves. Nothing is lost, and nothing is fetched twice.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager, Web, tell, until
from tests.wire import a_wire_to_database

from forager.db.embedded.processes import servers_in

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

AWAY_S = 6.0
"""Instead of a minute; every figure that matters is scaled with it."""
SPOOL = 25
WORKERS = 2
PATIENT = {
    "FORAGER_WORKER_BUFFER_PAGES": str(SPOOL),
    "FORAGER_WORKER_HEARTBEAT": "2",
    "FORAGER_WORKER_DEAD_AFTER": "60",
}
LEASE_S = 4.0
LAST_LEASES = {"FORAGER_WORKER_LEASE": str(LEASE_S), "FORAGER_WORKER_HEARTBEAT": "1", "FORAGER_WORKER_DEAD_AFTER": "60"}
BACK_WITHIN_S = 10.0
END_ALL = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name LIKE 'forager %' AND pid <> pg_backend_pid()"""


@contextmanager
def frozen(home: Path) -> Iterator[None]:
    """Every process of Forager's own PostgreSQL stands still, the first one first, so that it starts no other: whom it
    started while we looked would go on writing."""
    data = home / "postgres"
    servers = [int((data / "postmaster.pid").read_text().split()[0])]
    os.kill(servers[0], signal.SIGSTOP)
    try:
        servers += [pid for pid in servers_in(data) if pid != servers[0]]
        for pid in servers[1:]:
            with suppress(ProcessLookupError):  # it was about to end
                os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in servers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def spent_away(web: Web) -> tuple[int, float]:
    """Wait until it was away for long enough; answers how many pages were asked for meanwhile, and when the last."""
    began_at, before = time.monotonic(), web.count()
    time.sleep(AWAY_S)
    late = [visit.received_s for visit in web.visits() if visit.received_s > began_at]
    return web.count() - before, (max(late) - began_at) if late else 0.0


def goes_on(web: Web) -> None:
    back_at, before = time.monotonic(), web.count()
    until(lambda: web.count() > before, "the workers go on")
    took_s = time.monotonic() - back_at
    tell(f"went on {took_s:.1f} s after the database was back")
    assert took_s < BACK_WITHIN_S


def finished_well(forager: Forager, web: Web, crawl_said: str) -> None:
    assert forager.pages() == web.key.expected_success()
    assert "Traceback" not in crawl_said
    forager.do("audit", "politeness")
    forager.check()


def test_frozen_for_a_while(own_forager: Forager, home: Path, open_web: OpenWeb) -> None:
    """Requests go on until the spool is full, and not a single one beyond it."""
    web = open_web("uniform=10x40")
    crawl = own_forager.start(*web.urls, "--delay", "0.1", "--workers", str(WORKERS), "-o", "out.jsonl", **PATIENT)
    web.wait_past(60)
    for _ in range(3):  # on a busy machine both spools may be full when it stops: then nothing can be seen to go on
        with frozen(home):
            made, last_s = spent_away(web)
        tell(f"{made} requests while it was away, the last after {last_s:.1f} s")
        assert made <= WORKERS * SPOOL
        goes_on(web)
        if made:
            break
    assert made > 0
    crawl.finish()
    assert web.repeated() == {}
    finished_well(own_forager, web, crawl.said)


def test_frozen_for_longer_than_a_lease(own_forager: Forager, home: Path, open_web: OpenWeb) -> None:
    """There is room in the spool, but no request leaves after the lease. What was fetched until then is kept."""
    web = open_web("uniform=6x35")
    crawl = own_forager.start(*web.urls, "--delay", "0.25", "-o", "out.jsonl", **LAST_LEASES)
    web.wait_past(40)
    with frozen(home):
        made, last_s = spent_away(web)
    tell(f"{made} requests while it was away, the last after {last_s:.1f} s")
    assert made > 0
    assert last_s < LEASE_S
    goes_on(web)
    crawl.finish()
    assert web.repeated() == {}
    finished_well(own_forager, web, crawl.said)


def test_refusing_connections_for_a_while(forager: Forager, open_web: OpenWeb) -> None:
    """Somebody else's server is restarted: connections break, and new ones are refused."""
    web = open_web("uniform=10x40")
    with a_wire_to_database(forager.dsn) as wire:
        command = (*web.urls, "--delay", "0.1", "--workers", str(WORKERS), "-o", "out.jsonl")
        crawl = forager.start(*command, **PATIENT, FORAGER_DATABASE_URL=wire.url)
        web.wait_past(60)
        for _ in range(3):  # as above
            wire.cut()
            made, last_s = spent_away(web)
            wire.mend()
            tell(f"{made} requests while it was away, the last after {last_s:.1f} s")
            assert made <= WORKERS * SPOOL
            goes_on(web)
            if made:
                break
        assert made > 0
        crawl.finish()
    assert "database away" in crawl.said
    assert "database back" in crawl.said
    assert web.repeated() == {}
    finished_well(forager, web, crawl.said)


def test_backends_that_are_killed(forager: Forager, open_web: OpenWeb) -> None:
    """Whatever runs there is ended at once, as by an administrator, a fail-over or a pooler; new ones are welcome."""
    web = open_web("uniform=6x24")
    command = (*web.urls, "--delay", "0.1", "--workers", str(WORKERS), "-o", "out.jsonl")
    crawl = forager.start(*command, **PATIENT)
    for number in (20, 60, 100):
        web.wait_past(number)
        assert forager.value(END_ALL) > 0
        goes_on(web)
    crawl.finish()
    assert web.repeated() == {}
    finished_well(forager, web, crawl.said)
