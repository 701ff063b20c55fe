"""`forager db`: the server and its schema. The embedded server is ours to start and stop, an external one is not."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import output, words
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import begin
from forager.errors import ConfigurationError, UsageError

if TYPE_CHECKING:
    from forager.settings import Settings

Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        cls=Group, rich_markup_mode=None, help="Look after the database: status, upgrade, start, stop."
    )
    for function in (status, upgrade, downgrade, start, stop, url):
        family.command(function.__name__, cls=Command)(function)
    app.add_typer(family, name="db", rich_help_panel="Look after it", no_args_is_help=True)


def status(as_json: AsJson = False, home: Home = None) -> None:
    """Show where the database is, its size and schema."""
    settings = begin(home=home)
    facts = describe_external(settings) if settings.database_url else describe_embedded(settings)
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

    assert settings.database_url is not None
    revision = asyncio.run(_revision(settings.database_url))
    place = place_of(settings.database_url)
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
    """Bring the schema to the revision this Forager works with."""
    import asyncio

    from forager.db import schema

    settings = begin(home=home)
    if settings.database_url is None:
        asyncio.run(_open_once(settings))
    else:
        from forager.db import migrate

        migrate.upgrade(settings.database_url)
    output.say(f"The schema is at {schema.head()}, the newest this Forager knows.")


async def _open_once(settings: "Settings") -> None:
    """Opening our own server makes what is missing and upgrades what is old."""
    from forager.db import open_database

    async with open_database(settings, size=1, application="forager db upgrade"):
        pass


def downgrade(
    revision: Annotated[str, typer.Argument(metavar="REVISION", help="A revision, -1 for one step, or base for none.")],
    yes: Yes = False,
    home: Home = None,
) -> None:
    """Take the schema back; what newer revisions added is lost."""
    settings = begin(home=home)
    if not yes:
        raise UsageError(f"Going down to {revision} drops everything newer revisions added; say --yes to do it.")
    if settings.database_url is not None:
        return _go_down(settings.database_url, revision)
    from forager.db import embedded

    seat = embedded.join(settings.home)
    try:
        return _go_down(seat.dsn, revision)
    finally:
        seat.leave()


def _go_down(dsn: str, revision: str) -> None:
    from forager.db import migrate

    before = migrate.current(dsn)
    migrate.downgrade(dsn, revision)
    output.say(f"The schema went from {before or 'none'} to {migrate.current(dsn) or 'none'}.")


def start(home: Home = None) -> None:
    """Start the embedded server and keep it running."""
    from forager.db import embedded

    settings = _own_server(begin(home=home))
    embedded.keep(settings.home)
    embedded.ensure_running(settings.home)
    output.say(f"The database in {settings.home} runs and stays; `forager db stop` ends it.")


def stop(
    force: Annotated[bool, typer.Option("--force", help="Also when a Forager process uses it.")] = False,
    home: Home = None,
) -> None:
    """Stop the embedded server."""
    from forager.db import embedded

    settings = _own_server(begin(home=home))
    embedded.unkeep(settings.home)
    if embedded.status(settings.home).is_used and not force:
        raise UsageError(
            "A Forager process uses the database; it stops when the last one leaves. --force stops it now."
        )
    if not embedded.stop(settings.home):
        raise ConfigurationError(f"The database in {settings.home} does not stop; its log is in that folder.")
    output.say(f"The database in {settings.home} is stopped.")


def url(home: Home = None) -> None:
    """Print the connection URL, for psql and the like."""
    from forager.db.embedded.place import Place

    settings = begin(home=home)
    sys.stdout.write((settings.database_url or Place.of(settings.home).dsn) + "\n")


def _own_server(settings: "Settings") -> "Settings":
    if settings.database_url:
        raise UsageError("The database is an external one (database_url is set); start and stop it where it lives.")
    return settings


def _text(name: str, value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return words.size(value) if name == "size_bytes" else str(value)
