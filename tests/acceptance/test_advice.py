"""What a message advises is done, in the state in which it is advised, and has the effect it promises."""

import json
import re
import shlex
import subprocess

import pytest
from tests.acceptance.stage import Forager
from tests.integration.fetch.raw_server import http
from tests.web.serving import NETWORK, NO_FILE, Answer, Site, a_page, serve

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(180)]

ENVIRON = {
    "FORAGER_FETCH_ALLOW_NETWORKS": NETWORK,
    "FORAGER_POLITENESS_NO_DELAY_HOSTS": NETWORK,
    "FORAGER_CRAWL_MAX_WAIT": "3",
}
NEXT = re.compile(r"^  (forager .+)$", re.MULTILINE)
Ended = subprocess.CompletedProcess[str]


def advice(ended: Ended) -> list[str]:
    """Commands in backticks."""
    return re.findall(r"`(forager [^`]+)`", ended.stderr + ended.stdout)


def run(forager: Forager, command: str) -> Ended:
    program, *arguments = shlex.split(command)
    assert program == "forager"
    return forager.run(*arguments, **ENVIRON)


def crawl(forager: Forager, url: str, *flags: str) -> Ended:
    return forager.run("crawl", url, *flags, **ENVIRON)


def follow(forager: Forager, ended: Ended) -> None:
    """Each command under `next` works."""
    for command in NEXT.findall(ended.stderr):
        assert run(forager, command).returncode == 0, command


class Changing:
    """A site that answers in one way until it is told to answer well."""

    def __init__(self, bad: bytes, robots: bytes = NO_FILE) -> None:
        self.bad, self.robots, self.is_good = bad, robots, False

    def answer(self, path: str) -> Answer:
        if path == "/robots.txt":
            return NO_FILE if self.is_good else self.robots
        return a_page("Good", "/next") if self.is_good else self.bad


def a_home(path: str) -> bytes:
    return NO_FILE if path == "/robots.txt" else a_page("Home")


@pytest.mark.parametrize("how", ["403", "robots"])
def test_the_way_back_from_a_block(forager: Forager, how: str) -> None:
    denied = http(b"User-agent: *\nDisallow: /\n", content_type="text/plain")
    forbidden = http(b"", status="403 Forbidden")
    shape = Changing(forbidden) if how == "403" else Changing(a_page("x"), robots=denied)
    site = Site("shut", shape.answer)
    with serve([site]):
        first = crawl(forager, site.url("/"))
        assert first.returncode == 6, first.stderr
        assert "Finished" not in first.stderr
        follow(forager, first)
        again = crawl(forager, site.url("/"))
        assert again.returncode == 6, again.stderr
        reset = f"forager domain {site.domain} reset"
        assert reset in advice(first)
        assert reset in advice(again)
        shape.is_good = True
        refresh = f"forager refresh {site.domain}"
        assert advice(run(forager, reset)) == [refresh]
        forager.ask("UPDATE origins SET robots_expires_at = now() RETURNING origin")  # an hour later
        ended = run(forager, refresh)
        assert ended.returncode == 0, ended.stderr
        assert forager.value("SELECT count(*)::int FROM pages WHERE status = 'fetched'") == 2
        forager.check()


def test_a_second_crawl_and_a_refresh_that_is_not_due(forager: Forager) -> None:
    site = Site("home", a_home)
    with serve([site]):
        first = crawl(forager, site.url("/"), "-o", "out.jsonl")
        assert first.returncode == 0, first.stderr
        assert "1 page written to out.jsonl." in first.stderr
        follow(forager, first)
        again = crawl(forager, site.url("/"), "-o", "out.jsonl")
        assert again.returncode == 0, again.stderr
        assert "1 page written to out.jsonl." in again.stderr
        assert "Finished: 0 new, 0 changed, 1 the same." in again.stderr
        assert len(site.pages_asked()) == 2, "a seed that a person names is visited again"
        due = run(forager, f"forager refresh {site.domain}")
        command = f"forager refresh {site.domain} --now"
        assert advice(due) == [command]
        seen = len(site.pages_asked())
        assert run(forager, command).returncode == 0
        assert len(site.pages_asked()) == seen + 1


class Growing:
    """A blog whose home page links to more posts every day."""

    def __init__(self) -> None:
        self.posts = 3

    def answer(self, path: str) -> Answer:
        if path == "/robots.txt":
            return NO_FILE
        return a_page(f"Home of {self.posts}", *(f"/p{n}" for n in range(self.posts))) if path == "/" else a_page(path)


