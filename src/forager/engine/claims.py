"""Claims and releases: leases domains, turns their best pages into targets, and releases the leases.

Every function is one transaction. The limits of a run (pages in total and per domain, depth, patterns) are enforced
here.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from forager.db.database import Database
from forager.db.types import Connection
from forager.dispatch.message import CrawlHint
from forager.dispatch.store import delete_offers
from forager.domains import store as domains
from forager.domains.models import Trap
from forager.domains.store import Release, RobotsCopy
from forager.domains.traps import traps_of
from forager.engine.config import ContentConfig, LeaseConfig, RunConfig
from forager.engine.proxying import NoProxies, ProxyPool, ProxyPools
from forager.engine.transaction_retry import in_transaction
from forager.engine.trap_detector import shut
from forager.frontier import claim
from forager.frontier.models import Lease, Target
from forager.links.scope import claim_depth, claim_patterns
from forager.stats import store as stats
from forager.storage.store import newest_bodies


@dataclass(frozen=True, slots=True)
class Claimed:
    leases: list[Lease]
    robots: list[RobotsCopy]
    traps: list[Trap] = field(default_factory=list)
    """All traps known in these domains."""
    pools: Mapping[int, ProxyPool] = field(default_factory=dict)
    """Domain → its proxy pool, for domains that have one."""


class Claims:
    def __init__(
        self,
        database: Database,
        run: RunConfig,
        lease: LeaseConfig,
        content: ContentConfig = ContentConfig(),  # noqa: B008 (frozen)
        proxies: ProxyPools = NoProxies(),  # noqa: B008 (it has no state)
    ) -> None:
        self._database = database
        self._run = run.run
        self._spec = run.spec
        self._workers = run.workers
        self._labels = run.labels
        self._config = lease
        self._content = content
        self._proxies = proxies
        self._depth = claim_depth(run.spec)
        self._patterns = claim_patterns(run.spec)
        self.is_spent = False
        """The run's page limit is reached."""
        self._times_returned = 0

    def resume(self) -> None:
        """Called when pages were returned to the run's limit."""
        self._times_returned += 1
        self.is_spent = False

    async def domains(self, worker: int, limit: int, offered: Sequence[CrawlHint] | None = None) -> Claimed:
        """Leases the best ready domains, with their stored robots.txt and known traps. With `offered`, leases only
        domains that the hints name."""
        named = None if offered is None else [(hint.domain_id, hint.version) for hint in offered]

        async def once(conn: Connection) -> Claimed:
            await domains.wake_due(conn, self._run)
            leases = await claim.claim_domains(
                conn,
                worker=worker,
                run=self._run,
                limit=limit,
                lease_s=self._config.lease_s,
                workers=self._workers,
                max_pages_per_domain=self._spec.max_pages_per_domain,
                labels=self._labels,
                offered=named,
                live_s=self._config.live_s,
            )
            if not leases:
                return Claimed([], [])
            domain_ids = [lease.domain_id for lease in leases]
            traps = await traps_of(conn, domain_ids)
            await shut(conn, traps)  # also traps that other workers found meanwhile
            proxied = [lease.domain_id for lease in leases if lease.has_proxies]
            pools = await self._proxies.open(conn, proxied) if proxied else {}
            return Claimed(leases, await domains.find_robots(conn, domain_ids), traps, pools)

        return await in_transaction(self._database, once)

    async def resolve_offers(self, hints: Sequence[CrawlHint]) -> set[int]:
        """Returns the domains that hints named, that we did not get, and that another worker may claim. Withdraws the
        other offers, so that those domains are offered again when they are due."""

        async def once(conn: Connection) -> set[int]:
            named = [(hint.domain_id, hint.version) for hint in hints]
            limit = self._spec.max_pages_per_domain
            left = await claim.still_claimable(conn, named, run=self._run, max_pages_per_domain=limit)
            await delete_offers(conn, [hint for hint in hints if hint.domain_id not in left])
            return left

        return await in_transaction(self._database, once) if hints else set()

    async def targets(self, worker: int, wants: Sequence[tuple[Lease, int]]) -> list[Target]:
        """Returns up to the requested number of targets per lease, best first, within the run's limits."""
        return await in_transaction(self._database, lambda conn: self._take(conn, worker, wants))

    async def _take(self, conn: Connection, worker: int, wants: Sequence[tuple[Lease, int]]) -> list[Target]:
        granted = None
        if self._spec.max_pages is not None:
            before = self._times_returned
            granted = await stats.acquire_pages(conn, self._run, sum(want for _, want in wants))
            self.is_spent = granted == 0 and self._times_returned == before  # otherwise pages were returned meanwhile
            wants = split_grant(wants, granted)
        targets = await claim.claim_tasks(
            conn,
            wants,
            worker=worker,
            run=self._run,
            max_pages_per_domain=self._spec.max_pages_per_domain,
            max_depth=self._depth,
            patterns=self._patterns,
        )
        if granted is not None:
            await stats.return_pages(conn, self._run, granted - len(targets))
        limited = {lease.domain_id for lease, _ in wants if self._has_budget(lease)}
        await domains.count_claims(conn, Counter(t.domain_id for t in targets if t.domain_id in limited))
        keeping = {lease.domain_id for lease, _ in wants if self._content.keeps_bodies(lease)}
        return await with_bodies(conn, targets, keeping) if keeping else targets

    def _has_budget(self, lease: Lease) -> bool:
        return self._spec.max_pages_per_domain is not None or lease.max_pages_per_run is not None

    async def release(self, worker: int, releases: Sequence[Release]) -> None:
        """Releases leases. Tasks that were not visited stay open for the next lease; lost leases are ignored."""

        async def once(conn: Connection) -> None:
            held = await domains.hold_leases(conn, [release.lease.token for release in releases], worker=worker)
            ours = [release for release in releases if release.lease.token in held]
            if ours:
                self.is_spent &= not await give_back(conn, [release.lease.domain_id for release in ours])
                await domains.release(
                    conn, ours, max_depth=self._depth, patterns=self._patterns, keeping=self._config.keeping
                )

        await in_transaction(self._database, once)

    async def count_waiting(self, most: int) -> int:
        """Returns the number of domains that could be leased now, up to about `most`."""

        async def once(conn: Connection) -> int:
            await domains.wake_due(conn, self._run)
            limit = self._spec.max_pages_per_domain
            return await domains.count_waiting(
                conn, self._run, labels=self._labels, most=most, max_pages_per_domain=limit
            )

        return await in_transaction(self._database, once)

    async def next_ready(self, within_s: float = 86_400.0) -> tuple[bool, float | None]:
        """Returns whether any worker still works on the run, and the seconds until the next domain may be claimed."""
        limit = self._spec.max_pages_per_domain
        return await in_transaction(
            self._database,
            lambda conn: domains.next_ready(
                conn, self._run, max_pages_per_domain=limit, labels=self._labels, within_s=within_s
            ),
        )


