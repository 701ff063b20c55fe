"""A worker on another machine whose network is cut and healed: others take over, and nothing is lost or done twice."""

from urllib.parse import urlsplit

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.namespace import HERE, another_machine, need_machines, relay_to
from tests.acceptance.stage import Forager, Web, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

SHORT = {
    "FORAGER_LEASE_S": "3",
    "FORAGER_HEARTBEAT_S": "0.5",
    "FORAGER_DEAD_AFTER_S": "3",
    "FORAGER_MAX_DOMAINS_PER_WORKER": "4",
    "FORAGER_READERS": "0",
    "FORAGER_FIRST_BYTE_TIMEOUT_S": "120",
    "FORAGER_ADAPTIVE_PACE": "false",
}
HELD_BY = "SELECT count(*) FROM domains d JOIN workers w ON w.id = d.claimed_by WHERE w.pid = $1"
OPEN_AT_ONCE = 5


@pytest.mark.parametrize("server", ["external_server"], indirect=True)
def test_cut_off_and_healed(forager: Forager, open_web: OpenWeb) -> None:
    need_machines()
    web, database = open_web("uniform=8x15"), urlsplit(forager.dsn)
    with another_machine() as machine, relay_to("127.0.0.1", database.port or 5432) as port:
        there = f"postgresql://{database.username}@{HERE}:{port}{database.path}"
        environ = forager.environ | SHORT | {"FORAGER_DATABASE_URL": there, "FORAGER_USER_AGENT": "Far/1"}
        crawl = forager.start(*web.urls, "--delay", "0.2", "-o", "out.jsonl", **SHORT, FORAGER_USER_AGENT="Near/1")
        web.wait_past(4)
        with web.frozen():  # until both have their part, so that neither comes too late
            run = forager.value("SELECT max(id) FROM runs")
            far = machine.spawn("worker", "--run", str(run), environ=environ)
            until(lambda: forager.value(HELD_BY, far.pid) == 4, "the far one has its part")
        try:
            until(lambda: count(web, "Far/1") > 8, "the far one works")
            machine.pull_out()
            until(lambda: forager.value(HELD_BY, far.pid) == 0, "its domains were taken from it")
            seen = count(web, "Far/1")
            machine.plug_in()
            crawl.finish()
            _, said = far.communicate(timeout=60)
            assert far.returncode == 0, said.decode()
        finally:
            far.kill()
            far.wait()
    assert forager.pages() == web.key.expected_success()
    assert set(forager.ask("SELECT DISTINCT count(*) FROM crawl_tasks WHERE outcome IS NOT NULL GROUP BY page_id")) == {
        (1,)
    }
    assert sum(web.repeated().values()) <= 4 * OPEN_AT_ONCE + seen
    forager.check()
    forager.do("audit", "politeness")


def count(web: Web, agent: str) -> int:
    return sum(visit.user_agent == agent for visit in web.everything())
