"""An open instance for scripts and notebooks: crawl, query, search and explain with plain functions.

import forager

with forager.open("~/crawls/shops") as f:
    f.crawl(["https://shop.example/"], max_pages=500, on_progress=print)
    prices = f.prices(since="7d").to_pandas()
"""

import os
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from forager import clock
from forager.cli.durations import parse_past_time
from forager.config.loader import load
from forager.config.settings import Settings
from forager.errors import UsageError
from forager.export.rows import Filters, Kind
from forager.instance import Forager, open_forager
from forager.library.loop_thread import LoopThread
from forager.library.rows import Rows
from forager.plugins.config import use_plugins

if TYPE_CHECKING:
    from forager.explain.why import ExplainResult
    from forager.library.crawl import Crawl
    from forager.runs.models import Progress, RunReport
    from forager.search.service import SearchResult

ALLOW_ROOT = "FORAGER_ALLOW_ROOT"
URL_PREFIXES = ("postgres://", "postgresql://")
CONNECTIONS = 8
Since = str | datetime | None
"""A moment, or as on the command line: `2026-01-31`, `7d`."""


def open_instance(where: str | None = None, **settings: Any) -> "Instance":
    """Opens a data folder, or a database by its URL; without either, what the command line would use. Settings are
    named as in the environment, without `FORAGER_` and in lower case: `fetch_timeout="10s"`."""
    if where is not None:
        settings["database_url" if where.startswith(URL_PREFIXES) else "home"] = where
    return Instance(load(settings))


class Instance:
    """An open Forager. Use it in a `with` statement, or call `close`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        if os.geteuid() == 0:  # the script stays root, so its workers must
            os.environ.setdefault(ALLOW_ROOT, "1")
        use_plugins(settings)
        self._loop = LoopThread()
        self._stack = AsyncExitStack()
        try:
            self._forager: Forager = self._loop.run(self._open())
        except BaseException:
            self._loop.close()
            raise

    async def _open(self) -> Forager:
        opened = open_forager(self.settings, application="forager library", connections=CONNECTIONS)
        return await self._stack.enter_async_context(opened)

    def close(self) -> None:
        """Closes the connections, and stops the embedded database if no other process uses it."""
        try:
            self._loop.run(self._stack.aclose())
        finally:
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def crawl(
        self,
        urls: Sequence[str],
        *,
        on_progress: "Callable[[Progress], None] | None" = None,
        max_pages: int | None = None,
        workers: int | None = None,
        **settings: Any,
    ) -> "RunReport":
        """Crawls sites and returns the report when nothing is left to visit now, as `forager crawl` does.

        `settings` are crawl settings such as `scope="host"`, `delay="2s"`, `max_depth=3` or `every="1d"`; the sites
        keep them. `on_progress` is called about twice a second. An interrupt stops cleanly; the same call resumes.
        """
        from forager.library.crawl import run_crawl

        return run_crawl(
            self._forager,
            self._loop,
            urls,
            settings,
            max_pages=max_pages,
            workers=workers or self.settings.workers,
            on_progress=on_progress or _ignore,
        )

    def crawl_async(
        self, urls: Sequence[str], *, max_pages: int | None = None, workers: int | None = None, **settings: Any
    ) -> "Crawl":
        """Returns a crawl for `async for`, whose steps are its progress; its `report` is there at the end. The other
        arguments are those of `crawl`."""
        from forager.library.crawl import Crawl, read_order

        spec = read_order(self._forager, urls, settings, max_pages=max_pages)
        return Crawl(self._forager, self._loop, spec, workers=workers or self.settings.workers)

    def pages(self, *, with_text: bool = False, **filters: Any) -> Rows:
        """Returns known pages with their latest visit; `with_text` adds the column `text`: the main text as Markdown,
        where it or the body is stored. Filters: `domain`, `status`, `run`, `since`."""
        return self._rows("pages", with_text=with_text, **filters)

    def links(self, **filters: Any) -> Rows:
        """Returns links between pages. Filters: `domain`, `run`, `since`."""
        return self._rows("links", **filters)

    def products(self, **filters: Any) -> Rows:
        """Returns products as they were last seen. Filters: `domain`, `run`, `since`."""
        return self._rows("products", **filters)

    def records(self, **filters: Any) -> Rows:
        """Returns what extractors found, with the newest fields. Filters: `domain`, `run`, `since`."""
        return self._rows("records", **filters)

    def items(self, **filters: Any) -> Rows:
        """Returns the structured data of pages, item by item. Filters: `domain`, `run`, `since`."""
        return self._rows("items", **filters)

    def prices(self, **filters: Any) -> Rows:
        """Returns the price history: each price and availability, with what it was before. Filters: `domain`, `run`,
        `since`."""
        return self._rows("prices", **filters)

    def images(self, **filters: Any) -> Rows:
        """Returns images and the pages that show them. Filters: `domain`, `status`, `run`, `since`."""
        return self._rows("images", **filters)

    def tasks(self, **filters: Any) -> Rows:
        """Returns visits, open and closed. Filters: `domain`, `status`, `run`, `since`."""
        return self._rows("tasks", **filters)

    def search(self, words: str, *, domain: str | None = None, limit: int = 10) -> "SearchResult":
        """Searches pages by their text, with the syntax of `forager search`."""
        from forager.search.backend import open_searching
        from forager.search.models import Query
        from forager.search.service import search
        from forager.storage.factory import open_readonly_store

        query = Query(words, domain=domain, limit=limit)

        async def once() -> "SearchResult":
            async with open_searching(self.settings) as elsewhere:
                bodies = open_readonly_store(self.settings)
                return await search(self._forager.pool, query, bodies=bodies, elsewhere=elsewhere)

        return self._loop.run(once())

    def text(self, url: str, format: str = "markdown") -> str:  # noqa: A002 (named as on the command line)
        """Returns the main text of a known page as its last stored visit found it: `markdown`, `text` or `html`. Raises
        NotFoundError if no text is stored."""
        from forager.pages import text as texts
        from forager.pages.queries import find_page
        from forager.parsing.markdown_formats import TextFormat
        from forager.storage.factory import open_readonly_store

        try:
            form = TextFormat(format)
        except ValueError:
            formats = ", ".join(TextFormat)
            raise UsageError(f"There is no format {format!r}; there are {formats}.", field="format") from None

        async def once() -> str:
            async with self._forager.pool.acquire() as connection:
                page = (await find_page(connection, url))["id"]
                visit = await texts.find_text(connection, page, default_policy=self.settings.storage.content_policy)
            return await texts.load_as(open_readonly_store(self.settings), visit, form)

        return self._loop.run(once())

    def why(self, url: str) -> "ExplainResult":
        """Explains why a page or domain is, or is not, being fetched now; `outlook` is the conclusion."""
        from forager.explain.conditions import build_fetch_policy
        from forager.explain.why import explain

        async def once() -> "ExplainResult":
            async with (
                self._forager.pool.acquire() as connection,
                connection.transaction(isolation="repeatable_read", readonly=True),
            ):
                return await explain(connection, url, build_fetch_policy(self.settings))

        return self._loop.run(once())

    def _rows(
        self,
        kind: Kind,
        *,
        domain: str | None = None,
        status: str | None = None,
        run: int | None = None,
        since: Since = None,
        with_text: bool = False,
    ) -> Rows:
        moment = parse_past_time(since, clock.now()) if isinstance(since, str) else since
        return Rows(self._forager, self._loop, kind, Filters(domain, status, run, moment), with_text=with_text)


def _ignore(_progress: "Progress") -> None:
    """Is called where a script wants to know nothing of the progress."""
