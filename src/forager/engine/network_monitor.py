"""Distinguishes an outage of our own network from sites that do not respond.

A network failure counts against a site only if the network is known to work: another domain was reached a moment ago,
or a probe of a few hosts reaches one. If none is reached and several domains fail at once, or the machine has no route
or no name server, the fault is ours: the worker pauses, no failure counts, no task is closed, and hosts are probed
until one responds. Failures counted against sites since the network was last seen working are then cleared.

DNS and connections are judged separately: open connections and cached addresses keep working while no name server
responds.
"""

import asyncio
import random
from collections import OrderedDict
from collections.abc import Coroutine, Sized
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from forager import clock
from forager.engine.models import PauseReason
from forager.engine.pauses import Pauses
from forager.engine.stop import StopRequest, cancel
from forager.errors import (
    ConnectError,
    ConnectionLostError,
    DnsError,
    ErrorSource,
    NetworkError,
    ResponseError,
    TlsError,
    VisitError,
)
from forager.fetch.network_probe import ProbeResult, has_default_route, is_name_server_up, name_servers
from forager.fetch.origin import split_url
from forager.logs import log
from forager.urls.domain import registrable

FEWEST_KNOWN = 3
"""Minimum number of previously reached domains that must fail together, with none reached, to blame our network."""
FEWEST = 5
"""The same for domains that may never have been reached: several names in a list may be misspelled."""
RECENT_S = 2.0
"""A network that was seen working within this time counts as working."""
SPAN_S = 120.0
"""Failures within this span are compared."""
CORROBORATION_S = 5.0
LOOK_S = 0.2
"""With many domains, others fail or are reached within a moment: a first failure waits for them."""
FIRST_PROBE_S, LAST_PROBE_S = 1.0, 15.0
DOUBT_S = 900.0
"""After this time, if no host was ever reached and the machine looks healthy, the sites are blamed."""
TRUSTED_S = 3600.0
MOST_GOOD, PROBED = 32, 3


