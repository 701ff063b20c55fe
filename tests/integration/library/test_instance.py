"""`forager.open` as a script or notebook uses it: plain functions, a real crawl, rows and tables of what it found."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.web.serving import NETWORK, NO_FILE, Site, a_page, serve

import forager
from forager.errors import ConfigurationError, NotFoundError, UsageError
from forager.library import Instance

PAGES = 6


def answer(path: str) -> bytes:
    if path == "/robots.txt":
        return NO_FILE
    return a_page(f"Page {path} about marmalade", *(f"/{n}" for n in range(1, PAGES)))


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site("shop", answer)
    with serve([site]):
        yield site


@pytest.fixture
def instance(database_url: str, tmp_path: Path) -> Iterator[Instance]:
    with forager.open(database_url, home=str(tmp_path), fetch_allow_networks=[NETWORK]) as opened:
        yield opened


def crawl(instance: Instance, site: Site, **more: Any) -> Any:
    return instance.crawl([site.url("/")], delay="50ms", sitemaps=False, **more)


def test_a_script_crawls_and_takes_what_was_found(instance: Instance, site: Site) -> None:
    seen: list[int] = []
    report = crawl(instance, site, on_progress=lambda progress: seen.append(progress.pages_done))
    assert (report.end, report.progress.pages_ok) == ("finished", PAGES)
    assert seen
    assert {row["url"] for row in instance.pages(status="fetched")} == {
        site.url(path) for path in ("/", *(f"/{n}" for n in range(1, PAGES)))
    }
    assert len(instance.links().to_list()) == (PAGES - 1) ** 2, "each page links to the others"
    table = instance.pages(domain=site.domain).to_arrow()
    assert (table.num_rows, table.schema.field("fetched_at").type.tz) == (PAGES, "UTC")
    assert len(instance.search("marmalade").page.hits) == PAGES
    assert instance.why(site.url("/none")).outlook.kind in {"never", "at"}


def test_crawl_settings_hold_and_stay(instance: Instance, site: Site) -> None:
    assert crawl(instance, site, max_depth=0).progress.pages_ok == 1
    assert len([path for path in site.pages_asked() if path != "/"]) == 0


def test_rows_are_read_as_far_as_they_are_wanted(instance: Instance, site: Site) -> None:
    crawl(instance, site, max_pages=3)
    first = next(iter(instance.pages()))
    assert first["domain"] == site.domain
    assert len(instance.tasks(since="1h").to_list()) >= 3
    assert instance.products().to_list() == []


def test_pages_have_their_texts_where_these_are_stored(instance: Instance, site: Site, tmp_path: Path) -> None:
    crawl(instance, site, max_pages=2, content="text")
    read = {row["url"]: row["text"] for row in instance.pages(with_text=True)}
    assert len(read) == PAGES
    assert sorted(filter(None, read.values())) == sorted(instance.text(url) for url, text in read.items() if text)
    assert len(list(filter(None, read.values()))) == 2
    assert instance.pages(with_text=True).to_arrow().column("text").null_count == PAGES - 2
    instance.pages(with_text=True).write(tmp_path / "pages.jsonl")
    written = [json.loads(line)["text"] for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert sorted(filter(None, written)) == sorted(filter(None, read.values()))
    assert "text" not in next(iter(instance.pages()))


def test_it_works_where_a_loop_is_running(instance: Instance) -> None:
    """As in a notebook."""

    async def cell() -> list[dict[str, Any]]:
        return instance.pages().to_list()

    assert asyncio.run(cell()) == []


@pytest.mark.parametrize("urls", [[], "https://shop.example/"])
def test_a_crawl_needs_a_list_of_urls(instance: Instance, urls: Any) -> None:
    with pytest.raises(UsageError, match="Give a list of URLs"):
        instance.crawl(urls)


def test_mistakes_are_sentences(instance: Instance, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no crawl setting 'colour'"):
        instance.crawl(["http://127.66.0.1/"], colour="red")
    with pytest.raises(NotFoundError, match="There is no domain"):
        instance.pages(domain="unknown.example").to_list()
    with pytest.raises(ConfigurationError, match="needs a contact"):
        instance.crawl(["https://shop.example/"])
    with pytest.raises(ConfigurationError):
        forager.open(str(tmp_path), no_such_setting=1)


def test_the_text_of_a_page_is_markdown_or_what_is_wanted(instance: Instance, site: Site) -> None:
    crawl(instance, site, content="text")
    url = site.url("/1")
    assert instance.text(url).startswith("[/1](http://")
    assert "](" not in instance.text(url, format="text")
    assert instance.text(url, format="html").lstrip().startswith("<")
    with pytest.raises(UsageError, match="markdown, text, html"):
        instance.text(url, format="pdf")
    with pytest.raises(NotFoundError):
        instance.text(site.url("/none"))
    assert instance.records().to_list() == []


async def test_a_crawl_is_iterated(instance: Instance, site: Site) -> None:
    order = instance.crawl_async([site.url("/")], delay="50ms", sitemaps=False)
    steps = [progress.pages_done async for progress in order]
    assert order.report is not None
    assert (order.report.end, order.report.progress.pages_ok) == ("finished", PAGES)
    assert steps == sorted(steps)
    with pytest.raises(UsageError):
        _ = [progress async for progress in order]


async def test_a_crawl_that_is_left_is_stopped_and_resumes(instance: Instance, site: Site) -> None:
    order = instance.crawl_async([site.url("/")], delay="300ms", sitemaps=False)
    async for progress in order:
        if progress.pages_done:
            break
    await order.stop()
    assert order.report is not None
    assert order.report.progress.pages_ok < PAGES
    again = await asyncio.to_thread(crawl, instance, site)
    assert len(instance.pages(status="fetched").to_list()) == PAGES
    assert again.progress.pages_ok >= 1
