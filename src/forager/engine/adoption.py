"""Adopts where seeds lead: a redirect of a seed to another site, or http where https was a guess, becomes a seed of the
run, with its scope rules. The address guard and robots.txt of the new host hold as for any page.

The chain is limited like any chain of redirects. A page that the run has visited already is not visited again, so that
two seeds that lead to each other end.
"""

from collections.abc import Mapping, Sequence

from forager.db.database import Database
from forager.db.types import Connection
from forager.domains import store as domains
from forager.domains import tasks as domain_tasks
from forager.engine.claims import Claims
from forager.engine.config import RunConfig
from forager.engine.transaction_retry import in_transaction
from forager.frontier import store
from forager.frontier.models import Outcome
from forager.links.models import Discovery
from forager.links.scope import folder_of
from forager.links.select import Selector
from forager.stats import store as stats
from forager.urls.domain import origin_of

BY = "redirect"


class SeedAdoption:
    """The seeds that this worker's run has adopted so far."""

    def __init__(self, database: Database, run: RunConfig, selector: Selector, claims: Claims) -> None:
        self._database = database
        self._run = run
        self._selector = selector
        self._claims = claims
        self._known = frozenset(run.spec.seeds)

    def apply(self, redirected: Mapping[str, str]) -> None:
        """Extends the scope of this worker by seeds that it, or another worker, adopted."""
        new = [url for url in redirected.values() if url not in self._known]
        if new:
            self._known |= frozenset(new)
            self._selector.adopt(new)
            self._claims.adopt(new)

    async def adopt(self, outcomes: Sequence[Outcome], page_ids: Mapping[bytes, int]) -> None:
        """Adopts the seeds of a batch, before it is recorded: a crash in between repeats the visit."""
        found = [
            (outcome, link)
            for outcome in outcomes
            if outcome.selection.is_adopted
            for link in outcome.selection.links
            if link.key in page_ids
        ]
        if found:
            await in_transaction(self._database, lambda conn: self._adopt(conn, found, page_ids))
            self.apply({outcome.target.url: link.url for outcome, link in found})

    async def _adopt(
        self, conn: Connection, found: Sequence[tuple[Outcome, Discovery]], page_ids: Mapping[bytes, int]
    ) -> None:
        run, spec = self._run.run, self._run.spec
        ids = await domains.find_domains(conn, {link.domain for _, link in found})
        await domain_tasks.hold(conn, ids.values())
        led = {ids[link.domain]: outcome.target.domain_id for outcome, link in found if link.domain in ids}
        await domains.move_bases(
            conn, {ids[link.domain]: origin_of(link.url) for outcome, link in found if _is_same(outcome, ids, link)}
        )
        others = {domain: source for domain, source in led.items() if domain != source}
        await domains.adopt_domains(conn, others, run=run, is_standing=spec.is_standing)
        await domains.adopt_prefixes(
            conn, {ids[link.domain]: folder_of(link.url) for _, link in found if link.domain in ids}
        )
        pages = [page_ids[link.key] for _, link in found]
        await store.mark_seeds(conn, pages)
        if again := await store.not_visited_in_run(conn, pages, run):
            await domain_tasks.expect_visits(conn, await store.revisit_seeds(conn, again, by=BY, recent_s=0.0), {})
            await domains.update_requeue_counts(conn, await store.requeue_pages(conn, again, by=BY))
        if not (spec.is_standing or spec.is_long):
            await stats.adopt_seeds(conn, run, {outcome.target.url: link.url for outcome, link in found})


def _is_same(outcome: Outcome, ids: Mapping[str, int], link: Discovery) -> bool:
    return ids.get(link.domain) == outcome.target.domain_id
