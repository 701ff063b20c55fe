"""Claims and releases: leases domains, turns their best pages into targets, and releases the leases.

Every function is one transaction. The limits of a run (pages in total and per domain, depth, patterns) are enforced
here.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from forager.db.database import Database
from forager.db.types import Connection
from forager.dispatch.message import CrawlHint
from forager.dispatch.store import delete_offers
from forager.domains import store as domains
from forager.domains.models import Trap
from forager.domains.session_store import StoredSession, find_sessions
from forager.domains.sessions import DomainSession, LoginRequest, Sessions
from forager.domains.sessions import save as save_sessions
from forager.domains.store import Release, RobotsCopy
from forager.domains.traps import traps_of
from forager.domains.url_rules import StoredRules
from forager.engine.config import LeaseConfig, RunConfig, SettingsResolver, keeps_bodies
from forager.engine.proxying import NoProxies, ProxyPool, ProxyPools
from forager.engine.transaction_retry import in_transaction
from forager.engine.trap_detector import shut
from forager.frontier import claim
from forager.frontier.models import Lease, Target
from forager.links.scope import claim_depth, claim_patterns
from forager.logs import log
from forager.stats import store as stats
from forager.storage.policy import ContentPolicy
from forager.storage.store import newest_bodies
from forager.urls.rules import UrlRules

NO_SESSIONS: Mapping[int, DomainSession] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Claimed:
    leases: list[Lease]
    robots: list[RobotsCopy]
    traps: list[Trap] = field(default_factory=list)
    """All traps known in these domains."""
    pools: Mapping[int, ProxyPool] = field(default_factory=dict)
    """Domain → its proxy pool, for domains that have one."""
    rules: UrlRules | None = None
    """The URL rules of all domains; None if nothing was claimed."""
    sessions: Mapping[int, DomainSession] = field(default_factory=dict)
    """Domain → its cookies and its login, for domains that had some."""
    redirected: Mapping[str, str] = field(default_factory=dict)
    """Seeds of the run → where they lead, as any worker found."""


class Claims:
    def __init__(
        self,
        database: Database,
        run: RunConfig,
        lease: LeaseConfig,
        resolver: SettingsResolver = SettingsResolver(),  # noqa: B008 (it has no state that matters)
        proxies: ProxyPools = NoProxies(),  # noqa: B008 (it has no state)
        *,
        sessions: Sessions | None = None,
    ) -> None:
        self._database = database
        self._run = run.run
        self._spec = run.spec
        self._workers = run.workers
        self._labels = run.labels
        self._config = lease
        self._resolver = resolver
        self._proxies = proxies
        self._sessions = sessions or Sessions()
        self._depth = claim_depth(run.spec)
        self._patterns = claim_patterns(run.spec)
        self.is_spent = False
        """The run's page limit is reached."""
        self._times_returned = 0
        self._url_rules = StoredRules()

    def adopt(self, seeds: Collection[str]) -> None:
        """Adds seeds to the patterns of the run: where its seeds lead."""
        self._spec = replace(self._spec, seeds=(*self._spec.seeds, *seeds))
        self._patterns = claim_patterns(self._spec)

    def resume(self) -> None:
        """Called when pages were returned to the run's limit."""
        self._times_returned += 1
        self.is_spent = False

    async def domains(self, worker: int, limit: int, offered: Sequence[CrawlHint] | None = None) -> Claimed:
        """Leases the best ready domains, with their stored robots.txt and known traps. With `offered`, leases only
        domains that the hints name."""
        named = None if offered is None else [(hint.domain_id, hint.version) for hint in offered]

        stored: list[StoredSession] = []

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
                resolve=self._resolver.resolve,
            )
            if not leases:
                return Claimed([], [])
            domain_ids = [lease.domain_id for lease in leases]
            traps = await traps_of(conn, domain_ids)
            await shut(conn, traps)  # also traps that other workers found meanwhile
            proxied = [lease for lease in leases if lease.has_proxies or lease.settings.proxy == "always"]
            pools = await self._proxies.open(conn, proxied) if proxied else {}
            stored[:] = await find_sessions(conn, domain_ids)
            robots, rules = await domains.find_robots(conn, domain_ids), await self._url_rules.refresh(conn)
            redirected = {} if self._spec.is_long else await stats.read_redirected(conn, self._run)
            return Claimed(leases, robots, traps, pools, rules, redirected=redirected)

        claimed = await in_transaction(self._database, once)
        return replace(claimed, sessions=await self._sessions.open(stored)) if stored else claimed

    async def url_rules(self) -> UrlRules:
        """Returns the URL rules of all domains as they are now."""
        return await in_transaction(self._database, self._url_rules.refresh)

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
        if self._spec.max_pages is None:
            targets, charged = await self._claim(conn, worker, wants)
        else:
            targets, charged = await self._claim_limited(conn, worker, wants)
        limited = {lease.domain_id for lease, _ in wants if self._has_budget(lease)}
        counts = {domain: count for domain, count in charged.items() if domain in limited}
        used = await domains.count_claims(
            conn,
            counts,
            refresh_every_s=self._config.keeping.refresh_every_s,
            max_pages_per_domain=self._spec.max_pages_per_domain,
        )
        for budget in used:
            until = budget.until.isoformat() if budget.until is not None else None
            log().info(
                "page budget used up", action="domain.budget_used", domain=budget.name, pages=budget.pages, until=until
            )
        keeping = {lease.domain_id: lease.settings.content for lease, _ in wants if keeps_bodies(lease)}
        return await with_bodies(conn, targets, keeping) if keeping else targets

    async def _claim_limited(
        self, conn: Connection, worker: int, wants: Sequence[tuple[Lease, int]]
    ) -> tuple[list[Target], Counter[int]]:
        """Claims within the page limit of the run. Images are part of the pages that show them and do not count: they
        are claimed also when the limit is reached."""
        before = self._times_returned
        granted = await stats.acquire_pages(conn, self._run, sum(want for _, want in wants))
        targets, charged = await self._claim(conn, worker, split_grant(wants, granted)) if granted else ([], Counter())
        pages = sum(target.is_page for target in targets)
        await stats.return_pages(conn, self._run, granted - pages)
        taken = Counter(target.domain_id for target in targets)
        left = [(lease, want - taken[lease.domain_id]) for lease, want in wants if want > taken[lease.domain_id]]
        if left and granted < sum(want for _, want in wants):
            targets += (await self._claim(conn, worker, left, only_images=True))[0]
        is_over = granted == 0 and self._times_returned == before  # otherwise pages were returned meanwhile
        self.is_spent = is_over and not targets and not await domains.has_images_due(conn, self._run)
        return targets, charged

    async def _claim(
        self, conn: Connection, worker: int, wants: Sequence[tuple[Lease, int]], *, only_images: bool = False
    ) -> tuple[list[Target], Counter[int]]:
        return await claim.claim_tasks(
            conn,
            wants,
            worker=worker,
            run=self._run,
            max_pages_per_domain=self._spec.max_pages_per_domain,
            max_depth=self._depth,
            patterns=self._patterns,
            only_images=only_images,
        )

    def _has_budget(self, lease: Lease) -> bool:
        return self._spec.max_pages_per_domain is not None or lease.settings.max_pages is not None

    async def release(
        self, worker: int, releases: Sequence[Release], sessions: Mapping[int, DomainSession] = NO_SESSIONS
    ) -> None:
        """Releases leases and stores their sessions. Tasks that were not visited stay open for the next lease; lost
        leases are ignored."""
        changed = {domain: session for domain, session in sessions.items() if session.has_changed}
        columns = await self._sessions.seal(changed) if changed else None

        async def once(conn: Connection) -> None:
            held = await domains.hold_leases(conn, [release.lease.token for release in releases], worker=worker)
            ours = [release for release in releases if release.lease.token in held]
            if ours:
                self.is_spent &= not await give_back(conn, [release.lease.domain_id for release in ours])
                await domains.release(
                    conn, ours, max_depth=self._depth, patterns=self._patterns, keeping=self._config.keeping
                )
            if columns is not None:
                await save_sessions(conn, columns, _requests_of(changed), [each.lease.domain_id for each in ours])

        await in_transaction(self._database, once)

    async def save_sessions(self, worker: int, sessions: Mapping[tuple[int, int], DomainSession]) -> None:
        """Stores changed sessions of leases that are held on, so that a killed worker loses no login."""
        by_domain = {token[0]: session for token, session in sessions.items()}
        columns = await self._sessions.seal(by_domain)
        requests = {domain: list(session.requests) for domain, session in by_domain.items()}

        async def once(conn: Connection) -> None:
            held = await domains.hold_leases(conn, list(sessions), worker=worker)
            made = [(domain, each) for domain, sent in requests.items() for each in sent]
            await save_sessions(conn, columns, made, [token[0] for token in held])

        await in_transaction(self._database, once)
        for domain, session in by_domain.items():
            session.mark_saved()
            del session.requests[: len(requests[domain])]

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