async def give_back(conn: Connection, domain_ids: Sequence[int]) -> bool:
    """Reopens tasks of these domains that were claimed and not visited, and returns them to the limits; False if there
    are none."""
    freed = await claim.free_tasks(conn, domain_ids)
    await domains.return_claims(conn, freed)
    for run, _, pages in freed:
        await stats.return_pages(conn, run, pages)
    return bool(freed)


async def with_bodies(conn: Connection, targets: Sequence[Target], keeping: Collection[int]) -> list[Target]:
    """Adds the body of the previous visit to revisits in these domains. Without one, the whole page is requested: a 304
    response would leave it without a body forever."""
    again = [target for target in targets if target.past is not None and target.domain_id in keeping]
    if not again:
        return list(targets)
    refs = await newest_bodies(conn, [target.page_id for target in again])
    return [_with_body(target, refs) if target.domain_id in keeping else target for target in targets]


def _with_body(target: Target, refs: Mapping[int, str]) -> Target:
    if target.past is None:
        return target
    ref = refs.get(target.page_id)
    past = target.past._replace(body_ref=ref)
    return replace(target, past=past if ref else past._replace(etag=None, last_modified=None))


def split_grant(wants: Sequence[tuple[Lease, int]], granted: int) -> list[tuple[Lease, int]]:
    """Splits the rest of a limit evenly, so that one domain cannot take all of it."""
    left = granted
    shares = [0] * len(wants)
    while left > 0 and any(share < want for share, (_, want) in zip(shares, wants, strict=True)):
        for index, (_, want) in enumerate(wants):
            if left > 0 and shares[index] < want:
                shares[index] += 1
                left -= 1
    return [(lease, share) for (lease, _), share in zip(wants, shares, strict=True)]
