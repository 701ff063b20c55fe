"""robots.txt of an origin: one copy, whatever happens, and every request waits for its turn."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from tests.builders import a_fetched
from tests.unit.crawl.scripted import Answer, ScriptedClient

from forager import errors
from forager.crawl.permission import MOST_REDIRECTS, MOST_SITEMAPS, UNREACHABLE_TTL_S, ask_robots
from forager.domains.store import RobotsCopy

ORIGIN = "http://a.example"
ROBOTS = f"{ORIGIN}/robots.txt"


async def ask(client: ScriptedClient) -> tuple[RobotsCopy, int]:
    """The copy, and how many turns were waited for."""
    turns = 0

    @asynccontextmanager
    async def turn() -> AsyncIterator[Callable[[], None]]:
        nonlocal turns
        turns += 1
        yield lambda: None

    copy = await ask_robots(client, 7, ORIGIN, ttl_s=60.0, turn=turn, waits_s=(0.0, 0.0))
    return copy, turns


def client_that(*answers: Answer) -> ScriptedClient:
    return ScriptedClient({ROBOTS: list(answers)})


async def test_a_file_is_kept_for_its_time() -> None:
    copy, turns = await ask(client_that(a_fetched(200, b"User-agent: *\nDisallow: /x\0")))
    assert copy == RobotsCopy(7, ORIGIN, "User-agent: *\nDisallow: /x", 200, None, 60.0)
    assert turns == 1


async def test_the_sitemaps_it_names_come_with_it() -> None:
    copy, _ = await ask(client_that(a_fetched(200, b"Sitemap: http://a.example/s.xml\nUser-agent: *\nsitemap: /t.xml")))
    assert copy.sitemaps == ("http://a.example/s.xml", "/t.xml")
    many, _ = await ask(client_that(a_fetched(200, b"Sitemap: /s.xml\n" * 1000)))
    assert len(many.sitemaps) == MOST_SITEMAPS


async def test_a_bad_certificate_is_told_and_not_asked_again() -> None:
    copy, turns = await ask(client_that(errors.TlsError("has no valid certificate")))
    assert (copy.is_insecure, copy.error, turns) == (True, "has no valid certificate", 1)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_a_site_without_one_allows_everything(status: int) -> None:
    copy, turns = await ask(client_that(a_fetched(status)))
    assert copy == RobotsCopy(7, ORIGIN, None, status, None, 60.0)
    assert turns == 1


@pytest.mark.parametrize("answer", [a_fetched(500), a_fetched(503), a_fetched(429), errors.ConnectError("nobody")])
async def test_a_site_in_trouble_is_asked_three_times_and_then_left_alone(answer: Answer) -> None:
    copy, turns = await ask(client_that(answer))
    assert (copy.text, copy.ttl_s, turns) == (None, UNREACHABLE_TTL_S, 3)
    assert copy.error


async def test_where_the_guard_forbids_to_ask_nobody_is_asked_again() -> None:
    client = client_that(errors.AddressRefusedError("a private address"))
    with pytest.raises(errors.AddressRefusedError):
        await ask(client)
    assert len(client.asked) == 1


async def test_trouble_that_passes_is_forgotten() -> None:
    copy, turns = await ask(client_that(errors.ConnectionLostError("cut"), a_fetched(503), a_fetched(200, b"Allow: /")))
    assert (copy.text, copy.error, turns) == ("Allow: /", None, 3)


async def test_redirects_are_followed_each_in_its_turn() -> None:
    client = ScriptedClient(
        {
            ROBOTS: [a_fetched(301, location="https://a.example/robots.txt")],
            "https://a.example/robots.txt": [a_fetched(302, location="/other.txt")],
            "https://a.example/other.txt": [a_fetched(200, b"ok")],
        }
    )
    copy, turns = await ask(client)
    assert (copy.origin, copy.text, turns) == (ORIGIN, "ok", 3)


async def test_a_redirect_that_never_ends_means_that_there_is_none() -> None:
    copy, turns = await ask(client_that(a_fetched(302, location=ROBOTS)))
    assert (copy.text, copy.error, copy.status_code, turns) == (None, None, 404, MOST_REDIRECTS + 1)


async def test_a_redirect_that_leads_off_the_web_means_that_there_is_none() -> None:
    copy, turns = await ask(client_that(a_fetched(302, location="ftp://a.example/robots.txt")))
    assert (copy.text, copy.error, copy.status_code, turns) == (None, None, 404, 1)


async def test_bytes_that_are_no_text_do_no_harm() -> None:
    copy, _ = await ask(client_that(a_fetched(200, b"Disallow: /\xff\xfe\0")))
    assert copy.text == "Disallow: /��"
