"""What sites are promised, seen by the sites themselves: cookies, certificates, userinfo, robots in all its forms."""

from collections.abc import Callable

import pytest
from tests.acceptance.stage import Forager
from tests.integration.fetch.raw_server import http
from tests.web.serving import NETWORK, NO_FILE, Answer, Site, a_page, serve

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(120)]

SETTINGS = {
    "FORAGER_FETCH_ALLOW_NETWORKS": NETWORK,
    "FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK,
    "FORAGER_POLITENESS_NO_DELAY_MAX_REQUESTS": "1",
    "FORAGER_CRAWL_MAX_WAIT": "5",
    "FORAGER_FAILURES_MAX_RETRIES": "0",
}
BLANK = a_page("Page")
NO_PAGE = 6
"""The exit code of a crawl that brought no page home."""


def a_site(name: str, pages: dict[str, Answer], certificate: str | None = None) -> Site:
    answer: Callable[[str], Answer] = lambda path: pages.get(path, NO_FILE if path == "/robots.txt" else BLANK)  # noqa: E731
    return Site(name, answer, certificate)


def cookies_of(site: Site) -> dict[str, str]:
    """Path → the cookies that came with its last request."""
    found = {}
    for request in site.requests:
        lines = [line for line in request.split("\r\n") if line.startswith("Cookie: ")]
        found[request.split(" ")[1]] = lines[0].removeprefix("Cookie: ") if lines else ""
    return found


def test_cookies_go_back_to_their_site_and_to_no_other(forager: Forager) -> None:
    pages: dict[str, Answer] = {}
    one, other = a_site("one", pages), a_site("other", {})
    with serve([one, other]):
        home = http(
            f'<title>Home</title><a href="/in">in</a><a href="{other.url("/out")}">out</a>'.encode(),
            "Set-Cookie: sid=7",
        )
        pages["/"] = home
        forager.start(one.url("/"), "--scope", "any", **SETTINGS).finish()
        assert cookies_of(one) == {"/robots.txt": "", "/": "", "/in": "sid=7"}
        assert set(cookies_of(other).values()) == {""}


def test_cookies_can_be_switched_off(forager: Forager) -> None:
    site = a_site("one", {"/": http(b"<title>Home</title><a href=/in>in</a>", "Set-Cookie: sid=7")})
    with serve([site]):
        forager.start(site.url("/"), **SETTINGS, FORAGER_FETCH_COOKIES="false").finish()
    assert cookies_of(site) == {"/robots.txt": "", "/": "", "/in": ""}


def test_a_cookie_wall_is_passed_once_as_a_browser_does(forager: Forager) -> None:
    """It redirects to itself until its cookie comes back; one that wants another each time is left."""

    def polite(path: str) -> Answer:
        if path == "/robots.txt":
            return NO_FILE
        knows_us = "Cookie: seen=1" in site.requests[-1]
        return a_page("Behind") if knows_us else http(b"", "Location: /", "Set-Cookie: seen=1", status="302 Found")

    def greedy(path: str) -> Answer:
        cookie = f"Set-Cookie: n={len(endless.requests)}"
        return NO_FILE if path == "/robots.txt" else http(b"", "Location: /", cookie, status="302 Found")

    site, endless = Site("wall", polite), Site("endless wall", greedy)
    with serve([site, endless]):
        forager.start(site.url("/"), endless.url("/"), **SETTINGS).finish()
    assert (site.pages_asked(), endless.pages_asked()) == (["/", "/"], ["/", "/"])
    assert forager.value("SELECT title FROM pages WHERE url = $1", site.url("/")) == "Behind"
    rows = forager.ask(
        "SELECT error_code, cardinality(earlier_requests) AS earlier FROM crawl_tasks ORDER BY error_code"
    )
    assert [tuple(row) for row in rows] == [("too_many_redirects", 1), (None, 1)]
    forager.check()


