"""`forager bodies`: which bodies are stored, how much room they take, and which were lost."""

from typing import Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import number, wrap_column

HINT = (
    "No body is stored. `forager crawl --keep snapshot` or `forager domain NAME set --keep snapshot` keeps them; with "
    "`--keep text` only the main text is kept."
)


def register(app: typer.Typer) -> None:
    app.command("bodies", cls=Command, rich_help_panel="Look")(bodies)


def bodies(limit: Limit = 20, as_json: AsJson = False, home: Home = None) -> None:
    """Show which bodies of pages are stored, by kind and by domain."""
    from forager.storage.factory import where_bodies_go
    from forager.storage.store import describe

    settings = begin(home=home)
    found = run_query(settings, "bodies", lambda connection: describe(connection, limit=limit))
    found["folder"] = where_bodies_go(settings)
    if as_json:
        output.write_json(found)
    elif not found["kinds"]:
        output.say(HINT)
    else:
        _write(found)


def _write(found: dict[str, Any]) -> None:
    now = clock.now()
    kinds = [
        (
            row["kind"],
            words.count(row["files"]),
            words.size(row["size_bytes"]),
            words.size(row["stored_bytes"]),
            words.format_relative(row["oldest_at"], now),
            words.count(row["dropped"]),
        )
        for row in found["kinds"]
    ]
    table.write(("kind", number("files"), number("bodies"), number("on disk"), "oldest", number("deleted")), kinds)
    rows = [
        (
            words.clean(row["domain"]),
            row["content_policy"] or "default",
            words.count(row["pages"]),
            words.format_relative(row["newest_at"], now),
        )
        for row in found["domains"]
    ]
    if rows:
        output.console().print()
        table.write((wrap_column("domain"), "keeps", number("pages"), "newest"), rows)
    for row in found["lost"]:
        reason = words.plain_reason(row["what"].removeprefix("lost:"))
        output.say(f"{words.things(row['bodies'], 'body', 'bodies')} lost ({reason}), last in run {row['run']}.")
    output.say(f"In {found['folder']}.")
