"""`forager audit log`: who changed what, from where, newest first."""

from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.start import begin, run_query
from forager.cli.table import Cell, text_column

Row = dict[str, Any]


def show_log(
    *,
    who: Annotated[
        str | None, typer.Option(metavar="WHO", help="Only by this user, such as api:alice or cli:root.")
    ] = None,
    action: Annotated[
        str | None,
        typer.Option(metavar="ACTION", help="Only this action or its family: user, user.invite, domain.pause …"),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="Only since: 2026-01-31, or 7d, 12h, 30m ago.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show who changed what, newest first."""
    from forager.accounts.audit import read
    from forager.cli.durations import parse_past_time

    begun = parse_past_time(since, clock.now()) if since is not None else None
    rows = run_query(
        begin(home=home),
        "audit",
        lambda conn: read(conn, who=who, action=action, since=begun, limit=limit),
    )
    if as_json:
        return output.write_json_list(rows)
    table.write(
        ("when", "who", "via", "from", "action", "what", text_column("details")),
        [
            (
                f"{row['at']:%Y-%m-%d %H:%M:%S}",
                words.clean(row["who"]),
                row["via"],
                row["ip"] or "–",
                Cell(row["action"], "" if row["outcome"] == "done" else "red"),
                words.clean(" ".join(filter(None, (row["object_kind"], row["object_id"])))) or "–",
                _details(row),
            )
            for row in rows
        ],
    )
    if not rows:
        output.say("No entry matches.")
    return None


def _details(row: Row) -> str:
    told = [] if row["outcome"] == "done" else [row["outcome"]]
    told += [f"{name} {value}" for name, value in row["details"].items()]
    return words.clean(", ".join(told)) or "–"
