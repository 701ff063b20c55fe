"""Images through the same line as pages: killed in the middle, every picture is stored once, at its host's pace."""

import random
import time

import pytest
from tests.acceptance.conftest import OpenWeb
from tests.acceptance.stage import AT_RISK, SMALL, TRANSPORT_S, Forager, Web, until

from forager.playground import smallest_gap_s

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
    for number in (pages // 2, pages + PHOTOS // 2, pages + PHOTOS):
        web.wait_past(number)
        time.sleep(rng.uniform(0, 0.2))  # fetches, decoding and commits are hit in all their phases
        crawl.kill_all()
        crawl = forager.start(*order, **SMALL)
    crawl.finish()
    assert stored(forager) == expected(web)
    forager.check()
    assert sum(web.repeated().values()) <= 3 * AT_RISK
    (refs,) = forager.ask(
        "SELECT array_agg(DISTINCT body_ref) || array_agg(DISTINCT thumbnail_ref) AS refs FROM images"
    )
    folder = forager.folder / "bodies"
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.*") if path.is_file()}
    assert files == set(refs["refs"])
    (host,) = web.hosts
    assert smallest_gap_s(web.everything(), host) >= DELAY_S - TRANSPORT_S
    assert forager.value("SELECT images_stored FROM domains") == 2 * PHOTOS


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
