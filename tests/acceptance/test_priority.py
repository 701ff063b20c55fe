"""An order with priority 1 is fetched next, whatever else is due, also through a broker; dated tasks are on time."""

import time
from datetime import UTC, datetime, timedelta

import pytest
from tests.acceptance.conftest import NETWORK, OpenWeb
from tests.acceptance.instance import up
from tests.acceptance.stage import Forager, until
from tests.queues import Queues, queues

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

__all__ = ["queues"]

SITES, PAGES = 13, 400
ONE_AT_A_TIME = {
    "FORAGER_WORKER_MAX_DOMAINS": "1",
    "FORAGER_POLITENESS_DELAY": "0.1",
    "FORAGER_POLITENESS_NO_DELAY_HOSTS": "",
    "FORAGER_WORKER_PARSER_PROCESSES": "0",
}
WITHIN_S = 6.0
"""From the order to the request: a poll, the end of what is open, a claim, robots.txt; on a busy machine."""


@pytest.mark.parametrize("dispatch", ["inline", "celery"])
def test_a_task_with_priority_1_is_fetched_next(
    forager: Forager, open_web: OpenWeb, queues: Queues, dispatch: str
) -> None:
    """A worker holds one domain at a time, a dozen wait, and the domain that is ordered is the last of them."""
    web = open_web(f"uniform={SITES}x{PAGES}")
    last = web.hosts[-1]
    settings = ONE_AT_A_TIME | (queues.settings if dispatch == "celery" else {})
    with up(forager, "--workers", "1", port=None, **settings) as instance:
        instance.become_admin()
        instance.do("POST", "/api/frontier/seed", {"urls": list(web.urls)})
        web.wait_past(10)
        assert not [url for url in web.requests() if f"//{last}/" in url]
        ordered_at = time.monotonic()
        url = f"http://{last}/p/7"
        instance.do("POST", "/api/admin/tasks", {"url": url, "priority": 1})
        until(lambda: url in web.requests(), "the ordered page was requested")
        assert time.monotonic() - ordered_at < WITHIN_S
        others = {host: sum(f"//{host}/" in url for url in web.requests()) for host in web.hosts[:-1]}
        assert sum(count > 0 for count in others.values()) <= 1, "no other domain came before"
    forager.check()


def test_a_dated_task_of_an_exhausted_domain_starts_in_time(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=1x3")
    with up(forager, "--workers", "1", FORAGER_POLITENESS_NO_DELAY_HOSTS=NETWORK) as instance:
        instance.become_admin()
        instance.do("POST", "/api/frontier/seed", {"urls": list(web.urls)})
        exhausted = "SELECT count(*) FROM domains WHERE status = 'exhausted'"
        until(lambda: forager.value(exhausted) == 1, "the site is exhausted")
        url = sorted(web.requests())[-1]
        before = web.requests()[url]
        due_at = datetime.now(UTC) + timedelta(seconds=8)
        instance.do("POST", "/api/admin/tasks", {"url": url, "scheduled_for": due_at.isoformat()})
        until(lambda: web.requests()[url] > before, "the dated task was requested", 30)
        late_s = (datetime.now(UTC) - due_at).total_seconds()
        assert 0 <= late_s < 5
    forager.check()
