"""`forager demo`: crawls a small web on loopback, and compares the result with its answer key. Works offline.

It has its own data folder and never touches your database; only its own addresses are allowed.
"""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import demo_report, output
from forager.cli import format as words
from forager.cli.flags import Home
from forager.cli.help import Command
from forager.cli.playground import require_playground
from forager.cli.start import begin, run_query
from forager.errors import UsageError, UserError
from forager.runs.commands.crawl import run
from forager.runs.commands.ending import INTERRUPTED
from forager.runs.models import RunEnd, RunSpec

if TYPE_CHECKING:
    from forager.cli.demo_report import DemoReport, SiteReport
    from forager.config.settings import Settings
    from forager.db.types import Connection
    from forager.runs.models import RunReport
    from forager_playground import Running

DELAY_S = 0.05
"""Delay between two requests to one site. Sites that ask for more in robots.txt get it."""
LONGEST_WAIT_S = 5.0
"""A page that stays broken is retried after minutes; the demo does not wait for that."""
PAGES_PER_SITE = 400
REMARK_INDENT = 26


def register(app: typer.Typer) -> None:
    app.command("demo", cls=Command, rich_help_panel="Crawl")(demo)


def demo(
    scale: Annotated[float, typer.Option(min=0.01, max=100, metavar="X", help="A smaller or larger web.")] = 1.0,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Seed of the random generator: another one gives another web.")
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON on standard output.")] = False,
    home: Home = None,
) -> None:
    """Crawl a small web on loopback and show what Forager did there."""
    import asyncio

    require_playground()
    from forager_playground import start_playground

    settings = prepare(begin(), home)
    log = settings.home / "playground.jsonl"
    with start_playground(scale=scale, seed=seed, log_path=log) as web:
        output.say(f"A web of {words.things(len(web.urls), 'site')} runs on loopback; all stays on this machine.")
        order = settings.replace(fetch_allow_networks=web.networks)
        spec = RunSpec(seeds=web.urls, max_pages_per_domain=PAGES_PER_SITE)
        try:
            report = asyncio.run(run(order, spec, labels=names_of(web)))
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        if report.end is RunEnd.STOPPED:
            raise typer.Exit(INTERRUPTED)
        if web.process.poll() is not None:
            raise UserError("The demo's web was stopped during the crawl, so there is nothing to compare; try again.")
        proof = run_query(order, "demo", lambda connection: verify_demo(connection, web, spec, log))
    tell(proof, report, order.home, as_json=as_json)
    raise typer.Exit(0 if proof.is_success else 1)


def names_of(web: "Running") -> dict[str, str]:
    """Adds site names for people: the sites have addresses only."""
    return {base.removeprefix("http://"): site.name for base, site in web.sites.items()}


def prepare(settings: "Settings", home: Path | None) -> "Settings":
    """Returns its own folder: the named one, or an emptied one beside the real data. Never an external database."""
    folder = home.expanduser().absolute() if home else settings.home / "demo"
    if home is None and folder.exists():
        _empty(folder)
    folder.mkdir(parents=True, exist_ok=True)
    own = {
        "home": folder,
        "database_url": None,
        "redis_url": None,
        "politeness_no_delay_hosts": (),
        "politeness_delay": DELAY_S,
        "crawl_max_wait": LONGEST_WAIT_S,
    }
    return settings.replace(**own)


def _empty(folder: Path) -> None:
    import shutil

    from forager.db import embedded

    if embedded.status(folder).is_used:
        raise UsageError(f"Another demo is running in {folder}; wait for it, or choose another folder with --home.")
    embedded.delete_keep_file(folder)
    embedded.stop(folder)
    shutil.rmtree(folder)


