"""Two `forager up` on one database: when the first is killed with all it started, the second does its work too."""

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.instance import up
from tests.acceptance.stage import Forager, until
from tests.acceptance.test_up import visited

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(120)]

WORKERS = "SELECT count(*) FROM workers WHERE status = 'running'"
JOBS_SINCE = "SELECT count(*) FROM jobs WHERE started_at > $1"
NOW = "SELECT now()"


def test_the_second_takes_over_when_the_first_is_killed(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=2x20")
    first_site, second_site = web.urls
    one, two = (str(forager.folder / name) for name in ("one", "two"))
    with (
        up(forager, "--workers", "1", FORAGER_HOME=one) as first,
        up(forager, "--workers", "1", FORAGER_HOME=two) as second,
    ):
        forager.do("seed", first_site)
        until(lambda: forager.value(WORKERS) == 2 and len(visited(forager)) > 3, "both are at work")
        first.process.kill_all()
        killed_at = forager.value(NOW)
        forager.do("seed", second_site)
        until(lambda: visited(forager) == web.key.expected_success(), "the second visits old and new sites")
        until(lambda: forager.value(JOBS_SINCE, killed_at), "its scheduler runs the jobs")
        assert second.answers()
        second.stop()
    forager.check()
    assert forager.value("SELECT count(*) FROM runs WHERE keeper = 'standing'") == 1
