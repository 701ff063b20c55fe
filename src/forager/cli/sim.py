"""`forager sim scale`: a forecast for a crawl that is too large to try. Makes no request and writes nothing."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import output, words
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import ask, begin

if TYPE_CHECKING:
    from forager.app.scale import Forecast

WEB, MACHINES, PRICES = "The web", "The machines", "What they cost"
LIMITS = {
    "pace": "politeness",
    "queues": "domains one worker may hold",
    "requests": "open requests",
    "workers": "processors of the workers",
    "database": "processors of the database",
}


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, help="Forecast what is too large to try.")
    family.command("scale", cls=Command)(scale)
    app.add_typer(family, name="sim", rich_help_panel="Look after it", no_args_is_help=True)


def number(names: str, metavar: str, told: str, panel: str, **bounds: Any) -> Any:
    return typer.Option(names, metavar=metavar, help=told, rich_help_panel=panel, **bounds)


def scale(
    *,
    domains: Annotated[int, number("--domains", "N", "Domains.", WEB, min=1, max=2_000_000)] = 100_000,
    pages: Annotated[int, number("--pages", "N", "Pages of all of them.", WEB, min=1)] = 100_000_000,
    skew: Annotated[float, number("--skew", "X", "0: all of one size; 1: few have most.", WEB, min=0, max=2)] = 0.9,
    delay: Annotated[float | None, number("--delay", "S", "Seconds between requests.", WEB, min=0)] = None,
    response: Annotated[float, number("--response", "S", "What an answer takes, median.", WEB, min=0.001)] = 0.5,
    slow_share: Annotated[
        float, number("--slow-share", "X", "Domains whose robots.txt asks for more.", WEB, min=0, max=1)
    ] = 0.05,
    slow_delay: Annotated[float, number("--slow-delay", "S", "What they ask for.", WEB, min=0)] = 10.0,
    seed: Annotated[int, number("--seed", "N", "Another seed is another web.", WEB)] = 1,
    workers: Annotated[int, number("--workers", "N", "Worker processes.", MACHINES, min=1, max=100_000)] = 16,
    database_cores: Annotated[float, number("--database-cores", "N", "Of PostgreSQL.", MACHINES, min=0.1)] = 4.0,
    days: Annotated[float, number("--days", "N", "Stop after so long.", MACHINES, min=0.001)] = 3650.0,
    core_hour: Annotated[float, number("--core-hour", "X", "An hour of one core.", PRICES, min=0)] = 0.04,
    gb_month: Annotated[float, number("--gb-month", "X", "A GB of storage for a month.", PRICES, min=0)] = 0.10,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Forecast pages a second, database load, storage and cost."""
    from forager.app.scale import Machines, WebPlan, forecast_scale

    settings = begin(home=home)
    plan = WebPlan(
        domains=domains,
        pages=max(pages, domains),
        skew=skew,
        delay_s=settings.delay_s if delay is None else delay,
        response_s=response,
        slow_share=slow_share,
        slow_delay_s=slow_delay,
        seed=seed,
    )
    machines = Machines(workers, database_cores, core_hour, gb_month)
    found = ask(
        settings,
        "sim",
        lambda connection: forecast_scale(connection, plan, machines, settings, until_s=days * 86_400),
    )
    if as_json:
        return output.write_json({"web": {"domains": plan.domains, "pages": plan.pages}, **found.as_dict()})
    lines = list(format_forecast(found))
    width = max(len(label) for label, _ in lines)
    for label, value in lines:
        sys.stdout.write(f"{label:<{width}}  {value}\n")
    return None


def format_forecast(found: "Forecast") -> Iterator[tuple[str, str]]:
    course, load, money = found.course, found.database, found.money
    done = "all of them" if found.is_done else f"of {words.count(found.pages)}"
    yield "pages", f"{words.count(course.pages)}, {done}, in {words.duration(course.seconds)}"
    for share, at in course.reached_s.items():
        yield f"{share:.0%} had after", words.duration(at)
    busy = f"while it is busy, the first {words.duration(course.busy_s)}"
    yield "pages a second", f"{course.pages_per_s:,.1f} {busy}; {course.most_pages_per_s:,.1f} at most"
    yield "decided by", ", ".join(f"{LIMITS[name]} {share:.1%} of that time" for name, share in course.limits.items())
    yield "domains at once", f"{course.most_lanes:,} at most, {words.count(course.turns)} turns"
    yield "open requests", f"{course.most_open:,.0f} at most"
    yield "worker cores", f"{found.machines['worker_cores']:.1f}, {found.machines['worker_cores_at_most']:.1f} at most"
    yield "worker memory", words.size(round(found.machines["worker_memory_bytes"]))
    yield "database cores", f"{load['cores']:.2f}"
    asked = f"{load['statements_per_s']:,.0f} a second, {load['statements_per_page']:.1f} a page"
    yield "statements", f"{asked}, {load['pages_per_batch']:.1f} pages in a batch"
    yield "rows written", f"{load['rows_per_s']:,.0f} a second"
    yield "write-ahead log", f"{words.size(round(load['wal_bytes_per_s']))} a second"
    yield "connections", f"{load['connections']:,}"
    yield "database size", words.size(round(found.storage["database_bytes"]))
    yield "over the wire", words.size(round(found.storage["wire_bytes"]))
    parts = f"workers {money['workers']:,.2f}, database {money['database']:,.2f}"
    stored = f"a month of storage {money['storage_a_month']:,.2f}"
    yield "cost", f"{money['total']:,.2f}: {parts}, {stored}; {money['per_million_pages']:,.2f} for a million pages"
