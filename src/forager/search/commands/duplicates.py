"""`forager duplicates`: lists clusters of near-duplicate pages; `forager duplicates URL`: pages similar to one page."""

from typing import Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home, Limit
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import Note, number, text_column, wrap_column

Row = dict[str, Any]
Distance = Annotated[
    int, typer.Option(help="Bits of 64 in which they may differ: 0 for the same text.", min=0, max=3, metavar="N")
]


def register(app: typer.Typer) -> None:
    app.command("duplicates", cls=Command, rich_help_panel="Look")(duplicates)


def duplicates(
    *,
    url: Annotated[str | None, typer.Argument(metavar="URL", help="Only pages similar to this one.")] = None,
    domain: DomainName = None,
    distance: Distance = 3,
    limit: Limit = 20,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List pages with the same text, or nearly."""
    settings = begin(home=home)
    if url is not None:
        return _show_page(settings, url, distance, limit, as_json=as_json)
    from forager.search import duplicates as control

    rows = run_query(
        settings,
        "duplicates",
        lambda conn: control.list_clusters(conn, domain=domain, distance_bits=distance, limit=limit),
    )
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (number("pages"), number("domains"), wrap_column("stands for them"), text_column("title")), list(_lines(rows))
    )
    if not rows:
        return output.say("No two pages that are indexed say nearly the same.")
    return output.say("A line begins with = where every word is the same, else with the bits that differ.")


def _lines(rows: list[Row]) -> list[tuple[str, ...] | Note]:
    lines: list[tuple[str, ...] | Note] = []
    for row in rows:
        lines.append(
            (words.count(row["pages"]), words.count(row["domains"]), words.clean(row["url"]), words.clean(row["title"]))
        )
        lines += [Note(f"  {_format_distance(member)}  {words.clean(member['url'])}") for member in row["members"]]
        if (more := row["pages"] - 1 - len(row["members"])) > 0:
            lines.append(Note(f"     and {words.count(more)} more"))
    return lines


def _format_distance(member: Row) -> str:
    return " =" if member["is_exact"] else f"{member['distance']:>2}"


def _show_page(settings: Any, url: str, distance: int, limit: int, *, as_json: bool) -> None:
    from forager.search import duplicates as control

    found = run_query(
        settings, "duplicates", lambda conn: control.of_page(conn, url, distance_bits=distance, limit=limit)
    )
    if as_json:
        return output.write_json(found)
    rows = [(_format_distance(row), words.clean(row["url"]), words.clean(row["title"])) for row in found["members"]]
    if rows:
        table.write((number("bits"), wrap_column("url"), text_column("title")), rows)
        return output.say("= where every word is the same, else the bits of 64 that differ.")
    if not found["is_indexed"]:
        return output.say(
            f"{words.clean(found['url'])} is not indexed: it was not read, or not since the last indexing."
        )
    if not found["has_text"]:
        return output.say(f"{words.clean(found['url'])} has too little text to be compared.")
    return output.say(f"No page that is indexed says nearly what {words.clean(found['url'])} says.")
