"""What a message advises is done, in the state in which it is advised, and has the effect it promises."""

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
        assert "1 page written to out.jsonl: 0 of this run, 1 of earlier runs." in again.stderr
        due = run(forager, f"forager refresh {site.domain}")
        command = f"forager refresh {site.domain} --now"
        assert command in advice(again)
        assert advice(due) == [command]
        seen = len(site.pages_asked())
        assert run(forager, command).returncode == 0
        assert len(site.pages_asked()) == seen + 1


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
        assert ended.returncode == 6, ended.stderr
        (command,) = [command for command in advice(ended) if command.startswith("forager crawl http://")]
        assert run(forager, command).returncode == 0


def test_a_seed_that_leads_elsewhere_and_a_page_without_links(forager: Forager) -> None:
    home = Site("home", a_home)

    def move(path: str) -> bytes:
        return NO_FILE if path == "/robots.txt" else http(b"", f"Location: {home.url('/')}", status="301 Moved")

    moved = Site("moved", move)
    with serve([home, moved]):
        ended = crawl(forager, moved.url("/"))
        assert ended.returncode == 6, ended.stderr
        (command,) = [command for command in advice(ended) if command.startswith("forager fetch")]
        assert home.url("/") in run(forager, command).stdout
        alone = crawl(forager, home.url("/"))
        (command,) = [command for command in advice(alone) if "--rendering auto" in command]
        assert run(forager, command).returncode == 0


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
