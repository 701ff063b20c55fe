"""Pages of lists: nothing is shown twice or left out, whatever is added meanwhile; cursors are believed nothing."""

import base64

import asyncpg
import httpx
import orjson
import pytest
from tests.ground import Ground

LISTS = ["/api/domains", "/api/domains?sort=name", "/api/pages", "/api/pages?domain=a.example", "/api/frontier/urls"]


async def walk(client: httpx.AsyncClient, path: str, limit: int = 3) -> list[int]:
    found: list[int] = []
    after: str | None = None
    while True:
        joint = "&" if "?" in path else "?"
        answer = await client.get(f"{path}{joint}limit={limit}" + (f"&after={after}" if after else ""))
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += [row["id"] for row in page["items"]]
        after = page["next"]
        if after is None:
            return found


@pytest.mark.parametrize("path", LISTS)
async def test_all_rows_come_once(user: httpx.AsyncClient, conn: asyncpg.Connection, path: str) -> None:
    ground = Ground(conn)
    await ground.a_domain("a.example", pages=10)
    for number in range(7):
        await ground.a_domain(f"d{number}.example", pages=1)
    found = await walk(user, path)
    table = "domains" if "/api/domains" in path else "pages"
    where = "WHERE domain_id = (SELECT min(id) FROM domains)" if "domain=" in path else ""
    ids = [row["id"] for row in await conn.fetch(f"SELECT id FROM {table} {where}")]
    assert sorted(found) == sorted(ids)
    assert len(found) == len(set(found)) >= 8


async def test_rows_added_meanwhile_move_nothing(user: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    ground = Ground(conn)
    domain = await ground.a_domain("a.example", pages=4)
    first = (await user.get("/api/tasks?limit=2")).json()
    assert first == {"items": [], "next": None}
    page = (await user.get("/api/pages?limit=2")).json()
    await ground.a_page("http://a.example/new", domain)
    rest = (await user.get(f"/api/pages?limit=10&after={page['next']}")).json()
    seen = [row["id"] for row in page["items"] + rest["items"]]
    assert seen == sorted(set(seen))
    assert len(seen) == 5


async def test_the_last_page_has_no_next(user: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    await Ground(conn).a_domain("a.example", pages=3)
    assert (await user.get("/api/pages?limit=3")).json()["next"] is None


async def test_a_cursor_is_for_its_list_and_its_filters(user: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    await Ground(conn).a_domain("a.example", pages=3)
    cursor = (await user.get("/api/pages?limit=1")).json()["next"]
    assert (await user.get(f"/api/pages?limit=2&after={cursor}")).status_code == 200
    for other in ("/api/pages?status=gone&limit=1", "/api/images?limit=1", "/api/pages?sort=-fetched_at&limit=1"):
        answer = await user.get(f"{other}&after={cursor}")
        assert answer.status_code == 404
        assert "leave `after` out" in answer.json()["detail"]


@pytest.mark.parametrize(
    "key", [[], ["1"], [None], [1.5], [2**70], [[1]], [{}], ["2026"], [1, 2], "text", 7, None, {"a": 1}]
)
async def test_a_forged_cursor_is_refused(user: httpx.AsyncClient, conn: asyncpg.Connection, key: object) -> None:
    await Ground(conn).a_domain("a.example", pages=2)
    honest = (await user.get("/api/pages?limit=1")).json()["next"]
    mark = orjson.loads(base64.urlsafe_b64decode(honest + "=" * (-len(honest) % 4)))[0]
    content = (
        orjson.dumps([mark, *key], option=orjson.OPT_NON_STR_KEYS)
        if isinstance(key, list) and key != [2**70]
        else b"[1e999"
    )
    forged = base64.urlsafe_b64encode(content).rstrip(b"=").decode()
    assert (await user.get(f"/api/pages?limit=1&after={forged}")).status_code == 404


@pytest.mark.parametrize("limit", ["0", "1001", "-1", "x", ""])
async def test_the_size_of_a_page_is_bounded(user: httpx.AsyncClient, limit: str) -> None:
    assert (await user.get(f"/api/pages?limit={limit}")).status_code == 422


async def test_purges_and_visits_of_a_page_come_in_pages(user: httpx.AsyncClient, conn: asyncpg.Connection) -> None:
    ground = Ground(conn)
    page = await ground.a_page("http://a.example/", await ground.a_domain("a.example"))
    for _ in range(7):
        task = await conn.fetchval(
            "INSERT INTO crawl_tasks (page_id, domain_id, status, outcome, completed_at)"
            " SELECT id, domain_id, 'failed', 'failed', now() FROM pages WHERE id = $1 RETURNING id",
            page,
        )
    await conn.execute(
        "INSERT INTO purges (purged_by, reason, what, subject) SELECT 'me', '', 'pages', '' FROM generate_series(1, 7)"
    )
    for path, table in ((f"/api/tasks/{task}/history", "crawl_tasks"), ("/api/storage/purges", "purges")):
        ids = [row["id"] for row in await conn.fetch(f"SELECT id FROM {table} ORDER BY id DESC")]
        assert await walk(user, path) == ids
        assert len(ids) == 7
