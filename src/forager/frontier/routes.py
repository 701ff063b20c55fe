"""The frontier: what waits, and seeds for it."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from forager.api import paging
from forager.api.access import Admin, Seeding, User
from forager.api.database import change, exclusive_request, get_forager, look, snapshot
from forager.api.errors import responses
from forager.api.paging import Paged
from forager.api.reply import reply
from forager.api.types import After, Body, Flag, Limit, Name, Number, Text, Url
from forager.domains.routes.domains import seed_url
from forager.engine import crash_marker
from forager.engine.recovery import recover as take_over
from forager.errors import BadUrlError, UsageError
from forager.frontier import queries as frontier_queries
from forager.pages import schemas as models
from forager.politeness.guard import AddressGuard
from forager.politeness.guard import guard_from_settings as guard_of
from forager.runs.guard import guard_of_workers
from forager.seeds import add
from forager.seeds.found import ReadCounts, Seed, to_url
from forager.seeds.sitemap_fetch import follow_sitemap
from forager.seeds.validate import find_seed_error

router = APIRouter(tags=["frontier"])
MOST_SEEDS = 100_000
MOST_BAD = 100
AT_ONCE = 200
"""Entries of a sitemap that are parsed before other requests are served."""
LONGEST_S = 60.0
FIVE_MINUTES_S = 300.0
ORDER = paging.Order(("domain_id", "priority", "id"), ("int", "int", "int"), hidden=("domain_id",))
SEED_PATHS = frozenset({"/api/frontier/seed", "/api/frontier/add"})


class Urls(Body):
    urls: Annotated[list[Url], Field(min_length=1, max_length=MOST_SEEDS, examples=[["https://shop.example/"]])]
    source: Annotated[Text, Field(min_length=1, max_length=100)] = Field(
        default="api", description="Kept with domains that are new.", examples=["api"]
    )
    dry_run: Flag = Field(default=False, description="Add nothing: say what would be new, and which are no URL.")


class SitemapAddress(Body):
    url: Url = Field(examples=["https://shop.example/sitemap.xml"])


class RecoverRequest(Body):
    silent_s: Number = Field(
        default=FIVE_MINUTES_S, ge=1, le=86_400, description="A worker silent for so long is dead."
    )


@router.get("/api/frontier/stats", response_model=models.FrontierNumbers, responses=responses())
async def frontier_stats(request: Request, _who: User) -> Response:
    """The frontier in numbers."""
    async with look(request) as conn:
        return reply(await frontier_queries.count_frontier(conn))


@router.get("/api/frontier/urls", response_model=Paged[models.Waiting], responses=responses(404))
async def frontier_urls(
    request: Request,
    _who: User,
    domain: Annotated[Name | None, Query()] = None,
    limit: Limit = 100,
    after: After = None,
) -> Response:
    """Pages that wait for their first visit, domain by domain in the order they are claimed."""
    async with look(request) as conn:
        rows = await frontier_queries.list_frontier(
            conn, paging.read(request, after, ORDER), domain=domain, limit=limit + 1
        )
    return paging.page(request, rows, limit, ORDER)


@router.post("/api/frontier/add", response_model=models.Seeded, responses=responses(409, 413))
async def add_to_frontier(request: Request, who: Seeding, body: Urls) -> Response:
    """URLs as pages among others. What is known keeps its state; what is no URL is told and left out."""
    return await _add_urls(request, who, body, are_seeds=False)


@router.post("/api/frontier/seed", response_model=models.Seeded, responses=responses(409, 413))
async def add_seeds(request: Request, who: Seeding, body: Urls) -> Response:
    """URLs as seeds: first of all pages of their domain."""
    return await _add_urls(request, who, body, are_seeds=True)


@router.post("/api/frontier/sitemap", response_model=models.SitemapPages, responses=responses(429))
async def read_sitemap(request: Request, _who: Seeding, body: SitemapAddress) -> Response:
    """The pages a sitemap names, or those of the sitemaps an index names. Asks the site, politely; adds nothing."""
    settings = get_forager(request).settings
    url = seed_url(body.url, guard_of(settings))
    tally, urls, is_all = ReadCounts(url, "entry"), list[str](), True
    async with exclusive_request(request):
        try:
            async with asyncio.timeout(LONGEST_S), aclosing(follow_sitemap(settings, url)) as entries:
                async for found in entries:
                    if tally.lines % AT_ONCE == 0:
                        await asyncio.sleep(0)  # serves other requests meanwhile
                    if (seed := tally.take(found)) is not None:
                        urls.append(seed.url)
                    if len(urls) == MOST_SEEDS:
                        is_all = False
                        break
        except TimeoutError:
            is_all = False
    bad = [{"line": line, "error": why} for line, why in tally.remembered[:MOST_BAD]]
    return reply({"urls": urls, "bad": tally.bad, "bad_seeds": bad, "is_all": is_all})


async def _add_urls(request: Request, who: Seeding, body: Urls, *, are_seeds: bool) -> Response:
    settings = get_forager(request).settings
    async with look(request) as conn:
        guard = await guard_of_workers(conn, guard_of(settings))
    seeds, bad = await asyncio.to_thread(sort, body.urls, guard)  # 100,000 take seconds
    told = {"bad": len(bad), "bad_seeds": bad[:MOST_BAD], "dry_run": body.dry_run, "seeds": len(seeds)}
    if not seeds:
        raise UsageError(f"None of the URLs can be visited: {bad[0]['error']}", field="urls")
    if body.dry_run:
        async with snapshot(request, LONGEST_S) as conn:
            would = await add.preview_urls(conn, seeds)
        known = len(seeds) - would.pages
        return reply({**told, "new_domains": would.domains, "new_pages": would.pages, "known": known})
    async with change(request, who, LONGEST_S) as deed:
        is_scored = settings.crawl.domain_order == "smart"
        done = await add.add_urls(deed.conn, seeds, source=body.source, is_scored=is_scored, are_seeds=are_seeds)
        await deed.note(
            "frontier.seed" if are_seeds else "frontier.add",
            "frontier",
            seeds=len(seeds),
            first=[seed.url for seed in seeds[:10]],
            new_pages=done.pages,
        )
    known = len(seeds) - done.pages
    return reply({**told, "new_domains": done.domains, "new_pages": done.pages, "known": known})


def sort(urls: Sequence[str], guard: AddressGuard) -> tuple[list[Seed], list[dict[str, object]]]:
    """Those that may be visited, and those that may not, each with its place and why."""
    seeds: list[Seed] = []
    bad: list[dict[str, object]] = []
    for line, text in enumerate(urls, 1):
        try:
            url = to_url(text)
        except BadUrlError as error:
            bad.append({"line": line, "error": str(error)})
            continue
        if reason := find_seed_error(url, guard):
            bad.append({"line": line, "error": reason})
        else:
            seeds.append(Seed(url, None, line))
    return seeds, bad


@router.post("/api/frontier/recover", response_model=models.Recovered, responses=responses())
async def recover(request: Request, who: Admin, body: RecoverRequest | None = None) -> Response:
    """Take domains from dead and silent workers, whatever the settings say."""
    silent_s = (body or RecoverRequest()).silent_s
    settings = get_forager(request).settings
    async with change(request, who, LONGEST_S) as deed:
        freed = sorted(
            await take_over(
                deed.conn,
                dead_after_s=silent_s,
                delay_s=settings.politeness.delay,
                notes=settings.home / crash_marker.FOLDER,
            )
        )
        await deed.note("frontier.recover", "frontier", silent_s=silent_s, domains=freed[:100])
    return reply({"domains": freed})
