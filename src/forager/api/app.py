"""Builds the application: routes, error handlers, middleware, and the database connection."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.routing import BaseRoute

from forager import __version__, dashboard
from forager.api import access, routes
from forager.api import errors as problems
from forager.api.body_limit import BodyLimit
from forager.api.compress import Compress
from forager.api.middleware import RequestMiddleware
from forager.api.openapi import NONE, Parameters, name_route, parameters_of, write
from forager.api.read_pool import ReadPool
from forager.api.read_routes import read_routes
from forager.api.static_files import Site
from forager.api.write_probe import WriteProbe
from forager.config.settings import Settings
from forager.engine.transaction_retry import AWAY
from forager.explain.routes.check_runner import Checking
from forager.export import routes as exports
from forager.logs import log
from forager.plugins.config import use_plugins
from forager.stats.routes.live import EventStream

if TYPE_CHECKING:
    from forager.instance import Forager

DESCRIPTION = "Everything an operator may see and do. Each route asks the same functions as the command line."

NOT_FOR_ROUTES = 4
"""One connection in four is reserved for sessions, rate limits, exports and live statistics."""


def create_app(settings: Settings, *, forager: "Forager | None" = None) -> FastAPI:
    """Returns the application for these settings. It opens the database itself, unless it is passed an open Forager."""
    app = _build_base_app()
    use_plugins(settings)
    app.state.settings = settings
    app.state.forager = forager
    app.state.call_back = _CallBack(app)
    app.state.write_probe = WriteProbe()
    app.state.checking = Checking(app)
    app.state.live = EventStream(app, most=settings.api.max_live_clients)
    app.state.exposition = None
    app.state.queues_asked = None
    app.state.exports = exports.Exports()
    app.state.long_question, app.state.long_deed = asyncio.Lock(), asyncio.Lock()
    app.add_middleware(BodyLimit)
    access.install_errors(app)
    problems.install(app)
    app.router.routes.extend((*_build_read_routes(), *_declared().routes))
    app.state.methods = [(route.path_regex, route.methods) for route in _list_routes()]
    app.state.parameters = _parameters()
    app.openapi = document  # type: ignore[method-assign]
    app.add_middleware(Site, files=dashboard.load())
    app.add_middleware(Compress)
    app.add_middleware(
        RequestMiddleware,
        body_bytes=settings.api.max_body_size,
        seed_bytes=settings.api.max_seeds_size,
        seed_paths=routes.SEED_PATHS,
        public_url=settings.api.public_url,
        trusted_proxies=settings.api.trusted_proxies,
    )
    return app


def _build_base_app() -> FastAPI:
    return FastAPI(
        title="Forager",
        version=__version__,
        description=DESCRIPTION,
        lifespan=_lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # we have /metrics; else checked on each request
        generate_unique_id_function=name_route,
        dependencies=[Depends(reject_unknown_parameters)],
    )


# Shared by all applications of a process -----------------------------------------------------------------------------


@functools.cache
def _declared() -> APIRouter:
    """Returns all routes as declared. FastAPI analyzes them on the first request and caches the result: 0.15 s of CPU
    time."""
    return _build_full_app().router


@functools.cache
def _build_read_routes() -> Sequence[BaseRoute]:
    return read_routes(_list_routes(), _declared())


def _build_full_app() -> FastAPI:
    plain = _build_base_app()
    for router in routes.ALL:
        plain.include_router(router)
    return plain


def _list_routes() -> list[Any]:
    return [route for router in routes.ALL for route in router.routes]


@functools.cache
def _parameters() -> dict[tuple[str, str], Parameters]:
    return parameters_of(_list_routes())


@functools.cache
def document() -> dict[str, Any]:
    """Returns the OpenAPI document, built on the first request: that takes a second. It uses routes of its own, so that
    it can be built in a thread."""
    return write(_build_full_app())


# Lifespan ------------------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    from forager.alerts.service_health import Services
    from forager.dispatch.factory import open_queue
    from forager.instance import open_forager
    from forager.runtime.shared_state import open_sharing
    from forager.search.backend import open_searching

    settings: Settings = app.state.settings
    async with contextlib.AsyncExitStack() as stack:
        if app.state.forager is None:
            app.state.forager = await stack.enter_async_context(
                open_forager(
                    settings,
                    application="forager api",
                    connections=settings.api.database_connections,
                    idle_limit_s=settings.worker.dead_after,
                    statement_limit_s=settings.api.statement_timeout,
                )
            )
        most = settings.api.database_connections - (settings.api.database_connections + 3) // NOT_FOR_ROUTES
        app.state.desk = ReadPool(app.state.forager.pool, most=most)
        app.state.broker = await stack.enter_async_context(open_queue(settings))
        app.state.searching = await stack.enter_async_context(open_searching(settings))
        sharing = await stack.enter_async_context(open_sharing(settings, app.state.forager.pool))
        search = app.state.searching.server if app.state.searching else None
        app.state.services = Services(settings.dispatch.mode == "celery", sharing.server, search)
        await stack.enter_async_context(access.open_gate(app, app.state.forager, sharing.ledgers, sharing.vouching))
        await stack.enter_async_context(app.state.live.open(sharing.latest))
        yield
        await app.state.checking.close()
        if app.state.exposition is not None:
            await app.state.exposition.close()


async def reject_unknown_parameters(request: Request) -> None:
    """Rejects unknown and repeated parameters: a misspelled filter would show everything, and of a repeated one a value
    would be ignored."""
    if not request.scope["query_string"]:
        return
    route = request.scope["route"]
    known = request.app.state.parameters.get((route.path_format, request.scope["method"]), NONE)
    names = [name for name, _ in request.query_params.multi_items()]
    troubles = [
        {
            "loc": ("query", name),
            "msg": "there is no such parameter" if name not in known.names else "it is given twice",
        }
        for name in dict.fromkeys(names)
        if name not in known.names or (names.count(name) > 1 and name not in known.lists)
    ]
    if troubles:
        raise RequestValidationError(troubles)


class _CallBack:
    """Restarts the embedded database server when a request finds it unavailable; one task at a time does so."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._reviving: asyncio.Task[Any] | None = None

    def __call__(self) -> None:
        if self._app.state.forager is not None and (self._reviving is None or self._reviving.done()):
            self._reviving = asyncio.create_task(self._reconnect())

    async def _reconnect(self) -> None:
        try:
            await self._app.state.forager.database.revive()
        except AWAY as error:
            log().info("database stays away", action="api.away", error=str(error))
