"""Whose fault it is that requests fail: the site's where the network works for others, ours where it works for none."""

import asyncio
from collections.abc import Callable

import pytest

from forager import clock
from forager.engine import network_monitor
from forager.engine.models import PauseReason
from forager.engine.network_monitor import (
    Evidence,
    NetworkMonitor,
    is_network_down,
    is_network_failure,
    shows_network_works,
)
from forager.engine.pauses import Pauses
from forager.engine.stop import StopRequest
from forager.errors import (
    ConnectError,
    ConnectionLostError,
    DnsError,
    ProxyError,
    StatusError,
    TlsError,
    VisitError,
    VisitTimeoutError,
)
from forager.fetch.network_probe import ProbeResult

SILENT = VisitTimeoutError("nobody answered")
NO_NAME = DnsError("no such name")


class Network:
    """What a probe finds, in the test's hands."""

    def __init__(self) -> None:
        self.name_found_at = 0.0
        self.living: set[str] = set()
        self.failed = ProbeResult.FAILED
        self.probed: list[str] = []
        self.has_forgotten = False

    def forget_failures(self) -> None:
        self.has_forgotten = True

    async def look_up(self, url: str) -> ProbeResult:
        return await self.reach(url)

    async def reach(self, url: str) -> ProbeResult:
        self.probed.append(url)
        return ProbeResult.REACHED if url in self.living else self.failed


class Scene:
    def __init__(self, domains: int) -> None:
        self.network, self.pauses = Network(), Pauses()
        self._forgiven: set[int] = set()
        self.changed = asyncio.Event()
        """Set when a pause begins or ends."""
        self.pauses.on_change(self.changed.set)
        self.watch = NetworkMonitor(self.network, self.pauses, range(domains), StopRequest())

    @property
    def forgiven(self) -> set[int]:
        while not self.watch.forgiven.empty():
            self._forgiven |= self.watch.forgiven.get_nowait()
        return self._forgiven

    async def fail(self, *domains: int, error: VisitError = SILENT, is_known: bool = True) -> list[bool]:
        failing = (self.watch.is_ours(n, url_of(n), error, is_known=is_known) for n in domains)
        return await asyncio.gather(*failing)

    @property
    def is_down(self) -> bool:
        return self.pauses.current is not None and self.pauses.current.reason is PauseReason.NETWORK_DOWN

    async def until(self, happens: Callable[[], object]) -> None:
        async with asyncio.timeout(5):
            while not happens():
                self.changed.clear()
                await self.changed.wait()

    async def until_back(self) -> None:
        await self.until(lambda: not self.is_down)


def url_of(domain: int) -> str:
    return f"http://d{domain}.example/"


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"CORROBORATION_S": 0.1, "LOOK_S": 0.01, "FIRST_PROBE_S": 0.02, "RECENT_S": 0.05}.items():
        monkeypatch.setattr(network_monitor, name, value)


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (Evidence(failed=2, known=2, is_cut_off=False), False),
        (Evidence(failed=3, known=3, is_cut_off=False), True),
        (Evidence(failed=4, known=0, is_cut_off=False), False),
        (Evidence(failed=5, known=0, is_cut_off=False), True),
        (Evidence(failed=1, known=0, is_cut_off=True), True),
    ],
)
def test_what_speaks_for_an_outage_of_our_own(evidence: Evidence, expected: bool) -> None:
    assert is_network_down(evidence) is expected


@pytest.mark.parametrize(
    ("error", "works", "fails"),
    [
        (None, True, False),
        (StatusError(503), True, False),
        (TlsError("bad certificate"), True, False),
        (ConnectError("refused", is_refused=True), True, False),
        (ConnectError("no route"), False, True),
        (DnsError("no answer"), False, True),
        (VisitTimeoutError("silent"), False, True),
        (ConnectionLostError("hung up"), False, False),
        (ProxyError("the proxy is broken"), False, False),
    ],
)
def test_what_a_request_says_about_the_network(error: VisitError | None, works: bool, fails: bool) -> None:
    assert (shows_network_works(error), is_network_failure(error)) == (works, fails)


@pytest.mark.parametrize("error", [SILENT, NO_NAME])
async def test_domains_that_fail_together_are_not_to_blame(error: VisitError) -> None:
    scene = Scene(domains=6)
    assert await scene.fail(1, 2, 3, error=error) == [True] * 3
    assert scene.is_down
    assert await scene.fail(4, error=error) == [True]
    scene.network.living.add(url_of(2))
    await scene.until_back()
    assert scene.network.has_forgotten
    await scene.watch.close()


