"""A whole crawl through a pool of proxies, as an operator has it: by commands, with passwords nobody ever sees."""

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.stage import Forager
from tests.proxies import RealProxy

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

KEY = "acceptance-key-acceptance-key-acceptance"
SECRET = "swordfish-swordfish"
SETTINGS = {
    "FORAGER_SECRET_KEY": KEY,
    "FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK,
    "FORAGER_POLITENESS_NO_DELAY_MAX_REQUESTS": "2",
    "FORAGER_FETCH_CONNECT_TIMEOUT": "5",
}


class ProxyHouse:
    """Proxies that live on a loop of their own while commands run."""

    def __init__(self, loop: asyncio.AbstractEventLoop, proxies: list[RealProxy]) -> None:
        self._loop = loop
        self.proxies = proxies

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)


@contextmanager
def proxy_house(*protocols: str) -> Iterator[ProxyHouse]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    proxies = [
        RealProxy(protocol, f"127.77.66.{number}", account=("user", SECRET))
        for number, protocol in enumerate(protocols, 1)
    ]
    house = ProxyHouse(loop, proxies)
    try:
        for proxy in proxies:
            house.do(proxy.start())
        yield house
    finally:
        for proxy in proxies:
            house.do(proxy.stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def listed(forager: Forager, *words: str) -> dict[int, dict[str, Any]]:
    return {row["id"]: row for row in json.loads(forager.do("proxies", *words, "--json", **SETTINGS))}


def test_a_crawl_through_a_pool_of_which_one_is_dead(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=1x120")
    [url], [host] = web.urls, web.hosts
    with proxy_house("http", "http", "socks5") as house:
        forager.do("seed", url, **SETTINGS)
        forager.do("proxies", "add", *[proxy.url() for proxy in house.proxies], "--monthly-cost", "3", **SETTINGS)
        one, dead, three = listed(forager)
        forager.do("proxies", "assign", host, str(one), str(dead), str(three), **SETTINGS)
        house.do(house.proxies[1].stop())
        crawl = forager.start(url, "-o", "out.jsonl", **SETTINGS, FORAGER_LOG_LEVEL="debug")
        crawl.finish()

        assert forager.pages() == web.key.expected_success()
        assert {visit.client for visit in web.everything()} == {"127.77.66.1", "127.77.66.3"}
        pool = listed(forager, "--domain", host)
        assert (pool[dead]["is_active"], pool[dead]["consecutive_failures"]) == (False, 5)
        assert pool[one]["successes"] + pool[three]["successes"] == len(web.everything())
        assert abs(pool[one]["successes"] - pool[three]["successes"]) <= 3
        forager.check()
        forager.do("audit", "politeness")

        # It is repaired, and a job finds that out.
        house.do(house.proxies[1].start())
        forager.ask("UPDATE domain_proxies SET probe_at = now() WHERE probe_at IS NOT NULL RETURNING 1")
        assert "1 back" in forager.do("schedule", "run", "probe_proxies", "--once", **SETTINGS)
        assert listed(forager, "--domain", host)[dead]["is_active"]

        told = [crawl.said, forager.do("proxies", **SETTINGS), forager.do("settings", **SETTINGS)]
        told += [forager.do("export", "pages", **SETTINGS), forager.do("tasks", "--json", **SETTINGS)]
        told += [str(forager.ask("SELECT * FROM proxies")), str(forager.ask("SELECT * FROM crawl_tasks"))]
    assert all(secret not in words for secret in (SECRET, KEY) for words in told)


def test_a_dead_pool_ends_the_crawl_with_its_reason_and_why_tells_it(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=1x20")
    [url], [host] = web.urls, web.hosts
    with proxy_house("http") as house:
        forager.do("seed", url, **SETTINGS)
        forager.do("proxies", "add", house.proxies[0].url(), **SETTINGS)
        [only] = listed(forager)
        forager.do("proxies", "assign", host, str(only), **SETTINGS)
        house.do(house.proxies[0].stop())
    crawl = forager.start(url, **SETTINGS)
    crawl.wait()
    reason = "its only proxy is switched off or failing"
    assert reason in crawl.said
    assert web.everything() == []
    assert reason in forager.do("domain", host)
    forager.check()
    [task] = forager.ask("SELECT error_code, blame, proxy_id FROM crawl_tasks WHERE outcome IS NOT NULL")
    assert tuple(task)[:2] == ("proxy_error", "us")
    [domain] = forager.ask("SELECT status::text, total_error_count, block_reason_code FROM domains")
    assert tuple(domain) == ("active", 0, None)
