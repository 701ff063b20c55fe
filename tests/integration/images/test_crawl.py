"""Images of a gallery, by policy: found with where each is shown, or fetched like pages and stored once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.integration.engine.stage import Stage
from tests.integration.images.stage import Gallery, open_gallery

from forager.db.database import Database
from forager.images.queries import describe_image, list_sightings, similar_images
from forager.runs.models import Scope


@pytest.fixture
async def gallery(database: Database, tmp_path: Path) -> AsyncIterator[Gallery]:
    async with open_gallery(database, tmp_path / "bodies") as opened:
        yield opened


ROOMS = (1, 2, 3)
STORED_IN_CELLAR = {"/img/twin-a.png", "/img/twin-b.png", "/img/arrived.png"}


def room_images(gallery: Gallery) -> dict[str, str]:
    """URL of all pictures of the rooms → how a page names them."""
    site = gallery.web.sites[gallery.site]
    return {gallery.cdn + path: how for room in ROOMS for path, how in site.images(room).items()}  # type: ignore[attr-defined]


async def test_every_way_to_name_an_image_is_found_and_nothing_is_asked_for(gallery: Gallery) -> None:
    stage = await gallery.crawl("found")
    rows = await gallery.fetch(
        "SELECT i.url, s.discovery_type FROM images i JOIN page_images s ON s.image_id = i.id"
        " JOIN pages p ON p.id = s.page_id WHERE p.url LIKE '%/room/%'"
    )
    assert {(row["url"], row["discovery_type"]) for row in rows} == set(room_images(gallery).items())
    assert len(rows) == 7 * len(ROOMS)
    assert gallery.requested(gallery.cdn) == []
    assert {row["status"] for row in (await gallery.images()).values()} == {"found"}
    assert await stage.broken_promises() == {}
    assert gallery.files() == set()


async def test_none_finds_nothing(gallery: Gallery) -> None:
    stage = await gallery.crawl("none")
    assert await gallery.images() == {}
    assert await gallery.fetch("SELECT FROM page_images") == []
    assert await stage.broken_promises() == {}


async def test_download_stores_what_is_a_picture_and_names_what_is_not(gallery: Gallery) -> None:
    stage = await gallery.crawl()
    images = await gallery.images()
    stored = {url for url, row in images.items() if row["status"] == "stored"}
    assert stored == set(room_images(gallery)) | {gallery.site + path for path in STORED_IN_CELLAR}
    lying = {url.rpartition("/")[2]: row["status"] for url, row in images.items() if row["status"] != "stored"}
    assert lying == {
        "cut.png": "broken",
        "page.png": "not_an_image",
        "empty.png": "broken",
        "bomb.png": "too_big",
        "long.png": "too_big",
        "moved.png": "moved",
        "gone.png": "gone",
        "secret.png": "blocked",
    }
    assert images[f"{gallery.site}/img/moved.png"]["moved_to"] == images[f"{gallery.site}/img/arrived.png"]["id"]
    row = images[f"{gallery.cdn}/img/1-plain.png"]
    assert (row["format"], row["width"], row["height"], row["file_size"] > 500) == ("png", 240, 160, True)
    assert await stage.broken_promises() == {}
    (domain,) = await gallery.fetch("SELECT * FROM domains WHERE name = $1", gallery.site.removeprefix("http://"))
    assert (domain["consecutive_error_count"], domain["total_error_count"], domain["status"]) == (0, 0, "exhausted")


async def test_each_picture_is_asked_for_once_and_the_same_bytes_are_stored_once(gallery: Gallery) -> None:
    stage = await gallery.crawl()
    assert {url: times for url, times in stage.requests().items() if times > 1} == {}
    twins = await gallery.images("url LIKE '%twin-_.png'")
    assert len(twins) == 2
    assert len({(row["content_hash"], row["body_ref"]) for row in twins.values()}) == 1
    rows = await gallery.fetch("SELECT DISTINCT body_ref, thumbnail_ref FROM images WHERE stored_at IS NOT NULL")
    assert gallery.files() == {ref for row in rows for ref in (row["body_ref"], row["thumbnail_ref"])}


async def test_an_image_robots_txt_forbids_is_never_asked_for(gallery: Gallery) -> None:
    await gallery.crawl()
    assert "/private/secret.png" not in gallery.requested(gallery.site)


async def test_pages_come_before_images_and_images_on_other_hosts_are_no_way_in(gallery: Gallery) -> None:
    stage = await gallery.crawl()
    requested = gallery.requested(gallery.site)
    first_image = next(at for at, path in enumerate(requested) if path.startswith("/img/"))
    assert set(requested[:first_image]) == {"/", "/cellar", "/room/1", "/room/2", "/room/3"}
    assert set(gallery.requested(gallery.cdn)) == {url.removeprefix(gallery.cdn) for url in room_images(gallery)}
    assert await stage.urls("NOT is_image") == {gallery.site + p for p in requested[:first_image]}


async def test_a_page_and_its_folder_are_no_limit_for_what_it_shows(gallery: Gallery) -> None:
    seed = f"{gallery.site}/room/1"
    stage = await Stage.open(gallery.database, gallery.web, seed, scope=Scope.PAGE)
    await stage.work({"image_files": gallery.body_store}, images="download")
    assert set(await gallery.images("status = 'stored'")) == {
        gallery.cdn + path
        for path in gallery.web.sites[gallery.site].images(1)  # type: ignore[attr-defined]
    }
    assert await stage.broken_promises() == {}


async def test_excluded_images_are_left_out(gallery: Gallery) -> None:
    await gallery.crawl(exclude=("*-late.png",))
    assert not [url for url in await gallery.images() if "late" in url]


async def test_counters_are_of_pages_and_the_yield_is_of_the_domain_that_shows(gallery: Gallery) -> None:
    await gallery.crawl()
    rows = {row["name"]: row for row in await gallery.fetch("SELECT * FROM domains")}
    site, cdn = (rows[url.removeprefix("http://")] for url in (gallery.site, gallery.cdn))
    stored = len(await gallery.images("status = 'stored'"))
    assert (site["pages_discovered"], site["pages_crawled"]) == (5, 5)
    assert (site["images_found"], site["images_stored"]) == (7 * 3 + 10, stored)
    assert site["image_yield_rate"] == stored / 5
    assert site["avg_images_per_page"] == 31 / 5
    assert (cdn["pages_discovered"], cdn["pages_crawled"], cdn["images_stored"], cdn["images_only"]) == (0, 0, 0, True)


async def test_an_operator_sees_where_an_image_is_shown(gallery: Gallery) -> None:
    await gallery.crawl()
    async with gallery.database.pool.acquire() as conn:
        logo = await describe_image(conn, f"{gallery.cdn}/img/logo.png")
        twin = await describe_image(conn, f"{gallery.site}/img/twin-a.png")
        shown = await list_sightings(conn, page=f"{gallery.site}/room/2")
        stored = await list_sightings(conn, domain=gallery.site, status="stored", file_format="png")
        of_cdn = await list_sightings(conn, domain=gallery.cdn)
        image, near = await similar_images(conn, str(twin["id"]), within=0)
    assert {page["page_url"] for page in logo["pages"]} == {f"{gallery.site}/room/{n}" for n in ROOMS}
    assert {page["alt_text"] for page in logo["pages"]} == {"Odd Frames"}
    assert twin["same_file"] == [f"{gallery.site}/img/twin-b.png"]
    assert len(shown) == 7
    assert [row["alt_text"] for row in shown if row["image_type"] == "primary"] == [""]
    assert len(stored) == len(await gallery.images("status = 'stored' AND url NOT LIKE '%arrived%'"))
    assert of_cdn == []
    assert image["id"] == twin["id"]
    assert near[0]["is_same_file"]


async def test_unchanged_images_are_not_stored_again(gallery: Gallery) -> None:
    await gallery.crawl()
    before, files = await gallery.images(), gallery.files()
    gallery.web.log.clear()
    stage = await gallery.crawl()  # the same command: nothing is due
    await gallery.fetch("UPDATE domains SET status = 'active', ready_at = now(), next_crawl_after = NULL")
    await gallery.fetch(
        "INSERT INTO crawl_tasks (page_id, domain_id, priority) SELECT id, domain_id, priority FROM pages"
        " WHERE is_image AND status = 'fetched' AND url LIKE '%twin-a.png'"
    )
    await stage.work({"image_files": gallery.body_store}, images="download")
    visits = [visit for visit in gallery.web.log if visit.target == "/img/twin-a.png"]
    assert [visit.status for visit in visits] == [304]
    after = await gallery.images()
    url = f"{gallery.site}/img/twin-a.png"
    assert after[url]["stored_at"] == before[url]["stored_at"]
    assert after[url]["checked_at"] > before[url]["checked_at"]
    assert gallery.files() == files
    assert await stage.broken_promises() == {}


async def test_images_do_not_count_against_the_page_limit_of_a_run(gallery: Gallery) -> None:
    """Also those on hosts that no seed names."""
    stage = await Stage.open(gallery.database, gallery.web, f"{gallery.site}/", max_pages=5)
    await stage.work({"image_files": gallery.body_store}, images="download")
    assert len(await gallery.images("status = 'stored'")) >= 20
    assert await stage.broken_promises() == {}
    stage = await gallery.crawl()
    assert len(await gallery.images("status = 'stored'")) == len(room_images(gallery)) + len(STORED_IN_CELLAR)
    assert await stage.broken_promises() == {}
