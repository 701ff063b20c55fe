"""What responses say beside their bodies: rate limits, coding, transport security; and by which names we are called."""

import asyncio
import contextlib
import gzip
import os
import signal

import asyncpg
import brotli  # type: ignore[import-untyped]
import httpx
import pytest
from tests.ground import Ground
from tests.integration.api.conftest import client_for, running, token_of

from forager.accounts import service as accounts
from forager.accounts.credentials import hash_of
from forager.accounts.identity import Role, Scope, operator
from forager.api.compress import select_encoding
from forager.config.settings import Settings

try:
    from compression import zstd  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from backports import zstd  # type: ignore[no-redef, unused-ignore]


async def raw(client: httpx.AsyncClient, path: str, coding: str, **headers: str) -> tuple[httpx.Headers, bytes]:
    """With the body as it was sent."""
    async with client.stream("GET", path, headers={"Accept-Encoding": coding, **headers}) as answer:
        return answer.headers, b"".join([piece async for piece in answer.aiter_raw()])


# Rate limits ---------------------------------------------------------------------------------------------------------


async def test_each_response_says_how_much_is_left(settings: Settings, conn: asyncpg.Connection) -> None:
    few = settings.replace(api_rate_limit_user=3, api_rate_limit_anonymous=2)
    token = await token_of(conn, Role.USER, Scope.READ)
    async with running(few) as app, client_for(app, token) as user, client_for(app) as anybody:
        answers = [await user.get("/api/runs") for _ in range(4)]
        assert {each.headers["ratelimit-policy"] for each in answers} == {'"user";q=3;w=60'}
        left = [each.headers["ratelimit"].split(";") for each in answers]
        assert [each[1] for each in left] == ["r=2", "r=1", "r=0", "r=0"]
        assert answers[3].status_code == 429
        assert left[3][2] == f"t={answers[3].headers['retry-after']}"
        assert all(0 < int(each[2].removeprefix("t=")) <= 61 for each in left)
        refused = await anybody.get("/api/runs")
        assert refused.headers["ratelimit"].startswith('"anonymous";r=1;t=')
        assert (await anybody.get("/health")).headers["ratelimit-policy"] == '"health";q=3;w=60'


async def test_seeds_have_a_policy_of_their_own(admin: httpx.AsyncClient) -> None:
    answer = await admin.post("/api/frontier/seed", json={"urls": ["https://new.example/"]})
    assert answer.headers["ratelimit-policy"].split(", ")[1].startswith('"seeds";q=')


# Compression ---------------------------------------------------------------------------------------------------------


@pytest.fixture
async def pages(ground: Ground) -> None:
    await ground.a_domain("a.example", pages=300)


UNPACK = {"gzip": gzip.decompress, "br": brotli.decompress, "zstd": zstd.decompress}


@pytest.mark.parametrize("coding", UNPACK)
@pytest.mark.parametrize("path", ["/api/pages?limit=300", "/api/exports/pages", "/api/exports/pages?format=csv"])
async def test_large_responses_are_compressed(user: httpx.AsyncClient, pages: None, coding: str, path: str) -> None:
    plain, whole = await raw(user, path, "identity")
    headers, body = await raw(user, path, coding)
    assert (headers["content-encoding"], headers["vary"], plain["vary"]) == (
        coding,
        "Accept-Encoding",
        "Accept-Encoding",
    )
    assert "content-encoding" not in plain
    assert UNPACK[coding](body) == whole
    assert len(body) < len(whole) / 4
    assert headers.get("content-length", str(len(body))) == str(len(body))


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, br", "br"),
        ("gzip;q=1.0, br;q=0.5", "gzip"),
        ("*", "zstd"),
        ("gzip;q=0, *;q=0.1", "zstd"),
        ("identity;q=1, gzip;q=0.5", None),
        ("gzip;q=0", None),
        ("gzip;q=nonsense", None),
        ("deflate", None),
        ("", None),
    ],
)
def test_the_client_says_what_it_understands(accepted: str, coding: str | None) -> None:
    assert select_encoding(accepted) == coding


