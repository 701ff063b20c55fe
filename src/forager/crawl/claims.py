"""The first verb, and its opposite: lease domains, turn their best pages into targets, hand leases back.

Every function is one transaction. What a run may take (pages in all and per domain, depth, patterns) is decided here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forager.crawl.patience import in_transaction
from forager.db import Database
from forager.domains import store as domains
from forager.domains.store import Release, RobotsCopy
from forager.frontier import store as frontier
from forager.ingest.scope import claim_depth, claim_patterns
from forager.records import Lease, RunSpec, Target
from forager.stats import store as stats


@dataclass(frozen=True, slots=True)
class Claimed:
    leases: list[Lease]
    robots: list[RobotsCopy]


class Claims:
    def __init__(self, database: Database, *, run: int, spec: RunSpec, workers: int, lease_s: float) -> None:
        self._database = database
        self._run = run
        self._spec = spec
        self._workers = workers
        self._lease_s = lease_s
        self._depth = claim_depth(spec)
        self._patterns = claim_patterns(spec)
        self.is_spent = False
        """The run's page limit is reached."""

    async def domains(self, worker: int, limit: int) -> Claimed:
        """Lease the best ready domains, with what their robots.txt said."""

        async def once(conn: Any) -> Claimed:
            leases = await frontier.claim_domains(
                conn,
                worker=worker,
                run=self._run,
                limit=limit,
                lease_s=self._lease_s,
                workers=self._workers,
                max_pages_per_domain=self._spec.max_pages_per_domain,
            )
            if not leases:
                return Claimed([], [])
            return Claimed(leases, await domains.find_robots(conn, [lease.domain_id for lease in leases]))

        return await in_transaction(self._database, once)

    async def targets(self, worker: int, wants: Sequence[tuple[Lease, int]]) -> list[Target]:
        """At most so many targets per lease, best first, within the run's limits."""
        return await in_transaction(self._database, lambda conn: self._take(conn, worker, wants))

    async def _take(self, conn: Any, worker: int, wants: Sequence[tuple[Lease, int]]) -> list[Target]:
        granted = None
        if self._spec.max_pages is not None:
            granted = await stats.reserve_pages(conn, self._run, sum(want for _, want in wants))
            self.is_spent = granted == 0
            wants = share_out(wants, granted)
        targets = await frontier.claim_tasks(
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
        if self._spec.max_pages_per_domain is not None:
            await domains.count_claims(conn, Counter(target.domain_id for target in targets))
        return targets

    async def release(self, worker: int, releases: Sequence[Release]) -> None:
        """Hand leases back. Tasks that were not visited wait for the next claimant; lost leases are left alone."""

        async def once(conn: Any) -> None:
            held = await domains.hold_leases(conn, [release.lease.token for release in releases], worker=worker)
            ours = [release for release in releases if release.lease.token in held]
            if ours:
                self.is_spent &= not await give_back(conn, [release.lease.domain_id for release in ours])
                await domains.release(conn, ours, max_depth=self._depth, patterns=self._patterns)

        await in_transaction(self._database, once)

    async def next_ready(self) -> tuple[bool, float | None]:
        """Whether somebody still works on the run, and in how many seconds the next domain may be claimed."""
        limit = self._spec.max_pages_per_domain
        return await in_transaction(
            self._database, lambda conn: domains.next_ready(conn, self._run, max_pages_per_domain=limit)
        )


async def give_back(conn: Any, domain_ids: Sequence[int]) -> bool:
    """Tasks of these domains that were taken and not visited are free again and count for no limit; False if none."""
    freed = await frontier.free_tasks(conn, domain_ids)
    await domains.return_claims(conn, freed)
    for run, _, pages in freed:
        await stats.return_pages(conn, run, pages)
    return bool(freed)


def share_out(wants: Sequence[tuple[Lease, int]], granted: int) -> list[tuple[Lease, int]]:
    """Spread what is left of a limit evenly, so that one domain cannot take it all."""
    left = granted
    shares = [0] * len(wants)
    while left > 0 and any(share < want for share, (_, want) in zip(shares, wants, strict=True)):
        for index, (_, want) in enumerate(wants):
            if left > 0 and shares[index] < want:
                shares[index] += 1
                left -= 1
    return [(lease, share) for (lease, _), share in zip(wants, shares, strict=True)]
