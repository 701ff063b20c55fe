"""`forager up`: one command runs everything; what dies comes back; killed, it goes on where it was."""

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.instance import up
from tests.acceptance.stage import Forager, kill, tell, until, wait_for_end
from tests.acceptance.test_postgres_kills import wait_for_server
from tests.ports import free_port
from tests.wire import Wire, a_wire_to_database

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]
ENDS_WITHIN_S = 20.0


def visited(forager: Forager) -> set[str]:
    rows = forager.ask(
        "SELECT url FROM pages p WHERE status = 'fetched' AND NOT is_image"
        " AND EXISTS (SELECT FROM crawl_tasks t WHERE t.page_id = p.id AND t.status_code = 200)"
    )
    return {row["url"] for row in rows}


def test_one_command_runs_everything_and_replaces_what_dies(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("docs=30", "uniform=1x40")
    with up(forager, "--workers", "2") as instance:
        instance.become_admin()
        first, second = web.urls
        instance.do("POST", "/api/frontier/seed", {"urls": [first]})
        web.wait_past(5)
        (api,), workers = instance.pids("api"), instance.pids("worker")
        assert len(workers) == 2
        kill(api, workers[0])
        until(lambda: instance.pids("api") not in ([], [api]), "the API was replaced")
        until(lambda: len(set(instance.pids("worker")) - {workers[0]}) == 2, "the worker was replaced")
        until(instance.answers, "the API answers again")
        order = instance.do("POST", "/api/admin/runs", {"urls": [second]})
        run = order.get("run") or order.get("id") or order["run_id"]
        until(lambda: visited(forager) >= web.key.expected_success(), "every page was visited")
        until(
            lambda: forager.value("SELECT status = 'finished' FROM runs WHERE id = $1", run), "the ordered run is over"
        )
        assert visited(forager) == web.key.expected_success()
        doomed = [*instance.pids("api"), *instance.pids("worker")]
        instance.stop()
        wait_for_end(*doomed)
    assert "`forager up` resumes" in instance.process.said
    assert "Traceback" not in instance.process.said
    forager.check()


def test_killed_with_all_it_started_it_goes_on(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("uniform=4x60")
    with up(forager) as instance:
        instance.become_admin()
        instance.do("POST", "/api/frontier/seed", {"urls": list(web.urls[:2])})
        instance.do("POST", "/api/admin/runs", {"urls": list(web.urls[2:])})
        web.wait_past(40)
        children = [*instance.pids("api"), *instance.pids("worker")]
        os.kill(instance.process.process.pid, signal.SIGKILL)
        wait_for_end(*children)
    with up(forager) as instance:
        instance.log_in()
        until(lambda: visited(forager) == web.key.expected_success(), "every page was visited")
        instance.stop()
    forager.check()
    assert forager.value("SELECT count(*) FROM runs WHERE keeper = 'standing'") == 1


def test_all_of_it_lives_on_when_the_database_is_killed(own_forager: Forager, home: Path, open_web: OpenWeb) -> None:
    web = open_web("uniform=4x40")
    with up(own_forager, "--workers", "2") as instance:
        instance.become_admin()
        before = [*instance.pids("api"), *instance.pids("worker")]
        instance.do("POST", "/api/frontier/seed", {"urls": list(web.urls)})
        web.wait_past(20)
        server = wait_for_server(home)
        kill(server)
        wait_for_server(home, unlike=server)
        until(instance.answers, "the API answers again")
        until(lambda: visited(own_forager) == web.key.expected_success(), "every page was visited")
        assert instance.do("GET", "/api/auth/me")["name"] == "alice"
        assert [*instance.pids("api"), *instance.pids("worker")] == before
        instance.stop()
    assert web.repeated() == {}
    own_forager.check()


@pytest.mark.parametrize("leave", [Wire.cut, Wire.hold], ids=["refuses", "is silent"])
def test_it_can_be_stopped_while_somebody_elses_database_is_away(
    forager: Forager, open_web: OpenWeb, leave: Callable[[Wire], None]
) -> None:
    """Nothing of it stays, and what was fetched and not written is fetched by the next one."""
    web = open_web("uniform=4x60")
    with a_wire_to_database(forager.dsn) as wire:
        forager.environ["FORAGER_DATABASE_URL"] = wire.url
        with up(forager, "--workers", "1") as instance:
            instance.become_admin()
            instance.do("POST", "/api/frontier/seed", {"urls": list(web.urls[:2])})
            instance.do("POST", "/api/admin/runs", {"urls": list(web.urls[2:])})
            web.wait_past(40)
            until(lambda: len(instance.process.workers()) == 3, "the API, its worker, and that of the ordered run run")
            children = instance.process.workers()
            leave(wire)
            asked_at = time.monotonic()
            instance.process.signal(signal.SIGTERM)
            assert instance.process.wait() == 5
            tell(f"it ended after {time.monotonic() - asked_at:.1f} s")
            assert time.monotonic() - asked_at < ENDS_WITHIN_S
            wait_for_end(*children)
    assert "stopped without it" in instance.process.said
    assert "Traceback" not in instance.process.said
    forager.environ["FORAGER_DATABASE_URL"] = forager.dsn
    with up(forager) as instance:
        until(lambda: visited(forager) == web.key.expected_success(), "every page was visited")
        instance.stop()
    forager.check()


def test_asked_twice_it_does_not_wait_for_a_database_that_is_away(forager: Forager) -> None:
    with a_wire_to_database(forager.dsn) as wire:
        forager.environ["FORAGER_DATABASE_URL"] = wire.url
        with up(forager, "--workers", "1") as instance:
            until(lambda: "is up" in instance.process.said, "it greeted")
            children = instance.process.workers()
            wire.cut()
            instance.process.signal(signal.SIGTERM)
            until(lambda: "Stopping" in instance.process.said, "it heard")
            asked_at = time.monotonic()
            instance.process.signal(signal.SIGTERM)
            assert instance.process.wait() == 5
            assert time.monotonic() - asked_at < 5
            wait_for_end(*children)


def test_it_refuses_to_start_with_one_sentence(forager: Forager) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = forager.run("up", "--port", str(taken.getsockname()[1]))
    assert ended.returncode == 4
    assert "cannot listen on 127.0.0.1" in ended.stderr
    assert ended.stderr.count("\n") == 1
    with up(forager, "--workers", "0") as instance:
        second = forager.run("up", "--port", str(free_port()))
        assert second.returncode == 4
        assert f"is up already for {forager.folder}" in second.stderr
        assert instance.pids("worker") == []
        instance.stop()
    away = forager.run("up", FORAGER_DATABASE_URL="postgresql://127.0.0.1:9/none")
    assert away.returncode == 5
