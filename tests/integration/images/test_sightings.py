"""Where images are shown, since when and until when; and what a link does to what was known as an image only."""

import pytest
from tests.builders import HOME, a_success, a_target
from tests.ground import Ground
from tests.integration.images.desk import SIGHTINGS, Desk, a_sighting

from forager.db.database import Database
from forager.frontier.models import Outcome, OutcomeKind
from forager.images import store
from forager.images.models import ImageFile, ImageStatus


@pytest.fixture(params=[store.MANY, 1], ids=["few", "copied"])
async def desk(
    database: Database, ground: Ground, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Desk:
    """Many are written in another way than few, and to the same end."""
    monkeypatch.setattr(store, "MANY", request.param)
    return await Desk.open(database, ground)


async def test_an_image_on_two_pages_is_one_image_seen_twice(desk: Desk) -> None:
    one, two = await desk.targets()
    await desk.shows(one, a_sighting("http://c.example/i.png", "first"))
    await desk.shows(two, a_sighting("http://c.example/i.png", "second"))
    assert [row["alt_text"] for row in await desk.rows(SIGHTINGS)] == ["first", "second"]
    (image,) = await desk.rows("SELECT * FROM images")
    assert image["domain_id"] == desk.lease.domain_id
    (domain,) = await desk.rows("SELECT * FROM domains")
    assert (domain["images_found"], domain["images_stored"]) == (2, 0)
    assert await desk.broken() == []


async def test_what_is_still_there_is_not_written_again_and_what_is_gone_has_an_end(desk: Desk) -> None:
    first, *_ = await desk.targets()
    await desk.shows(first, a_sighting("http://c.example/a.png"), a_sighting("http://c.example/b.png"))
    before = await desk.rows("SELECT s.xmin, p.fetched_at FROM page_images s JOIN pages p ON p.id = s.page_id")
    again = await desk.again(first)
    assert again.past is not None
    await desk.shows(again, a_sighting("http://c.example/a.png"), a_sighting("http://c.example/c.png"))
    a, b, c = await desk.rows(
        "SELECT s.xmin, q.* FROM page_images s JOIN ("
        + SIGHTINGS.rpartition(" ORDER BY")[0]
        + ") q ON q.image_id = s.image_id ORDER BY q.url"
    )
    assert (a["xmin"], a["last_seen_at"]) == (before[0]["xmin"], None)
    assert b["last_seen_at"] == before[0]["fetched_at"] < c["first_seen_at"]
    assert c["last_seen_at"] is None
    await desk.shows(await desk.again(first), a_sighting("http://c.example/b.png", "back"))
    _, b, _ = await desk.rows(SIGHTINGS)
    assert (b["last_seen_at"], b["alt_text"]) == (None, "back")
    (domain,) = await desk.rows("SELECT * FROM domains")
    assert domain["images_found"] == 3
    assert await desk.broken() == []


async def test_a_page_that_shows_nothing_any_more(desk: Desk) -> None:
    first, *_ = await desk.targets()
    await desk.shows(first, a_sighting("http://c.example/a.png"))
    await desk.shows(await desk.again(first))
    (row,) = await desk.rows(SIGHTINGS)
    assert row["last_seen_at"] is not None


async def test_any_words_are_only_words(desk: Desk) -> None:
    first, *_ = await desk.targets()
    alt = "'; DROP TABLE images; -- , \\ {} \u202e 😀"
    await desk.shows(first, a_sighting("http://c.example/a.png", alt), a_sighting("http://c.example/b.png", ""))
    assert [row["alt_text"] for row in await desk.rows(SIGHTINGS)] == [alt, ""]


async def test_images_to_fetch_come_soon_after_their_page_and_are_no_pages(desk: Desk) -> None:
    first, *_ = await desk.targets(1)
    await desk.shows(first, a_sighting(HOME + "i.png"), wants_files=True)
    (domain,) = await desk.rows("SELECT * FROM domains")
    assert (domain["pages_discovered"], domain["frontier_size"]) == (2, 2)
    image, page = await desk.targets()
    assert (page.is_image, image.is_image, image.url, image.depth) == (False, True, HOME + "i.png", first.depth)
    assert await desk.broken() == []


async def test_a_file_is_counted_when_it_is_stored_for_the_first_time(desk: Desk) -> None:
    first, *_ = await desk.targets(1)
    await desk.shows(first, a_sighting(HOME + "i.png"), wants_files=True)
    target = next(each for each in await desk.targets() if each.is_image)
    file = ImageFile(ImageStatus.STORED, bytes(32), 10, "png", 1, 1, 1, 7, "images/00/0.png", None)
    outcome = Outcome(target, OutcomeKind.SUCCESS, 200, image=file, etag='"1"')
    await desk.writer.prepare([outcome])  # a worker that died before the record
    await desk.writer.write([outcome])
    (domain,) = await desk.rows("SELECT * FROM domains")
    assert (domain["images_stored"], domain["pages_crawled"]) == (1, 1)
    again = await desk.again(target)
    assert (again.is_image, again.past is not None and again.past.etag) == (True, '"1"')
    gone = Outcome(again, OutcomeKind.BLOCKED_4XX, 404)
    await desk.writer.write([gone])
    (image,) = await desk.rows("SELECT *, status::text FROM images")
    assert (image["status"], image["body_ref"], image["stored_at"] is not None) == ("gone", "images/00/0.png", True)
    assert await desk.broken() == []


async def test_a_link_to_what_was_an_image_makes_it_a_page(desk: Desk) -> None:
    """Met as an image first, it would else never be read, and with it all behind it."""
    first, second = await desk.targets()
    url = HOME + "both"
    await desk.shows(first, a_sighting(url), wants_files=True)
    (image,) = await desk.targets()
    file = ImageFile(ImageStatus.NOT_AN_IMAGE, bytes(32), 10)
    await desk.writer.write([Outcome(image, OutcomeKind.SUCCESS, 200, image=file)])
    await desk.shows(second, links=(url,))
    (page,) = await desk.targets()
    assert (page.url, page.is_image) == (url, False)
    assert await desk.broken() == []
    await desk.writer.write([a_success(page)])
    (domain,) = await desk.rows("SELECT * FROM domains")
    assert (domain["pages_discovered"], domain["frontier_size"]) == (3, 0)
    assert await desk.broken() == []


async def test_a_link_that_is_an_image_too_stays_a_page(desk: Desk) -> None:
    first, *_ = await desk.targets(1)
    await desk.shows(first, a_sighting(HOME + "both"), wants_files=True, links=(HOME + "both",))
    assert [target.is_image for target in await desk.targets() if target.url.endswith("both")] == [False]
    assert await desk.broken() == []


async def test_late_results_show_nothing(desk: Desk) -> None:
    first, *_ = await desk.targets()
    stale = a_target(
        first.url, task=first.task_id, page=first.page_id, domain=first.domain_id, version=first.lease_version - 1
    )
    await desk.shows(stale, a_sighting("http://c.example/i.png"))
    assert await desk.rows(SIGHTINGS) == []
    assert await desk.broken() == []


async def test_a_known_domain_taken_for_its_images_keeps_its_pages_to_itself(desk: Desk, ground: Ground) -> None:
    other = await ground.a_domain("c.example", pages=3)
    first, *_ = await desk.targets()
    await desk.shows(first, a_sighting("http://c.example/i.png"), wants_files=True)
    row = await ground.domain(other)
    assert (row["run_id"], row["images_only"], row["frontier_size"], row["pages_discovered"]) == (desk.run, True, 4, 3)
    lease = await ground.a_lease(other, desk.worker)
    targets = await ground.targets(lease, desk.worker, desk.run)
    assert [target.url for target in targets] == ["http://c.example/i.png"]
    assert await desk.broken() == []
