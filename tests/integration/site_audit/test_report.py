"""The report of a site in which everything is wrong once: what is found, as text, HTML, CSV and JSON, and compared."""

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.integration.world import World

from forager.errors import NotFoundError
from forager.site_audit.checks import CHECKS
from forager.site_audit.models import SiteReport
from forager.site_audit.service import report_site

SITE = "https://audit.example"
NOW = datetime.now(UTC)
HOSTILE = "<script>alert(1)</script>"


class Site:
    """Plants pages of one site, each with its newest visit."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def page(self, path: str, code: int = 200, *, ms: int = 50, size: int = 5000, **columns: Any) -> str:
        url = path if "://" in path else f"{SITE}{path}"
        read = {"content_type": "text/html; charset=utf-8", "title": f"Page {path}", "description": f"About {path}"}
        given = {"status": "fetched", "fetched_at": NOW, "language": "en"} | (read if code == 200 else {}) | columns
        self.world.domains.setdefault(url.split("/")[2], self.world.domains["audit.example"])
        await self.world.add_page(url, **given)
        outcome = {0: "blocked_robots", 4: "blocked_4xx", 5: "blocked_5xx"}.get(code // 100, "success")
        await self.world.close(url, outcome, code or None, response_time_ms=ms, bytes=size)
        return url

    async def moved(self, path: str, target: str) -> str:
        url = await self.page(path, 301)
        await self.world.link(url, target)
        await self.world.conn.execute(
            "UPDATE page_link_lists SET rels = 'redirect' WHERE from_page_id = $1", self.world.pages[url]
        )
        return url


@pytest.fixture
async def site(world: Any) -> Site:
    await world.add_domain("audit.example", pages_discovered=20)
    made = Site(world)
    gone = await made.page("/gone", 404, status="gone")
    await made.page("/unlinked-error", 500, status="failed")
    final = await made.page("/final")
    third = await made.moved("/third", final)
    second = await made.moved("/second", third)
    first = await made.moved("/first", second)
    loop = await made.page("/loop", 302)
    circle = await made.moved("/circle", loop)
    await world.link(loop, circle)
    await world.conn.execute("UPDATE page_link_lists SET rels = 'redirect' WHERE from_page_id = $1", world.pages[loop])
    hidden = await made.page("/hidden", flags=["noindex"])
    twins = [await made.page(f"/twin{n}", title=HOSTILE, description="The same.") for n in range(3)]
    bare = await made.page("/bare", title=None, description=None, language=None)
    wordy = await made.page("/wordy", title="w" * 61)
    slow = await made.page("/slow", ms=1500, size=2_000_000, depth=5)
    canonicals = [
        await made.page("/to-gone", canonical_url=gone),
        await made.page("/to-other", canonical_url="https://elsewhere.example/"),
        await made.page("/to-hidden", canonical_url=hidden),
        await made.page("/to-chain", canonical_url=f"{SITE}/to-gone"),
        await made.page("/to-unknown", canonical_url=f"{SITE}/never"),
        await made.page("/to-final", canonical_url=final),
    ]
    closed = await made.page("/closed", 0, status="blocked")
    plain = await made.page("http://audit.example/plain")
    orphan = await made.page("/orphan")
    home = await made.page("/", depth=0, is_seed=True)
    await world.link(home, gone, first, circle, final, hidden, *twins, bare, wordy, slow, *canonicals, closed, plain)
    await world.link(twins[0], gone)
    sitemap = await made.page("/sitemap.xml", depth=0, is_sitemap=True)
    await world.conn.execute(
        "INSERT INTO sitemaps (page_id, site_id, found_by, format, urls) VALUES ($1, $2, 'robots', 'sitemap', 4)",
        world.pages[sitemap],
        world.domains["audit.example"],
    )
    await world.link(sitemap, home, orphan, gone, hidden)
    return made


def _found(report: SiteReport) -> dict[str, int]:
    return {finding.name: finding.total for finding in report.findings if finding.total}


async def test_a_site_with_every_fault(site: Site) -> None:
    report = await report_site(site.world.conn, SITE)
    assert _found(report) == {
        "broken_links": 1,
        "broken_pages": 1,
        "redirect_loops": 1,
        "wrong_in_sitemap": 2,
        "canonical_conflicts": 5,
        "redirect_chains": 1,
        "linked_redirects": 2,
        "duplicate_titles": 1,
        "missing_titles": 1,
        "noindex_from_home": 1,
        "linked_forbidden": 1,
        "orphans": 1,
        "insecure_links": 1,
        "slow_pages": 1,
        "heavy_pages": 1,
        "missing_descriptions": 1,
        "duplicate_descriptions": 1,
        "long_titles": 1,
        "not_in_sitemap": 8,
        "missing_languages": 1,
        "deep_pages": 1,
    }
    found = {finding.name: finding.examples for finding in report.findings}
    broken = found["broken_links"][0]
    assert (broken.url, broken.value, broken.others_total) == (f"{SITE}/gone", "404", 2)
    assert set(broken.others) == {f"{SITE}/", f"{SITE}/twin0"}, "a sitemap is no page that links"
    chain = found["redirect_chains"][0]
    assert [chain.url, *chain.others] == [f"{SITE}/{name}" for name in ("first", "second", "third", "final")]
    assert {example.value for example in found["canonical_conflicts"]} == {
        "an error: 404",
        "another host",
        "a page with noindex",
        "a page with another canonical",
        "never visited",
    }
    assert [row.depth for row in report.status_by_depth] == [0, 1, 5]
    assert report.notes == ["The search index has no page of this site, so texts are not compared."]


async def test_nearly_the_same_text_is_one_finding(site: Site) -> None:
    conn, pages = site.world.conn, site.world.pages
    cluster = await conn.fetchval("INSERT INTO page_clusters (simhash, bands, pages) VALUES (1, '{1}', 3) RETURNING id")
    for name in ("twin0", "twin1", "final"):
        await site.world.conn.execute(
            "INSERT INTO indexed_pages (page_id, domain_id, cluster_id, terms, config, read_at)"
            " VALUES ($1, $2, $3, '', 'simple', now())",
            pages[f"{SITE}/{name}"],
            site.world.domains["audit.example"],
            cluster,
        )
    report = await report_site(conn, "audit.example")
    (example,) = next(each for each in report.findings if each.name == "near_duplicates").examples
    assert (example.value, len(example.others)) == ("3 pages", 2)


async def test_what_broke_and_what_was_repaired_since(site: Site) -> None:
    """The visits until a day are compared with the newest ones; a 304 confirms what was heavy before."""
    world, then = site.world, NOW - timedelta(days=9)
    for name, outcome, code in (("final", "blocked_5xx", 500), ("gone", "success", 200), ("slow", "success", 200)):
        await world.close(f"{SITE}/{name}", outcome, code, completed_at=then, bytes=2_000_000)
        await world.close(
            f"{SITE}/{name}", "blocked_4xx" if name == "gone" else "success", {"gone": 404, "slow": 304}.get(name, 200)
        )
    compared = (await report_site(world.conn, SITE, since=NOW - timedelta(days=1))).comparison
    assert compared is not None
    kinds = {each.kind: each for each in compared.differences}
    assert (kinds["broken"].before, kinds["broken"].new, kinds["broken"].fixed) == (1, 2, 1)
    assert {(row.url, row.past, row.value) for row in kinds["broken"].new_examples} == {
        (f"{SITE}/gone", "200", "404"),
        (f"{SITE}/unlinked-error", None, "500"),
    }
    assert [(row.url, row.past, row.value) for row in kinds["broken"].fixed_examples] == [
        (f"{SITE}/final", "500", "200")
    ]
    assert (kinds["heavy"].new, kinds["slow"].now) == (0, 0)
    assert any("newest is kept" in sentence for sentence in compared.not_comparable)
    early = (await report_site(world.conn, SITE, since=NOW - timedelta(days=99))).comparison
    assert early is not None
    assert "before that moment" in early.not_comparable[0]


async def test_the_command_writes_all_forms(site: Site, forager: Any, tmp_path: Path) -> None:
    html, folder = tmp_path / "report.html", tmp_path / "csv"
    said = await forager("report", "audit.example", "--html", str(html), "--csv", str(folder), "--compare", "1d")
    assert (said.code, said.out) == (0, ""), said.err
    page = html.read_text()
    assert HOSTILE not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page
    with (folder / "broken_links.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["other_url"] for row in rows} == {f"{SITE}/", f"{SITE}/twin0"}
    with (folder / "summary.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(CHECKS)
    told = json.loads((await forager("report", "audit.example", "--json")).out)
    assert told["site"] == "audit.example"
    assert told["comparison"] is None
    assert told["status_by_depth"][0]["depth"] == 0
    shown = await forager("report", "audit.example")
    assert "Broken links" in shown.out
    assert "linked from https://audit.example/" in shown.out


async def test_a_site_that_is_not_known_or_was_never_visited(world: Any, forager: Any) -> None:
    with pytest.raises(NotFoundError):
        await report_site(world.conn, "unknown.example")
    said = await forager("report", "idle.example")
    assert said.code == 0
    assert "Nothing was found" in said.err
