"""`forager mcp`: serves what was crawled to models, over standard input and output or over HTTP on loopback."""

import sys
from typing import Annotated

import typer

from forager.cli import output
from forager.cli.flags import Home
from forager.cli.help import Command
from forager.cli.start import begin
from forager.errors import ConfigurationError

PACKAGE = "mcp>=2.3,<3"


def register(app: typer.Typer) -> None:
    app.command("mcp", cls=Command, rich_help_panel="Look")(mcp)


def mcp(
    *,
    allow_fetch: Annotated[
        bool, typer.Option("--allow-fetch", help="Add a tool that fetches one page, politely; without it only reads.")
    ] = False,
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP on 127.0.0.1 instead of standard input and output.")
    ] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, metavar="N", help="With --http: its port.")] = 8808,
    home: Home = None,
) -> None:
    """Serve search, page texts, products and more to models, by the Model Context Protocol."""
    settings = begin(home=home)
    try:
        import mcp as _mcp  # noqa: F401 (only whether it is there)
    except ImportError:
        from forager.config.extras import install_hint

        raise ConfigurationError(f"The library for MCP is missing: {install_hint('mcp', PACKAGE)}.") from None
    import asyncio

    from forager.mcp.commands.server import serve

    if http:
        output.say(f"MCP at http://127.0.0.1:{port}/mcp; Ctrl-C stops it.")
    elif sys.stdin.isatty():
        output.say("Waiting for an MCP client on standard input; a client starts this command itself. Ctrl-C stops it.")
    asyncio.run(serve(settings, allows_fetch=allow_fetch, port=port if http else None))