def test_the_same_crawl_the_next_day_says_what_is_new_and_what_is_not_due(forager: Forager) -> None:
    blog = Growing()
    site = Site("blog", blog.answer)
    with serve([site]):
        assert crawl(forager, site.url("/")).returncode == 0
        blog.posts = 5
        again = crawl(forager, site.url("/"))
        assert again.returncode == 0, again.stderr
        assert "Finished: 2 new, 1 changed, 0 the same; 3 pages are not due until" in again.stderr
        command = f"forager refresh {site.domain} --now"
        assert command in advice(again)
        seen = len(site.pages_asked())
        assert run(forager, command).returncode == 0
        assert len(site.pages_asked()) == seen + 6
        forager.check()


def test_a_refresh_that_can_do_nothing_does_not_advise_itself(forager: Forager) -> None:
    site = Site("shut", Changing(http(b"", status="403 Forbidden")).answer)
    with serve([site]):
        crawl(forager, site.url("/"))
        command = f"forager refresh {site.domain} --now"
        ended = run(forager, command)
        assert command not in advice(ended)
        assert advice(ended)
        for other in advice(ended):
            assert run(forager, other).returncode == 0


def test_a_site_that_speaks_http_only(forager: Forager) -> None:
    site = Site("plain", a_home)
    with serve([site]):
        ended = forager.run("crawl", site.domain, "--allow-network", NETWORK, **ENVIRON)
        assert ended.returncode == 0, ended.stderr
        typed = forager.run("crawl", f"https://{site.domain}/other", "--allow-network", NETWORK, **ENVIRON)
        assert typed.returncode == 6, typed.stderr


APP = http(b'<title>App</title><body><div id="root"></div><script src="/app.js"></script>')
LOGIN = http(b'<title>Log in</title><form method="post"><input name="u"><input type="password" name="p"></form>')
CHALLENGE = http(b"<title>Just a moment...</title>", "cf-mitigated: challenge", status="403 Forbidden")
DENIED = http(b"User-agent: *\nDisallow: /\n", content_type="text/plain")


def test_a_page_that_waits_for_scripts(forager: Forager) -> None:
    site = Site("app", lambda path: NO_FILE if path == "/robots.txt" else APP)
    with serve([site]):
        ended = crawl(forager, site.url("/"))
        assert "1 page has no text and a script" in ended.stderr
        (command,) = [command for command in advice(ended) if "--rendering auto" in command]
        assert run(forager, command).returncode == 0


def test_a_login_wall(forager: Forager) -> None:
    def answer(path: str) -> bytes:
        if path == "/robots.txt":
            return NO_FILE
        return LOGIN if path.startswith("/login") else http(b"", "Location: /login?next=/", status="302 Found")

    site = Site("members", answer)
    with serve([site]):
        ended = crawl(forager, site.url("/"))
        assert "asks for a login" in ended.stderr
        (command,) = [command for command in advice(ended) if f"domain {site.domain} set" in command]
        assert run(forager, command).returncode == 0


def test_a_challenge_for_browsers(forager: Forager) -> None:
    site = Site("guarded", lambda path: NO_FILE if path == "/robots.txt" else CHALLENGE)
    with serve([site]):
        ended = crawl(forager, site.url("/"), "--json")
        assert any("challenge" in hint for hint in json.loads(ended.stdout)["hints"])


def test_robots_may_be_overridden_on_an_own_site(forager: Forager) -> None:
    site = Site("own", lambda path: DENIED if path == "/robots.txt" else a_page(path, "/next"))
    with serve([site]):
        ended = crawl(forager, site.url("/"))
        assert ended.returncode == 6, ended.stderr
        (command,) = [command for command in advice(ended) if "--no-obey-robots" in command]
        assert run(forager, command).returncode == 0
        assert crawl(forager, site.url("/")).returncode == 0
        assert sorted(site.pages_asked()) == ["/", "/next"]
        assert "by the operator's order of" in forager.do("why", site.url("/next"))
        audit = forager.run("audit", "politeness")
        assert audit.returncode == 0, audit.stdout
        assert "2 visits made by the operator's order" in audit.stdout
        assert "my own site" in audit.stdout
        forager.do("domain", site.domain, "set", "--obey-robots")
        crawl(forager, site.url("/again"))
        assert "/again" not in site.pages_asked()
        forager.check()


def test_a_sitemap_that_was_not_read(forager: Forager) -> None:
    def answer(path: str) -> bytes:
        if path == "/robots.txt":
            return http(f"Sitemap: {site.url('/map.xml')}".encode(), content_type="text/plain")
        if path == "/map.xml":
            listed = f"<urlset><url><loc>{site.url('/hidden')}</loc></url></urlset>"
            return http(listed.encode(), content_type="application/xml")
        return a_page("Page")

    site = Site("map", answer)
    with serve([site]):
        ended = crawl(forager, site.url("/"))
        (command,) = [command for command in advice(ended) if "--sitemap" in command]
        assert run(forager, command).returncode == 0
        assert crawl(forager, site.url("/")).returncode == 0
        assert "/hidden" in site.pages_asked()
