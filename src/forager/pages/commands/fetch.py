"""`forager fetch URL`: one page through the whole line, shown as a person wants to see it. No database, no crawl."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import output
from forager.cli.flags import AllowNetwork, Contact
from forager.cli.help import Command
from forager.cli.start import begin
from forager.errors import AddressBlockedError, BadUrlError, ConfigurationError, UsageError
from forager.fetch.models import Rendering
from forager.pages.commands import fetch_view
from forager.seeds.commands.arguments import require_contact

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.pages.fetch_one import Seen

FAILED = 1


def register(app: typer.Typer) -> None:
    app.command("fetch", cls=Command, rich_help_panel="Try one thing (no database)")(fetch)


def fetch(
    url: Annotated[str, typer.Argument(metavar="URL", help="A bare domain means https.")],
    *,
    body: Annotated[
        Path | None, typer.Option("--body", metavar="FILE", help="Write the decoded body to this file.")
    ] = None,
    headers: Annotated[bool, typer.Option("--headers", help="Show request and response headers.")] = False,
    parser: Annotated[str, typer.Option("--parser", metavar="NAME", help="Read products with this parser.")] = "auto",
    rendering: Annotated[
        Rendering,
        typer.Option(
            "--rendering", metavar="WHEN", help="A browser runs its scripts: never, auto (if it is empty), always."
        ),
    ] = Rendering.NEVER,
    links: Annotated[int, typer.Option("--links", min=0, metavar="N", help="Links to show of each kind.")] = 5,
    contact: Contact = None,
    allow_network: AllowNetwork = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as one JSON document.")] = False,
) -> None:
    """Fetch one page and show what Forager reads from it."""
    target = _normal(url)
    if body is not None:
        output.check_writable(str(body))
    settings = begin(contact=contact, fetch_allow_networks=allow_network or None)
    import asyncio

    from forager.pages.fetch_one import fetch_one
    from forager.replay.runner import validate_parser

    validate_parser(parser)
    require_contact([target], settings.contact)
    if rendering is not Rendering.NEVER:
        _require_browser(settings)
    seen = asyncio.run(fetch_one(settings, target, parser=parser, rendering=rendering.value))
    if body is not None and seen.fetched is not None:
        with output.open_output(str(body)) as stream:
            stream.write(seen.fetched.body)
    if as_json:
        output.write_json(document(seen))
    else:
        fetch_view.write(seen, with_headers=headers, most_links=links)
    if seen.error is not None:
        output.complain(build_message(seen))
        raise typer.Exit(FAILED)


def _require_browser(settings: "Settings") -> None:
    from forager.fetch.browser.program import find_missing_dependency

    if reason := find_missing_dependency(settings.browser.executable):
        raise ConfigurationError(f"The page cannot be rendered: {reason}.")


def build_message(seen: "Seen") -> str:
    error = str(seen.error).rstrip(".")
    if isinstance(seen.error, AddressBlockedError):
        return f"{error}, such as with FORAGER_FETCH_ALLOW_NETWORKS=127.0.0.0/8."
    return f"{error}."


def document(seen: "Seen") -> dict[str, Any]:
    """All of it, for a program."""
    from dataclasses import asdict

    fetched = seen.fetched
    return {
        "url": fetched.url if fetched else (seen.hops[-1].url if seen.hops else None),
        "error": build_message(seen) if seen.error else None,
        "error_code": getattr(seen.error, "code", None),
        "hops": [asdict(hop) for hop in seen.hops],
        "status_code": fetched.status_code if fetched else None,
        "headers": fetch_view.header_lines(fetched) if fetched else [],
        "wire_bytes": fetched.wire_bytes if fetched else None,
        "body_bytes": len(fetched.body) if fetched else None,
        "is_truncated": fetched.is_truncated if fetched else None,
        "read_ms": seen.read_ms,
        "draw_ms": seen.draw_ms,
        "language_by_text": seen.detected,
        "reading": fetch_view.reading_document(seen.reading) if seen.reading else None,
        "links": [{"url": link.url, "anchor": link.anchor, "rel": link.rel} for link in seen.selection.links]
        if seen.selection
        else [],
        "dropped": dict(seen.selection.dropped) if seen.selection else {},
    }


def _normal(url: str) -> str:
    from forager.seeds.commands.arguments import name_seeds

    try:
        return name_seeds([url])[0]
    except BadUrlError as error:
        raise UsageError(str(error)) from None
