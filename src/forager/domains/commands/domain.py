"""`forager domain NAME`: shows one domain on one screen; with a verb after the name, runs an operator action on it."""

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import option_values as given
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.name_first import SHOW, NameFirst, Verb
from forager.cli.settings_flags import SettingsVerb
from forager.cli.start import Noted, begin, run_action, run_query, whoami
from forager.cli.table import Note
from forager.domains.commands.login import login
from forager.domains.commands.set import change, show_settings
from forager.domains.commands.sitemaps import sitemaps
from forager.domains.commands.traps import release, traps

if TYPE_CHECKING:
    from forager.domains.service import Blocked, BreakerReset, Reset, Switched

Row = dict[str, Any]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name or a URL.")]
Reason = Annotated[str | None, typer.Option(metavar="TEXT", help="Reason, stored in its history.")]
BlockReason = Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown wherever the domain is shown.")]
For = Annotated[
    float | None,
    typer.Option(
        "--for", parser=given.span, metavar="TIME", help="Duration, such as 30d; by default until it is reset."
    ),
]


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        cls=NameFirst,
        rich_markup_mode=None,
        help="Show one domain, its traps and sitemaps, or reset, pause, resume, block, set it.",
    )
    verbs: dict[str, Callable[..., None]] = {
        SHOW: show,
        "reset": reset,
        "pause": pause,
        "resume": resume,
        "block": block,
        "set": change,
        "settings": show_settings,
        "login": login,
        "traps": traps,
        "sitemaps": sitemaps,
        "release": release,
    }
    for name, function in verbs.items():
        family.command(name, cls=SettingsVerb if function is change else Verb)(function)
    app.add_typer(family, name="domain", rich_help_panel="Look")


