"""What an operator set for a domain goes with its requests, and nowhere else."""

from tests.integration.fetch.raw_server import Server, a_client, http, serve

from forager.fetch.access import build_access
from forager.fetch.client import Client
from forager.fetch.cookies import CookieJar

SECRETS = ("s3cret-header", "s3cret-cookie", "s3cret-token")
ACCESS = build_access(
    user_agent="Members/1.0",
    accept_language="de",
    headers={"X-Key": "s3cret-header"},
    cookies={"sid": "s3cret-cookie"},
    token="s3cret-token",
)


def last(server: Server) -> str:
    return server.requests[-1].decode()


async def test_requests_to_the_domain_carry_what_was_set(client: Client) -> None:
    async with serve(http(b"x")) as server:
        client.enter(f"127.0.0.1:{server.port}", access=ACCESS)
        await client.get(server.url())
    request = last(server)
    assert "User-Agent: Members/1.0\r\n" in request
    assert "Accept-Language: de\r\n" in request
    assert "Authorization: Bearer s3cret-token\r\n" in request
    assert "X-Key: s3cret-header\r\n" in request
    assert "Cookie: sid=s3cret-cookie\r\n" in request


async def test_no_other_host_and_no_later_lease_gets_any_of_it(client: Client) -> None:
    async with serve(http(b"x")) as server, serve(http(b"x")) as port, serve(http(b"x"), host="127.0.0.2") as host:
        client.enter(f"127.0.0.1:{server.port}", access=ACCESS)
        for other in (port, host):
            client.enter(f"{other.host}:{other.port}")
            await client.get(other.url())
        await client.get(server.url(), sends_cookies=False)  # as a page of another site would
        client.leave(f"127.0.0.1:{server.port}")
        await client.get(server.url())
    seen = "".join(request.decode() for each in (server, port, host) for request in each.requests)
    assert not [secret for secret in SECRETS if secret in seen]
    assert "Members" not in seen


async def test_secrets_stay_away_from_plain_http_where_the_domain_serves_https(client: Client) -> None:
    async with serve(http(b"x")) as server:
        access = build_access(user_agent="Members/1.0", token="s3cret-token", is_tls_only=True)
        client.enter(f"127.0.0.1:{server.port}", access=access)
        await client.get(server.url())
    assert "s3cret-token" not in last(server)
    assert "Members/1.0" in last(server)


async def test_a_cookie_of_the_site_replaces_the_one_that_was_set(client: Client) -> None:
    async with serve(http(b"x", "Set-Cookie: sid=new; Path=/")) as server:
        client.enter(f"127.0.0.1:{server.port}", access=build_access(cookies={"sid": "old", "more": "1"}))
        for _ in range(2):
            await client.get(server.url())
    assert "Cookie: sid=old; more=1\r\n" in server.requests[0].decode()
    assert "Cookie: more=1; sid=new\r\n" in last(server)


async def test_heads_that_are_stored_hold_no_secret(client: Client) -> None:
    async with serve(http(b"x", "Set-Cookie: session=s3cret-session; Path=/")) as server:
        client.enter(f"127.0.0.1:{server.port}", access=ACCESS)
        fetched = await client.get(server.url(), keeps_raw=True)
    assert fetched.raw is not None
    stored = fetched.raw.request.decode() + repr(fetched.raw.headers)
    assert not [secret for secret in (*SECRETS, "s3cret-session") if secret in stored]
    assert "Cookie: sid=***" in stored
    assert "session=***; Path=/" in stored


async def test_a_form_is_sent_once_with_the_cookies_of_its_page() -> None:
    async with serve(http(b"in", "Set-Cookie: session=1", status="302 Found")) as server, a_client() as client:
        jar = CookieJar()
        client.enter(f"127.0.0.1:{server.port}", access=ACCESS, jar=jar)
        kind = "application/x-www-form-urlencoded"
        page = server.url() + "login"
        answer = await client.submit(server.url(), b"user=a", content_type=kind, referer=page, cut_at=1000)
    request = last(server)
    assert answer.status_code == 302
    assert request.startswith("POST / HTTP/1.1\r\n")
    assert "Content-Length: 6\r\n" in request
    assert "sid=s3cret-cookie" in request
    assert f"Referer: {page}\r\n" in request
    assert len(jar) == 1


def test_nothing_shows_the_values() -> None:
    assert not [secret for secret in SECRETS if secret in repr(ACCESS)]
