"""robots.txt of an origin: one copy, whatever happens, and every request waits for its turn."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from tests.builders import a_fetched
from tests.unit.engine.scripted import Answer, ScriptedClient

from forager import errors
from forager.domains.store import RobotsCopy
from forager.robots import rules as robots
from forager.robots.fetch import MOST_REDIRECTS, MOST_SITEMAPS, UNREACHABLE_TTL_S, fetch_robots

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

    copy = await fetch_robots(client, 7, ORIGIN, ttl_s=60.0, turn=turn, waits_s=(0.0, 0.0))
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
    client = client_that(errors.AddressBlockedError("a private address"))
    with pytest.raises(errors.AddressBlockedError):
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
    assert copy.text == "Disallow: /%FF%FE"


LEGACY = [
    (b"/caf\xe9/", "/caf%E9/menu"),
    ("/каталог/".encode("cp1251"), "/%EA%E0%F2%E0%EB%EE%E3/1"),
    ("/カタログ".encode("shift_jis"), "/%83J%83%5E%83%8D%83O"),
    ("/grüße".encode(), "/gr%C3%BC%C3%9Fe"),
    (b"/mixed-\xc3\xbc-\xfc", "/mixed-%C3%BC-%FC"),
]


@pytest.mark.parametrize(("path", "url"), LEGACY)
async def test_rules_are_obeyed_octet_by_octet(path: bytes, url: str) -> None:
    body = b"User-agent: *\nDisallow: " + path + b"\n# \xff\xfe\xe9\n"
    copy, _ = await ask(client_that(a_fetched(200, body)))
    assert copy.text is not None
    stored = copy.text.encode().decode()  # as a database gives it back
    for read in (robots.parse(body), robots.parse(stored)):
        assert not read.verdict("Forager", ORIGIN + url).allowed
        assert read.verdict("Forager", ORIGIN + "/other").allowed


async def test_a_file_in_utf_16_is_obeyed() -> None:
    copy, _ = await ask(client_that(a_fetched(200, "\ufeffUser-agent: *\r\nDisallow: /x\r\n".encode("utf-16-le"))))
    assert not robots.parse(copy.text or "").verdict("Forager", f"{ORIGIN}/x").allowed


async def test_half_a_rule_at_a_cut_end_forbids_nothing() -> None:
    fetched = replace(a_fetched(200, b"User-agent: *\nDisallow: /a\nDisallow: /"), is_truncated=True)
    copy, _ = await ask(client_that(fetched))
    assert robots.parse(copy.text or "").verdict("Forager", f"{ORIGIN}/b").allowed


async def test_a_long_silence_that_is_asked_for_is_kept() -> None:
    copy, turns = await ask(client_that(a_fetched(503, retry_after="7200")))
    assert (turns, copy.silence_s, copy.ttl_s, copy.error) == (1, 7200.0, 7200.0, "the server answered 503")


async def test_a_short_silence_that_is_asked_for_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("forager.robots.fetch.asyncio.sleep", sleep)
    copy, turns = await ask(client_that(a_fetched(429, retry_after="7"), a_fetched(200, b"User-agent: *\nDisallow: /")))
    assert (copy.error, turns, max(waited)) == (None, 2, 7.0)
