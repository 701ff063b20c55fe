"""Images that were found while nobody wanted their files, and are wanted later."""

import asyncio
from pathlib import Path

import pytest
from tests.builders import HOME
from tests.ground import Ground
from tests.integration.images.desk import Desk, a_sighting
from tests.integration.images.stage import open_gallery

from forager.db.database import Database
from forager.domains import images as domains
from forager.images import backfill
from forager.images.backfill import backfill_images

OWED = "SELECT images_owed_after FROM domains WHERE name = 'a.example'"
WAITING = "SELECT url FROM pages WHERE is_image AND status = 'discovered' ORDER BY url"


@pytest.fixture
async def desk(database: Database, ground: Ground) -> Desk:
    return await Desk.open(database, ground, pages=4)


async def queue(database: Database, **given: object) -> int:
    return await backfill_images(database, **{"by_default": True, "max_subdomains": 100} | given)  # type: ignore[arg-type]


async def show_four(desk: Desk) -> list[str]:
    """Each of four pages shows an image of its own, and one that all show."""
    for number, target in enumerate(sorted(await desk.targets(), key=lambda each: each.page_id)):
        await desk.shows(target, a_sighting(f"{HOME}{number}.png"), a_sighting("http://c.example/all.png"))
    return sorted([f"{HOME}{number}.png" for number in range(4)] + ["http://c.example/all.png"])


async def waiting(desk: Desk) -> list[str]:
    return [row["url"] for row in await desk.rows(WAITING)]


async def test_they_wait_for_a_visit_once_they_are_wanted(desk: Desk, database: Database) -> None:
    urls = await show_four(desk)
    assert await queue(database, by_default=False) == 0
    assert await waiting(desk) == []
    (row,) = await desk.rows("SELECT id FROM domains WHERE name = 'a.example'")
    await desk.ground.choose(row["id"], images="download")
    assert await queue(database, by_default=False) == len(urls)
    assert await waiting(desk) == urls
    assert await desk.ground.conn.fetchval(OWED) is None
    assert await queue(database) == 0
    (cdn,) = await desk.rows("SELECT * FROM domains WHERE name = 'c.example'")
    assert (cdn["images_only"], cdn["run_id"], cdn["frontier_size"]) == (True, desk.run, 1)
    assert await desk.broken() == []


async def test_who_says_otherwise_keeps_it(desk: Desk, database: Database) -> None:
    await show_four(desk)
    await desk.rows("UPDATE domains SET images_policy = 'found' WHERE name = 'a.example'")
    assert await queue(database) == 0
    assert await queue(database, name="nobody.example") == 0


async def test_what_was_asked_for_at_once_is_not_owed(desk: Desk) -> None:
    first, *_ = await desk.targets()
    await desk.shows(first, a_sighting(f"{HOME}1.png"), wants_files=True)
    assert await desk.ground.conn.fetchval(OWED) is None


async def test_killed_between_two_portions_it_goes_on(
    desk: Desk, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = await show_four(desk)
    monkeypatch.setattr(backfill, "PAGES_AT_ONCE", 1)
    done = iter([False, True])
    assert await queue(database, is_stopped=lambda: next(done)) == 2
    assert await desk.ground.conn.fetchval(OWED) > 0
    assert await desk.broken() == []
    assert await queue(database) == len(urls) - 2
    assert await waiting(desk) == urls


async def test_a_page_read_meanwhile_is_not_forgotten(desk: Desk, database: Database) -> None:
    """A worker whose lease still says otherwise finds one more between the look and the note that all is done."""
    first, second, *_ = await desk.targets()
    await desk.shows(first, a_sighting(f"{HOME}1.png"))
    owing = await domains.next_image_backfill(desk.ground.conn, by_default=True)
    assert owing is not None
    await desk.shows(second, a_sighting(f"{HOME}2.png"))
    await domains.update_image_backfill(desk.ground.conn, owing, None)
    assert await desk.ground.conn.fetchval(OWED) == 0
    assert await queue(database) == 2


async def test_two_at_once_queue_each_image_once(
    desk: Desk, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = await show_four(desk)
    monkeypatch.setattr(backfill, "PAGES_AT_ONCE", 1)
    queued = await asyncio.gather(*(queue(database) for _ in range(3)))
    assert sum(queued) == len(urls)
    assert await waiting(desk) == urls
    assert await desk.broken() == []


async def test_a_gallery_that_was_crawled_to_its_end_is_fetched_by_the_next_crawl(
    database: Database, tmp_path: Path
) -> None:
    """Also what lies on a host that no seed names; nothing that was read is read again."""
    async with open_gallery(database, tmp_path / "bodies", rooms=1) as gallery:
        await gallery.crawl("found")
        read = gallery.requested(gallery.site)
        assert await queue(database) > 7
        stage = await gallery.crawl()
        stored = await gallery.images("status = 'stored'")
        assert len([url for url in stored if url.startswith(gallery.cdn)]) == 7
        again = gallery.requested(gallery.site)[len(read) :]
        assert again
        assert all(path.startswith(("/img/", "/private/")) for path in again)
        assert await gallery.images("status = 'found'") == {}
        assert await stage.broken_promises() == {}
