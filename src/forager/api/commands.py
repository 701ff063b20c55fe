"""`forager api`: only the API; `forager up` starts it with everything else."""

import signal
from typing import TYPE_CHECKING, Annotated

import typer

from forager.cli import output
from forager.cli.flags import Home
from forager.cli.help import Command
from forager.cli.start import begin, run_fast

if TYPE_CHECKING:
    from socket import socket

    from forager.config.settings import Settings
    from forager.engine.stop import StopRequest
    from forager.instance import Forager

Host = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Where it listens.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, metavar="N", help="Its port; 0: any that is free.")]
Processes = Annotated[int | None, typer.Option(min=1, max=64, metavar="N", help="Processes that serve it.")]
Listening = Annotated[
    int | None,
    typer.Option("--listening", metavar="FILE", hidden=True, help="File descriptor of a socket that is already bound."),
]
Attached = Annotated[bool, typer.Option("--attached", help="Stop when standard input ends.")]


def register(app: typer.Typer) -> None:
    app.command("api", cls=Command, rich_help_panel="Look after it")(api)


def api(
    *,
    host: Host = None,
    port: Port = None,
    processes: Processes = None,
    attached: Attached = False,
    listening: Listening = None,
    home: Home = None,
) -> None:
    """Serve the HTTP API, and nothing else, until Ctrl-C."""
    settings = begin(home=home, api_host=host, api_port=port, api_processes=processes)
    run_fast(_serve(settings, listening, is_attached=attached))


async def _serve(settings: "Settings", inherited: int | None, *, is_attached: bool) -> None:
    from forager.engine.stop import StopRequest
    from forager.runtime.server import bind_many, inherit_socket

    stop = StopRequest()
    _listen(stop, is_attached=is_attached)
    if inherited is not None:
        with inherit_socket(inherited) as listening:
            return await _serve_on(listening, settings, stop, is_greeting=False)
    with bind_many(settings.api.host, settings.api.port, settings.api.processes) as sockets:
        settings = settings.replace(api_port=sockets[0].getsockname()[1])
        if len(sockets) == 1:
            return await _serve_on(sockets[0], settings, stop, is_greeting=not is_attached)
        return await _keep_many(sockets, settings, stop, is_greeting=not is_attached)


async def _serve_on(listening: "socket", settings: "Settings", stop: "StopRequest", *, is_greeting: bool) -> None:
    from forager.api.app import create_app
    from forager.instance import open_forager
    from forager.runtime.server import limits_of, serve

    async with open_forager(
        settings,
        application="forager api",
        connections=settings.api.database_connections,
        idle_limit_s=settings.worker.dead_after,
        statement_limit_s=settings.api.statement_timeout,
    ) as forager:
        if is_greeting:
            await _print_startup(forager)
        application = create_app(settings, forager=forager)
        await serve(application, listening, stop, limits=limits_of(settings), on_stop=application.state.live.close)


async def _keep_many(sockets: "list[socket]", settings: "Settings", stop: "StopRequest", *, is_greeting: bool) -> None:
    """Processes that are started again when they die; we serve nothing ourselves."""
    import asyncio

    from forager.instance import open_forager
    from forager.runtime.server import children

    async with open_forager(settings, application="forager api", connections=1) as forager:
        if is_greeting:
            await _print_startup(forager)
        await asyncio.gather(*(child.keep(stop) for child in children(settings, sockets)))


async def _print_startup(forager: "Forager") -> None:
    from forager.accounts.service import first_admin_link

    output.say(f"Serving {forager.database.description} on {forager.settings.api_url}; Ctrl-C stops it.")
    async with forager.pool.acquire() as conn, conn.transaction():
        link = await first_admin_link(conn, forager.settings.api_url)
    if link:
        output.say(f"There is no account yet. This link creates the first administrator, once, for 24 hours:\n{link}")


def _listen(stop: "StopRequest", *, is_attached: bool) -> None:
    import asyncio
    import sys

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.ask)
    if is_attached:
        loop.add_reader(sys.stdin.fileno(), _end_of_input, stop)


def _end_of_input(stop: "StopRequest") -> None:
    """Whoever started us is gone."""
    import asyncio
    import os
    import sys

    if not os.read(sys.stdin.fileno(), 4096):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        stop.ask()
