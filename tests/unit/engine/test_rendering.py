"""When a page is drawn, what is made of it, and that a browser which fails costs nothing but the drawing."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from tests.builders import HOME, a_fetched, a_lane, a_lease, a_reading, a_target
from tests.unit.engine.road import Road, targets_of
from tests.unit.engine.scripted import ScriptedClient, a_pipeline, visit

from forager import clock
from forager.engine.dispatcher import PageRequest
from forager.engine.domain_queue import DomainQueue
from forager.engine.pipeline import Pipeline, VisitOptions
from forager.engine.rendering import Renderer, RenderOptions
from forager.errors import DecodeError, LeaseLostError, RenderError, RobotsDeniedError
from forager.fetch.browser.browser import Browser, RenderedPage
from forager.fetch.client import Client
from forager.fetch.models import Fetched, Rendering, RenderSteps
from forager.frontier.models import OutcomeKind, Past, Target
from forager.parsing.models import Reading
from forager.robots import rules as robots

SHELL = a_fetched(200, b'<div id="root"></div><script src=a.js></script>', content_type="text/html", etag='"1"')
LONG = "many words " * 50


class Painter:
    """In the place of a browser."""

    def __init__(self, result: RenderedPage | Exception) -> None:
        self.result = result
        self.pages: list[str] = []
        self.get: Callable[[str], Awaitable[Fetched]] | None = None

    async def draw(
        self, page: Fetched, get: Callable[[str], Awaitable[Fetched]], *, site: str, steps: RenderSteps
    ) -> RenderedPage:
        self.pages.append(page.url)
        self.get = get
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def read(fetched: Fetched) -> Reading:
    return a_reading("/drawn", text=LONG) if b"drawn" in fetched.body else a_reading(text="")


def tools_with(painter: Painter | None, client: Any = None, **more: Any) -> Pipeline:
    client = client or ScriptedClient({HOME: [SHELL]})
    renderer = Renderer(cast("Client", client), cast("Browser | None", painter), "there is none")
    return replace(a_pipeline(client, read=more.get("read", read)), renderer=renderer)


def options_of(road: Road, queue: DomainQueue, target: Target) -> VisitOptions:
    return road.traffic._options_of(queue, target, PageRequest(road.traffic, queue, target, None, None))


DRAWN = RenderedPage("<!doctype html><p>drawn</p>", requests=3, wire_bytes=500)


@pytest.mark.parametrize("mode", [Rendering.AUTO, Rendering.ALWAYS])
async def test_what_was_drawn_is_read_in_place_of_the_shell(mode: Rendering) -> None:
    painter = Painter(DRAWN)
    outcome = await visit(a_target(HOME), tools_with(painter), rendering=RenderOptions(mode))
    assert outcome.reading is not None
    assert outcome.reading.flags == ("rendered",)
    assert [link.url for link in outcome.selection.links] == ["http://a.example/drawn"]
    assert outcome.wire_bytes == SHELL.wire_bytes + 500
    assert (outcome.etag, outcome.kind) == ('"1"', OutcomeKind.SUCCESS)
    assert painter.pages == [HOME]


async def test_a_page_with_content_is_not_drawn() -> None:
    painter = Painter(DRAWN)
    tools = tools_with(painter, read=lambda _fetched: a_reading("/x", text=LONG))
    outcome = await visit(a_target(HOME), tools, rendering=RenderOptions(Rendering.AUTO))
    assert outcome.reading is not None
    assert (outcome.reading.flags, painter.pages) == ((), [])


async def test_nothing_is_drawn_unasked() -> None:
    painter = Painter(DRAWN)
    outcome = await visit(a_target(HOME), tools_with(painter))
    assert outcome.reading is not None
    assert (outcome.reading.flags, painter.pages) == ((), [])


@pytest.mark.parametrize("error", [RenderError("two browsers died"), RuntimeError("a bug"), TimeoutError()])
async def test_a_browser_that_fails_leaves_the_plain_page(error: Exception) -> None:
    outcome = await visit(a_target(HOME), tools_with(Painter(error)), rendering=RenderOptions(Rendering.ALWAYS))
    assert (outcome.kind, outcome.error, outcome.trouble) == (OutcomeKind.SUCCESS, None, None)
    assert outcome.reading is not None
    assert outcome.reading.flags == ("render_failed",)
    assert outcome.wire_bytes == SHELL.wire_bytes


async def test_a_drawn_page_that_cannot_be_read_leaves_the_plain_one() -> None:
    def read_or_fail(fetched: Fetched) -> Reading:
        if b"drawn" in fetched.body:
            raise DecodeError("not this")
        return read(fetched)

    outcome = await visit(
        a_target(HOME), tools_with(Painter(DRAWN), read=read_or_fail), rendering=RenderOptions(Rendering.ALWAYS)
    )
    assert outcome.reading is not None
    assert (outcome.kind, outcome.reading.flags) == (OutcomeKind.SUCCESS, ("render_failed",))


@pytest.mark.parametrize(("mode", "flags"), [(Rendering.AUTO, ()), (Rendering.ALWAYS, ("render_failed",))])
async def test_without_a_browser_the_worker_says_so_once(
    mode: Rendering, flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Any] = []
    monkeypatch.setattr("forager.logs.Logger.warning", lambda _self, _event, **details: said.append(details))
    tools = tools_with(None)
    for _ in range(2):
        outcome = await visit(a_target(HOME), tools, rendering=RenderOptions(mode))
        assert outcome.reading is not None
        assert (outcome.kind, outcome.reading.flags) == (OutcomeKind.SUCCESS, flags)
    assert [details["reason"] for details in said] == ["there is none"]


async def test_a_shell_that_has_not_changed_is_drawn_all_the_same() -> None:
    client = ScriptedClient({HOME: [SHELL]})
    past = Past('"1"', None, bytes(16), 1, 0, 60.0)
    await visit(a_target(HOME, past=past), tools_with(Painter(DRAWN), client), rendering=RenderOptions(Rendering.AUTO))
    assert client.validators == [(None, None)]


async def test_requests_of_scripts_keep_rules_lease_and_cookies_to_their_own_site() -> None:
    asked: list[tuple[str, bool]] = []
    sent: list[str] = []

    class Counter:
        async def get(self, url: str, **more: Any) -> Fetched:
            asked.append((url, more["sends_cookies"]))
            more["on_sent"]()
            return a_fetched(200, b"x", url)

    painter = Painter(DRAWN)
    rules = robots.parse("User-agent: *\nDisallow: /closed").rules_for("Forager")
    drawing = RenderOptions(Rendering.ALWAYS, rules, on_sent=lambda: sent.append("own"))
    await Renderer(cast("Client", Counter()), cast("Browser", painter)).draw(SHELL, drawing)
    assert painter.get is not None
    await painter.get("http://a.example/open")
    with pytest.raises(RobotsDeniedError):
        await painter.get("http://a.example/closed")
    await painter.get("http://cdn.example/closed")
    assert asked == [("http://a.example/open", True), ("http://cdn.example/closed", False)]
    assert sent == ["own"]


async def test_the_next_page_keeps_its_distance_to_what_scripts_asked_for() -> None:
    road, queue = Road(ScriptedClient()), a_lane(1, delay_s=60.0, rendering="auto")
    (target,) = targets_of(1, 1)
    drawing = options_of(road, queue, target).rendering
    assert drawing is not None
    assert queue.pace.wait_s(clock.monotonic()) == 0.0
    drawing.on_sent()
    assert queue.pace.wait_s(clock.monotonic()) > 30.0
    road.traffic.remove(queue)
    with pytest.raises(LeaseLostError):
        drawing.on_sent()


async def test_what_a_domain_says_comes_before_the_setting() -> None:
    road, queue = Road(ScriptedClient()), a_lane(1)
    (target,) = targets_of(1, 1)
    lane_of = [a_lease(1, rendering=mode) for mode in ("always", "auto", "never")]
    found = []
    for lease in lane_of:
        queue.lease = lease
        drawing = options_of(road, queue, target).rendering
        found.append(drawing and drawing.mode)
    assert found == ["always", "auto", None]
    queue.lease = lane_of[0]
    assert options_of(road, queue, replace(target, is_image=True)).rendering is None