async def test_what_is_secret_small_or_live_is_not_compressed(
    user: httpx.AsyncClient, anybody: httpx.AsyncClient
) -> None:
    for path in ("/api/auth/me", "/api/tokens", "/health"):
        headers, _ = await raw(user, path, "gzip")
        assert "content-encoding" not in headers, path
    login = await anybody.post("/api/auth/login", json={"name": "x", "password": "y" * 12})
    assert "content-encoding" not in login.headers
    events = await user.head("/api/live", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in events.headers


# Health --------------------------------------------------------------------------------------------------------------


async def test_health_does_not_wait_for_a_database_that_stands_still(
    anybody: httpx.AsyncClient, conn: asyncpg.Connection
) -> None:
    """As long as a statement may take (10 s) nobody would know more than now."""
    assert (await anybody.get("/health")).status_code == 200
    rows = await conn.fetch(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'forager api'"
    )
    pids = [row["pid"] for row in rows]
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        async with asyncio.timeout(8):
            answers = await asyncio.gather(*(anybody.get("/health") for _ in range(3)))
        assert {each.status_code for each in answers} == {503}
        assert answers[0].json()["parts"]["database"]["state"] == "down"
    except PermissionError:
        pytest.skip("the server's processes belong to somebody else")
    finally:
        for pid in pids:
            with contextlib.suppress(PermissionError, ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    async with asyncio.timeout(20):
        while (await anybody.get("/health")).status_code != 200:
            pass


# Names and transport -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8600", 401),
        ("localhost:8600", 401),
        ("[::1]:8600", 401),
        ("192.168.1.5:8600", 401),
        ("attacker.example", 421),
        ("attacker.example:8600", 421),
        ("127.0.0.1.attacker.example", 421),
        ("localhost.attacker.example", 421),
    ],
)
async def test_a_page_whose_name_was_made_to_point_here_learns_nothing(
    anybody: httpx.AsyncClient, host: str, status: int
) -> None:
    answer = await anybody.get("/api/domains", headers={"Host": host})
    assert answer.status_code == status
    assert (await anybody.get("/", headers={"Host": host})).status_code == (421 if status == 421 else 200)


async def test_programs_probes_and_our_own_names_are_served(
    settings: Settings, user: httpx.AsyncClient, anybody: httpx.AsyncClient
) -> None:
    assert (await user.get("/api/runs", headers={"Host": "api.internal.example"})).status_code == 200
    assert (await anybody.get("/health", headers={"Host": "api.internal.example"})).status_code == 200
    known = settings.replace(api_public_url="https://forager.example")
    behind = settings.replace(api_trusted_proxies=("127.0.0.0/8",))
    for each in (known, behind):
        async with running(each) as app, client_for(app) as client:
            assert (await client.get("/api/runs", headers={"Host": "forager.example"})).status_code == 401


async def test_browsers_are_told_to_stay_with_tls_where_they_use_it(
    settings: Settings, anybody: httpx.AsyncClient
) -> None:
    name, secure = "strict-transport-security", {"X-Forwarded-Proto": "https"}
    assert name not in (await anybody.get("/health", headers=secure)).headers  # nobody we believe says so
    known = settings.replace(api_public_url="https://forager.example")
    async with running(known) as app, client_for(app) as client:
        assert "max-age=" in (await client.get("/health", headers={"Host": "forager.example"})).headers[name]
        assert name not in (await client.get("/health")).headers  # over loopback, without TLS
    behind = settings.replace(api_trusted_proxies=("127.0.0.0/8",))
    async with running(behind) as app, client_for(app) as client:
        assert name in (await client.get("/api/runs", headers={**secure, "Host": "forager.example"})).headers
        other = {**secure, "Host": "forager.example:8443"}
        assert name not in (await client.get("/api/runs", headers=other)).headers  # it would bind all ports of the host
        assert name not in (await client.get("/api/runs")).headers


async def test_the_icon_is_a_picture(anybody: httpx.AsyncClient) -> None:
    answer = await anybody.get("/favicon.ico")
    assert answer.headers["content-type"].startswith(("image/", "application/problem+json"))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({}, 200),
    ],
)
async def test_a_page_of_another_site_may_not_listen(
    anybody: httpx.AsyncClient, conn: asyncpg.Connection, headers: dict[str, str], status: int
) -> None:
    cookie = await a_session(conn)
    answer = await anybody.head("/api/live", headers={**headers, "Cookie": cookie})
    assert answer.status_code == status


async def a_session(conn: asyncpg.Connection) -> str:
    async with conn.transaction():
        user = await accounts.add_user(conn, operator("cli:test"), "listener", Role.USER, "no hash")
    await conn.execute(
        "INSERT INTO sessions (user_id, secret_hash, expires_at) VALUES ($1, $2, now() + interval '1 hour')",
        user,
        hash_of("a secret"),
    )
    return "forager_session=a secret"
