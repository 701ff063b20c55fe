"""`forager page URL`: one page and when it is visited again; `forager page URL every 6h` changes that."""

from collections import Counter
from dataclasses import asdict
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import option_values as given
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.name_first import SHOW, NameFirst, Verb
from forager.cli.option_values import Given
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.cli.table import wrap_text
from forager.domains.commands.card import LABEL_WIDTH, MARGIN
from forager.domains.commands.set import refresh_cooldown

Row = dict[str, Any]
Url = Annotated[str, typer.Argument(metavar="URL", help="URL of the page; it is normalised.")]
Frequency = Annotated[
    Given, typer.Argument(metavar="TIME", parser=given.span_or_none, help="Such as 6h; `default` follows its domain.")
]


class PageFamily(NameFirst):
    subject = "URL"


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=PageFamily, rich_markup_mode=None, help="Show one page, or set how often it is visited.")
    for name, function in ((SHOW, show), ("every", set_interval)):
        family.command(name, cls=Verb)(function)
    app.add_typer(family, name="page", rich_help_panel="Look")


def show(url: Url, as_json: AsJson = False, home: Home = None) -> None:
    """Show its state, signals and next visit."""
    page = run_query(begin(home=home), "page", lambda connection: _find(connection, url))
    if as_json:
        return output.write_json({column: value for column, value in page.items() if column != "id"})
    return _write(page, clock.now())


async def _find(connection: Any, url: str) -> Row:
    """The page with its structured data."""
    from forager.frontier.details import get_structured_data
    from forager.pages import queries as page_queries

    page = await page_queries.find_page(connection, url)
    return page | {"structured_data": await get_structured_data(connection, page["id"])}


def set_interval(url: Url, time: Frequency, as_json: AsJson = False, home: Home = None) -> None:
    """Set how often it is visited, regardless of its domain."""
    from forager.pages import service as page_service

    settings = begin(home=home)
    done = run_action(
        settings,
        "page",
        lambda connection: page_service.set_page_frequency(
            connection, url, time.value, by=whoami(), refresh_every_s=refresh_cooldown(settings)
        ),
        noted=lambda done: Noted("page.configure", "page", None, {"url": done.name, "revisit_every_s": time.value}),
    )
    if as_json:
        return output.write_json(asdict(done))
    often = (
        f"is visited every {words.duration(time.value)}" if time.value else "is visited as often as its domain's pages"
    )
    planned = " Its next visit is planned." if done.planned else " A planned visit was dropped." if done.dropped else ""
    return output.say(f"{done.name} {often}.{planned}")


def _write(page: Row, now: datetime) -> None:
    from rich.text import Text

    screen = output.console()
    screen.print(Text(words.clean(page["url"]), style="bold"))
    for label, value in page_lines(page, now):
        shown = wrap_text(" " * MARGIN + words.clean(value), screen.width, MARGIN)
        screen.print(Text(f"  {label:<{LABEL_WIDTH}}", style="dim").append(shown[MARGIN:], style="not dim"))


def page_lines(page: Row, now: datetime) -> list[tuple[str, str]]:
    lines = [
        ("title", page["title"]),
        ("headline", page["headline"] if page["headline"] != page["title"] else None),
        ("site", page["site_name"]),
        ("section", page["section"]),
        ("tags", ", ".join(page["tags"] or ())),
        ("author", page["author"]),
        ("published", day(page["published_at"], page["published_on"])),
        ("modified", day(page["modified_at"], page["modified_on"])),
        ("rating", rating(page["rating"], page["rating_count"])),
        ("items", item_types(page["structured_data"])),
        ("status", f"{page['status']}, {_when(page, now)}"),
        ("visits", _visits(page, now)),
        ("duplicate", f"of {page['duplicate_of']}, which is revisited instead" if page["duplicate_of"] else None),
        ("canonical", page["canonical_url"] if page["canonical_url"] != page["duplicate_of"] else None),
        ("domain", page["domain"]),
        ("place", f"depth {page['depth']}, priority {page['priority']}" + (", a seed" if page["is_seed"] else "")),
        ("again", None if page["duplicate_of"] and not page["scheduled_for"] else _format_revisit(page, now)),
        ("changes", _changes(page, now)),
    ]
    return [(label, value) for label, value in lines if value]


def day(moment: datetime | None, own: date | None) -> str | None:
    """The moment, and the page's own calendar day where that is another."""
    if moment is None:
        return own.isoformat() if own is not None else None
    other = own is not None and own != moment.date()
    return f"{moment:%Y-%m-%d %H:%M} UTC" + (f" (on the page: {own})" if other else "")


def rating(value: Decimal | None, count: int | None) -> str | None:
    if value is None:
        return None
    return f"{value.normalize():f} of 5" + (f" ({words.things(count, 'rating')})" if count is not None else "")


def item_types(items: list[Row]) -> str:
    """`Recipe (json-ld), BreadcrumbList (json-ld) 2 ×`."""
    found = Counter(f"{'/'.join(item['types']) or 'item'} ({item['syntax']})" for item in items)
    return ", ".join(name + (f" {count} ×" if count > 1 else "") for name, count in found.items())


def _when(page: Row, now: datetime) -> str:
    if page["fetched_at"] or page["failed_at"]:
        read = f"read {words.format_relative(page['fetched_at'], now)}" if page["fetched_at"] else "never read"
        return read + (f", failed {words.format_relative(page['failed_at'], now)}" if page["failed_at"] else "")
    return f"found {words.format_relative(page['discovered_at'], now)}"


def _visits(page: Row, now: datetime) -> str | None:
    if not page["visits"]:
        return None
    known = f"{words.count(page['visits'])}, since {words.format_relative(page['first_visit_at'], now)}"
    more = f" ({words.things(page['requests'], 'request')})" if page["requests"] != page["visits"] else ""
    older = "; older ones may be in archive files (`forager archive list`)" if page["has_archived_visits"] else ""
    return known + more + older


def _format_revisit(page: Row, now: datetime) -> str:
    own, inherited = page["revisit_every_s"], page["domain_revisit_every_s"]
    if own:
        often = f"every {words.duration(own)}"
    elif page["is_adaptive"]:
        often = "adaptive, as its domain"
    else:
        often = f"every {words.duration(inherited)}, as its domain" if inherited else "once, as its domain"
    if page["locked_by"] is not None:
        return f"{often}; under way by worker {page['locked_by']}"
    due = page["scheduled_for"]
    if due is None:
        return often
    return (
        f"{often}; next {words.format_relative(due, now)}"
        if due > now
        else f"{often}; due since {words.format_relative(due, now)}"
    )


def _changes(page: Row, now: datetime) -> str:
    if not page["comparisons"]:
        return ""
    last = f", last seen {words.format_relative(page['changed_at'], now)}" if page["changed_at"] else ""
    return f"{page['changes']} of {words.things(page['comparisons'], 'visit')} found one{last}"
