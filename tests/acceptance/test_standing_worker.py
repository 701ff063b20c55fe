"""`forager worker` without a run, as a service manager starts it: it crawls what `forager up` has taken in."""

import signal

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.instance import QUICK, up
from tests.acceptance.stage import Forager, until
from tests.acceptance.test_up import visited

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

ADOPTED = "SELECT count(*) FROM domains d JOIN runs r ON r.id = d.run_id WHERE r.keeper = 'standing'"


def test_a_worker_without_a_run_goes_on_where_up_stopped(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=3x20")
    with web.frozen(), up(forager) as instance:  # nothing is read while `up` is there
        instance.become_admin()
        instance.do("POST", "/api/frontier/seed", {"urls": list(web.urls)})
        until(lambda: forager.value(ADOPTED) == len(web.urls), "the domains belong to the standing run")
        instance.process.signal(signal.SIGTERM)
        instance.process.signal(signal.SIGTERM)
        instance.process.wait()
    assert visited(forager) == set()

    worker = forager.spawn("worker", **QUICK)
    until(lambda: visited(forager) == web.key.expected_success(), "every page was visited")
    assert worker.is_running, "it waits for what comes next"
    worker.signal(signal.SIGTERM)
    assert worker.wait() == 0, worker.said
    assert forager.value("SELECT count(*) FROM runs WHERE keeper = 'standing'") == 1
    forager.check()
