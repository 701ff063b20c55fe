"""A challenge in place of a page is a refusal: it says nothing about the page, and enough of them put its domain into
cooldown."""

import pytest
from tests.integration.engine.stage import Stage, WatchedSite, serve
from tests.unit.parsing.test_challenge import CLOUDFLARE, RECAPTCHA

from forager.db.database import Database
from forager_playground import Answer

pytestmark = pytest.mark.timeout(90)


async def test_challenges_are_refusals_with_a_reason(database: Database) -> None:
    def answer(path: str, _count: int) -> Answer | None:
        pages = {
            "/start": (
                200,
                b"<a href=200>a</a><a href=captcha>b</a><a href=403>c</a><a href=plain>d</a>",
            ),
            "/200": (200, CLOUDFLARE.encode()),
            "/captcha": (200, RECAPTCHA.encode()),
            "/403": (403, CLOUDFLARE.encode()),
            "/plain": (403, b"<h1>Forbidden</h1>"),
        }
        if path not in pages:
            return None
        status, body = pages[path]
        return Answer(status=status, body=body, content_type="text/html", is_stable=False)

    async with serve(WatchedSite(1, on_request=answer)) as web:
        root = web.urls[0]
        stage = await Stage.open(database, web, f"{root}start")
        await stage.work()
        rows = await stage.fetch(
            "SELECT p.url, p.status::text AS status, p.title, t.outcome::text AS outcome, t.error_code AS code,"
            " t.status_code, t.error_message AS message FROM pages p JOIN crawl_tasks t ON t.page_id = p.id"
        )
        found = {row["url"].removeprefix(root): row for row in rows}
        for path, code, status in (("200", "challenge", 200), ("captcha", "captcha", 200), ("403", "challenge", 403)):
            row = found[path]
            assert (row["status"], row["title"], row["outcome"]) == ("blocked", None, "blocked_4xx")
            assert (row["code"], row["status_code"]) == (code, status)
        assert found["200"]["message"].endswith("challenge: cloudflare")
        assert found["plain"]["code"] == "http_status"
        reasons = await stage.fetch("SELECT reason, pages FROM run_outcomes WHERE outcome = 'blocked_4xx'")
        assert {row["reason"]: row["pages"] for row in reasons} == {"challenge: cloudflare": 2, "captcha": 1, "403": 1}
    assert await stage.broken_promises() == {}


async def test_a_site_that_only_shows_challenges_is_blocked_with_that_reason(database: Database) -> None:
    def answer(path: str, _count: int) -> Answer | None:
        if path == "/robots.txt":
            return None
        return Answer(body=CLOUDFLARE.encode(), content_type="text/html", is_stable=False)

    async with serve(WatchedSite(1, on_request=answer)) as web:
        root = web.urls[0]
        stage = await Stage.open(database, web, *[f"{root}{number}" for number in range(20)])
        await stage.work()
        (row,) = await stage.fetch("SELECT status::text, block_reason_code AS code, block_reason FROM domains")
        assert (row["status"], row["code"]) == ("blocked", "challenge")
        assert "challenge: cloudflare" in row["block_reason"]
    assert await stage.broken_promises() == {}
