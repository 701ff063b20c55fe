"""A domain that does not store links: they are learned and counted all the same, and older ones go."""

from typing import Any

import pytest
from tests.builders import a_lane, a_success, queues_of
from tests.ground import Ground
from tests.writers import open_writer

from forager.db.database import Database
from forager.frontier import claim

URLS = ("http://a.example/2", "http://a.example/new", "http://b.example/")


@pytest.mark.parametrize("lease_says", [True, False])
@pytest.mark.parametrize("database_says", [True, False])
async def test_links_are_stored_as_the_database_says(
    ground: Ground, database: Database, lease_says: bool, database_says: bool
) -> None:
    run = await ground.a_run()
    worker = await ground.a_worker(run)
    domain = await ground.a_domain(run=run, pages=2, stores_links=lease_says)
    lease = (
        await claim.claim_domains(
            ground.conn, worker=worker, run=run, limit=9, lease_s=60.0, workers=1, max_pages_per_domain=None
        )
    )[0]
    assert lease.settings.store_links is lease_says
    targets = await ground.targets(lease, worker, run)
    await ground.link(targets[0].page_id, targets[1].page_id)
    await ground.conn.execute("UPDATE domains SET stores_links = $2 WHERE id = $1", domain, database_says)
    queue = a_lane(domain, version=lease.version, store_links=lease.settings.store_links)
    writer = open_writer(database, run, queues=queues_of(worker, queue))
    await writer.write([a_success(targets[0], *URLS), a_success(targets[1])])

    assert set(URLS) <= await ground.urls()
    assert (await ground.page(targets[0].page_id))["links_count"] == 3
    kept: Any = await ground.conn.fetch("SELECT p.url FROM page_links l JOIN pages p ON p.id = l.to_page_id")
    assert sorted(row["url"] for row in kept) == (sorted(URLS) if database_says else [])