def test_a_domain_can_be_excepted_from_the_verification_of_certificates(forager: Forager) -> None:
    site = a_site("old", {"/": a_page("Old certificate")}, certificate="expired.pem")
    with serve([site]):
        crawl = forager.start(site.url("/"), **SETTINGS)
        assert crawl.wait() == NO_PAGE
        (task,) = forager.ask("SELECT error_code, blame FROM crawl_tasks")
        assert (task["error_code"], task["blame"], site.requests) == ("tls_error", "site", [])
        (domain,) = forager.ask("SELECT status::text, block_reason_code FROM domains")
        assert (domain["status"], domain["block_reason_code"]) == ("unreachable", "tls_error")

        excepted = forager.run("domain", site.domain, "set", "--no-verify-tls")
        assert (excepted.returncode, "Warning: " in excepted.stderr) == (0, True)
        assert "not verified" in forager.do("domain", site.domain)
        forager.do("domain", site.domain, "reset")
        again = forager.start(site.url("/"), **SETTINGS)
        again.finish()
    assert forager.value("SELECT title FROM pages") == "Old certificate"
    assert "tls.unverified" in again.said
    assert "tls.unverified" not in crawl.said
    forager.check()


def test_a_name_and_password_in_a_url_are_never_sent_stored_or_logged(forager: Forager) -> None:
    pages: dict[str, Answer] = {}
    site = a_site("private", pages)
    with serve([site]):
        secret = f"http://someone:s3cret@{site.domain}"
        pages["/"] = http(f'<title>Home</title><a href="{secret}/link">x</a>'.encode())
        pages["/link"] = http(b"", f"Location: {secret}/redirected", status="302 Found")
        crawl = forager.start(f"{secret}/", FORAGER_LOG_LEVEL="debug", **SETTINGS)
        crawl.finish()
    assert set(site.pages_asked()) == {"/", "/link", "/redirected"}
    assert not [request for request in site.requests if "s3cret" in request or "uthorization" in request]
    assert "s3cret" not in crawl.said
    dump = forager.ask("SELECT to_jsonb(p)::text AS row FROM pages p UNION ALL SELECT to_jsonb(r)::text FROM runs r")
    assert not [row for row in dump if "s3cret" in row["row"]]
    assert "s3cret" not in forager.do("pages", "--json")


def test_robots_in_all_its_forms(forager: Forager) -> None:
    """robots.txt, X-Robots-Tag, meta, nofollow; what a page says of another host changes nothing there."""
    victim = a_site("victim", {"/": a_page("Victim")})
    pages: dict[str, Answer] = {
        "/robots.txt": http(
            b"User-agent: *\nDisallow: /private\nAllow: /private/open\n\nSitemap: /s.xml\nsitemap: https://x.example/t.xml"
        ),
        "/header": http(b"<title>Header words</title><a href=/h1>x</a>", "X-Robots-Tag: noindex, nofollow"),
        "/meta": http(b"<title>Meta words</title><meta name=ROBOTS content='NoFollow'><a href=/m1>x</a>"),
        "/link": http(b"<title>Link words</title><a href=/l1 rel='ugc nofollow'>x</a><a href=/l2>x</a>"),
    }
    site = a_site("careful", pages)
    with serve([site, victim]):
        pages["/canonical"] = http(f'<title>Mine</title><link rel=canonical href="{victim.url("/")}">'.encode())
        pages["/"] = a_page("Home", "/private/x", "/private/open", "/header", "/meta", "/link", "/canonical")
        forager.start(site.url("/"), victim.url("/"), "--scope", "any", **SETTINGS).finish()
    asked = {"/", "/private/open", "/header", "/meta", "/link", "/l1", "/l2", "/canonical"}
    assert set(site.pages_asked()) == asked - {"/l1"}
    rows = {row["url"]: row for row in forager.ask("SELECT url, title, keywords_tsv::text AS words FROM pages")}
    assert rows[site.url("/header")]["words"] is None
    assert rows[site.url("/meta")]["words"] is not None
    assert rows[victim.url("/")]["title"] == "Victim"
    assert rows[site.url("/canonical")]["title"] == "Mine"
    denied = forager.ask("SELECT outcome::text, error_code FROM crawl_tasks WHERE outcome = 'blocked_robots'")
    assert [tuple(row) for row in denied] == [("blocked_robots", "robots_denied")]
    card = forager.do("domain", site.domain)
    assert "/s.xml" in card
    assert "https://x.example/t.xml" in card
    forager.check()
