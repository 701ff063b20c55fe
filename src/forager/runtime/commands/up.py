"""`forager up`: everything an operator needs in one tree of processes, until Ctrl-C."""

import contextlib
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from forager.cli import output
from forager.cli.flags import Home
from forager.cli.help import Command
from forager.cli.start import begin, require_bucket
from forager.config.commands import mask_password

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.engine.stop import StopRequest
    from forager.instance import Forager

STOPPING = "Stopping: open requests finish… (again: stop now)"
STOPPING_NOW = "Stopping now: open requests are dropped and made again next time."
ASK_EVERY_S = 0.1
"""So often we look whether the API answers yet."""
ANSWER_S = 5.0
"""One answer is waited for so long; the process that would have given it may have died."""
LATE_S = 30.0
"""After so long without an answer a person hears of it."""

Workers = Annotated[
    int | None,
    typer.Option(min=0, max=256, metavar="N", help="Worker processes; 0: only other machines crawl."),
]
Host = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Where the API listens.")]
Port = Annotated[int | None, typer.Option(min=0, max=65535, metavar="N", help="Its port.")]
Processes = Annotated[int | None, typer.Option(min=1, max=64, metavar="N", help="Processes that serve the API.")]
Contact = Annotated[str | None, typer.Option(metavar="WHO", help="E-mail or URL that site owners can write to.")]
AllowNetwork = Annotated[
    list[str] | None,
    typer.Option(metavar="NET", help="Allow this network in the address guard, such as 127.0.0.0/8; repeatable."),
]


def register(app: typer.Typer) -> None:
    app.command("up", cls=Command, rich_help_panel="Crawl")(up)


def up(
    *,
    workers: Workers = None,
    host: Host = None,
    port: Port = None,
    processes: Processes = None,
    contact: Contact = None,
    allow_network: AllowNetwork = None,
    home: Home = None,
) -> None:
    """Start everything: API, dashboard, scheduler and workers. They crawl every known domain whenever it is due."""
    settings = begin(
        home=home,
        contact=contact,
        fetch_allow_networks=allow_network or None,
        workers=workers or None,
        api_host=host,
        api_port=port,
        api_processes=processes,
    )
    require_bucket(settings)
    import asyncio

    asyncio.run(run(settings, workers=settings.workers if workers is None else workers))


async def run(settings: "Settings", *, workers: int) -> None:
    import asyncio

    from forager.engine.stop import StopRequest
    from forager.instance import open_forager
    from forager.runs.commands.display import show_waiting
    from forager.runtime.crawl import SCHEDULER_CONNECTIONS
    from forager.runtime.server import bind_many, wait_until_free
    from forager.runtime.up import ProcessSupervisor, supervisor_lock

    stop = StopRequest()
    with supervisor_lock(settings) as follows_a_kill, listen(stop):
        async with contextlib.AsyncExitStack() as stack:
            # here, and not in a child that dies of it
            if follows_a_kill:
                await wait_until_free(settings.api.host, settings.api.port)
            sockets = stack.enter_context(bind_many(settings.api.host, settings.api.port, settings.api.processes))
            settings = settings.replace(api_port=sockets[0].getsockname()[1])
            with show_waiting("opening the database…", is_quiet=False):
                forager = await stack.enter_async_context(
                    open_forager(settings, application="forager up", connections=SCHEDULER_CONNECTIONS)
                )
            greeting = asyncio.create_task(_announce_when_ready(forager, workers=workers))
            try:
                await ProcessSupervisor(forager, stop, workers=workers, sockets=sockets).work()
            finally:
                greeting.cancel()
                await asyncio.gather(greeting, return_exceptions=True)
    output.say("Stopped. `forager up` resumes.")


async def _announce_when_ready(forager: "Forager", *, workers: int) -> None:
    """Not before: whoever opens the address it prints must find somebody there. The port listens already, so only an
    answer tells."""
    import asyncio

    from forager import clock
    from forager.runtime.server import is_serving

    settings, began, has_told = forager.settings, clock.monotonic(), False
    while not await is_serving(settings.api.host, settings.api.port, within_s=ANSWER_S):
        if not has_told and clock.monotonic() - began > LATE_S:
            output.say(
                f"The API does not respond on {settings.api_url} yet: the lines above say why; Forager tries again."
            )
            has_told = True
        await asyncio.sleep(ASK_EVERY_S)
    await print_startup(forager, workers=workers)


async def print_startup(forager: "Forager", *, workers: int) -> None:
    """Where everything is, and how the first person gets in."""
    settings = forager.settings
    output.say(f"Forager is up: {settings.api_url}")
    output.say(f"  database  {forager.database.description}")
    if settings.dispatch.mode == "celery":
        output.say(f"  queue     {mask_password(settings.dispatch.broker_url)}")
    if not workers:
        output.say("  workers   none: nothing is crawled")
    elif settings.contact is None:
        output.say(
            f"  workers   {workers}; without a contact they visit loopback addresses only (--contact you@example.com)"
        )
    else:
        output.say(f"  workers   {workers}")
    if link := await _first_link(forager):
        output.say(f"  first     this link creates the first administrator; it works once, for 24 hours:\n{link}")
    output.say("  Ctrl-C stops it.")


async def _first_link(forager: "Forager") -> str | None:
    """For an instance without any account."""
    from functools import partial

    from forager.accounts.service import first_admin_link
    from forager.engine.transaction_retry import in_transaction

    return await in_transaction(forager.database, partial(first_admin_link, address=forager.settings.api_url))


@contextlib.contextmanager
def listen(stop: "StopRequest") -> Iterator[None]:
    """The first Ctrl-C or SIGTERM asks to stop, the second insists."""

    def stop_once_then_now() -> None:
        output.say(STOPPING_NOW if stop.asked else STOPPING)
        if stop.asked:
            stop.stop_now()
        else:
            stop.ask()

    import asyncio

    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop_once_then_now)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)
