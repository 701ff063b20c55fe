"""Firecrawl's scrape, crawl and map, on this instance: with the accounts, robots.txt, address guard, pace and audit log
of every other action. Switched on by `api.firecrawl`."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from forager import clock
from forager.api.access import Admin, ApiError, Seeding, User, too_many
from forager.api.database import change, exclusive_request, get_forager, look, snapshot
from forager.api.errors import responses
from forager.api.reply import as_json, reply
from forager.api.types import LARGEST_ID
from forager.db.types import Connection
from forager.errors import (
    AddressBlockedError,
    BadUrlError,
    ForagerError,
    NotFoundError,
    RobotsDeniedError,
    UsageError,
    VisitTimeoutError,
)
from forager.firecrawl import schemas as models
from forager.firecrawl import store
from forager.firecrawl.documents import LETTERS, NEEDS_BODY, Source, build_document
from forager.firecrawl.routes import options
from forager.links.scope import claim_patterns
from forager.pages.fetch_one import Seen
from forager.pages.polite_fetch import PoliteFetcher
from forager.pages.stored_page import StoredContent, StoredPage, find_stored, load_stored, read_stored
from forager.runs import service as runs
from forager.runs.models import RunSpec
from forager.seeds.found import Seed, credentials_note, to_url
from forager.seeds.sitemap_fetch import follow_sitemap
from forager.seeds.validate import validate_seed
from forager.stats.store import find_run as find_spec
from forager.storage.policy import ContentPolicy
from forager.urls.domain import domain_of, origin_of

MOST_AT_ONCE = 8
"""Live fetches of an API process."""
PAGES_AT_ONCE = 20
MOST_BYTES = 10_000_000
SITEMAP_S = 30.0
ORDER_S = 60.0
OFF = (
    "Firecrawl's API is switched off: set `api.firecrawl = true` in forager.toml, or FORAGER_API_FIRECRAWL=true, and "
    "start the API again."
)

DEFAULT_AGE_MS = {"v1": 0, "v2": 2 * models.DAY_MS}
MOST_AGE_MIN = 9_999_999
KNOWN = (
    "The site was crawled before, and pages that were read are not visited again: set scrapeOptions.maxAge to get "
    "stored ones too."
)
KNOWN_WITH_AGE = (
    "The site was crawled before: pages that were read within scrapeOptions.maxAge come as they are stored."
)
NOTHING_KNOWN = "No page of {name} is known, and it has no sitemap at the usual place: crawl it first."


def require_switched_on(request: Request) -> None:
    if not get_forager(request).settings.api.firecrawl:
        raise NotFoundError(OFF)


router = APIRouter(tags=["firecrawl"])
CrawlId = Annotated[str, Path(min_length=1, max_length=40, description="As the crawl was answered.")]
CRAWL_ID = re.compile("[0-9]{1,18}-[mhrl]{1,4}(-[0-9]{1,7})?")
After = Annotated[int, Query(ge=0, le=LARGEST_ID, description="Of the link `next`.")]


# Scrape --------------------------------------------------------------------------------------------------------------


@router.post("/v1/scrape", response_model=models.Scraped, responses=responses(400, 404, 408, 409))
async def scrape(request: Request, who: Admin, body: models.ScrapeBody) -> Response:
    """One page: a stored one that is no older than `maxAge`, or fetched now, politely. Nothing is stored."""
    require_switched_on(request)
    formats = options.read_formats(body.formats)
    warnings = options.check_scrape(body)
    url = _read_url(request, body.url)
    if (
        body.maxAge
        and (stored := await _find_fresh(request, url, body.maxAge / 1000, needs_body=bool(NEEDS_BODY & set(formats))))
        is not None
    ):
        source = _read_source(body.url, url, stored.content, stored.page["fetched_at"], stored.page)
        return await _reply_document(source, formats, warnings)
    async with change(request, who) as deed:
        await deed.note("page.fetch", "page", url=url)
    seen = await _fetch(request, url, body.timeout / 1000)
    assert seen.fetched is not None
    source = Source(
        body.url, seen.fetched.url, seen.reading.markdown if seen.reading else "", seen.fetched, seen.reading
    )
    return await _reply_document(source, formats, warnings)


@router.post("/v2/scrape", response_model=models.Scraped, responses=responses(400, 404, 408, 409))
async def scrape_v2(request: Request, who: Admin, body: models.ScrapeBody) -> Response:
    """The same as `/v1/scrape`."""
    return await scrape(request, who, body)


def _read_url(request: Request, text: str) -> str:
    settings = get_forager(request).settings
    try:
        url = to_url(text)
    except BadUrlError as error:
        raise UsageError(str(error), field="url") from None
    if note := credentials_note(text):
        raise UsageError(note, field="url")
    validate_seed(url, settings)
    return url


async def _reply_document(source: Source, formats: list[str], warnings: list[str]) -> Response:
    return reply({"success": True, "data": await asyncio.to_thread(build_document, source, formats, warnings)})


def _read_source(
    asked: str, url: str, content: StoredContent, fetched_at: datetime | None, row: Mapping[str, Any]
) -> Source:
    facts = {name: row[name] for name in ("title", "description", "language")}
    return Source(asked, url, content.markdown, content.fetched, content.reading, fetched_at, facts)


async def _find_fresh(request: Request, url: str, max_age_s: float, *, needs_body: bool) -> StoredPage | None:
    """Returns the stored page if it was fetched recently enough and its body is there."""
    forager = get_forager(request)
    try:
        page, ref = await find_stored(forager, url)
        fetched_at = page["fetched_at"]
        if ref is None or fetched_at is None or clock.now() - fetched_at > timedelta(seconds=max_age_s):
            return None
        stored = await load_stored(forager, url)
        return None if needs_body and stored.content.fetched is None else stored
    except ForagerError:  # not known, or its body is gone: it is fetched
        return None


async def _fetch(request: Request, url: str, within_s: float) -> Seen:
    state = request.app.state
    if not hasattr(state, "fetcher"):
        state.fetcher, state.fetching = PoliteFetcher(get_forager(request)), asyncio.Semaphore(MOST_AT_ONCE)
    if state.fetching.locked():
        raise too_many(5, f"{MOST_AT_ONCE} pages are being fetched; ask again when one is done.")
    async with state.fetching:
        try:
            async with asyncio.timeout(within_s):
                seen: Seen = await state.fetcher.fetch(url)
        except TimeoutError:
            raise ApiError(408, f"{url} did not come within {within_s:.0f} s.", "fetch_timeout") from None
    if seen.error is not None:
        raise _read_error(seen.error)
    return seen


def _read_error(error: Exception) -> ApiError:
    sentence = f"{str(error).rstrip('.')}."
    match error:
        case AddressBlockedError() | RobotsDeniedError():
            return ApiError(409, sentence, "fetch_denied")
        case VisitTimeoutError():
            return ApiError(408, sentence, "fetch_timeout")
        case _:
            return ApiError(502, sentence, "fetch_failed")


# Crawl ---------------------------------------------------------------------------------------------------------------


@router.post("/v1/crawl", response_model=models.CrawlStarted, responses=responses(400, 404, 409))
async def crawl(request: Request, who: Seeding, body: models.CrawlBody) -> Response:
    """Order a crawl; the workers of `forager up` carry it out. Bodies of its pages are kept."""
    return await _order(request, who, body, "v1")


@router.post("/v2/crawl", response_model=models.CrawlStarted, responses=responses(400, 404, 409))
async def crawl_v2(request: Request, who: Seeding, body: models.CrawlBody) -> Response:
    """The same as `/v1/crawl`."""
    return await _order(request, who, body, "v2")


async def _order(request: Request, who: Any, body: models.CrawlBody, version: str) -> Response:
    require_switched_on(request)
    settings, url = get_forager(request).settings, _read_url(request, body.url)
    scraping = body.scrapeOptions or models.ScrapeOptions()
    formats = options.read_formats(scraping.formats)
    warnings = options.check_scrape(scraping)
    max_age_s = (DEFAULT_AGE_MS[version] if scraping.maxAge is None else scraping.maxAge) / 1000
    async with look(request) as conn:
        site = await store.find_site(conn, domain_of(url))
        visited, _ = await runs.preview_seeds(conn, [url])
    policy = (site.content_policy if site else None) or settings.storage.content_policy
    needs = _choose_policy(policy, formats)
    spec, more = options.build_run(body, url, content=needs)
    async with change(request, who, ORDER_S) as deed:
        run = await runs.order_run(deed.conn, spec, by=deed.by, is_scored=settings.crawl.domain_order == "smart")
        await deed.note("run.start", "run", run, seeds=[url], scope=spec.scope.value)
    number = f"{run}-{''.join(LETTERS[name] for name in formats)}"
    number += f"-{min(round(max_age_s / 60), MOST_AGE_MIN)}" if max_age_s >= 60 else ""
    if visited:
        more.append(KNOWN_WITH_AGE if max_age_s >= 60 else KNOWN)
    answer = {"success": True, "id": number, "url": _address(request, f"/{version}/crawl/{number}")}
    return reply(answer | ({"warning": " ".join([*warnings, *more])} if warnings or more else {}))


def _choose_policy(policy: str, formats: Iterable[str]) -> str | None:
    """Returns the content policy that a crawl sets for its domain; None: what the domain has keeps enough."""
    wanted = ContentPolicy.SNAPSHOT if NEEDS_BODY & set(formats) else ContentPolicy.TEXT
    enough = {ContentPolicy.SNAPSHOT.value, ContentPolicy.ARCHIVE.value, wanted.value}
    return None if policy in enough else wanted.value


def _address(request: Request, path: str) -> str:
    public = get_forager(request).settings.api.public_url
    return f"{(public or str(request.base_url)).rstrip('/')}{path}"


@router.get("/v1/crawl/{crawl}", response_model=models.CrawlStatus, responses=responses(404))
async def show_crawl(request: Request, _who: User, crawl: CrawlId, after: After = 0) -> Response:
    """How a crawl does, and its pages, twenty at a time; `next` has the rest."""
    return await _show(request, crawl, after, "v1")


@router.get("/v2/crawl/{crawl}", response_model=models.CrawlStatus, responses=responses(404))
async def show_crawl_v2(request: Request, _who: User, crawl: CrawlId, after: After = 0) -> Response:
    """The same as `/v1/crawl/{crawl}`."""
    return await _show(request, crawl, after, "v2")


async def _show(request: Request, crawl: str, after: int, version: str) -> Response:
    require_switched_on(request)
    run, formats, max_age_s = _read_id(crawl)
    async with snapshot(request) as conn:
        state, spec = await store.find_run(conn, run), await find_spec(conn, run)
        if state is None or spec is None or not spec.seeds:
            raise NotFoundError(f"There is no crawl {crawl}.")
        wanted = await _choose_pages(conn, run, spec, state, max_age_s)
        rows = await store.list_crawled(conn, wanted, after=after, limit=PAGES_AT_ONCE + 1)
        done = await store.count_crawled(conn, wanted)
    documents, last = await _load(request, rows[:PAGES_AT_ONCE], formats)
    shown = len(documents)
    total = done if state.status != "running" else done + state.waiting
    keep_s = get_forager(request).settings.retention.bodies
    answer: dict[str, Any] = {
        "success": True,
        "status": _status_of(state),
        "total": total if state.max_pages is None else min(total, max(state.max_pages, done)),
        "completed": done,
        "creditsUsed": done,
        "expiresAt": (state.started_at + timedelta(seconds=keep_s)).isoformat(),
        "data": documents,
    }
    if shown < len(rows):
        answer["next"] = _address(request, f"/{version}/crawl/{crawl}?after={last}")
    return reply(answer)


async def _choose_pages(
    conn: Connection, run: int, spec: RunSpec, state: store.RunState, max_age_s: float
) -> store.Crawl:
    seed = spec.seeds[0]
    site = await store.find_site(conn, domain_of(seed)) if max_age_s else None
    folders, include, exclude = claim_patterns(spec)
    return store.Crawl(
        run,
        site_id=site.id if site else None,
        since=state.started_at - timedelta(seconds=max_age_s) if max_age_s else None,
        folders=folders or (),
        include=include or (),
        exclude=exclude or (),
        limit=spec.max_pages,
    )


def _read_id(crawl: str) -> tuple[int, list[str], float]:
    """Returns the run, the formats and the age in seconds up to which stored pages belong to the crawl."""
    if not CRAWL_ID.fullmatch(crawl):
        raise NotFoundError("There is no such crawl.")
    number, letters, *age = crawl.split("-")
    formats = [name for name, letter in LETTERS.items() if letter in letters]
    return int(number), formats, float(age[0]) * 60 if age else 0.0


def _status_of(state: store.RunState) -> str:
    match state.status:
        case "running":
            return "cancelled" if state.is_stopping else "scraping"
        case "finished":
            return "completed"
        case "stopped":
            return "cancelled"
        case _:
            return "failed"


async def _load(
    request: Request, rows: list[store.CrawledPage], formats: list[str]
) -> tuple[list[dict[str, Any]], int]:
    """Returns documents up to ten megabytes, at least one, and the page of the last one."""
    forager, documents, size, last = get_forager(request), list[dict[str, Any]](), 0, 0
    for row in rows:
        document = await _load_one(forager, row, formats)
        size += len(as_json(document))
        if documents and size > MOST_BYTES:
            break
        documents.append(document)
        last = row.id
    return documents, last


async def _load_one(forager: Any, row: store.CrawledPage, formats: list[str]) -> dict[str, Any]:
    if row.body_ref is not None:
        try:
            content = await asyncio.to_thread(read_stored, forager, row.body_ref, row.url)
            source = _read_source(row.url, row.url, content, row.fetched_at, row._asdict())
            return await asyncio.to_thread(build_document, source, formats)
        except ForagerError:
            pass
    metadata = {"sourceURL": row.url, "url": row.url, "statusCode": row.status_code, "title": row.title}
    more = {"description": row.description, "language": row.language, "error": "Its body is not stored."}
    return {"metadata": {name: value for name, value in {**metadata, **more}.items() if value is not None}}


@router.delete("/v1/crawl/{crawl}", response_model=models.CrawlCancelled, responses=responses(404, 409))
async def cancel_crawl(request: Request, who: Admin, crawl: CrawlId) -> Response:
    """End a crawl: its workers finish what is open."""
    require_switched_on(request)
    run, _, _ = _read_id(crawl)
    async with change(request, who) as deed:
        await runs.stop_run(deed.conn, run)
        await deed.note("run.stop", "run", run)
    return reply({"status": "cancelled"})


@router.delete("/v2/crawl/{crawl}", response_model=models.CrawlCancelled, responses=responses(404, 409))
async def cancel_crawl_v2(request: Request, who: Admin, crawl: CrawlId) -> Response:
    """The same as in `/v1`."""
    return await cancel_crawl(request, who, crawl)


# Map -----------------------------------------------------------------------------------------------------------------


@router.post("/v1/map", response_model=models.Mapped, responses=responses(400, 404, 409))
async def map_site(request: Request, _who: Admin, body: models.MapBody) -> Response:
    """The known URLs of a site, and those of its sitemap, which is fetched if none was read before."""
    mode = "skip" if body.ignoreSitemap else "only" if body.sitemapOnly else "include"
    rows, warning = await _map(request, body, mode, without_query=False, asks_again=False)
    return reply({"success": True, "links": [row.url for row in rows]} | ({"warning": warning} if warning else {}))


@router.post("/v2/map", response_model=models.MappedV2, responses=responses(400, 404, 409))
async def map_site_v2(request: Request, _who: Admin, body: models.MapBodyV2) -> Response:
    """The same with titles and descriptions."""
    rows, warning = await _map(
        request, body, body.sitemap, without_query=body.ignoreQueryParameters, asks_again=body.ignoreCache
    )
    links = [{name: value for name, value in row._asdict().items() if value is not None} for row in rows]
    return reply({"success": True, "links": links} | ({"warning": warning} if warning else {}))


async def _map(
    request: Request, body: models.MapOptions, mode: str, *, without_query: bool, asks_again: bool
) -> tuple[list[store.MapRow], str | None]:
    require_switched_on(request)
    options.check_map(body)
    url = _read_url(request, body.url)
    name = domain_of(url)
    async with snapshot(request) as conn:
        site = await store.find_site(conn, name)
        rows = await store.map_pages(
            conn,
            name,
            with_subdomains=body.includeSubdomains,
            search=body.search,
            without_query=without_query,
            only_listed=mode == "only",
            limit=body.limit,
        )
    if mode == "skip" or (site is not None and site.has_sitemap and not asks_again):
        return rows, None if rows else NOTHING_KNOWN.format(name=name)
    if site is not None and site.is_leased:
        return rows, f"A worker is crawling {name}, so its sitemap was not asked for."
    found = await _read_sitemap(request, url, body)
    kept = [
        each for each in found if _is_wanted(each, body.search, without_query=without_query) and domain_of(each) == name
    ]
    known = {row.url for row in rows}
    rows += [store.MapRow(each, None, None) for each in dict.fromkeys(kept) if each not in known]
    return rows[: body.limit], None if rows else NOTHING_KNOWN.format(name=name)


def _is_wanted(url: str, search: str | None, *, without_query: bool) -> bool:
    return (search is None or search.lower() in url.lower()) and not (without_query and "?" in url)


async def _read_sitemap(request: Request, url: str, body: models.MapOptions) -> list[str]:
    """Returns the URLs of the sitemap at its usual place, as far as they come in time."""
    found: list[str] = []
    within_s = min(SITEMAP_S, (body.timeout or 30_000) / 1000)
    entries = follow_sitemap(get_forager(request).settings, f"{origin_of(url)}/sitemap.xml")
    async with exclusive_request(request):
        try:
            async with asyncio.timeout(within_s), aclosing(entries):
                async for entry in entries:
                    if isinstance(entry, Seed):
                        found.append(entry.url)
                    if len(found) >= body.limit:
                        break
        except TimeoutError:
            pass
    return found
