"""Files of images go when their time is over or nobody refers to them; killed anywhere, nothing leads nowhere."""

import os
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pytest
from tests.ground import Ground
from tests.integration.images.desk import Desk, a_sighting

from forager.db.database import Database
from forager.engine.image_storage import name, thumbnail_name
from forager.explain.check_bodies import find_missing
from forager.frontier.models import Outcome, OutcomeKind
from forager.images.files import CleanupPreview, ImageRule, look, prune
from forager.images.models import ImageFile, ImageStatus
from forager.storage.local import LocalLocation

DAY_S = 86_400.0
WEEK = ImageRule(7 * DAY_S, by_default=True, refresh_every_s=None)
FOR_GOOD = ImageRule(None, by_default=True, refresh_every_s=None)
HOST = "http://a.example/"


class Store:
    """Stored images of a worker, in a folder whose files are as old as a test says."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.desk, self.folder, self.place = desk, folder, LocalLocation(folder)

    async def stores(self, url: str, content: int, *, days_old: float = 0.0) -> None:
        """One more page shows it, and it was fetched; both so long ago."""
        page = await self.desk.ground.a_page(f"{HOST}{content}-{url.rpartition('/')[2]}", self.desk.lease.domain_id)
        target = next(each for each in await self.desk.targets() if each.page_id == page)
        await self.desk.shows(target, a_sighting(url), wants_files=True)
        image = next(each for each in await self.desk.targets() if each.url == url)
        await self.desk.writer.write([Outcome(image, OutcomeKind.SUCCESS, 200, image=self.put(content))])
        await self.age(url, days_old)
        self.touch(content, days_old)

    def put(self, content: int) -> ImageFile:
        digest = bytes([content]) * 32
        ref, small = name(digest, "png"), thumbnail_name(digest)
        assert self.place.put({ref: b"file", small: b"small"}) == {}
        return ImageFile(ImageStatus.STORED, digest, 4, "png", 1, 1, 1, content, ref, small)

    def touch(self, content: int, days_old: float) -> None:
        then = time.time() - days_old * DAY_S
        for key in (name(bytes([content]) * 32, "png"), thumbnail_name(bytes([content]) * 32)):
            os.utime(self.folder / key, (then, then))

    async def age(self, url: str, days: float) -> None:
        conn = self.desk.ground.conn
        await conn.execute(
            "UPDATE images SET stored_at = stored_at - $2 * interval '1 day', checked_at = checked_at - $2 * interval"
            " '1 day' WHERE url = $1",
            url,
            days,
        )
        await conn.execute(
            "UPDATE pages SET fetched_at = fetched_at - $2 * interval '1 day' WHERE id IN (SELECT page_id FROM"
            " page_images s JOIN images i ON i.id = s.image_id WHERE i.url = $1)",
            url,
            days,
        )

    def files(self) -> set[int]:
        """Contents that have a file, and of each both or none."""
        big = {path.name.partition(".")[0] for path in (self.folder / "images").rglob("*.png")}
        small = {path.name.partition(".")[0] for path in (self.folder / "thumbnails").rglob("*.webp")}
        assert big == small
        return {bytes.fromhex(digest)[0] for digest in big}

    async def states(self) -> dict[str, str]:
        rows = await self.desk.rows("SELECT url, status::text FROM images")
        return {row["url"].rpartition("/")[2]: row["status"] for row in rows}

    async def assert_sound(self) -> None:
        assert await self.desk.broken() == []
        assert (await find_missing(self.desk.ground.conn, self.place)).missing == []


@pytest.fixture
async def store(database: Database, ground: Ground, tmp_path: Path) -> Store:
    return Store(await Desk.open(database, ground, pages=0), tmp_path)


async def test_what_nobody_saw_for_long_goes_and_what_is_known_of_it_stays(store: Store) -> None:
    await store.stores(f"{HOST}old.png", 1, days_old=8)
    await store.stores(f"{HOST}new.png", 2, days_old=6)
    conn = store.desk.ground.conn
    assert await look(conn, store.place, WEEK) == CleanupPreview(1, 4, 0, 0)
    assert store.files() == {1, 2}
    swept = await prune(conn, store.place, WEEK, by="test")
    assert (swept.dropped, swept.files, swept.asked_again) == (1, 2, 0)
    assert store.files() == {2}
    assert await store.states() == {"old.png": "dropped", "new.png": "stored"}
    (row,) = await store.desk.rows("SELECT * FROM images WHERE url LIKE '%old.png'")
    assert (row["content_hash"], row["perceptual_hash"], row["thumbnail_ref"]) == (bytes([1]) * 32, 1, None)
    assert await look(conn, store.place, WEEK) == CleanupPreview(0, 0, 0, 0)
    await store.assert_sound()


async def test_without_a_rule_all_of_it_stays(store: Store) -> None:
    await store.stores(f"{HOST}old.png", 1, days_old=4000)
    assert (await prune(store.desk.ground.conn, store.place, FOR_GOOD, by="test")).dropped == 0
    assert store.files() == {1}


async def test_a_domain_has_a_rule_of_its_own(store: Store) -> None:
    conn = store.desk.ground.conn
    await store.stores(f"{HOST}old.png", 1, days_old=3)
    await conn.execute("UPDATE domains SET image_retention_s = $1", 30 * DAY_S)
    assert (await prune(conn, store.place, ImageRule(DAY_S, True, None), by="test")).dropped == 0
    await conn.execute("UPDATE domains SET image_retention_s = $1", 2 * DAY_S)
    assert (await look(conn, store.place, FOR_GOOD)).old_images == 1
    assert (await prune(conn, store.place, FOR_GOOD, by="test")).dropped == 1
    assert store.files() == set()


async def test_a_page_that_was_visited_since_keeps_it(store: Store) -> None:
    await store.stores(f"{HOST}old.png", 1, days_old=30)
    await store.desk.ground.conn.execute("UPDATE pages SET fetched_at = now() WHERE NOT is_image")
    assert (await prune(store.desk.ground.conn, store.place, WEEK, by="test")).dropped == 0


async def test_a_file_of_two_images_goes_with_the_second(store: Store) -> None:
    conn = store.desk.ground.conn
    await store.stores(f"{HOST}one.png", 1, days_old=30)
    await store.stores(f"{HOST}two.png", 1, days_old=2)
    assert await look(conn, store.place, WEEK) == CleanupPreview(1, 0, 0, 0)
    assert (await prune(conn, store.place, WEEK, by="test")).files == 0
    assert store.files() == {1}
    await store.assert_sound()
    await store.age(f"{HOST}two.png", 30)
    assert (await prune(conn, store.place, WEEK, by="test")).files == 2
    assert store.files() == set()


async def test_files_nobody_refers_to_go_but_fresh_ones(store: Store) -> None:
    """Left by a worker that was killed between file and row, or by a picture that was replaced."""
    conn = store.desk.ground.conn
    await store.stores(f"{HOST}kept.png", 1, days_old=3)
    for content, days_old in ((2, 3.0), (3, 0.5)):
        store.put(content)
        store.touch(content, days_old)
    stranger = store.folder / "images/zz/notes.txt"
    stranger.parent.mkdir(parents=True)
    stranger.write_text("not ours")
    os.utime(stranger, (0, 0))
    assert await look(conn, store.place, FOR_GOOD) == CleanupPreview(0, 0, 2, 9)
    assert (await prune(conn, store.place, FOR_GOOD, by="test")).files == 2
    assert store.files() == {1, 3}
    assert stranger.exists()
    await store.assert_sound()


class Killed(LocalLocation):
    """A store whose user dies before the first file goes."""

    def delete(self, keys: Sequence[str], *, unless_since: datetime) -> list[str]:
        raise KeyboardInterrupt


async def test_killed_between_rows_and_files(store: Store) -> None:
    conn = store.desk.ground.conn
    await store.stores(f"{HOST}old.png", 1, days_old=8)
    with pytest.raises(KeyboardInterrupt):
        await prune(conn, Killed(store.folder), WEEK, by="test")
    assert await store.states() == {"old.png": "dropped"}
    assert store.files() == {1}
    await store.assert_sound()
    assert await look(conn, store.place, WEEK) == CleanupPreview(0, 0, 2, 9)
    assert (await prune(conn, store.place, WEEK, by="test")).files == 2
    assert store.files() == set()


async def test_a_worker_that_confirmed_the_file_in_between_keeps_it(store: Store) -> None:
    """Its row is given up; the file it made fresh is left, and its result takes the row back."""
    conn = store.desk.ground.conn
    await store.stores(f"{HOST}old.png", 1, days_old=8)
    store.place.confirm([name(bytes([1]) * 32, "png"), thumbnail_name(bytes([1]) * 32)])
    swept = await prune(conn, store.place, WEEK, by="test")
    assert (swept.dropped, swept.files) == (1, 0)
    await conn.execute(
        "INSERT INTO crawl_tasks (page_id, domain_id)"
        " SELECT id, domain_id FROM pages WHERE is_image AND status = 'fetched'"
    )
    (target,) = await store.desk.targets()
    await store.desk.writer.write([Outcome(target, OutcomeKind.SUCCESS, 200, image=store.put(1))])
    assert await store.states() == {"old.png": "stored"}
    (domain,) = await store.desk.rows("SELECT images_stored FROM domains")
    assert domain["images_stored"] == 1
    await store.assert_sound()


async def test_shown_again_after_it_went_it_is_asked_for_again(store: Store) -> None:
    conn = store.desk.ground.conn
    await store.stores(f"{HOST}old.png", 1, days_old=8)
    await conn.execute("UPDATE pages SET etag = '1' WHERE is_image")
    await prune(conn, store.place, WEEK, by="test")
    assert (await prune(conn, store.place, WEEK, by="test")).asked_again == 0
    await conn.execute("UPDATE pages SET fetched_at = clock_timestamp() WHERE NOT is_image")
    unwanted = ImageRule(7 * DAY_S, by_default=False, refresh_every_s=None)
    assert (await prune(conn, store.place, unwanted, by="test")).asked_again == 0
    assert (await prune(conn, store.place, WEEK, by="test")).asked_again == 1
    assert (await prune(conn, store.place, WEEK, by="test")).asked_again == 0
    (target,) = await store.desk.targets()
    assert (target.is_image, target.past is not None and target.past.etag) == (True, None)
    await store.desk.writer.write([Outcome(target, OutcomeKind.SUCCESS, 200, image=store.put(1))])
    assert await store.states() == {"old.png": "stored"}
    await store.assert_sound()


async def test_check_misses_a_file_that_is_gone(store: Store) -> None:
    await store.stores(f"{HOST}kept.png", 1)
    (store.folder / thumbnail_name(bytes([1]) * 32)).unlink()
    files = await find_missing(store.desk.ground.conn, store.place)
    assert (files.looked_at, files.missing) == (2, [f"{thumbnail_name(bytes([1]) * 32)} is not in the store"])
