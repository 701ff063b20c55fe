"""What the dashboard asks for: filters, days of a domain, why a task failed, seeds before they are planted."""

import json
from typing import Any

import asyncpg
import httpx
import pytest
from tests.builders import ITEMS, a_detailed_reading, a_target
from tests.factories import ENDS
from tests.ground import Ground
from tests.integration.fetch.raw_server import http
from tests.integration.seeds.test_follow_sitemap import a_site, index, urlset

from forager.frontier.details import record_details
from forager.frontier.models import Outcome, OutcomeKind


@pytest.fixture
def ground(conn: asyncpg.Connection) -> Ground:
    return Ground(conn)


async def names(client: httpx.AsyncClient, query: str) -> list[str]:
    answer = await client.get(f"/api/domains?{query}")
    assert answer.status_code == 200, answer.text
    return [row["name"] for row in answer.json()["items"]]


async def test_domains_are_found_by_their_breaker(user: httpx.AsyncClient, ground: Ground) -> None:
    await ground.a_domain("calm.example")
    weary = await ground.a_domain("weary.example")
    await ground.conn.execute(
        "UPDATE domains SET breaker_state = 'open', breaker_opened_at = now() WHERE id = $1", weary
    )
    assert await names(user, "breaker=open") == ["weary.example"]
    assert await names(user, "breaker=closed&sort=name") == ["calm.example"]
    assert await names(user, "breaker=half_open") == []
    assert (await user.get("/api/domains?breaker=broken")).status_code == 422


