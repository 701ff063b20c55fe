"""Detects traps in the domains of a worker: what their pages have in common, and what is written to the database.

Classification is pure and in memory (`links/repetition.py`), and the counters outlive the lease: some domains are
leased again for every page. The counts are saved with the domain, so that the next lease holder resumes from them.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from forager.db.database import Database
from forager.db.types import Connection
from forager.domains import store as domains
from forager.domains import traps as domain_traps
from forager.domains.models import Trap
from forager.engine.subdomain_limit import without_links
from forager.engine.transaction_retry import in_transaction
from forager.frontier import traps as frontier_traps
from forager.frontier.models import Lease, Outcome
from forager.links import templates
from forager.links.repetition import TrapCandidate, TrapCounters, mark_of
from forager.links.select import Selector
from forager.links.templates import pattern_of
from forager.logs import log

CLOCKS_AGREE = timedelta(seconds=5)
"""Tolerance between the database's clock and a worker's estimate of it, with the time from finding a trap to applying
it."""
MOST_DOMAINS = 20_000
MOST_MARKS = 100_000
"""Limit over all domains, about 90 bytes each; the domain that was idle for longest is evicted first."""


@dataclass(slots=True)
class Watched:
    """A domain that this worker holds, or held recently."""

    lease: Lease
    known: list[Trap]
    memory: TrapCounters | None = None


class TrapDetector:
    def __init__(self, selector: Selector, *, most_same: int, most_calendar: int) -> None:
        self._selector = selector
        self._most_same = most_same
        self._most_calendar = most_calendar
        """Maximum number of pages of one template where the domain does not set it; None: no limit."""
        self._watched: dict[int, Watched] = {}
        """Ordered by activity: the domain that was idle for longest is first."""
        self._marks = 0

    def take(self, leases: Iterable[Lease], traps: Iterable[Trap]) -> None:
        """Loads the known traps of domains that were just leased."""
        by_domain: dict[int, list[Trap]] = defaultdict(list)
        for trap in traps:
            by_domain[trap.domain_id].append(trap)
        for lease in leases:
            self._add_domain(lease, by_domain.get(lease.domain_id, []))
        self._discard()

    def _add_domain(self, lease: Lease, known: list[Trap]) -> None:
        self._selector.set_traps(lease.domain, known)
        before = self._watched.pop(lease.domain_id, None)
        memory = before.memory if before else None
        self._watched[lease.domain_id] = watched = Watched(lease, known, memory)
        if not known and memory is None:
            return
        memory = self._memory(watched)
        memory.allow(lease.settings.max_pages_per_template)
        if before is None or before.lease.version + 2 != lease.version:  # another worker had it in between
            memory.recall({trap.place: trap.pages for trap in known if not trap.is_found})
        memory.settle(trap.place for trap in known if trap.is_found)

    def _memory(self, watched: Watched) -> TrapCounters:
        if watched.memory is None:
            watched.memory = TrapCounters(
                most_same=self._most_same,
                most_calendar=self._most_calendar,
                most_pages=watched.lease.settings.max_pages_per_template,
            )
        return watched.memory

    def filter_links(self, outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
        """Removes links that were selected before their trap was found."""
        return [self._filter_outcome(outcome) if outcome.selection.links else outcome for outcome in outcomes]

    def _filter_outcome(self, outcome: Outcome) -> Outcome:
        watched = self._watched.get(outcome.target.domain_id)
        asked_at = outcome.requested_at
        if watched is None or not watched.known or asked_at is None:
            return outcome
        late = [
            trap for trap in watched.known if trap.blocks_links and trap.has_pattern and _can_be_older(asked_at, trap)
        ]
        domain = watched.lease.domain
        for trap in late:
            refused = {
                link.key
                for link in outcome.selection.links
                if link.domain == domain and templates.matches(trap.template, link.url)
            }
            outcome = without_links(outcome, refused, trap.rule)
        return outcome

    def look(self, outcomes: Iterable[Outcome]) -> list[tuple[int, TrapCandidate]]:
        """Returns suspected traps, each with its domain, from pages that were read for the first time."""
        found: list[tuple[int, TrapCandidate]] = []
        for outcome in outcomes:
            reading, target = outcome.reading, outcome.target
            watched = self._watched.get(target.domain_id)
            if reading is None or target.past is not None or target.is_sitemap or watched is None:
                continue
            memory = self._memory(watched)
            marks = len(memory)
            found += [(target.domain_id, suspicion) for suspicion in memory.note(target.url, mark_of(reading))]
            self._marks += len(memory) - marks
        self._discard()
        return found

    def _discard(self) -> None:
        while len(self._watched) > MOST_DOMAINS or self._marks > MOST_MARKS:
            eldest = self._watched.pop(next(iter(self._watched)))
            self._marks -= len(eldest.memory) if eldest.memory is not None else 0
            self._selector.set_traps(eldest.lease.domain, ())

    async def write(
        self,
        database: Database,
        outcomes: Sequence[Outcome],
        suspicions: Sequence[tuple[int, TrapCandidate]],
        *,
        worker: int,
    ) -> None:
        """Classifies a recorded batch by its suspected traps and writes the result: first the rows under our leases,
        then the rows that any worker may write."""
        if suspicions:
            tokens = {outcome.target.token for outcome in outcomes}
            for trap in await in_transaction(database, partial(_keep, suspicions, tokens, worker)):
                self._shut(trap)
        notes = sorted(self._selector.take_notes())
        if notes:
            await in_transaction(database, lambda conn: domain_traps.count_links(conn, notes))

    def _shut(self, trap: Trap) -> None:
        watched = self._watched.get(trap.domain_id)
        if watched is not None:
            domain = watched.lease.domain
            log().info("trap found", action="trap.found", domain=domain, rule=trap.rule, template=trap.template)
            watched.known.append(trap)
            self._selector.set_traps(domain, watched.known)


def _can_be_older(asked_at: datetime, trap: Trap) -> bool:
    """Returns whether a page could have been requested before its worker knew of the trap."""
    return trap.found_at is not None and asked_at < trap.found_at + CLOCKS_AGREE


async def _keep(
    suspicions: Sequence[tuple[int, TrapCandidate]], tokens: set[tuple[int, int]], worker: int, conn: Connection
) -> list[Trap]:
    """Saves the latest state of each template, for domains that are still ours. Returns the new traps."""
    held = {domain for domain, _ in await domains.hold_leases(conn, tokens, worker=worker)}
    ours = {(domain, seen.rule, seen.template): seen for domain, seen in suspicions if domain in held}
    rows = [(*place, seen.pages, seen.example) for place, seen in ours.items() if not seen.is_trap]
    await domain_traps.save_candidates(conn, rows)
    found = [(*place, seen.pages, seen.example) for place, seen in ours.items() if seen.is_trap]
    traps = await domain_traps.find_traps(conn, found)
    await shut(conn, traps)
    return traps


async def shut(conn: Connection, traps: Iterable[Trap]) -> None:
    """Excludes pages of these traps that were not visited yet. The caller holds the leases of their domains."""
    shut = [trap for trap in traps if trap.blocks_links and trap.has_pattern]
    patterns = [(trap.id, trap.domain_id, pattern_of(trap.template)) for trap in shut]
    await domain_traps.leave_out(conn, await frontier_traps.exclude_pages(conn, patterns))
