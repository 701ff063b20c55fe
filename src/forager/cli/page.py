"""`forager page URL`: one page and when it is visited again; `forager page URL every 6h` changes that."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import given, output, words
from forager.cli.domain_card import LABEL_WIDTH, MARGIN
from forager.cli.domain_set import refresh_rest
from forager.cli.flags import AsJson, Home
from forager.cli.given import Given
from forager.cli.name_first import SHOW, NameFirst, Verb
from forager.cli.start import Noted, act, ask, begin, whoami
from forager.cli.table import hang

Row = dict[str, Any]
Url = Annotated[str, typer.Argument(metavar="URL", help="Any spelling of it.")]
Frequency = Annotated[
    Given, typer.Argument(metavar="TIME", parser=given.span_or_none, help="Such as 6h; or default, as its domain.")
]


class PageFamily(NameFirst):
    subject = "URL"


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=PageFamily, rich_markup_mode=None, help="Show one page, or set how often it is visited.")
    for name, function in ((SHOW, show), ("every", every)):
        family.command(name, cls=Verb)(function)
    app.add_typer(family, name="page", rich_help_panel="Look")


def show(url: Url, as_json: AsJson = False, home: Home = None) -> None:
    """Show its state, its signals and its next visit."""
    from forager.control import look

    page = ask(begin(home=home), "page", lambda connection: look.find_page(connection, url))
    if as_json:
        return output.write_json({column: value for column, value in page.items() if column != "id"})
    return _write(page, clock.now())


def every(url: Url, time: Frequency, as_json: AsJson = False, home: Home = None) -> None:
    """Visit it again that often, whatever its domain does."""
    from forager.control import operate

    settings = begin(home=home)
    done = act(
        settings,
        "page",
        lambda connection: operate.set_page_frequency(
            connection, url, time.value, by=whoami(), refresh_every_s=refresh_rest(settings)
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
        shown = hang(" " * MARGIN + words.clean(value), screen.width, MARGIN)
        screen.print(Text(f"  {label:<{LABEL_WIDTH}}", style="dim").append(shown[MARGIN:], style="not dim"))


def page_lines(page: Row, now: datetime) -> list[tuple[str, str]]:
    lines = [
        ("title", page["title"]),
        ("status", f"{page['status']}, {_when(page, now)}"),
        ("domain", page["domain"]),
        ("place", f"depth {page['depth']}, priority {page['priority']}" + (", a seed" if page["is_seed"] else "")),
        ("again", _again(page, now)),
        ("changes", _changes(page, now)),
    ]
    return [(label, value) for label, value in lines if value]


def _when(page: Row, now: datetime) -> str:
    if page["fetched_at"] or page["failed_at"]:
        read = f"read {words.age(page['fetched_at'], now)}" if page["fetched_at"] else "never read"
        return read + (f", failed {words.age(page['failed_at'], now)}" if page["failed_at"] else "")
    return f"found {words.age(page['discovered_at'], now)}"


def _again(page: Row, now: datetime) -> str:
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
    return f"{often}; next {words.age(due, now)}" if due > now else f"{often}; due since {words.age(due, now)}"


def _changes(page: Row, now: datetime) -> str:
    if not page["comparisons"]:
        return ""
    last = f", last seen {words.age(page['changed_at'], now)}" if page["changed_at"] else ""
    return f"{page['changes']} of {words.things(page['comparisons'], 'visit')} found one{last}"
