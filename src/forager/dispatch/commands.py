"""`forager queue`: messages on their way to workers through RabbitMQ, and messages that no worker could use."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, repair
from forager.cli.table import Note, number, wrap_column
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.dispatch.broker import Broker

T = TypeVar("T")
SUMMARY = "Show the queues of the broker; redrive dead letters; empty the queues."
Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="IDs from `forager queue dead`.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(queue)
    for name, function in (("dead", dead), ("redrive", redrive), ("purge", purge)):
        family.command(name, cls=Command)(function)
    app.add_typer(family, name="queue", rich_help_panel="Look after it")


def queue(context: typer.Context, as_json: AsJson = False, home: Home = None) -> None:
    """Show what the queues hold, and how many workers listen."""
    if context.invoked_subcommand is not None:
        if as_json or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager queue {verb} --json.")
        return None
    from forager.dispatch.service import list_queues

    rows = _at_the_broker(home, list_queues)
    if as_json:
        return output.write_json_list(rows)
    heads = (wrap_column("queue"), number("messages"), number("listening"))
    return table.write(
        heads, [(row["queue"], words.count(row["messages"]), words.count(row["consumers"])) for row in rows]
    )


def dead(*, limit: Limit = 50, as_json: AsJson = False, home: Home = None) -> None:
    """List messages that no worker could use; they stay where they are."""
    letters = _at_the_broker(home, lambda _conn, broker: broker.dead_letters(limit))
    if as_json:
        return output.write_json_list([asdict(letter) for letter in letters])
    if not letters:
        return output.say("There are no dead letters.")
    lines: list[tuple[str, ...] | Note] = []
    for letter in letters:
        lines.append((letter.id, words.clean(letter.queue or "–"), words.clean(letter.why)))
        lines.append(Note(f"  └─ {words.clean(letter.body)[:160]}"))
    return table.write(("id", "rejected in", wrap_column("why")), lines)


def redrive(
    ids: Ids = None,
    *,
    all: Annotated[bool, typer.Option("--all", help="Every one of them.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Put dead letters back into the queues that rejected them."""
    if bool(ids) == all:
        raise UsageError("Say which: forager queue redrive ID…, or --all.")
    from forager.dispatch.service import redrive as control

    moved = _at_the_broker(
        home,
        lambda _conn, broker: control(broker, None if all else ids),
        noted=lambda moved: Noted("queue.redrive", "queue", None, {"letters": moved.count}),
    )
    if as_json:
        return output.write_json({"redriven": moved.count})
    return output.say(f"{words.things(moved.count, 'message')} put back; those that cannot be used return here.")


def purge(
    *,
    only_dead: Annotated[bool, typer.Option("--dead", help="Only the dead letters.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do it.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Empty the queues. The work stays in the database, and is announced again."""
    from forager.dispatch import service as control

    if not yes:
        dying = _at_the_broker(
            home, lambda conn, broker: control.purge(conn, broker, only_dead=only_dead, is_trial=True)
        )
        count = words.things(sum(dying.values()), "message")
        raise UsageError(f"{count} would be deleted; --yes does it.")
    emptied = _at_the_broker(
        home,
        lambda conn, broker: control.purge(conn, broker, only_dead=only_dead),
        noted=lambda emptied: Noted("queue.purge", "queue", None, {"messages": sum(emptied.values())}),
    )
    if as_json:
        return output.write_json({"purged": emptied})
    return output.say(f"{words.things(sum(emptied.values()), 'message')} deleted.")


def _at_the_broker(
    home: Home,
    ask: Callable[[Any, "Broker"], Awaitable[T]],
    *,
    noted: Callable[[T], Noted | None] | None = None,
) -> T:
    settings = begin(home=home)
    if settings.dispatch.mode == "inline":
        from forager.dispatch.service import NO_QUEUES

        raise UsageError(NO_QUEUES)
    from forager.dispatch.broker import open_broker

    async def once(pool: Any) -> T:
        async with (
            open_broker(settings.dispatch.broker_url, settings.dispatch.queue_prefix or "") as broker,
            pool.acquire() as conn,
        ):
            return await ask(conn, broker)

    return repair(settings, "queue", once, noted=noted)
