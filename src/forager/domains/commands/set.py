"""`forager domain NAME set` and `settings`: changes and shows the crawl settings of a domain."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.settings_flags import given_settings, merge_cleared
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.domains.settings import Configured

UNVERIFIED = "Its certificate is not verified any more: anyone on the network path can read and change its pages."
UNHEEDED = "Its robots.txt is not obeyed any more; the reason is on record."
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name or a URL.")]
Cleared = Annotated[
    list[str] | None,
    typer.Option(
        "--default", metavar="SETTING", help="Take this setting back: the profile's or the default holds. Repeatable."
    ),
]
ACCESS = "Secrets, from a file or a prompt (-)"
HeaderLines = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="'NAME: VALUE'", help="A header. Repeatable.", rich_help_panel=ACCESS),
]
HeaderFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="A file with a header in each line.", rich_help_panel=ACCESS)
]
CookiePairs = Annotated[
    list[str] | None,
    typer.Option("--cookie", metavar="NAME=VALUE", help="A cookie. Repeatable.", rich_help_panel=ACCESS),
]
CookieFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="A cookies.txt of a browser or curl.", rich_help_panel=ACCESS)
]
PasswordFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="The password of --username.", rich_help_panel=ACCESS)
]
TokenFile = Annotated[str | None, typer.Option(metavar="FILE", help="A bearer token.", rich_help_panel=ACCESS)]
LoginField = Annotated[
    list[str] | None,
    typer.Option(
        "--login-field",
        metavar="NAME=VALUE",
        help="A field of the login form; @FILE reads its value from a file, - asks for it. Repeatable.",
        rich_help_panel=ACCESS,
    ),
]
Why = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; stored in its history.")]


def change(
    ctx: typer.Context,
    name: Name,
    *,
    default: Cleared = None,
    reason: Why = None,
    header: HeaderLines = None,
    header_file: HeaderFile = None,
    cookie: CookiePairs = None,
    cookie_file: CookieFile = None,
    password_file: PasswordFile = None,
    token_file: TokenFile = None,
    login_field: LoginField = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Change its crawl settings: scope, pace, budget, frequency, login …"""
    from forager.config.keys import get_cipher
    from forager.domains import service as domain_admin
    from forager.domains.commands.secrets_input import collect_secrets
    from forager.domains.lookup import canonical_name
    from forager.domains.settings import read_changes

    settings = begin(home=home)
    changes = merge_cleared(given_settings(ctx), default or ())
    changes |= collect_secrets(
        canonical_name(name),
        changes,
        header=header or (),
        header_file=header_file,
        cookie=cookie or (),
        cookie_file=cookie_file,
        password_file=password_file,
        token_file=token_file,
        login_field=login_field or (),
        now_s=clock.now().timestamp(),
    )
    if not changes:
        raise UsageError(f"Nothing to set; `forager domain {name} set --help` lists what can be.")
    read_changes(changes)
    if changes.get("obey_robots") is False and not reason:
        raise UsageError("Say why robots.txt is not obeyed: --reason 'we own this site'. It is stored on record.")
    done = run_action(
        settings,
        "domain",
        lambda connection: domain_admin.configure(
            connection,
            name,
            changes,
            by=whoami(),
            cipher=get_cipher(settings, creates=True),
            refresh_every_s=refresh_cooldown(settings),
            reason=reason,
        ),
        noted=lambda done: Noted("domain.configure", "domain", done.name, {"changes": done.changes, "reason": reason}),
    )
    queued = _queue_images(settings, done.name) if "images" in done.changes else 0
    if as_json:
        output.write_json(asdict(done) | {"queued_images": queued})
    else:
        output.say(say_configured(done))
        if queued:
            output.say(f"{words.things(queued, 'image')} found earlier wait to be fetched.")
    if changes.get("verify_tls") is False:
        output.complain(f"Warning: {UNVERIFIED}")
    if changes.get("obey_robots") is False:
        output.complain(f"Warning: {UNHEEDED}")


def show_settings(
    name: Name,
    *,
    chosen: Annotated[bool, typer.Option("--chosen", help="Only those that are not defaults.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show every effective crawl setting and where it comes from."""
    from forager.domains.commands.settings_table import write_settings
    from forager.domains.queries import effective_settings

    settings = begin(home=home)
    found = run_query(settings, "domain", lambda connection: effective_settings(connection, name, settings))
    rows = [row for row in found["settings"] if not chosen or row["origin"] != "default"]
    if as_json:
        output.write_json(rows)
    else:
        write_settings(found["name"], found["profile"], rows)


def _queue_images(settings: "Settings", name: str) -> int:
    """Queues images that were found before they were wanted; a job continues after a kill."""
    import asyncio

    from forager.images.service import queue_wanted
    from forager.instance import open_forager

    async def once() -> int:
        async with open_forager(settings, application="forager domain") as forager:
            return await queue_wanted(forager, name=name)

    return asyncio.run(once())


def refresh_cooldown(settings: "Settings") -> float | None:
    """Returns the cooldown of an exhausted domain; None where nothing is refreshed."""
    return settings.refresh.interval if settings.refresh.enabled else None


def say_configured(done: "Configured") -> str:
    told = f"{done.name}: {_in_words(done.changes)}."
    if done.is_new:
        told += " It was not known, and is added; nothing of it is crawled before a crawl, seed or task names it."
    if done.planned:
        told += f" {words.things(done.planned, 'next visit')} planned."
    if done.dropped:
        told += f" {words.things(done.dropped, 'planned visit')} removed."
    return told


def _in_words(changes: Any) -> str:
    return ", ".join(f"{name} {'default' if value is None else _value(value)}" for name, value in changes.items())


def _value(value: Any) -> str:
    match value:
        case bool():
            return "on" if value else "off"
        case list():
            return " ".join(map(str, value)) or "none"
        case dict():
            return ", ".join(value) or "none"
        case _:
            return str(value)
