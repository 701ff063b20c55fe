"""Sites that only their sitemaps know, by real processes: crawled to the end, watched by `forager up`, safe to kill."""

import gzip
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.acceptance.instance import up
from tests.acceptance.stage import Forager, until

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(240)]
FOLLOWS = {
    "FORAGER_CRAWL_SITEMAPS": "true",
    "FORAGER_CRAWL_FEEDS": "true",
    "FORAGER_POLITENESS_NO_DELAY_HOSTS": "127.0.0.1",
}
ALLOWED = ("--allow-network", "127.0.0.0/8")


class SitemapSite(ThreadingHTTPServer):
    """robots.txt names a gzipped index, that two sitemaps, those all pages; the home page links to none."""

    request_queue_size = 256
    daemon_threads = True

    def __init__(self, pages: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = f"http://127.0.0.1:{self.server_port}"
        self.paths = [f"/p/{number}" for number in range(pages)]
        self.asked: Counter[str] = Counter()

    def body_of(self, path: str) -> tuple[str, bytes] | None:
        half = len(self.paths) // 2
        match path:
            case "/robots.txt":
                return "text/plain", f"Sitemap: {self.root}/index.xml.gz\n".encode()
            case "/index.xml.gz":
                names = "".join(f"<sitemap><loc>{self.root}/{name}.xml</loc></sitemap>" for name in "ab")
                return "binary/octet-stream", gzip.compress(f"<sitemapindex>{names}</sitemapindex>".encode(), mtime=0)
            case "/a.xml" | "/b.xml":
                listed = self.paths[:half] if path == "/a.xml" else self.paths[half:]
                entries = "".join(f"<url><loc>{self.root}{each}</loc></url>" for each in listed)
                return "text/xml", f"<urlset>{entries}</urlset>".encode()
            case _ if path == "/" or path in set(self.paths):
                return "text/html", f"<title>{path}</title><p>Words of the page {path}.".encode()
            case _:
                return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SitemapSite

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        kind, body = self.server.body_of(self.path) or ("text/plain", b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        pass


@contextmanager
def serving(pages: int) -> Iterator[SitemapSite]:
    with SitemapSite(pages) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        try:
            yield site
        finally:
            site.shutdown()


def test_a_site_that_only_its_sitemap_knows_is_crawled_completely(forager: Forager) -> None:
    with serving(2000) as site:
        crawl = forager.start(f"{site.root}/", *ALLOWED, "-o", "out.jsonl", **FOLLOWS)
        crawl.finish()
        assert forager.pages() == {f"{site.root}/", *(site.root + path for path in site.paths)}
        assert max(site.asked.values()) == 1
        assert "2,000 URLs from 2 sitemaps" in crawl.said
        name = site.root.removeprefix("http://")
        assert "2,000 URLs in 2 sitemaps" in forager.run("domain", name, "sitemaps").stderr
        assert f"listed in the sitemap {site.root}/a.xml" in forager.do("why", f"{site.root}/p/7")
        forager.check(deep=True)


def test_without_sitemaps_none_is_asked_for(forager: Forager) -> None:
    with serving(10) as site:
        forager.start(f"{site.root}/", *ALLOWED, "--no-sitemaps", **FOLLOWS).finish()
        assert set(site.asked) == {"/robots.txt", "/"}


def test_killed_in_the_middle_of_a_long_sitemap_nothing_is_lost(forager: Forager) -> None:
    known = "SELECT count(*) FROM pages WHERE url LIKE '%/p/%'"
    with serving(60_000) as site:
        command = (f"{site.root}/", *ALLOWED, "--max-pages", "20")
        crawl = forager.start(*command, **FOLLOWS)
        until(lambda: forager.value(known) > 2000, "a part of a sitemap is known")
        crawl.kill_all()
        assert forager.value(known) < 60_000
        forager.check()
        forager.start(*command, **FOLLOWS).wait()
        assert forager.value(known) == 60_000
        forager.check()


def test_a_new_entry_is_visited_by_a_running_instance(forager: Forager) -> None:
    soon = {
        "FORAGER_CRAWL_MIN_SITEMAP_INTERVAL": "1s",
        "FORAGER_CRAWL_MAX_SITEMAP_INTERVAL": "3s",
        "FORAGER_FETCH_ALLOW_NETWORKS": "127.0.0.0/8",
    }
    with serving(6) as site, up(forager, port=None, **FOLLOWS | soon) as instance:
        forager.do("seed", f"{site.root}/", **FOLLOWS)
        until(lambda: site.asked["/p/5"], "all pages are visited", 60)
        site.paths.append("/p/new")
        until(lambda: site.asked["/p/new"], "the new page is visited", 150)
        time.sleep(1.0)
        assert max(site.asked[path] for path in site.paths) == 1, "what did not change is not visited again"
        instance.stop()
        forager.check()
