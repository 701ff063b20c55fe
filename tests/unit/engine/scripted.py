"""A client that answers from a script, where HTTP itself is not the subject. It notes when it was asked what."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from tests.builders import a_fetched, a_reading

from forager import clock
from forager.engine.database_clock import DatabaseClock
from forager.engine.page_parser import InlineParser
from forager.engine.pipeline import Pipeline, VisitOptions
from forager.engine.request_timing import RequestTiming
from forager.errors import VisitError
from forager.fetch.client import Client
from forager.fetch.models import Fetched
from forager.frontier.models import Outcome, Target
from forager.links.scope import CrawlScope
from forager.links.select import Selector
from forager.parsing.models import Reading
from forager.politeness.throttle import Throttle
from forager.runs.models import RunSpec, Scope
from forager.urls.domain import domain_of

Answer = Fetched | BaseException


async def at_once(_url: str) -> None:
    """A connection that is there already."""


class ScriptedClient:
    """Answers per URL, the last one again and again; 404 for robots.txt and an empty 200 for what has no script."""

    network = None
    """Nothing can be told of a network."""

    def __init__(self, script: dict[str, list[Answer]] | None = None) -> None:
        self.script = script or {}
        self.asked: list[tuple[str, float]] = []
        self.ready: list[float] = []
        """When each was about to leave: between this and its moment in `asked` it left, however busy the machine is."""
        self.validators: list[tuple[str | None, str | None]] = []
        self.places: dict[str, str | None] = {}
        """Domain → address."""
        self.dial: Callable[[str], Awaitable[None]] = at_once
        """What comes before a request leaves."""
        self.gate = asyncio.Event()
        self.gate.set()
        self.arrived = asyncio.Event()
        self.open = 0
        self.most_open = 0
        """Of pages: robots.txt is not counted."""

    @property
    def urls(self) -> list[str]:
        return [url for url, _ in self.asked if not url.endswith("/robots.txt")]

    async def locate(self, url: str) -> str | None:
        """Every site has the same server, unless the script says otherwise."""
        return self.places.get(domain_of(url), "192.0.2.1")

    async def get(
        self,
        url: str,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        on_sent: Callable[[], None] = lambda: None,
        **_how: Any,
    ) -> Fetched:
        await self.dial(url)
        self.ready.append(clock.monotonic())
        on_sent()
        self.asked.append((url, clock.monotonic()))
        self.validators.append((etag, last_modified))
        self.arrived.set()
        is_page = not url.endswith("/robots.txt")
        self.open += is_page
        self.most_open = max(self.most_open, self.open)
        try:
            await self.gate.wait()
            await asyncio.sleep(0)
        finally:
            self.open -= is_page
        return self._answer(url)

    def _answer(self, url: str) -> Fetched:
        answers = self.script.get(url, [a_fetched(404 if url.endswith("/robots.txt") else 200)])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


def a_pipeline(
    client: ScriptedClient, read: Callable[[Fetched], Reading] = lambda _fetched: a_reading(), max_redirects: int = 5
) -> Pipeline:
    selector = Selector(CrawlScope.of(RunSpec(("http://a.example/",), scope=Scope.ANY)), max_links_per_page=100)
    return Pipeline(
        cast("Client", client), InlineParser(lambda fetched, _options: read(fetched)), selector, max_redirects
    )


async def visit(target: Target, pipeline: Pipeline, *, request: RequestTiming | None = None, **options: Any) -> Outcome:
    """One visit without a pace."""
    pace = Throttle(delay_s=0.0, max_in_flight=1, now=0.0)
    return await pipeline.visit(target, request or RequestTiming(pace, DatabaseClock()), VisitOptions(**options))


def trouble(kind: type[VisitError]) -> VisitError:
    return kind("trouble")