async def test_a_domain_day_by_day_newest_first(user: httpx.AsyncClient, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")
    await ground.conn.execute(
        "INSERT INTO domain_days (domain_id, day, visits, ok, changed, errors, bytes, time_ms)"
        " VALUES ($1, '2026-03-01', 4, 3, 1, 1, 1000, 800), ($1, '2026-03-02', 1, 1, 0, 0, 10, 5)",
        domain,
    )
    days = (await user.get("/api/domains/a.example/days")).json()["items"]
    assert [(day["day"], day["visits"], day["ok"]) for day in days] == [("2026-03-02", 1, 1), ("2026-03-01", 4, 3)]
    assert days[1]["response_s"] == pytest.approx(0.2)
    assert len((await user.get("/api/domains/a.example/days?limit=1")).json()["items"]) == 1
    assert (await user.get("/api/domains/nobody.example/days")).status_code == 404


async def test_a_domain_tells_what_can_be_set(admin: httpx.AsyncClient, ground: Ground) -> None:
    await ground.a_domain("a.example")
    await admin.patch("/api/admin/domains/a.example", json={"proxy_country": "DE", "delay_per_proxy": True})
    shown = (await admin.get("/api/domains/a.example")).json()
    assert (shown["proxy_country"], shown["paces_per_proxy"], shown["parser_name"]) == ("DE", True, "auto")


async def test_a_run_tells_which_links_it_left_out(user: httpx.AsyncClient, ground: Ground) -> None:
    run, other = await ground.a_run(), await ground.a_run()
    await ground.conn.execute(
        "INSERT INTO run_drops (run_id, reason, links) VALUES ($1, 'scope', 3), ($1, 'depth', 9), ($2, 'scope', 100)",
        run,
        other,
    )
    assert (await user.get(f"/api/runs/{run}")).json()["drops"] == {"depth": 9, "scope": 3}


async def test_a_failed_task_names_its_problem_and_where_in_our_code(user: httpx.AsyncClient, ground: Ground) -> None:
    task = await ground.new_task.pending()
    still_open = (await user.get(f"/api/tasks/{task}")).json()
    assert (still_open["fingerprint"], still_open["stack"]) == (None, None)
    await ground.new_task.close(task, ENDS["broken"], error_message="ZeroDivisionError: division by zero")
    stack = 'Traceback\n  File "/x/forager/extract/page.py", line 12, in read\nZeroDivisionError: division by zero'
    await ground.conn.execute(
        "INSERT INTO errors (task_id, code, message, stack) VALUES ($1, 'broken', 'division by zero', $2)", task, stack
    )
    failed = (await user.get(f"/api/tasks/{task}")).json()
    assert failed["stack"] == stack
    listed = (await user.get("/api/errors")).json()["items"]
    assert [problem["fingerprint"] for problem in listed] == [failed["fingerprint"]]


async def test_hashes_are_hexadecimal_and_a_page_knows_its_product(user: httpx.AsyncClient, ground: Ground) -> None:
    domain = await ground.a_domain()
    page = await ground.a_page("http://a.example/1", domain, simhash=-2)
    shown = (await user.get(f"/api/pages/{page}")).json()
    assert (shown["simhash"], shown["product_id"]) == ("fffffffffffffffe", None)


async def test_a_page_tells_its_details_and_items(user: httpx.AsyncClient, ground: Ground) -> None:
    page = await ground.a_page("http://a.example/1", await ground.a_domain())
    shown = (await user.get(f"/api/pages/{page}")).json()
    assert (shown["headline"], shown["tags"], shown["has_structured_data"]) == (None, None, False)
    assert (await user.get(f"/api/pages/{page}/structured-data")).json() == {"items": []}
    read = Outcome(a_target(page=page), OutcomeKind.SUCCESS, 200, reading=a_detailed_reading())
    await record_details(ground.conn, [read])
    shown = (await user.get(f"/api/pages/{page}")).json()
    assert (shown["headline"], shown["site_name"], shown["section"]) == ("A lamp", "Lumen", "Lights")
    assert (shown["rating"], shown["rating_count"], shown["published_on"]) == (4.5, 12, "2026-01-02")
    assert shown["has_structured_data"] is True
    assert (await user.get(f"/api/pages/{page}/structured-data")).json() == {"items": json.loads(ITEMS)}
    assert (await user.get("/api/pages/4711/structured-data")).status_code == 404
    lines = (await user.get("/api/exports/structured-data")).text.splitlines()
    assert json.loads(lines[0])["structured_data"] == json.loads(ITEMS)


async def test_a_preview_of_seeds_tells_what_is_new(admin: httpx.AsyncClient, ground: Ground) -> None:
    await ground.a_page("https://a.example/known", await ground.a_domain("a.example"))
    urls = ["https://a.example/known", "https://a.example/new", "b.example", "https://b.example/", "nonsense"]
    would = (await admin.post("/api/frontier/seed", json={"urls": urls, "dry_run": True})).json()
    told = {name: would[name] for name in ("seeds", "new_pages", "new_domains", "known", "bad")}
    assert told == {"seeds": 4, "new_pages": 2, "new_domains": 1, "known": 2, "bad": 1}
    assert await ground.conn.fetchval("SELECT count(*) FROM pages") == 1
    done = (await admin.post("/api/frontier/seed", json={"urls": urls})).json()
    assert {name: done[name] for name in told} == told


async def test_a_sitemap_is_read_and_nothing_is_added(admin: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    pages: dict[str, bytes] = {}
    async with a_site(pages) as server:
        pages["/sitemap.xml"] = http(index(server.url("/1.xml"), server.url("/missing.xml")))
        pages["/1.xml"] = http(urlset("https://a.example/1", "https://a.example/2"))
        answer = await admin.post("/api/frontier/sitemap", json={"url": server.url("/sitemap.xml")})
    found = answer.json()
    assert found["urls"] == ["https://a.example/1", "https://a.example/2"]
    assert (found["bad"], found["is_all"]) == (1, True)
    assert "missing.xml" in found["bad_seeds"][0]["error"]
    assert await conn.fetchval("SELECT count(*) FROM domains") == 0


async def test_a_sitemap_is_not_asked_for_where_we_may_not_go(
    admin: httpx.AsyncClient, user: httpx.AsyncClient
) -> None:
    for url in ("http://10.0.0.1/sitemap.xml", "file:///etc/passwd", "nonsense"):
        assert (await admin.post("/api/frontier/sitemap", json={"url": url})).status_code == 422, url
    assert (await user.post("/api/frontier/sitemap", json={"url": "https://a.example/"})).status_code == 403


async def test_a_sitemap_whose_server_is_away_is_told_not_raised(admin: httpx.AsyncClient) -> None:
    answer = await admin.post("/api/frontier/sitemap", json={"url": "http://127.0.0.9:9/sitemap.xml"})
    assert answer.status_code == 200
    assert (answer.json()["urls"], answer.json()["bad"]) == ([], 1)


async def test_a_ranking_is_of_all_domains_that_match(user: httpx.AsyncClient, ground: Ground) -> None:
    """A domain that is behind the first so many of all is the first of its state."""
    for number in range(1, 4):
        await ground.a_domain(f"{number}.example", pages_crawled=number)
    await ground.a_domain("sub.other.example", pages_crawled=0, is_active=False)

    async def first(**filters: Any) -> list[str]:
        answer = await user.get("/api/domains/top", params={"by": "pages", "limit": 1, **filters})
        return [row["name"] for row in answer.json()["items"]]

    assert await first() == ["3.example"]
    assert await first(q="1.exa") == ["1.example"]
    assert await first(is_active=False) == ["sub.other.example"]
    assert await first(parent="2.example") == ["2.example"]
    assert await first(status="blocked") == await first(run=1) == await first(breaker="open") == []


async def test_parsers_that_read_less_than_before_are_told(user: httpx.AsyncClient, ground: Ground) -> None:
    worse, same, few = [await ground.a_domain(f"{name}.example") for name in ("worse", "same", "few")]
    today = "(now() AT TIME ZONE 'UTC')::date"
    for domain, attempts, valid in ((worse, 20, 8), (same, 20, 18), (few, 2, 0)):
        await ground.conn.execute(
            "INSERT INTO product_days (domain_id, day, parser_name, parser_version, attempts, found, valid)"
            f" VALUES ($1, {today} - 3, 'generic', 1, 100, 95, 90), ($1, {today}, 'generic', 2, $2, $2, $3),"
            f" ($1, {today} - 40, 'generic', 1, 100, 0, 0)",
            domain,
            attempts,
            valid,
        )
    (found,) = (await user.get("/api/products/parsers/dropped")).json()["items"]
    assert (found["domain"], found["parser_name"], found["parser_version"]) == ("worse.example", "generic", 2)
    assert (found["rate"], found["rate_before"], found["attempts"], found["has_dropped"]) == (0.4, 0.9, 20, True)
    assert (await user.get("/api/products/parsers/dropped?domain=same.example")).json()["items"] == []


async def test_a_task_tells_where_it_was_sent_on_to(user: httpx.AsyncClient, ground: Ground) -> None:
    domain = await ground.a_domain()
    old = await ground.a_page("http://a.example/old", domain)
    new = await ground.a_page("http://a.example/new", domain, redirects=1)
    await ground.link(old, new, "redirect")
    first = await ground.a_task(new)
    visit = (
        "INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, status_code, requested_at, completed_at,"
        " response_time_ms, bytes, pace_ms) VALUES ($1, $2, 'completed', 'success', $3, now(), now(), 5, 0, 0)"
        " RETURNING id"
    )
    before = await ground.conn.fetchval(visit, old, domain, 301)
    sent = await ground.conn.fetchval(visit, old, domain, 302)
    assert (await user.get(f"/api/tasks/{before}")).json()["redirects"] == [], "where to is known of the last one only"
    onward = {"is_onward": True, "page_id": new, "url": "http://a.example/new"}
    assert (await user.get(f"/api/tasks/{sent}")).json()["redirects"] == [onward]
    back = {"is_onward": False, "page_id": old, "url": "http://a.example/old"}
    assert (await user.get(f"/api/tasks/{first}")).json()["redirects"] == [back]


async def settings_of(client: httpx.AsyncClient, domain: str) -> dict[str, tuple[Any, str]]:
    shown = (await client.get(f"/api/domains/{domain}/settings")).json()
    return {each["name"]: (each["value"], each["origin"]) for each in shown["settings"]}


async def test_no_value_is_a_choice_and_null_takes_it_back(admin: httpx.AsyncClient, ground: Ground) -> None:
    await ground.a_domain("a.example")
    shops = {"settings": {"revisit_every": "6h", "max_pages": 5}, "domains": ["a.example"]}
    await admin.put("/api/admin/profiles/shops", json=shops)
    answer = await admin.patch("/api/admin/domains/a.example", json={"revisit_every": "none", "max_pages": "none"})
    assert answer.status_code == 200, answer.text
    shown = await settings_of(admin, "a.example")
    assert (shown["revisit_every"], shown["max_pages"]) == ((None, "domain"), (None, "domain"))
    await admin.patch("/api/admin/domains/a.example", json={"revisit_every": None})
    assert (await settings_of(admin, "a.example"))["revisit_every"] == ("6h", "profile shops")
    refused = await admin.patch("/api/admin/domains/a.example", json={"concurrency": "none"})
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "body.concurrency")


async def test_hidden_secrets_are_sent_back_as_they_were_shown(admin: httpx.AsyncClient, ground: Ground) -> None:
    """A form shows no secret, and saving it keeps them."""
    await ground.a_domain("a.example")
    secrets = {"headers": {"X-Key": "first", "X-Other": "second"}, "password": "third"}
    for path in ("/api/admin/profiles/shops", "/api/admin/domains/a.example"):
        is_profile = path.endswith("shops")
        send = admin.put if is_profile else admin.patch
        assert (await send(path, json={"settings": secrets} if is_profile else secrets)).status_code == 200
        again = {"headers": {"X-Key": "•••", "X-New": "fourth"}, "password": "•••"}
        answer = await send(path, json={"settings": again} if is_profile else again)
        assert answer.status_code == 200, answer.text
        changed = answer.json()["change"]["settings"] if is_profile else answer.json()["changes"]
        assert changed["headers"] == {"X-Key": "•••", "X-New": "•••"}
        assert "password" not in changed or not is_profile
        lost = {"headers": {"X-Lost": "•••"}}
        refused = await send(path, json={"settings": lost} if is_profile else lost)
        assert (refused.status_code, refused.json()["errors"][0]["where"]) == (422, "body.headers")
