"""A crawl that a script starts: checked, run and reported as one of `forager crawl`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from forager.config.crawl_settings import read_layer
from forager.engine.stop import StopRequest
from forager.errors import UsageError
from forager.instance import Forager
from forager.library.loop_thread import LoopThread
from forager.runs.models import Progress, RunReport, RunSpec, Scope
from forager.runs.spec import build_spec
from forager.runtime.crawl import crawl
from forager.seeds.commands.arguments import find_bare, name_seeds, require_contact

BY = "library"


def run_crawl(
    forager: Forager,
    loop: LoopThread,
    urls: Sequence[str],
    settings: Mapping[str, Any],
    *,
    max_pages: int | None,
    workers: int,
    on_progress: Callable[[Progress], None],
) -> RunReport:
    """Crawls until nothing is left to visit now. On an interrupt open requests finish before it is raised."""
    spec = read_order(forager, urls, settings, max_pages=max_pages)
    stop = loop.run(_new_stop())
    future = loop.submit(crawl(forager, spec, workers=workers, on_progress=on_progress, stop=stop, by=BY))
    try:
        return future.result()
    except KeyboardInterrupt:
        loop.run(_ask(stop))
        future.result()
        raise


class Crawl:
    """A crawl that is iterated with `async for`: it begins with the first step, and each step is its progress.

    Leaving the loop early does not stop the crawl; `stop` does, and so does cancelling the task that iterates.
    """

    def __init__(self, forager: Forager, loop: LoopThread, spec: RunSpec, *, workers: int) -> None:
        self._forager, self._loop, self._spec, self._workers = forager, loop, spec, workers
        self._stop: StopRequest | None = None
        self._ended: asyncio.Future[RunReport] | None = None
        self.report: RunReport | None = None
        """The report, once the crawl has ended."""

    async def __aiter__(self) -> AsyncIterator[Progress]:
        if self._ended is not None:
            raise UsageError("A crawl is iterated once; start another one.")
        caller, news = asyncio.get_running_loop(), asyncio.Event()
        latest: list[Progress] = []

        def take(progress: Progress) -> None:
            latest[:] = [progress]  # who is slow gets the newest only
            news.set()

        def on_progress(progress: Progress) -> None:
            caller.call_soon_threadsafe(take, progress)

        stop = self._stop = await asyncio.wrap_future(self._loop.submit(_new_stop()))
        run = crawl(self._forager, self._spec, workers=self._workers, on_progress=on_progress, stop=stop, by=BY)
        self._ended = asyncio.wrap_future(self._loop.submit(run))
        self._ended.add_done_callback(lambda _: news.set())
        try:
            while True:
                await news.wait()
                news.clear()
                if latest:
                    yield latest.pop()
                elif self._ended.done():
                    break
                if self._ended.done():
                    news.set()
        except asyncio.CancelledError:
            await self.stop()
            raise
        self.report = self._ended.result()

    async def stop(self) -> None:
        """Stops cleanly: open requests finish. The same crawl resumes later."""
        if self._stop is not None and self._ended is not None:
            await asyncio.wrap_future(self._loop.submit(_ask(self._stop)))
            self.report = await asyncio.shield(self._ended)


def read_order(forager: Forager, urls: Sequence[str], settings: Mapping[str, Any], *, max_pages: int | None) -> RunSpec:
    """Checks what a script asks for, before anything starts."""
    if isinstance(urls, str) or not urls:
        raise UsageError("Give a list of URLs: crawl(['https://shop.example/']).")
    chosen = read_layer(settings)
    scope = chosen.pop("scope", None)
    spec = build_spec(
        name_seeds(urls),
        chosen,
        scope=Scope(scope) if scope is not None else None,
        default_depth=forager.settings.crawl.max_depth,
        max_pages=max_pages,
        allow_networks=forager.settings.fetch.allow_networks,
        bare=find_bare(urls),
    )
    require_contact(spec.seeds, forager.settings.contact)
    return spec


async def _new_stop() -> StopRequest:
    return StopRequest()


async def _ask(stop: StopRequest) -> None:
    stop.ask()