class Layer(Enum):
    NAMES = "names"
    CONNECTIONS = "connections"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for an outage of our own when no host is reached."""

    failed: int
    """Sites that failed since the last one was reached."""
    known: int
    """Those among them that had been reached before."""
    is_cut_off: bool
    """Whether the machine itself has no route, or its name servers do not respond."""


def is_network_down(evidence: Evidence) -> bool:
    return evidence.is_cut_off or evidence.known >= FEWEST_KNOWN or evidence.failed >= FEWEST


def shows_network_works(error: VisitError | None) -> bool:
    """Returns whether a request with this result reached its host."""
    match error:
        case None | ResponseError() | TlsError():
            return True
        case ConnectError():
            return error.is_refused
        case _:
            return False


def is_network_failure(error: VisitError | None) -> bool:
    """Returns whether our network may be at fault: not if the host responded, nor if an open connection to it broke."""
    match error:
        case ConnectionLostError() | TlsError():
            return False
        case ConnectError():
            return not error.is_refused
        case NetworkError():
            return error.blame is not ErrorSource.US
        case _:
            return False


def site_of(url: str) -> str:
    """Returns the unit that fails together for its own reasons: the subdomains of a site count as one."""
    return registrable(split_url(url)[0].host)


class Probe(Protocol):
    @property
    def name_found_at(self) -> float: ...

    def forget_failures(self) -> None: ...

    async def look_up(self, url: str) -> ProbeResult: ...

    async def reach(self, url: str) -> ProbeResult: ...


@dataclass(frozen=True, slots=True)
class Failure:
    url: str
    at: float
    is_known: bool


class NetworkMonitor:
    def __init__(
        self,
        probe: Probe,
        pauses: Pauses,
        leased: Sized,
        stop: StopRequest,
    ) -> None:
        """`leased` are the domains that the worker holds."""
        self._probe = probe
        self._pauses = pauses
        self._leased = leased
        self._stop = stop
        self.forgiven: asyncio.Queue[set[int]] = asyncio.Queue()
        """Domains that were blamed for an outage of our own: the failures counted against them are to be cleared."""
        self._reached: OrderedDict[int, tuple[str, float]] = OrderedDict()
        """Domain → one of its URLs and when it was reached, the newest last."""
        self._works_at = dict.fromkeys(Layer, 0.0)
        self._failed: dict[Layer, dict[int, Failure]] = {layer: {} for layer in Layer}
        self._blamed: dict[Layer, dict[int, float]] = {layer: {} for layer in Layer}
        """Domains whose failures were attributed to them since the layer was last seen working, and when."""
        self._asking: dict[Layer, asyncio.Task[bool]] = {}
        self._down: Layer | None = None
        self._trusted_until = 0.0
        self._tasks: set[asyncio.Task[Any]] = set()
        self._rng = random.Random()  # noqa: S311 (chooses whom to probe)

    def reached(self, domain: int, url: str) -> None:
        """Records that a host responded."""
        now = clock.monotonic()
        self._reached[domain] = (url, now)
        self._reached.move_to_end(domain)
        if len(self._reached) > MOST_GOOD:
            self._reached.popitem(last=False)
        if self._down is Layer.CONNECTIONS:
            self._end()
        elif len(self._reached) > 1:  # a single domain proves nothing about itself
            self._works(Layer.CONNECTIONS, now)

    async def is_ours(self, domain: int, url: str, error: VisitError, *, is_known: bool) -> bool:
        """Returns whether a request failed because of our own network; then it must not count. May take some seconds;
        returns quickly while other domains are reached."""
        if self._down is not None or self._stop.asked:
            return True
        now = clock.monotonic()
        layer = Layer.NAMES if isinstance(error, DnsError) else Layer.CONNECTIONS
        self._clear_before(
            layer, max(self._works_at[layer], self._probe.name_found_at if layer is Layer.NAMES else 0.0)
        )
        self._failed[layer][domain] = Failure(url, now, is_known or domain in self._reached)
        if now < self._trusted_until or self._has_worked(layer, domain, now) or not await self._ask(layer):
            self._blamed[layer][domain] = now
            return False
        return True

    async def close(self) -> None:
        await cancel(self._tasks)

    # diagnosis -----------------------------------------------------------------------------------------------------

    def _has_worked(self, layer: Layer, domain: int, now: float) -> bool:
        """Returns whether the layer was seen working for another domain a moment ago."""
        since = now - RECENT_S
        if layer is Layer.NAMES:
            return max(self._probe.name_found_at, self._works_at[layer]) > since
        newest = next((at for other, (_, at) in reversed(self._reached.items()) if other != domain), 0.0)
        return newest > since

    def _clear_before(self, layer: Layer, moment: float) -> None:
        """Clears failures before a moment at which the layer was seen working: they were the sites' own."""
        if any(failure.at < moment for failure in self._failed[layer].values()):
            self._failed[layer] = {d: failure for d, failure in self._failed[layer].items() if failure.at >= moment}
            self._blamed[layer] = {d: at for d, at in self._blamed[layer].items() if at >= moment}

    def _works(self, layer: Layer, now: float) -> None:
        self._works_at[layer] = now
        if self._failed[layer]:
            self._failed[layer].clear()
            self._blamed[layer].clear()

    async def _ask(self, layer: Layer) -> bool:
        """Runs one diagnosis at a time and shares its result among all requests that wait for it."""
        if layer not in self._asking:
            self._asking[layer] = asking = self._spawn(self._find_out(layer))
            asking.add_done_callback(lambda _: self._asking.pop(layer, None))
        return await asyncio.shield(self._asking[layer])

    async def _find_out(self, layer: Layer) -> bool:
        began_at = clock.monotonic()
        results = await self._probe_some(layer)
        if ProbeResult.REACHED in results or await self._has_no_such_names(layer, results):
            self._works(layer, clock.monotonic())
            return False
        is_cut_off = await self._is_offline(layer, results)
        while not self._stop.asked:
            if self._works_at[layer] > began_at or self._has_worked(layer, -1, clock.monotonic()):
                return False
            evidence = self._evidence(layer, is_cut_off=is_cut_off)
            if is_network_down(evidence):
                self._begin(layer, evidence)
                return True
            if len(self._leased) < FEWEST_KNOWN or clock.monotonic() - began_at > CORROBORATION_S:
                return False
            await asyncio.sleep(LOOK_S)
        return True

    def _evidence(self, layer: Layer, *, is_cut_off: bool) -> Evidence:
        since = clock.monotonic() - SPAN_S
        sites: dict[str, bool] = {}
        for failure in self._failed[layer].values():
            if failure.at > since:
                site = site_of(failure.url)
                sites[site] = sites.get(site, False) or failure.is_known
        return Evidence(len(sites), sum(sites.values()), is_cut_off)

    async def _has_no_such_names(self, layer: Layer, results: list[ProbeResult]) -> bool:
        """Returns whether a name server responds that the names do not exist: then name resolution works."""
        if layer is not Layer.NAMES or ProbeResult.NO_NAME not in results or ProbeResult.FAILED in results:
            return False
        servers = name_servers()
        return bool(servers) and await is_name_server_up(servers)

    async def _probe_some(self, layer: Layer) -> list[ProbeResult]:
        """Probes some hosts that were reached recently, and some that failed."""
        good = [url for url, _ in list(self._reached.values())[-PROBED:]]
        failed = [failure.url for failure in self._failed[layer].values()]
        urls = {*good, *self._rng.sample(failed, min(PROBED, len(failed)))}
        probe = self._probe.look_up if layer is Layer.NAMES else self._probe.reach
        return list(await asyncio.gather(*map(probe, urls)))

    async def _is_offline(self, layer: Layer, results: list[ProbeResult]) -> bool:
        if layer is Layer.NAMES:
            return ProbeResult.FAILED in results and not await is_name_server_up(name_servers())
        return ProbeResult.NO_ROUTE in results and not has_default_route()

    # the outage ----------------------------------------------------------------------------------------------------

    def _begin(self, layer: Layer, evidence: Evidence) -> None:
        self._down = layer
        what = "no name is resolved" if layer is Layer.NAMES else "no host is reached"
        detail = f"{what}; {evidence.failed} of {max(len(self._leased), evidence.failed)} domains failed"
        self._pauses.begin(PauseReason.NETWORK_DOWN, detail)
        self._spawn(self._wait_for_return(layer))

    async def _wait_for_return(self, layer: Layer) -> None:
        began_at, wait_s = clock.monotonic(), FIRST_PROBE_S
        while self._down is layer:
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LAST_PROBE_S)
            results = await self._probe_some(layer)
            if self._down is not layer:
                return
            if ProbeResult.REACHED in results:
                self._end()
            elif await self._is_doubtful(layer, results, clock.monotonic() - began_at):
                log().warning("the sites are at fault after all", action="network.trusted")
                self._trusted_until = clock.monotonic() + TRUSTED_S
                self._end()

    async def _is_doubtful(self, layer: Layer, results: list[ProbeResult], down_s: float) -> bool:
        """Returns whether, for a long time, the only evidence of an outage of our own has been the failures themselves,
        or unresponsive hosts of very few sites."""
        sites = {site_of(url) for url, _ in self._reached.values()}
        return down_s > DOUBT_S and len(sites) < FEWEST_KNOWN and not await self._is_offline(layer, results)

    def _end(self) -> None:
        layer, self._down = self._down, None
        assert layer is not None
        blamed = set(self._blamed[layer])
        self._works(layer, clock.monotonic())
        self._probe.forget_failures()
        if blamed and clock.monotonic() >= self._trusted_until:
            self.forgiven.put_nowait(blamed)
        self._pauses.end(PauseReason.NETWORK_DOWN)

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
