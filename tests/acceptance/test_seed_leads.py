"""Where a seed leads is crawled in its place: another host by a redirect, http where https was a guess."""

import json

import pytest
from tests.acceptance.stage import Forager
from tests.integration.fetch.raw_server import http
from tests.web.serving import NETWORK, NO_FILE, Answer, Site, a_page, serve

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

ENVIRON = {"FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK, "FORAGER_CRAWL_MAX_WAIT": "3"}
FALLBACKS = "SELECT count(*)::int FROM crawl_tasks WHERE error_code = 'https_unavailable'"
ALLOWED = ("--allow-network", NETWORK)


def moved_to(url: str, status: str = "301 Moved Permanently") -> bytes:
    return http(b"", f"Location: {url}", status=status)


def a_site(*links: str) -> Site:
    def answer(path: str) -> Answer:
        return NO_FILE if path == "/robots.txt" else a_page(path, *links) if path == "/" else a_page(path)

    return Site("site", answer)


def a_mover(to: list[Site], path: str = "/", status: str = "301 Moved Permanently") -> Site:
    return Site("mover", lambda asked: NO_FILE if asked == "/robots.txt" else moved_to(to[0].url(path), status))


@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"])
def test_a_seed_that_redirects_to_another_host(forager: Forager, status: str) -> None:
    home = a_site("/a", "/b", "http://127.66.9.9/elsewhere")
    old = a_mover([home], status=status)
    with serve([old, home]):
        ended = forager.run("crawl", old.url("/"), *ALLOWED, "-o", "out.jsonl", "--json", **ENVIRON)
        assert ended.returncode == 0, ended.stderr
        assert sorted(home.pages_asked()) == ["/", "/a", "/b"]
        assert f"{old.url('/')} redirects to {home.url('/')}, crawled instead" in ended.stderr
        assert json.loads(ended.stdout)["redirected"] == {old.url("/"): home.url("/")}
        assert {home.url("/"), home.url("/a")} <= {row["url"] for row in forager.rows()}
        again = forager.run("crawl", old.url("/"), *ALLOWED, **ENVIRON)
        assert again.returncode == 0, again.stderr
        assert len(home.pages_asked()) == 4, "the page it leads to is asked whether it changed"
        forager.check()


@pytest.mark.parametrize("scope", ["page", "prefix"])
def test_a_narrow_scope_moves_with_its_seed(forager: Forager, scope: str) -> None:
    home = Site("home", lambda path: NO_FILE if path == "/robots.txt" else a_page(path, "/new/one", "/other"))
    old = a_mover([home], "/new/")
    with serve([old, home]):
        ended = forager.run("crawl", old.url("/old/"), "--scope", scope, *ALLOWED, "--workers", "2", **ENVIRON)
        assert ended.returncode == 0, ended.stderr
        assert sorted(home.pages_asked()) == (["/new/"] if scope == "page" else ["/new/", "/new/one"])


def test_two_seeds_that_lead_to_each_other_end(forager: Forager) -> None:
    sites: list[Site] = []
    here = Site("here", lambda path: NO_FILE if path == "/robots.txt" else moved_to(sites[1].url("/")))
    there = Site("there", lambda path: NO_FILE if path == "/robots.txt" else moved_to(sites[0].url("/")))
    sites += [here, there]
    with serve(sites):
        ended = forager.run("crawl", here.url("/"), *ALLOWED, **ENVIRON)
        assert ended.returncode == 6, ended.stderr
        assert (here.pages_asked(), there.pages_asked()) == (["/"], ["/"])


def test_a_link_that_redirects_elsewhere_is_no_seed(forager: Forager) -> None:
    other = a_site()
    home = Site("home", lambda path: moved_to(other.url("/")) if path == "/out" else a_page(path, "/out"))
    with serve([home, other]):
        assert forager.run("crawl", home.url("/"), *ALLOWED, **ENVIRON).returncode == 0
        assert other.asked == []


def test_a_login_on_another_host_is_no_seed(forager: Forager) -> None:
    login = a_site("/x")
    home = a_mover([login], "/login?next=/")
    with serve([home, login]):
        forager.run("crawl", home.url("/"), *ALLOWED, **ENVIRON)
        assert login.asked == []


def test_robots_of_the_new_host_are_obeyed(forager: Forager) -> None:
    rules = http(b"User-agent: *\nDisallow: /a\n", content_type="text/plain")
    home = Site("home", lambda path: rules if path == "/robots.txt" else a_page(path, "/a", "/b"))
    old = a_mover([home])
    with serve([old, home]):
        assert forager.run("crawl", old.url("/"), *ALLOWED, **ENVIRON).returncode == 0
        assert sorted(home.pages_asked()) == ["/", "/b"]


def test_a_bare_name_tries_http_and_remembers_it(forager: Forager) -> None:
    site = a_site("/a")
    with serve([site]):
        first = forager.run("crawl", site.domain, *ALLOWED, **ENVIRON)
        assert first.returncode == 0, first.stderr
        assert sorted(site.pages_asked()) == ["/", "/a"]
        assert "does not work over https" in first.stderr
        assert forager.value("SELECT base_url FROM domains") == site.url("").rstrip("/")
        assert forager.value(FALLBACKS) == 1
        again = forager.run("crawl", site.domain, *ALLOWED, **ENVIRON)
        assert again.returncode == 0, again.stderr
        assert "https" not in again.stderr
        assert forager.value(FALLBACKS) == 1
        assert sorted(site.pages_asked()) == ["/", "/", "/a"]
        assert forager.ask("UPDATE origins SET robots_expires_at = now() RETURNING origin"), "the next day"
        forager.do("domain", site.domain, "reset")
        next_day = forager.run("crawl", "--known", "--contact", "me@example.org", *ALLOWED, **ENVIRON)
        assert next_day.returncode == 0, next_day.stderr
        assert forager.value(FALLBACKS) == 2
        assert forager.value("SELECT status::text FROM domains") != "unreachable", "the https seed does not stop it"
        forager.check()


def test_a_scheme_that_was_typed_is_kept(forager: Forager) -> None:
    site = a_site("/a")
    with serve([site]):
        ended = forager.run("crawl", f"https://{site.domain}", *ALLOWED, **ENVIRON)
        assert ended.returncode == 6, ended.stderr
        assert site.pages_asked() == []


def test_an_ordered_page_leads_elsewhere(forager: Forager) -> None:
    """`tasks submit` for a page of a new host, with a worker of the continuous run."""
    home = a_site("/a")
    old = a_mover([home], "/target")
    with serve([old, home]):
        forager.do("tasks", "submit", old.url("/ordered"), FORAGER_FETCH_ALLOW_NETWORKS=NETWORK)
        forager.run("crawl", "--known", "--contact", "me@example.org", *ALLOWED, **ENVIRON)
        assert "/target" in home.pages_asked()
