"""Pages of lists that are counted, and of answers with several lists: all rows once, whatever happens meanwhile."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import httpx
import orjson
import pytest
from tests.ground import Ground

Client = httpx.AsyncClient
Answer = dict[str, Any]
PROBLEMS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta")
FAIL = """
INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, error_code, error_message, blame, completed_at)
SELECT id, domain_id, 'failed', 'failed', 'broken', $2, 'us', now() FROM pages, generate_series(1, $3) WHERE id = $1
"""


async def pages(client: Client, path: str, **asked: Any) -> AsyncIterator[Answer]:
    after: str | None = None
    while True:
        params = {**asked, **({"after": after} if after else {})}
        answer = await client.get(path, params=params)
        assert answer.status_code == 200, answer.text
        yield answer.json()
        after = answer.json()["next"]
        if after is None:
            return


@pytest.fixture
async def page(ground: Ground) -> int:
    return await ground.a_page("http://a.example/", await ground.a_domain("a.example"))


async def test_problems_come_once_and_count_to_one_moment(user: Client, conn: asyncpg.Connection, page: int) -> None:
    for number, problem in enumerate(PROBLEMS, 1):
        await conn.execute(FAIL, page, f"the {problem} one", number)
    seen = []
    async for answer in pages(user, "/api/errors", limit=3):
        seen += [(row["sample"], row["failures"]) for row in answer["items"]]
        for problem in ("alpha", "zeta", "new"):  # one that would come later, one that was shown, one that nobody knew
            await conn.execute(FAIL, page, f"the {problem} one", 50)
    assert seen == [(f"the {problem} one", number) for number, problem in reversed([*enumerate(PROBLEMS, 1)])]
    assert "until" not in answer["items"][0]
    assert (await user.get("/api/errors", params={"limit": 1})).json()["items"][0]["failures"] >= 150


async def test_problems_of_equal_size_come_once(user: Client, conn: asyncpg.Connection, page: int) -> None:
    for problem in PROBLEMS:
        await conn.execute(FAIL, page, f"the {problem} one", 2)
    found = [row["sample"] async for answer in pages(user, "/api/errors", limit=2) for row in answer["items"]]
    assert sorted(found) == sorted(f"the {problem} one" for problem in PROBLEMS)


async def test_a_moment_at_the_beginning_of_time_is_refused(user: Client, conn: asyncpg.Connection, page: int) -> None:
    """Before it there is no room for the days that are asked for."""
    for problem in PROBLEMS:
        await conn.execute(FAIL, page, f"the {problem} one", 1)
    honest = (await user.get("/api/errors", params={"limit": 1})).json()["next"]
    mark, failures, fingerprint, _ = orjson.loads(base64.urlsafe_b64decode(honest + "=" * (-len(honest) % 4)))
    content = orjson.dumps([mark, failures, fingerprint, "0002-01-01T00:00:00+00:00"])
    forged = base64.urlsafe_b64encode(content).rstrip(b"=").decode()
    assert (await user.get("/api/errors", params={"limit": 1, "after": forged})).status_code == 404


async def test_dead_letters_come_in_pages(user: Client, conn: asyncpg.Connection, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")

    async def die(number: int) -> None:
        await conn.execute(FAIL, await ground.a_page(f"http://a.example/{number}", domain), "a bug", 1)

    async def give_up() -> None:
        await conn.execute(
            "INSERT INTO webhook_calls (kind, payload, url, next_try_at, died_at)"
            " VALUES ('alert', '{}', 'http://b.example/', NULL, now())"
        )

    for number in range(5):
        await die(number)
    await give_up()
    tasks, calls = [], []
    async for answer in pages(user, "/api/errors/dead", limit=2):
        assert max(len(answer["tasks"]), len(answer["webhooks"])) <= 2
        tasks += [row["task_id"] for row in answer["tasks"]]
        calls += [row["id"] for row in answer["webhooks"]]
        await die(len(tasks) + 10)
        await give_up()
    old = [row["id"] for row in await conn.fetch("SELECT id FROM crawl_tasks ORDER BY id LIMIT 5")]
    assert tasks == sorted(old, reverse=True)
    assert len(calls) == 1, "of what came later, and of a list at its end, nothing is shown"


async def test_links_come_in_pages_both_ways(user: Client, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")
    middle = await ground.a_page("http://a.example/", domain)
    before = [await ground.a_page(f"http://a.example/in/{n}", domain) for n in range(7)]
    behind = [await ground.a_page(f"http://a.example/out/{n}", domain) for n in range(3)]
    for each in reversed(before):
        await ground.link(each, middle)
    for each in reversed(behind):
        await ground.link(middle, each)
    out, coming = [], []
    async for answer in pages(user, "/api/links", url="http://a.example/", limit=2):
        out += [link["page_id"] for link in answer["out"]["links"]]
        coming += [link["page_id"] for link in answer["in"]["links"]]
        assert (answer["out"]["stored"], answer["in"]["pages"]) == (3, 7)
    assert (out, coming) == (behind[::-1], before)
    for direction, number in (("out", 3), ("in", 7)):
        asked = {"url": "http://a.example/", "direction": direction, "limit": 2}
        found = [link async for answer in pages(user, "/api/links", **asked) for link in answer[direction]["links"]]
        assert len(found) == number


async def test_clusters_come_in_pages(user: Client, conn: asyncpg.Connection, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")
    for number, size in enumerate((2, 4, 3, 4, 2, 3)):
        cluster = await conn.fetchval(
            "INSERT INTO page_clusters (simhash, bands, pages) VALUES ($1, '{}', $2) RETURNING id", number, size
        )
        for each in range(size):
            page = await ground.a_page(
                f"http://a.example/{number}/{each}", domain, simhash=number, content_hash=bytes(16)
            )
            await conn.execute(
                "INSERT INTO indexed_pages (page_id, domain_id, config, read_at, cluster_id, terms)"
                " VALUES ($1, $2, 'simple', now(), $3, '')",
                page,
                domain,
                cluster,
            )
    for of in ({}, {"domain": "a.example"}):
        found = [row async for answer in pages(user, "/api/duplicates", limit=4, **of) for row in answer["items"]]
        assert [row["pages"] for row in found] == [4, 4, 3, 3, 2, 2]
        assert len({row["url"] for row in found}) == 6


async def test_days_of_a_domain_come_in_pages(user: Client, conn: asyncpg.Connection, ground: Ground) -> None:
    domain = await ground.a_domain("a.example")
    await conn.execute(
        "INSERT INTO domain_days SELECT $1, DATE '2026-01-01' + n, 1, 1, 0, 0, 0, 0 FROM generate_series(0, 6) n",
        domain,
    )
    days = [row["day"] async for each in pages(user, "/api/domains/a.example/days", limit=3) for row in each["items"]]
    assert days == [f"2026-01-0{number}" for number in range(7, 0, -1)]
