"""`forager robots`: reports whether robots.txt allows a URL, and by which line. No database; prints JSON."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import output
from forager.cli.help import Command
from forager.cli.start import begin
from forager.errors import AddressBlockedError
from forager.seeds.commands.arguments import require_contact

if TYPE_CHECKING:
    from forager.config.settings import Settings
from forager.cli.inputs import Json, bytes_of, normal_url


def register(app: typer.Typer) -> None:
    app.command("robots", cls=Command, rich_help_panel="Try one thing (no database)")(robots)


def robots(
    url: str,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="A local robots.txt instead of the site's.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="Product name to match; default from settings.")
    ] = None,
    _as_json: Json = False,
) -> None:
    """Say whether robots.txt allows a URL, and by which line."""
    target = normal_url(url)
    settings = begin()
    name = agent or settings.politeness.robots_agent
    if file is not None:
        answer = {"source": str(file), **check_url(bytes_of(file), name, url)}
    else:
        import asyncio

        require_contact([target], settings.contact)
        answer = asyncio.run(_check_site_robots(settings, name, url))
    output.write_json(answer)


def check_url(text: bytes | str, agent: str, url: str) -> dict[str, Any]:
    """The URL as it was written: robots.txt rules are about the characters that are sent."""
    from forager.robots.rules import parse

    found = parse(text)
    rules = found.rules_for(agent)
    verdict = rules.verdict(url)
    return {
        "url": url,
        "agent": agent,
        "allowed": verdict.allowed,
        "rule": verdict.rule,
        "line": verdict.line,
        "group": verdict.group,
        "crawl_delay_s": rules.crawl_delay_s,
        "sitemaps": list(found.sitemaps),
    }


async def _check_site_robots(settings: "Settings", agent: str, url: str) -> dict[str, Any]:
    """The site's own robots.txt, asked for as a crawl does: guarded, through redirects and its domain's proxies,
    forbidding when unreachable."""
    from forager.fetch.client import open_client
    from forager.politeness.guard import guard_from_settings as guard_of
    from forager.politeness.proxy_rule import proxy_rule
    from forager.proxies.client import open_proxied_client
    from forager.robots.fetch import at_once, fetch_robots
    from forager.urls.domain import origin_of

    origin = origin_of(url)
    guard = guard_of(settings)
    async with (
        open_client(
            user_agent=settings.agent_header,
            check_address=guard.check_ip,
            check_proxy=proxy_rule(settings.fetch.allow_networks),
            timeout_s=settings.fetch.timeout,
            connect_timeout_s=settings.fetch.connect_timeout,
            max_bytes=settings.fetch.max_page_size,
        ) as client,
        open_proxied_client(settings, client, "robots") as ways,
    ):
        try:
            copy = await fetch_robots(ways, 0, origin, ttl_s=settings.politeness.robots_ttl, turn=at_once, waits_s=())
            text, status_code, error = copy.text, copy.status_code, copy.error
        except AddressBlockedError as refusal:
            text, status_code, error = None, None, str(refusal)
    found = {"source": f"{origin}/robots.txt", "status_code": status_code, **check_url(text or "", agent, url)}
    return found | ({"allowed": False, "error": error} if error else {})