async def test_a_dead_site_among_living_ones_is_to_blame() -> None:
    scene = Scene(domains=6)
    scene.watch.reached(1, url_of(1))
    scene.watch.reached(2, url_of(2))
    assert await scene.fail(3) == [False]
    assert scene.network.probed == [], "the others were reached a moment ago"
    scene.network.living.add(url_of(1))
    await asyncio.sleep(0.06)
    assert await scene.fail(3, 4, 5, 6) == [False] * 4, "a host that was good is reached"
    assert not scene.is_down


async def test_one_site_alone_is_to_blame_where_the_machine_is_well() -> None:
    scene = Scene(domains=1)
    scene.watch.reached(1, url_of(1))
    await asyncio.sleep(0.06)
    assert await scene.fail(1) == [False]


async def test_one_site_alone_is_not_to_blame_where_there_is_no_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_monitor, "has_default_route", lambda: False)
    scene = Scene(domains=1)
    scene.network.failed = ProbeResult.NO_ROUTE
    assert await scene.fail(1) == [True]
    await scene.watch.close()


async def test_a_first_failure_among_many_waits_for_others() -> None:
    scene = Scene(domains=6)
    first = asyncio.create_task(scene.fail(1))
    await asyncio.sleep(0.03)
    assert await scene.fail(2, 3) == [True, True]
    assert await first == [True]
    await scene.watch.close()


async def test_who_was_blamed_just_before_is_forgiven() -> None:
    scene = Scene(domains=6)
    assert await scene.fail(1) == [False], "nobody else failed in time"
    assert await scene.fail(2, 3) == [True, True]
    scene.network.living.add(url_of(3))
    await scene.until_back()
    await scene.until(lambda: scene.forgiven)
    assert scene.forgiven == {1}
    await scene.watch.close()


async def test_names_are_judged_apart_from_connections() -> None:
    """Addresses that are remembered go on working while no name is resolved."""
    scene = Scene(domains=6)
    for domain in (1, 2):
        scene.watch.reached(domain, url_of(domain))
    assert await scene.fail(3, 4, 5, error=NO_NAME) == [True] * 3
    scene.watch.reached(1, url_of(1))
    assert scene.is_down
    await scene.watch.close()


async def test_a_name_that_was_just_found_shows_that_names_are_resolved() -> None:
    scene = Scene(domains=6)
    scene.network.name_found_at = clock.monotonic()
    assert await scene.fail(3, 4, 5, error=NO_NAME) == [False] * 3


async def test_sites_that_were_never_reached_are_to_blame_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_monitor, "DOUBT_S", 0.05)
    scene = Scene(domains=6)
    assert await scene.fail(1, 2, 3, 4, 5, is_known=False) == [True] * 5
    await scene.until_back()
    assert await scene.fail(1, 2, 3, 4, 5, is_known=False) == [False] * 5
    assert scene.forgiven == set()
    await scene.watch.close()


@pytest.mark.parametrize("answers", [True, False])
async def test_names_that_do_not_exist_are_no_outage_where_a_name_server_says_so(
    monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    """A list with five misspelled names pauses nothing."""

    async def name_server_answers(_servers: object) -> bool:
        return answers

    monkeypatch.setattr(network_monitor, "name_servers", lambda: ["192.0.2.1"])
    monkeypatch.setattr(network_monitor, "is_name_server_up", name_server_answers)
    scene = Scene(domains=6)
    scene.network.failed = ProbeResult.NO_NAME
    assert await scene.fail(1, 2, 3, 4, 5, error=NO_NAME, is_known=False) == [not answers] * 5
    assert scene.is_down is not answers
    await scene.watch.close()


async def test_sub_domains_of_one_site_that_fail_together_are_to_blame() -> None:
    """Its server bans us; nothing is known of the rest of the network."""
    scene = Scene(domains=4)
    urls = {number: f"http://d{number}.shop.example.com/" for number in range(1, 5)}
    failing = (scene.watch.is_ours(n, url, SILENT, is_known=True) for n, url in urls.items())
    assert await asyncio.gather(*failing) == [False] * 4
    assert not scene.is_down
    await scene.watch.close()


async def test_failures_before_a_name_was_found_are_forgotten() -> None:
    scene = Scene(domains=6)
    for number in range(1, 50):
        scene.network.name_found_at = clock.monotonic()
        assert await scene.fail(number, error=NO_NAME, is_known=False) == [False]
    assert len(scene.watch._failed[network_monitor.Layer.NAMES]) <= 2
    assert len(scene.watch._blamed[network_monitor.Layer.NAMES]) <= 2
    await scene.watch.close()
