"""Two workers at once: they show the same image, and store the same picture."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.builders import HOME
from tests.ground import Ground
from tests.integration.images.desk import SIGHTINGS, Desk, a_sighting

from forager.db.database import Database
from forager.engine.image_storage import ImageStorage
from forager.engine.pauses import Pauses
from forager.engine.stop import StopRequest
from forager.errors import ErrorSource, StoreUnavailableError
from forager.fetch.models import Fetched
from forager.frontier.models import Outcome, OutcomeKind
from forager.images import store
from forager.images.decode.client import Decoder
from forager.images.models import ImageFile, ImageStatus
from forager.images.store import MANY
from forager.storage.local import LocalLocation
from forager_playground.picture import render_png

TIMES = 8


async def two_desks(database: Database, ground: Ground) -> tuple[Desk, Desk]:
    first = await Desk.open(database, ground, "a.example", pages=TIMES)
    domain = await ground.a_domain("b.example", run=first.run, pages=TIMES)
    worker = await ground.a_worker(first.run)
    return first, Desk(database, ground, first.run, worker, await ground.a_lease(domain, worker))


@pytest.mark.parametrize("images", [MANY // 2, MANY * 2])
async def test_an_image_two_workers_meet_at_once_is_one_image_with_one_place(
    database: Database, ground: Ground, images: int
) -> None:
    desks = await two_desks(database, ground)
    targets = [await desk.targets() for desk in desks]
    for number in range(TIMES):
        shown = [a_sighting(f"http://c.example/{number}-{each}.png") for each in range(images)]
        await asyncio.gather(
            desks[0].shows(targets[0][number], *shown, wants_files=True),
            desks[1].shows(targets[1][number], *reversed(shown), wants_files=True),
        )
    assert len(await desks[0].rows("SELECT FROM images")) == images * TIMES
    assert len(await desks[0].rows("SELECT FROM pages WHERE is_image")) == images * TIMES
    assert len(await desks[0].rows(SIGHTINGS)) == 2 * images * TIMES
    assert await desks[0].broken() == []


async def test_an_image_another_worker_adds_after_we_looked(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was copied with it is taken back, and added beside it."""
    many = {bytes([number]) * 16: (1, f"http://c.example/{number}.png") for number in range(MANY)}
    known = await store.add_images(ground.conn, {bytes([7]) * 16: (2, "http://c.example/7.png")})
    look = store.find_images

    async def look_too_early(_conn: Any, _keys: Any) -> dict[bytes, int]:
        monkeypatch.setattr(store, "find_images", look)
        return {}

    monkeypatch.setattr(store, "find_images", look_too_early)
    async with ground.conn.transaction():
        ids = await store.add_images(ground.conn, many)
    rows = await ground.conn.fetch("SELECT url_hash, id FROM images")
    assert {row["url_hash"]: row["id"] for row in rows} == ids
    assert ids.keys() == many.keys()
    assert ids.items() >= known.items()


async def test_an_image_two_workers_settle_at_once_is_counted_once(database: Database, ground: Ground) -> None:
    """The first lost its lease while it fetched: another fetched the same. What became of the file is true of both."""
    desk, other = await two_desks(database, ground)
    first, *_ = await desk.targets(1)
    await desk.shows(first, a_sighting(HOME + "i.png"), wants_files=True)
    image = next(each for each in await desk.targets() if each.is_image)
    file = ImageFile(ImageStatus.STORED, bytes(32), 10, "png", 1, 1, 1, 7, "images/00/0.png", None)
    outcome = Outcome(image, OutcomeKind.SUCCESS, 200, image=file)
    await asyncio.gather(*(each.writer.write([outcome]) for each in (desk, other)))
    (domain,) = await desk.rows("SELECT images_stored FROM domains WHERE name = 'a.example'")
    assert domain["images_stored"] == 1
    assert await desk.broken() == []


async def test_a_picture_that_cannot_be_stored_waits_until_it_can_be(tmp_path: Path) -> None:
    (tmp_path / "images").write_text("in the way")
    picture, pauses = render_png(24, 16, 7), Pauses()
    fetched = Fetched("http://c.example/i.png", 200, {"content-type": "image/png"}, picture, len(picture), 1)
    begun = asyncio.Event()
    pauses.on_change(begun.set)
    async with Decoder.open(max_pixels=1_000_000) as decoder:
        body_store = ImageStorage(decoder, LocalLocation(tmp_path), max_bytes=1_000_000, pauses=pauses)
        looking = asyncio.create_task(body_store.look(fetched))
        await begun.wait()
        assert pauses.stops(stores_bodies=True)
        assert not pauses.stops(stores_bodies=False)
        (tmp_path / "images").unlink()
        seen = await looking
    assert seen.body_ref is not None
    assert (tmp_path / seen.body_ref).read_bytes() == picture
    assert not pauses.stops(stores_bodies=True)


async def test_a_picture_that_cannot_be_stored_is_given_back_when_the_worker_stops(tmp_path: Path) -> None:
    (tmp_path / "images").write_text("in the way")
    picture, pauses, stop = render_png(24, 16, 7), Pauses(), StopRequest()
    fetched = Fetched("http://c.example/i.png", 200, {"content-type": "image/png"}, picture, len(picture), 1)
    pauses.on_change(stop.ask)
    async with Decoder.open(max_pixels=1_000_000) as decoder:
        body_store = ImageStorage(decoder, LocalLocation(tmp_path), max_bytes=1_000_000, pauses=pauses, stop=stop)
        with pytest.raises(StoreUnavailableError, match="of the store of bodies") as caught:
            await body_store.look(fetched)
    assert (caught.value.blame, caught.value.may_retry) == (ErrorSource.US, True)


async def test_the_same_picture_is_one_whole_file_whoever_comes_first(tmp_path: Path) -> None:
    picture = render_png(240, 160, 7)
    fetched = Fetched("http://c.example/i.png", 200, {"content-type": "image/png"}, picture, len(picture), 1)
    async with Decoder.open(max_pixels=1_000_000) as one, Decoder.open(max_pixels=1_000_000) as two:
        shelves = [ImageStorage(decoder, LocalLocation(tmp_path), max_bytes=1_000_000) for decoder in (one, two)]
        seen = await asyncio.gather(*(body_store.look(fetched) for body_store in shelves * 4))
    assert len(set(seen)) == 1
    assert seen[0].body_ref is not None
    assert (tmp_path / seen[0].body_ref).read_bytes() == picture
    assert len(list(LocalLocation(tmp_path).list())) == 2
