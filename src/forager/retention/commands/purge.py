"""`forager purge`: what is deleted for good. Asks for the name before it does, and is on record afterwards."""

import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_past_time
from forager.cli.flags import AsJson, DomainName, Home, Limit
from forager.cli.help import Command, Group
from forager.cli.start import begin, repair, run_query, whoami
from forager.cli.table import Cell, text_column
from forager.errors import UsageError
from forager.retention.commands.archive import month_of

if TYPE_CHECKING:
    from forager.config.settings import Settings
    from forager.retention.purge import PurgeResult
    from forager.retention.purge_record import PurgeOrder

Work = Callable[[Any, "PurgeOrder"], Awaitable["PurgeResult"]]
Name = Annotated[str, typer.Argument(metavar="DOMAIN", help="Its name, or a URL of it.")]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="A part of the URLs of the pages.")]
Month = Annotated[str, typer.Argument(metavar="MONTH", help="Such as 2026-01.")]
Before = Annotated[str, typer.Option("--before", metavar="WHEN", help="A day, a moment, or an age such as 90d.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Reason, stored in the list of purges.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted; delete nothing.")]
Forever = Annotated[bool, typer.Option("--forever", help="Keep it out: put it on the deny list. Needs --reason.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        cls=Group,
        rich_markup_mode=None,
        help="Delete permanently: a domain, pages, the frontier, history, archive files.",
    )
    family.command("domain", cls=Command)(domain)
    family.command("pages", cls=Command)(pages)
    family.command("frontier", cls=Command)(frontier)
    family.command("tasks", cls=Command)(tasks)
    family.command("cold", cls=Command)(cold)
    family.command("list", cls=Command)(list_all)
    app.add_typer(family, name="purge", rich_help_panel="Look after it")


def domain(
    name: Name,
    *,
    reason: Reason = "",
    forever: Forever = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Delete a domain with everything that belongs to it; a crawl may continue."""
    from forager.retention.purge import purge_domain

    if forever and not reason.strip():
        raise UsageError("--forever needs --reason: the deny list shows it to whoever meets the name again.")
    settings = begin(home=home)
    _do(
        settings,
        lambda conn, order: purge_domain(conn, name, order, is_forever=forever),
        name,
        reason,
        is_trial=dry_run,
        is_sure=yes,
        as_json=as_json,
    )
    if forever and not (dry_run or as_json):
        output.say("It is on the deny list: links to it are dropped. `forager domains denied` shows the list.")


def pages(
    name: Name,
    text: Text,
    *,
    reason: Reason = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Delete pages of a domain whose URL contains a text."""
    from forager.retention.purge import purge_pages

    settings = begin(home=home)
    _do(
        settings,
        lambda conn, order: purge_pages(conn, name, text, order),
        name,
        reason,
        is_trial=dry_run,
        is_sure=yes,
        as_json=as_json,
    )


def frontier(
    *,
    domain_name: DomainName = None,
    reason: Reason = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Delete pages that wait for their first visit."""
    from forager.retention.clear_frontier import clear_frontier

    _do(
        begin(home=home),
        lambda conn, order: clear_frontier(conn, order, domain=domain_name),
        domain_name or "frontier",
        reason,
        is_trial=dry_run,
        is_sure=yes,
        as_json=as_json,
    )


def tasks(
    before: Before,
    *,
    domain_name: DomainName = None,
    reason: Reason = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Delete old visits; the last one of each page stays."""
    from forager.retention.purge import purge_tasks

    settings, moment = begin(home=home), _parse_time(before)
    _do(
        settings,
        lambda conn, order: purge_tasks(conn, moment, domain_name, order),
        "history",
        reason,
        is_trial=dry_run,
        is_sure=yes,
        as_json=as_json,
    )


def cold(
    month: Month,
    *,
    reason: Reason = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Delete the archive files of a month."""
    from forager.retention.purge import purge_cold
    from forager.retention.service import cold_folder, get_cold_bucket

    settings, chosen = begin(home=home), month_of(month)
    folder, copies = cold_folder(settings), get_cold_bucket(settings)
    _do(
        settings,
        lambda conn, order: purge_cold(conn, folder, chosen, order, copies=copies),
        month,
        reason,
        is_trial=dry_run,
        is_sure=yes,
        as_json=as_json,
    )


def list_all(limit: Limit = 20, as_json: AsJson = False, home: Home = None) -> None:
    """List what was purged, by whom and why."""
    from forager.retention.purge import list_purges

    rows = run_query(begin(home=home), "purge", lambda conn: list_purges(conn, limit=limit))
    if as_json:
        output.write_json_list(rows)
    elif rows:
        now = clock.now()
        table.write(
            ("when", "by", "what", text_column("subject"), text_column("deleted"), "state", text_column("reason")),
            [
                (
                    words.format_relative(row["purged_at"], now),
                    words.clean(row["purged_by"]),
                    row["what"],
                    words.clean(row["subject"]),
                    in_words(row["counts"]),
                    Cell("done") if row["ended_at"] else Cell("not finished", "yellow"),
                    words.clean(row["reason"]) or "–",
                )
                for row in rows
            ],
        )
    else:
        output.say("Nothing was purged yet.")


def _do(
    settings: "Settings", work: Work, name: str, reason: str, *, is_trial: bool, is_sure: bool, as_json: bool
) -> None:
    trial = _run(settings, work, reason, is_trial=True)
    if not is_trial:
        if not is_sure:
            _confirm_name(name, trial)
        trial = _run(settings, work, reason, is_trial=False)
    if as_json:
        output.write_json({"what": trial.what, "subject": trial.subject, "is_trial": is_trial, "counts": trial.counts})
        return
    ending = "would be deleted; nothing was changed" if is_trial else "deleted for good"
    output.say(f"{words.clean(trial.subject)}: {in_words(trial.counts)} {ending}.")


def _parse_time(text: str) -> datetime:
    try:
        return parse_past_time(text, clock.now())
    except UsageError as error:
        raise UsageError(str(error).replace("--since", "--before")) from None


def _run(settings: "Settings", work: Work, reason: str, *, is_trial: bool) -> "PurgeResult":
    from forager.accounts.identity import operator
    from forager.retention.purge_files import delete_files, order_of

    async def once(pool: Any) -> "PurgeResult":
        async with pool.acquire() as conn:
            purged = await work(conn, order_of(settings, who=operator(whoami()), reason=reason, is_trial=is_trial))
            await delete_files(settings, purged.keys)
            return purged

    return repair(settings, "purge", once)


def _confirm_name(name: str, trial: "PurgeResult") -> None:
    """A name is typed, so that nobody deletes by habit."""
    if not sys.stdin.isatty():
        raise UsageError("This deletes for good: say --yes, or --dry-run to see what would go.")
    output.say(f"{words.clean(trial.subject)}: {in_words(trial.counts)} will be deleted for good.")
    if typer.prompt(f"Type {name} to continue", default="", show_default=False, err=True) != name:
        raise UsageError("Nothing was deleted.")


def in_words(counts: dict[str, int]) -> str:
    """`3 pages, 12 tasks`; what there was none of is left out."""
    said = [f"{words.count(number)} {name.replace('_', ' ')}" for name, number in counts.items() if number]
    return ", ".join(said) or "nothing"