def show(
    name: Name,
    history: Annotated[bool, typer.Option("--history", help="Only its history, all of it.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show its state, pages, score, pace and last state changes."""
    from forager.domains import queries as domain_queries
    from forager.domains.commands.card import write_card

    settings = begin(home=home)
    if history:
        return _show_moves(
            run_query(settings, "domain", lambda connection: domain_queries.list_moves(connection, name)), as_json
        )
    card = run_query(settings, "domain", lambda connection: domain_queries.describe_domain(connection, name))
    return output.write_json(card) if as_json else write_card(card, clock.now())


def reset(
    name: Name,
    *,
    reason: Reason = None,
    gone: Annotated[bool, typer.Option("--gone", help="Also retry pages that are gone (404, 410).")] = False,
    breaker: Annotated[bool, typer.Option("--breaker", help="Only close its circuit breaker.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Clear what blocks it; crawl it again if it is exhausted."""
    from forager.domains import service as domain_admin

    if breaker:
        return _reset_breaker(name, reason or "breaker closed by hand", as_json, home)
    why = reason or "reset by hand"
    done = run_action(
        begin(home=home),
        "domain",
        lambda connection: domain_admin.reset(connection, name, by=whoami(), reason=why, also_gone=gone),
        noted=lambda done: Noted("domain.reset", "domain", done.name, {"reason": why, "also_gone": gone}),
    )
    return _tell(done, say_reset(done), as_json)


def _reset_breaker(name: str, reason: str, as_json: bool, home: Path | None) -> None:
    from forager.domains import service as domain_admin

    settings = begin(home=home)
    rest_s = settings.failures.breaker_reset
    done = run_action(
        settings,
        "domain",
        lambda connection: domain_admin.reset_breaker(connection, name, by=whoami(), reason=reason, rest_s=rest_s),
        noted=lambda done: Noted("domain.reset_breaker", "domain", done.name, {"reason": reason}),
    )
    _tell(done, say_breaker_reset(done), as_json)


def pause(name: Name, reason: Reason = None, as_json: AsJson = False, home: Home = None) -> None:
    """Pause it: none of its pages is visited until it is resumed."""
    _switch(name, False, reason or "paused by hand", as_json, home)


def resume(name: Name, reason: Reason = None, as_json: AsJson = False, home: Home = None) -> None:
    """Resume it."""
    _switch(name, True, reason or "resumed by hand", as_json, home)


def block(name: Name, reason: BlockReason, rest_s: For = None, as_json: AsJson = False, home: Home = None) -> None:
    """Block it until it is reset, or for a time."""
    from forager.domains import service as domain_admin

    settings = begin(home=home)
    done = run_action(
        settings,
        "domain",
        lambda connection: domain_admin.block(
            connection, name, by=whoami(), reason=reason, rest_s=rest_s, hush_s=settings.worker.dead_after
        ),
        noted=lambda done: Noted("domain.block", "domain", done.name, {"reason": reason, "rest_s": rest_s}),
    )
    _tell(done, say_block(done), as_json)


def _switch(name: str, is_active: bool, reason: str, as_json: bool, home: Path | None) -> None:
    from forager.domains import service as domain_admin

    done = run_action(
        begin(home=home),
        "domain",
        lambda connection: domain_admin.switch(connection, name, is_active, by=whoami(), reason=reason),
        noted=lambda done: Noted(
            "domain.resume" if is_active else "domain.pause", "domain", done.name, {"reason": reason}
        ),
    )
    _tell(done, say_switch(done), as_json)


def _tell(done: Any, sentence: str, as_json: bool) -> None:
    if as_json:
        output.write_json(asdict(done))
    else:
        output.say(sentence)


def say_reset(done: "Reset") -> str:
    """What was done, and what happens next."""
    state = f"was {done.was} and is {done.status} now" if done.was is not done.status else f"is {done.status}"
    deeds = [
        *([f"{words.things(done.reopened, 'page')} that failed will be tried again"] if done.reopened else []),
        *([f"{_files(done.reopened_files)} will be tried again"] if done.reopened_files else []),
        *([f"{words.things(done.revisited, 'page')} will be visited again"] if done.revisited else []),
    ]
    told = f"{done.name} {state}" + (f": {', '.join(deeds)}." if deeds else "; nothing holds it back.")
    if not done.is_active:
        return f"{told} It is paused: `forager domain {done.name} resume` resumes it."
    return f"{told} A running crawl continues with it; `forager refresh {done.name}` starts one."


def _files(count: int) -> str:
    return f"{words.count(count)} failed sitemaps, feeds or images" if count > 1 else "a failed sitemap, feed or image"


def say_breaker_reset(done: "BreakerReset") -> str:
    if done.was == "closed":
        return f"The breaker of {done.name} was closed already; its failures are forgotten."
    holder = " Its worker hears of it with its next heartbeat." if done.is_leased else ""
    return f"The breaker of {done.name} was {done.was.replace('_', '-')} and is closed.{holder}"


def say_switch(done: "Switched") -> str:
    word = "active" if done.is_active else "paused"
    if not done.was_turned:
        return f"{done.name} was {'not paused' if done.is_active else 'paused already'}; nothing changed."
    if done.is_active:
        return f"{done.name} is resumed."
    holder = " Its worker finishes what is under way and lets go of it." if done.is_leased else ""
    return f"{done.name} is {word}; `forager domain {done.name} resume` resumes it.{holder}"


def say_block(done: "Blocked") -> str:
    end = f"for {words.duration(done.rest_s)}" if done.rest_s else "until it is reset"
    lease = " Its lease was ended; what its worker still brings is not kept." if done.was_leased else ""
    was = f"was {done.was}" if done.was_known else "was not known: it was added,"
    return f"{done.name} {was} and is blocked {end}.{lease}"


def _show_moves(rows: list[Row], as_json: bool) -> None:
    if as_json:
        return output.write_json_list(rows)
    table.write(("when (UTC)", "change", "by"), list(_moves(rows)))
    return None if rows else output.say("Its state never changed.")


def _moves(rows: list[Row]) -> Iterator[tuple[str, ...] | Note]:
    from forager.domains.commands.card import move_of

    for row in rows:
        yield f"{row['moved_at']:%Y-%m-%d %H:%M:%S}", move_of(row), words.clean(row["moved_by"])
        if reason := row["reason"] or words.plain_reason(row["reason_code"]):
            yield Note(f"  └─ {words.clean(reason)}")
