"""kill -9 of Forager's own PostgreSQL in the middle of a crawl, alone and with everything else."""

import random
import signal
import time
from pathlib import Path

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import Forager, kill, tell, until

from forager.db.embedded import postmaster
from forager.db.embedded.paths import Place
from forager.db.embedded.processes import servers_in

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

AT_RISK = 8 * 5 + 8 * 4
"""What eight sites can be asked for again: five open requests each, and four that were answered and not written yet."""


def wait_for_server(home: Path, *, unlike: int = 0) -> int:
    """The pid of a server that answers, not the one that was killed before."""
    place = Place.of(home)

    def find() -> int | None:
        pid = postmaster.find(place)
        return pid if pid != unlike and postmaster.ask(place) is postmaster.Answer.READY else None

    found: int = until(find, "Forager's own PostgreSQL answers")
    return found


def test_postgres_killed_at_random_moments(
    own_forager: Forager, home: Path, open_web: OpenWeb, rng: random.Random
) -> None:
    """The workers live on with what they know, so nothing at all is fetched again. So does a scheduler beside them."""
    web = open_web("uniform=10x30")
    scheduler = own_forager.spawn("schedule", "run")
    crawl = own_forager.start(*web.urls, "--delay", "0.2", "--workers", "2", "-o", "out.jsonl")
    server = 0
    for number in range(2):
        web.wait_past(10 + number * 60 + rng.randrange(40))
        time.sleep(rng.uniform(0, 0.3))  # any moment of a transaction
        server = wait_for_server(home, unlike=server)
        kill(server)
    crawl.finish()
    assert own_forager.pages() == web.key.expected_success()
    assert web.repeated() == {}
    assert "Traceback" not in crawl.said + scheduler.said
    assert scheduler.is_running
    scheduler.signal(signal.SIGTERM)
    scheduler.finish()
    own_forager.check()


def test_everything_with_postgres_killed_and_started_again(
    own_forager: Forager, home: Path, open_web: OpenWeb, rng: random.Random
) -> None:
    web = open_web("uniform=8x20")
    command = (*web.urls, "--delay", "0.2", "--workers", "2", "-o", "out.jsonl")
    crawl = own_forager.start(*command)
    for part in (0, 1):
        web.wait_past(part * 60 + rng.randrange(10, 50))
        time.sleep(rng.uniform(0, 0.3))  # any moment of a transaction
        servers = [wait_for_server(home), *servers_in(home / "postgres")]
        crawl.kill_all()
        kill(*servers)
        before = web.count()
        crawl = own_forager.start(*command)
        web.wait_past(before)
        tell(f"went on after {web.visits()[before].started_s - crawl.started_s:.1f} s")
    crawl.finish()
    assert own_forager.pages() == web.key.expected_success()
    own_forager.check()
    again = sum(web.repeated().values())
    tell(f"{again} requests were made again")
    assert again <= 2 * AT_RISK
