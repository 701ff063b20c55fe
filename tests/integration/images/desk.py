"""A worker that holds one domain, and says what its pages show."""

from typing import Any

from tests.builders import a_discovery, a_success, an_order
from tests.ground import Ground

from forager.db.database import Database
from forager.engine.domain_queue import DomainQueue
from forager.engine.writer import Writer
from forager.explain.check import check
from forager.frontier.models import Lease, Target
from forager.links.models import Selection, Sighting
from forager.parsing.models import FoundImage
from forager.urls.domain import domain_of
from forager.urls.normalize import url_key

SIGHTINGS = (
    "SELECT i.url, s.*, p.fetched_at FROM page_images s JOIN images i ON i.id = s.image_id"
    " JOIN pages p ON p.id = s.page_id"
    " ORDER BY i.url, s.page_id"
)


def a_sighting(url: str, alt: str = "", how: str = "img") -> Sighting:
    return Sighting(url, url_key(url), domain_of(url), FoundImage(url, how, "gallery", alt))


class Desk:
    """A worker that holds one domain."""

    def __init__(self, database: Database, ground: Ground, run: int, worker: int, lease: Lease) -> None:
        self.ground, self.run, self.worker, self.lease = ground, run, worker, lease
        queues: dict[int, DomainQueue] = {}
        self.writer = Writer(
            database, an_order(run), worker=lambda: worker, queues=queues, on_recorded=lambda _written, _held: None
        )

    @classmethod
    async def open(cls, database: Database, ground: Ground, name: str = "a.example", pages: int = 2) -> "Desk":
        run = await ground.a_run()
        worker = await ground.a_worker(run)
        domain = await ground.a_domain(name, run=run, pages=pages)
        return cls(database, ground, run, worker, await ground.a_lease(domain, worker))

    async def targets(self, want: int = 10) -> list[Target]:
        return await self.ground.targets(self.lease, self.worker, self.run, want)

    async def shows(
        self, target: Target, *sightings: Sighting, wants_files: bool = False, links: tuple[str, ...] = ()
    ) -> None:
        discovered = [a_discovery(url) for url in links]
        selection = Selection(discovered, images=sightings, wants_files=wants_files)
        await self.writer.write([a_success(target, selection=selection)])

    async def again(self, target: Target) -> Target:
        """The next visit of a page that was read."""
        await self.ground.conn.execute(
            "INSERT INTO crawl_tasks (page_id, domain_id) SELECT id, domain_id FROM pages WHERE id = $1", target.page_id
        )
        (found,) = [each for each in await self.targets() if each.page_id == target.page_id]
        return found

    async def rows(self, sql: str) -> list[Any]:
        found: list[Any] = await self.ground.conn.fetch(sql)
        return found

    async def broken(self) -> list[str]:
        async with self.ground.conn.transaction(isolation="repeatable_read", readonly=True):
            return [f.name for verdict in await check(self.ground.conn) for f in verdict.findings if f.broken]
