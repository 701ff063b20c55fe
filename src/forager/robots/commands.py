"""`forager robots`: reports whether robots.txt allows a URL, and by which line. No database. Exit code 6 if it does
not."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AllowNetwork, AsJson, Contact
from forager.cli.help import Command
from forager.cli.inputs import bytes_of, normal_url
from forager.cli.start import begin
from forager.errors import AddressBlockedError
from forager.seeds.commands.arguments import require_contact

if TYPE_CHECKING:
    from forager.config.settings import Settings

DISALLOWED = 6


def register(app: typer.Typer) -> None:
    app.command("robots", cls=Command, rich_help_panel="Try one thing (no database)")(robots)


def robots(
    url: str,
    *,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="A local robots.txt instead of the site's.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="NAME", help="Product name to match; default from settings.")
    ] = None,
    contact: Contact = None,
    allow_network: AllowNetwork = None,
    as_json: AsJson = False,
) -> None:
    """Show whether robots.txt allows a URL, and by which line. The exit code is 6 if it does not."""
    target = normal_url(url)
    settings = begin(contact=contact, fetch_allow_networks=allow_network or None)
    name = agent or settings.politeness.robots_agent
    if file is not None:
        answer = {"source": str(file), **check_url(bytes_of(file), name, url)}
    else:
        import asyncio

        require_contact([target], settings.contact)
        answer = asyncio.run(_check_site_robots(settings, name, url))
    if as_json:
        output.write_json(answer)
    else:
        _write_answer(answer)
    if not answer["allowed"]:
        raise typer.Exit(DISALLOWED)


def _write_answer(answer: dict[str, Any]) -> None:
    screen, width = output.console(), table.width()
    is_allowed = answer["allowed"]
    screen.print("allowed" if is_allowed else "not allowed", style="bold green" if is_allowed else "bold red")
    for title, text in _lines(answer):
        screen.print(table.wrap_text(f"  {title:9}  {text}", width, 13))


def _lines(answer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Returns what is known of the decision, each with its title."""
    yield "url", words.clean(answer["url"])
    yield "because", _explain(answer)
    code = answer.get("status_code")
    yield "read from", words.clean(answer["source"]) + ("" if code is None else f" ({code})")
    yield "agent", words.clean(answer["agent"])
    if answer["crawl_delay_s"] is not None:
        yield "delay", f"{answer['crawl_delay_s']:g} s between requests (Crawl-delay)"
    for index, sitemap in enumerate(answer["sitemaps"]):
        yield "" if index else "sitemaps", words.clean(sitemap)


def _explain(answer: dict[str, Any]) -> str:
    if answer.get("error"):
        return f"robots.txt could not be read: {words.clean(answer['error'])}"
    if answer["rule"]:
        return f"{words.clean(answer['rule'])} (line {answer['line']}, group {words.clean(answer['group'])})"
    return "no rule applies"


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
