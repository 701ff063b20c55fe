"""`forager db`: the server and its schema. The embedded server is ours to start and stop, an external one is not."""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, note_on, whoami
from forager.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from forager.config.settings import Settings

SPELLING = {"downgrade": {"ignore_unknown_options": True}}
"""`-1` is a revision, and no flag."""
Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, help="Manage the database: status, upgrade, start, stop.")
    for function in (status, upgrade, downgrade, start, stop, url):
        family.command(function.__name__, cls=Command, context_settings=SPELLING.get(function.__name__))(function)
    app.add_typer(family, name="db", rich_help_panel="Look after it", no_args_is_help=True)


def status(as_json: AsJson = False, home: Home = None) -> None:
    """Show where the database is, its size and schema."""
    settings = begin(home=home)
    facts = describe_external(settings) if settings.database.url else describe_embedded(settings)
    if as_json:
        return output.write_json(facts)
    width = max(map(len, facts))
    for name, value in facts.items():
        sys.stdout.write(f"{name.removesuffix('_bytes').replace('_', ' '):<{width}}  {_text(name, value)}\n")
    return None


def describe_embedded(settings: "Settings") -> dict[str, Any]:
    """Without starting anything."""
    import asyncio
    from dataclasses import asdict

    from forager.db import embedded

    found = asdict(embedded.status(settings.home))
    revision = asyncio.run(_revision(embedded.ensure_running(settings.home))) if found["is_running"] else None
    return {"kind": "embedded", **found, "revision": revision, **_knows()}


def describe_external(settings: "Settings") -> dict[str, Any]:
    import asyncio

    from forager.db.dsn import place_of

    assert settings.database.url is not None
    revision = asyncio.run(_revision(settings.database.url))
    place = place_of(settings.database.url)
    return {"kind": "external", "place": place, "revision": revision, **_knows()}


def _knows() -> dict[str, str]:
    from forager.db import schema

    return {"newest_revision": schema.head(), "needed_revision": schema.NEEDED}


async def _revision(dsn: str) -> str | None:
    from forager.db import schema
    from forager.db.pool import connect

    connection = await connect(dsn, application="forager db status")
    try:
        return await schema.revision_of(connection)
    finally:
        await connection.close()


def upgrade(home: Home = None) -> None:
    """Upgrade the schema to the revision of this Forager."""
    import asyncio

    from forager.db import schema

    settings = begin(home=home)
    with _located(settings) as dsn:
        before = asyncio.run(_revision(dsn))
        if settings.database.url is None:
            asyncio.run(_open_once(settings))
        else:
            from forager.db import migrate

            asyncio.run(migrate.upgrade(dsn))
        asyncio.run(_note_move(dsn, "schema.upgrade", before))
    output.say(f"The schema is at {schema.head()}, the newest of this Forager.")


async def _open_once(settings: "Settings") -> None:
    """Opening our own server makes what is missing and upgrades what is old."""
    from forager.db.database import open_database

    async with open_database(settings, size=1, application="forager db upgrade"):
        pass


def downgrade(
    revision: Annotated[str, typer.Argument(metavar="REVISION", help="A revision, -1 for one step, or base for none.")],
    yes: Yes = False,
    home: Home = None,
) -> None:
    """Downgrade the schema; what newer revisions added is lost."""
    settings = begin(home=home)
    if not yes:
        raise UsageError(f"Going down to {revision} drops everything newer revisions added; say --yes to do it.")
    import asyncio

    from forager.db import migrate

    with _located(settings) as dsn:
        before = asyncio.run(_revision(dsn))
        asyncio.run(migrate.downgrade(dsn, revision))
        after = asyncio.run(_note_move(dsn, "schema.downgrade", before))
    output.say(f"The schema changed from {before or 'none'} to {after or 'none'}.")


@contextlib.contextmanager
def _located(settings: "Settings") -> Iterator[str]:
    """The database's DSN; our own server runs inside."""
    from forager.db import embedded, unfinished

    unfinished.refuse(settings.home)
    if settings.database.url is not None:
        yield settings.database.url
        return
    seat = embedded.join(settings.home)
    try:
        yield seat.dsn
    finally:
        seat.leave()


async def _note_move(dsn: str, action: str, before: str | None) -> str | None:
    """Where the schema came to, noted where it moved, after the transactions that moved it. Going down to base drops
    the audit log: then our own log is told."""
    from forager.accounts import audit
    from forager.db import schema
    from forager.db.pool import close, connect
    from forager.logs import log

    connection = await connect(dsn, application="forager db")
    try:
        after = await schema.revision_of(connection)
        if after != before:
            moved = {"from": before or "none", "to": after or "none"}
            if await audit.has_audit_log(connection):
                await note_on(connection, Noted(action, "schema", None, moved))
            else:
                log().warning("the schema moved, and has no audit log", action="schema.moved", who=whoami(), **moved)
        return after
    finally:
        await close(connection)


def start(home: Home = None) -> None:
    """Start the embedded server and keep it running."""
    from forager.db import embedded, unfinished

    settings = _own_server(begin(home=home))
    unfinished.refuse(settings.home)
    embedded.keep(settings.home)
    embedded.ensure_running(settings.home)
    output.say(f"The database in {settings.home} runs until `forager db stop`.")


def stop(
    force: Annotated[bool, typer.Option("--force", help="Also when a Forager process uses it.")] = False,
    home: Home = None,
) -> None:
    """Stop the embedded server."""
    from forager.db import embedded

    settings = _own_server(begin(home=home))
    embedded.delete_keep_file(settings.home)
    if embedded.status(settings.home).is_used and not force:
        raise UsageError(
            "A Forager process uses the database; it stops when the last one leaves. --force stops it now."
        )
    if not embedded.stop(settings.home):
        raise ConfigurationError(f"The database in {settings.home} does not stop; its log is in that folder.")
    output.say(f"The database in {settings.home} is stopped.")


def url(home: Home = None) -> None:
    """Print the connection URL, for psql and the like."""
    from forager.db.embedded.paths import Place

    settings = begin(home=home)
    sys.stdout.write((settings.database.url or Place.of(settings.home).dsn) + "\n")


def _own_server(settings: "Settings") -> "Settings":
    if settings.database.url:
        raise UsageError("The database is an external one (database.url is set); start and stop it where it lives.")
    return settings


def _text(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return words.size(value) if name == "size_bytes" else str(value)