def _requests_of(sessions: Mapping[int, DomainSession]) -> list[tuple[int, LoginRequest]]:
    return [(domain, request) for domain, session in sessions.items() for request in session.requests]


async def give_back(conn: Connection, domain_ids: Sequence[int]) -> bool:
    """Reopens tasks of these domains that were claimed and not visited, and returns them to the limits; False if there
    are none."""
    freed = await claim.free_tasks(conn, domain_ids)
    await domains.return_claims(conn, freed)
    for run, _, pages, _ in freed:
        await stats.return_pages(conn, run, pages)
    return bool(freed)


async def with_bodies(conn: Connection, targets: Sequence[Target], keeping: Mapping[int, str]) -> list[Target]:
    """Adds the body of the previous visit to revisits in these domains, which have content policies. Without one, the
    whole page is requested: a 304 response would leave it without a body forever. So it is where only the text is
    stored and the policy wants more."""
    again = [target for target in targets if target.past is not None and target.domain_id in keeping]
    if not again:
        return list(targets)
    refs = await newest_bodies(conn, [target.page_id for target in again])
    return [
        _with_body(target, refs, keeping[target.domain_id]) if target.domain_id in keeping else target
        for target in targets
    ]


def _with_body(target: Target, refs: Mapping[int, str], policy: str) -> Target:
    if target.past is None:
        return target
    ref = refs.get(target.page_id)
    if ref is not None and ref.startswith("text:") and policy != ContentPolicy.TEXT:
        ref = None
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
