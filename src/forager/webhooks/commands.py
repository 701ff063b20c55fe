"""`forager webhooks`: lists calls and their results, retries calls that were given up, shows the signing key."""

from typing import Annotated, Literal

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, run_action, run_query
from forager.cli.table import Cell, Note, number, wrap_column
from forager.errors import UsageError
from forager.tasks.commands.tasks import LARGEST_ID

SUMMARY = "List webhook calls; retry those that were given up."
COLOURS = {"delivered": "green", "dead": "red", "waiting": "cyan"}


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(webhooks)
    family.command("revive", cls=Command)(retry_calls)
    family.command("key", cls=Command)(key)
    app.add_typer(family, name="webhooks", rich_help_panel="Look after it")


def webhooks(
    context: typer.Context,
    *,
    state: Annotated[
        Literal["waiting", "delivered", "dead"] | None, typer.Option("--state", help="Only in this state.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List calls to webhooks, newest first."""
    if context.invoked_subcommand is not None:
        if state or as_json or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager webhooks {verb} --json.")
        return None
    from forager.webhooks.service import list_calls

    rows = run_query(begin(home=home), "webhooks", lambda conn: list_calls(conn, state=state, limit=limit))
    if as_json:
        return output.write_json_list(rows)
    now = clock.now()
    lines: list[tuple[str | Cell, ...] | Note] = []
    for row in rows:
        when = row["delivered_at"] or row["died_at"] or row["next_try_at"]
        what = f"task {row['task_id']}" if row["kind"] == "task" else row["kind"]
        cells = (Cell(row["state"], COLOURS[row["state"]]), words.count(row["tries"]), words.format_relative(when, now))
        lines.append((str(row["id"]), what, *cells, words.clean(row["url"])))
        if row["error"]:
            lines.append(Note(f"  └─ {words.clean(row['error'])}"))
    table.write((number("call"), "of", "state", number("tries"), "when", wrap_column("url")), lines)
    return None if rows else output.say("No call matches. `forager tasks submit URL --webhook URL` adds one.")


def retry_calls(
    ids: Annotated[
        list[int] | None, typer.Argument(metavar="[ID]...", min=1, max=LARGEST_ID, help="IDs of calls; by default all.")
    ] = None,
    *,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Retry calls that were given up."""
    from forager.webhooks.service import retry_calls as control

    revived = run_action(
        begin(home=home),
        "webhooks",
        lambda conn: control(conn, ids or None),
        noted=lambda revived: Noted("webhook.revive", "webhook", None, {"calls": revived}),
    )
    if as_json:
        return output.write_json({"revived": revived})
    return output.say(f"{words.things(revived, 'call')} will be retried.")


def key(*, as_json: AsJson = False, home: Home = None) -> None:
    """Print the key that calls are signed with, for their receivers."""
    from forager.webhooks.delivery import signing_keys

    keys = [each.decode() for each in signing_keys(begin(home=home))]
    if as_json:
        return output.write_json({"keys": keys})
    for each in keys:
        print(each)  # noqa: T201 (data, on standard output)
    return None
