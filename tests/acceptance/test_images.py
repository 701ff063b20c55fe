"""Images through the same line as pages: killed in the middle, every picture is stored once, at its host's pace."""

import asyncio
import hashlib
import json
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import AT_RISK, SMALL, TRANSPORT_S, Forager, Web, until
from tests.wire import a_wire_to_database

from forager.db.pool import close, connect
from forager_playground import smallest_gap_s, start_playground

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]

PHOTOS = 30
DELAY_S = 0.1


def expected(web: Web) -> set[str]:
    (start,) = web.urls
    return {f"{start}img/{photo}{small}.png" for photo in range(1, PHOTOS + 1) for small in ("", "-small")}


def stored(forager: Forager) -> set[str]:
    return {row["url"] for row in forager.ask("SELECT url FROM images WHERE status = 'stored'")}


def test_killed_in_the_middle_every_picture_is_stored_once(
    forager: Forager, open_web: OpenWeb, rng: random.Random
) -> None:
    web = open_web("gallery")
    order = (*web.urls, "--images", "download", "--delay", str(DELAY_S))
    pages = len([page for page in web.key.by_url.values() if page.fate == "fetch"])
    crawl = forager.start(*order, **SMALL)
    for number in (pages // 2, pages + PHOTOS // 2):
        web.wait_past(number)
        time.sleep(rng.uniform(0, 0.2))  # fetches, decoding and commits are hit in all their phases
        crawl.kill_all()
        crawl = forager.start(*order, **SMALL)
    crawl.finish()
    assert stored(forager) == expected(web)
    forager.check()
    assert sum(web.repeated().values()) <= 2 * AT_RISK
    (refs,) = forager.ask(
        "SELECT array_agg(DISTINCT body_ref) || array_agg(DISTINCT thumbnail_ref) AS refs FROM images"
    )
    folder = forager.folder / "bodies"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.*") if path.is_file()}
    assert files == set(refs["refs"])
    (host,) = web.hosts
    assert smallest_gap_s(web.everything(), host) >= DELAY_S - TRANSPORT_S
    assert forager.value("SELECT images_stored FROM domains") == 2 * PHOTOS


def refs(forager: Forager) -> set[str]:
    """Files that images count on."""
    rows = forager.ask("SELECT body_ref, thumbnail_ref FROM images WHERE stored_at IS NOT NULL")
    return {ref for row in rows for ref in row if ref is not None}


def files(forager: Forager) -> set[str]:
    folder = forager.folder / "bodies"
    return {str(path.relative_to(folder)) for path in folder.rglob("*.*") if path.is_file()}


@contextmanager
def nobody_writes_images(forager: Forager) -> Iterator[None]:
    """Whoever has stored a file waits before its row."""
    is_held, is_over = threading.Event(), threading.Event()

    async def hold() -> None:
        connection = await connect(forager.dsn, application="forager test")
        async with connection.transaction():
            await connection.execute("LOCK TABLE images IN EXCLUSIVE MODE")
            is_held.set()
            await asyncio.to_thread(is_over.wait)
        await close(connection)

    holder = threading.Thread(target=lambda: asyncio.run(hold()))
    holder.start()
    assert is_held.wait(60)
    try:
        yield
    finally:
        is_over.set()
        holder.join()


def test_killed_between_file_and_row(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("gallery=4")
    order = (*web.urls, "--images", "download", "--delay", "0")
    forager.do("crawl", *web.urls, "--delay", "0", "-q")
    assert forager.value("SELECT count(*) FROM images WHERE status = 'found'") == 8
    with nobody_writes_images(forager):
        crawl = forager.start(*order)
        until(lambda: files(forager), "a picture is in the store")
        crawl.kill_all()
    assert refs(forager) == set()
    assert files(forager)
    forager.check()
    forager.start(*order).finish()
    assert len(stored(forager)) == 8
    assert files(forager) == refs(forager)
    forager.check()


def test_two_workers_store_the_same_picture_at_once(forager: Forager) -> None:
    """Two galleries of one seed show the same pictures under names of their own, each crawled by its own worker."""
    with (
        start_playground(("gallery=6",), host_base="127.77.1.1") as one,
        start_playground(("gallery=6",), host_base="127.77.2.1") as two,
    ):
        order = ("--images", "download", "--delay", "0.02", "--workers", "2")
        forager.start(*one.urls, *two.urls, *order).finish()
    rows = forager.ask("SELECT url, content_hash, body_ref FROM images WHERE status = 'stored'")
    assert len(rows) == 2 * 2 * 6
    assert len({row["body_ref"] for row in rows}) == len({row["content_hash"] for row in rows}) <= 2 * 6
    for row in rows:
        assert (
            hashlib.sha256((forager.folder / "bodies" / row["body_ref"]).read_bytes()).digest() == row["content_hash"]
        )
    assert files(forager) == refs(forager)
    forager.check()


def test_the_database_is_away_during_downloads(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("gallery")
    pages = len([page for page in web.key.by_url.values() if page.fate == "fetch"])
    with a_wire_to_database(forager.dsn) as wire:
        order = (*web.urls, "--images", "download", "--delay", "0.05")
        crawl = forager.start(*order, **SMALL, FORAGER_DATABASE_URL=wire.url)
        web.wait_past(pages + 5)
        wire.cut()
        before = web.count()
        until(lambda: "database away" in crawl.said, "the worker noticed")
        time.sleep(2)
        assert web.count() - before <= AT_RISK
        wire.mend()
        crawl.finish()
    assert "Traceback" not in crawl.said
    assert stored(forager) == expected(web)
    assert files(forager) == refs(forager)
    assert web.repeated() == {}
    forager.check()


def test_what_was_found_is_fetched_when_the_domain_wants_it(forager: Forager, open_web: OpenWeb) -> None:
    """And no page is asked for again."""
    web = open_web("gallery=4")
    forager.do("crawl", *web.urls, "--delay", "0", "-q")
    (host,) = web.hosts
    pages = web.count()
    assert stored(forager) == set()
    told = forager.run("domain", host, "set", "--images", "download")
    assert "8 images found earlier wait to be fetched" in told.stderr
    forager.check()
    forager.do("crawl", *web.urls, "--delay", "0", "-q")
    assert len(stored(forager)) == 8
    assert web.count() == pages + 8
    forager.check()


def test_a_crawl_that_wants_them_fetches_what_earlier_ones_found(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("gallery=4")
    forager.do("crawl", *web.urls, "--delay", "0", "-q")
    pages = web.count()
    forager.do("crawl", *web.urls, "--delay", "0", "-q", "--images", "download")
    assert len(stored(forager)) == 8
    assert web.count() == pages + 8 + len(web.urls), "the seed is asked whether it changed"


def test_a_page_limit_leaves_the_images_of_its_pages(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("gallery=4")
    ended = forager.run("crawl", *web.urls, "--delay", "0", "--images", "download", "--max-pages", "4")
    assert ended.returncode == 15, ended.stderr
    pages = [url for url in web.requests() if not url.endswith((".png", ".jpg", ".gif", ".webp", ".svg"))]
    assert len(pages) == 4
    assert forager.value("SELECT count(*)::int FROM images") > 0
    assert forager.value("SELECT count(*)::int FROM images WHERE status = 'found'") == 0
    forager.check()


def test_files_go_at_night_when_their_time_is_over(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("gallery=4")
    forager.do("crawl", *web.urls, "--images", "download", "--delay", "0", "-q")
    (host,) = web.hosts
    forager.do("domain", host, "set", "--image-files", "7d")
    forager.ask(
        "UPDATE images SET stored_at = stored_at - interval '8 days', checked_at = checked_at - interval '8 days'"
    )
    forager.ask("UPDATE pages SET fetched_at = fetched_at - interval '8 days'")
    for path in (forager.folder / "bodies").rglob("*.*"):
        os.utime(path, (0, 0))
    assert "files of images last seen" in forager.do("storage")
    rules = {rule["what"]: rule["due"] for rule in json.loads(forager.do("storage", "--json"))["rules"]}
    assert rules["files of images last seen"] == 8
    assert len(files(forager)) == 16
    forager.do("schedule", "run", "--once", "retain")
    assert files(forager) == set()
    assert forager.value("SELECT count(*) FROM images WHERE status = 'dropped'") == 8
    forager.check()


def test_the_commands_show_what_was_stored(forager: Forager, open_web: OpenWeb) -> None:
    web = open_web("gallery=4")
    forager.do("crawl", *web.urls, "--images", "download", "--delay", "0", "-q")
    until(lambda: stored(forager), "images are stored")
    (start,) = web.urls
    table = forager.do("images", "--status", "stored")
    assert f"{start}img/1.png" in table
    card = forager.do("images", "show", f"{start}img/1.png")
    assert f"{start}photo/1" in card
    assert "240x160" in card
    assert '"similar"' in forager.do("images", "similar", f"{start}img/1.png", "--json")
    assert "/img/" not in forager.do("pages")
    assert "/img/" not in forager.do("export", "pages")
    assert forager.run("images", "show", "http://nowhere.example/x.png").returncode == 3
    assert forager.run("images", "--page", "::").returncode == 2
    forager.do("domain", start.removeprefix("http://").rstrip("/"), "set", "--images", "none")
    assert forager.value("SELECT images_policy FROM domains") == "none"
    assert forager.run("domain", start, "set", "--images", "some").returncode == 2