async def verify_demo(connection: "Connection", web: "Running", spec: RunSpec, log: Path) -> "DemoReport":
    """Compares the database with the playground's log and its answer key."""
    from forager.explain.check import check
    from forager.export.rows import stream_crawl
    from forager.products.queries import list_seen_products
    from forager_playground import read_log

    pages = [row async for row in stream_crawl(connection, spec)]
    broken = sum(verdict.broken for verdict in await check(connection))
    finds = demo_report.Finds(await list_seen_products(connection), await stored_images(connection))
    return demo_report.compare(web.answer_key, pages, read_log(log), broken_promises=broken, finds=finds)


async def stored_images(connection: "Connection") -> int:
    from forager.images.queries import list_images

    return len(await list_images(connection, limit=None))


def tell(proof: "DemoReport", report: "RunReport", home: Path, *, as_json: bool) -> None:
    if as_json:
        output.write_json({**demo_report.as_document(proof), "home": str(home), "elapsed_s": report.progress.elapsed_s})
        return
    screen = output.console()
    _print_heading(screen, proof, report)
    for site in proof.sites:
        _print_site(screen, site)
    if proof.finds is not None:
        screen.print()
        screen.print(demo_report.found_in_words(proof.finds))
    _print_next(screen, proof, home)


def _print_heading(screen: Any, proof: "DemoReport", report: "RunReport") -> None:
    from rich.text import Text

    share = proof.found / proof.expected if proof.expected else 0.0
    progress = report.progress
    sentence = (
        f"{words.count(proof.found)} of {words.things(proof.expected, 'page')} found ({share:.0%}) "
        f"in {words.duration(progress.elapsed_s)}, {words.things(proof.requests, 'request')}."
    )
    polite = "No forbidden page was asked for: the sites' own log says so."
    rude = f"{words.things(proof.forbidden_requests, 'request')} for forbidden pages: this should not be."
    screen.print()
    screen.print(Text(sentence, style="bold green" if proof.is_success else "bold red"))
    screen.print(Text(rude if proof.forbidden_requests else polite))
    kept = "`forager check` finds every promise kept: nothing lost, nothing twice, every counter right."
    screen.print(Text(f"{proof.broken_promises} broken rows in the database." if proof.broken_promises else kept))
    screen.print()


def _print_site(screen: Any, site: "SiteReport") -> None:
    from rich.padding import Padding
    from rich.text import Text

    is_whole = site.found == site.expected
    line = Text(" ✓ " if is_whole else " ✗ ", style="bold green" if is_whole else "bold red")
    line.append(f"{site.name:<8}", style="bold not dim default")
    line.append(f"{words.count(site.found):>5} of {words.count(site.expected):<5} ", style="not bold default")
    screen.print(line.append(demo_report.STORIES.get(site.name, ""), style="not bold default"))
    text = Text(demo_report.describe_site(site), style="dim")
    screen.print(Padding(text, (0, 0, 0, REMARK_INDENT)) if screen.is_terminal else Text(" " * REMARK_INDENT) + text)


def _print_next(screen: Any, proof: "DemoReport", home: Path) -> None:
    from rich.text import Text

    shop = proof.sites[0].host if proof.sites else "127.0.0.11"
    screen.print()
    screen.print(
        Text("See it all in the dashboard; this prints its address, and a link that makes your account:", style="bold")
    )
    screen.print(Text(f"  forager up --home {shlex.quote(str(home))} --workers 0", style="cyan"))
    screen.print(Text("Or look around on the command line:", style="bold"))
    for command in (
        f"export FORAGER_HOME={shlex.quote(str(home))}",
        "forager domains",
        f"forager pages --domain {shop} --limit 10",
        "forager products --limit 10",
        "forager search harbour",
        "forager tasks --closed --limit 10",
        "forager export pages --format csv -o pages.csv",
    ):
        screen.print(Text(f"  {command}", style="cyan"))
    screen.print(Text("Then crawl something real:", style="bold"))
    screen.print(Text("  forager crawl https://example.com --contact you@example.com -o pages.jsonl", style="cyan"))
