"""F5: everything that crawls loses its database without a word. Nothing is refused and nothing ends, packets are lost;
the broker and the web are there as ever."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.acceptance.conftest import SETTINGS, OpenWeb
from tests.acceptance.namespace import DATABASE, HERE, another_machine, need_machines, relay_to
from tests.acceptance.stage import TRANSPORT_S, Forager, count_leases, tell, until
from tests.postgres_node import CONFIGURATION, Node
from tests.postgres_node import DATABASE as NAME
from tests.queues import BROKER, BROKER_PORT, Queues, queues

from forager.db.embedded import account, binaries
from forager.db.pool import close, connect

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

__all__ = ["queues"]

LEASE_S, NOTICED_S = 3.0, 30.0
UNWRITTEN_S = 2.0
"""What was asked for so shortly before is perhaps in no database yet."""
SHORT = {
    "FORAGER_WORKER_LEASE": str(LEASE_S),
    "FORAGER_WORKER_HEARTBEAT": "1",
    "FORAGER_WORKER_DEAD_AFTER": "60",
    "FORAGER_WORKER_PARSER_PROCESSES": "0",
    "FORAGER_POLITENESS_ADAPTIVE_DELAY": "false",
}
IN_A_JOB = """SELECT count(*) FROM pg_stat_activity WHERE application_name = 'forager crawl'
               AND wait_event_type = 'Lock' AND query LIKE '%dispatched_domains%'"""
FAR = "SELECT count(*) FROM pg_stat_activity WHERE client_addr IS NOT NULL AND backend_start < $1"
ENDED = "SELECT count(*) FROM jobs WHERE name = 'dispatch' AND ended_at > $1"


async def test_a_database_that_falls_silent_under_a_crawl(
    open_web: OpenWeb, queues: Queues, tmp_path: Path, run_folder: Path
) -> None:
    """In the middle of a job, whose row is locked: the server has to notice too, or none would run it for hours."""
    need_machines()
    web = open_web("uniform=6x24")
    queues.runs.add(1)
    with another_machine() as machine, a_server(run_folder / f"half-open-{queues.names.prefix}") as (here, there):
        forager = Forager(tmp_path, SETTINGS | {"FORAGER_HOME": str(tmp_path), "FORAGER_DATABASE_URL": there}, here)
        try:
            with relay_to("127.0.0.1", BROKER_PORT) as port:
                broker = BROKER.replace(f"127.0.0.1:{BROKER_PORT}", f"{HERE}:{port}")
                environ = SHORT | queues.settings | {"FORAGER_DISPATCH_BROKER_URL": broker}
                command = ("crawl", *web.urls, "--delay", "0.25", "--workers", "2", "-o", "out.jsonl")
                crawl = forager.spawn(*command, before=machine.command, **environ)
                web.wait_past(18)
                conn = await connect(here, application="forager test")
                async with conn.transaction():
                    await conn.execute("LOCK TABLE dispatched_domains IN SHARE ROW EXCLUSIVE MODE")
                    until(lambda: forager.value(IN_A_JOB), "domains are about to be offered")
                    machine.silence_database()
                    silent_at, silent_s = await conn.fetchval("SELECT clock_timestamp()"), time.monotonic()
                await close(conn)
                until(lambda: crawl.said.count("database away") == 2, "both workers notice")
                until(lambda: "schedule interrupted" in crawl.said, "so does who sends hints")
                until(lambda: forager.value(FAR, silent_at) == 0, "so does the server")
                noticed_s = time.monotonic() - silent_s
                late_s = [visit.received_s - silent_s for visit in web.everything() if visit.received_s > silent_s]
                tell(f"noticed after {noticed_s:.1f} s; {len(late_s)} requests were made, until {max(late_s):.1f} s")
                assert noticed_s < NOTICED_S
                assert max(late_s) < LEASE_S + TRANSPORT_S
                seen = web.count()
                machine.let_database_speak()
                web.wait_past(seen)
                tell(f"went on after {time.monotonic() - silent_s - noticed_s:.1f} s")
                until(lambda: forager.value(ENDED, silent_at), "domains are offered again")
                crawl.finish()
            assert count_leases(forager, "hinted") > 0
            assert forager.pages() == web.key.expected_success()
            unsure = {visit.url for visit in web.visits()[:seen] if visit.received_s > silent_s - UNWRITTEN_S}
            tell(f"{len(web.repeated())} of {len(unsure)} pages were asked for again")
            assert set(web.repeated()) <= unsure
            assert "Traceback" not in crawl.said
            forager.environ |= {"FORAGER_DATABASE_URL": here}
            forager.check()
            forager.do("audit", "politeness")
        finally:
            forager.close()


@contextmanager
def a_server(folder: Path) -> Iterator[tuple[str, str]]:
    """A PostgreSQL at our end of the cable. How it is reached from here, and from beyond the cable."""
    node = Node(folder, account.choose(folder.parent / "none", folder.parent, binaries.folder()))
    node.run("initdb", "-D", node.data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "-N")
    with (node.data / "postgresql.conf").open("a") as settings:
        settings.write(f"{CONFIGURATION}\nlisten_addresses = '{DATABASE}'\n")
    with (node.data / "pg_hba.conf").open("a") as doors:
        doors.write("host all all samenet trust\n")
    node.run("postgres", "--single", "-F", "-D", node.data, "postgres", told=f"CREATE DATABASE {NAME}")
    node.start()
    try:
        yield node.dsn, f"postgresql://postgres@{DATABASE}:5432/{NAME}"
    finally:
        node.kill()
