"""Our own network is gone for a while: no site is blamed for it, and everything is crawled when it is back."""

import pytest
from tests.acceptance.namespace import Machine, another_machine, need_machines
from tests.acceptance.stage import Crawl, Forager, until
from tests.acceptance.test_many_domains import ManySites
from tests.acceptance.test_scale_cut_off import ways_from_it

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

DOMAINS, PAGES = 6, 10
SHORT = {
    "FORAGER_FETCH_CONNECT_TIMEOUT": "2",
    "FORAGER_FETCH_FIRST_BYTE_TIMEOUT": "2",
    "FORAGER_WORKER_PARSER_PROCESSES": "0",
    "FORAGER_FETCH_ALLOW_NETWORKS": "127.77.0.0/16",
    "FORAGER_CONTACT": "ada@example.com",
}
PAUSED = "SELECT pause_reason FROM workers WHERE status = 'running'"
STATES = "SELECT DISTINCT status::text FROM domains"
BLAMED = """SELECT count(*) FROM domains WHERE status IN ('blocked', 'unreachable') OR block_reason_code IS NOT NULL
            OR error_streak_code IS NOT NULL OR breaker_state <> 'closed'"""
CLOSED = "SELECT count(*) FROM crawl_tasks WHERE outcome NOT IN ('success')"


def named(number: int) -> dict[str, str]:
    return {f"site-{n}.example": f"127.77.0.{n + 1}" for n in range(number)}


def is_paused(forager: Forager, crawl: Crawl) -> bool:
    assert crawl.is_running, crawl.said
    return [row[0] for row in forager.ask(PAUSED)] == ["network_down"]


CUTS = {
    "packets": (Machine.silence_web, Machine.let_web_speak),
    "route": (Machine.take_route_away, Machine.give_route_back),
}


@pytest.mark.parametrize("server", ["external_server"], indirect=True)
@pytest.mark.parametrize(("what", "domains"), [("packets", DOMAINS), ("route", 1)])
def test_no_site_is_blamed_for_an_outage_of_our_own(forager: Forager, what: str, domains: int) -> None:
    """One domain alone cannot be compared with others: there the machine itself has to know of no way."""
    need_machines()
    cut, heal = CUTS[what]
    with another_machine() as machine, ways_from_it(forager) as ways, ManySites().open() as sites:
        machine.name_hosts(named(DOMAINS))
        urls = [f"http://{name}:{sites.port}/" for name in named(domains)]
        command = ("crawl", *urls, "--delay", "0.5")
        crawl = forager.spawn(*command, before=machine.command, **SHORT | ways)
        until(lambda: len(sites.requests) > 2 * domains, "every site was asked")
        cut(machine)
        until(lambda: is_paused(forager, crawl), "the outage is noticed")
        heal(machine)
        crawl.finish()
    assert "our own network is down" in crawl.said
    assert forager.value("SELECT count(*) FROM pages WHERE status = 'fetched'") == domains * PAGES
    assert forager.ask(STATES) == [("exhausted",)]
    assert forager.value(BLAMED) == 0
    assert forager.value(CLOSED) == 0
    forager.check()


@pytest.mark.parametrize("server", ["external_server"], indirect=True)
@pytest.mark.parametrize("domains", [DOMAINS, 1])
def test_a_crawl_that_begins_in_an_outage_waits_for_its_end(forager: Forager, domains: int) -> None:
    """No name is resolved, no robots.txt is known and no site was ever reached."""
    need_machines()
    with another_machine() as machine, ways_from_it(forager) as ways, ManySites().open() as sites:
        machine.name_hosts({})
        urls = [f"http://{name}:{sites.port}/" for name in named(domains)]
        command = ("crawl", *urls, "--delay", "0.2")
        crawl = forager.spawn(*command, before=machine.command, **SHORT | ways)
        until(lambda: is_paused(forager, crawl), "the outage is noticed")
        machine.name_hosts(named(DOMAINS))
        crawl.finish()
    assert forager.value("SELECT count(*) FROM pages WHERE status = 'fetched'") == domains * PAGES
    assert forager.value(BLAMED) == 0
    assert forager.value("SELECT count(*) FROM origins WHERE robots_error IS NOT NULL") == 0
    assert forager.value(CLOSED) == 0
