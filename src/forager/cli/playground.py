"""`forager playground`: serves the small web on loopback, for trying things out, until Ctrl-C."""

from pathlib import Path
from typing import Annotated

import typer

from forager.cli import output
from forager.cli.help import Command
from forager.errors import ConfigurationError

MAKE, SERVE, TELL = "The web", "Where", "Reports"
HOST_BASE = "127.0.0.11"
MISSING = (
    "The playground is not installed: run `pip install . ./playground` in a clone, or `make setup`, which installs both"
)


def register(app: typer.Typer) -> None:
    app.command("playground", cls=Command, rich_help_panel="Crawl")(playground)


def require_playground() -> None:
    """Raises if the package of the demo's sites, the extra `demo`, is not installed."""
    from importlib.util import find_spec

    if find_spec("forager_playground") is None:
        raise ConfigurationError(f"{MISSING}.")


def playground(
    *,
    sites: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Comma list; shop=5000 and uniform=200x50 set sizes.", rich_help_panel=MAKE),
    ] = None,
    scale: Annotated[
        float, typer.Option(metavar="X", help="Multiplies the default sizes.", rich_help_panel=MAKE)
    ] = 1.0,
    seed: Annotated[
        int,
        typer.Option(
            metavar="N", help="Seed of the random generator: another one gives another web.", rich_help_panel=MAKE
        ),
    ] = 1,
    day: Annotated[
        int, typer.Option(min=0, metavar="N", help="The shop's prices are those of day N.", rich_help_panel=MAKE)
    ] = 0,
    warm: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Generate N pages of each site before serving.", rich_help_panel=MAKE),
    ] = 0,
    host_base: Annotated[
        str, typer.Option(metavar="IP", help="First of the loopback addresses.", rich_help_panel=SERVE)
    ] = HOST_BASE,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, metavar="N", help="The same on every address; 0 finds one.", rich_help_panel=SERVE
        ),
    ] = 0,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Append every request, as JSON lines.", rich_help_panel=TELL)
    ] = None,
    ready_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON with the URLs, once they answer.", rich_help_panel=TELL)
    ] = None,
    answer_key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON with what a correct crawl finds.", rich_help_panel=TELL)
    ] = None,
) -> None:
    """Serve a small deterministic web on loopback until Ctrl-C."""
    require_playground()
    from forager_playground import DEMO_SITES, serve

    output.say("Start URLs follow; crawl them with --allow-network 127.0.0.0/8. Ctrl-C stops it.")
    names = sites.split(",") if sites is not None else list(DEMO_SITES)
    serve(
        [name.strip() for name in names if name.strip()],
        scale=scale,
        seed=seed,
        day=day,
        host_base=host_base,
        port=port,
        log_path=log,
        ready_path=ready_file,
        answer_key_path=answer_key,
        warm_pages=warm,
    )
