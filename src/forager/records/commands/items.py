"""`forager items`: the structured data of pages, item by item."""

from typing import Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home, Limit
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import say_more, text_column, wrap_column

LONGEST_VALUE = 60
MOST_SHOWN = 6
EVERYTHING = 2**31 - 1


def register(app: typer.Typer) -> None:
    app.command("items", cls=Command, rich_help_panel="Look")(items)


def items(
    *,
    type_: Annotated[str | None, typer.Option("--type", metavar="NAME", help="Only of this type: Recipe.")] = None,
    domain: DomainName = None,
    url: Annotated[str | None, typer.Option(metavar="URL", help="Only of this page.")] = None,
    syntax: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only json-ld, microdata, rdfa or opengraph.")
    ] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property", metavar="NAME=VALUE", help="Also !=, ~ (contains), > and <; offers.price>10 looks inside."
        ),
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List structured data: JSON-LD, microdata, RDFa and OpenGraph items."""
    from forager.records.conditions import parse_conditions
    from forager.records.items import ItemFilter, list_items

    wanted = ItemFilter(type_, domain, url, syntax, parse_conditions(properties or []))
    found = run_query(
        begin(home=home),
        "items",
        lambda conn: list_items(conn, wanted, limit=limit, most_pages=EVERYTHING),
    )
    if as_json:
        return output.write_json_list(found.rows)
    table.write(
        (text_column("type"), "syntax", wrap_column("domain"), text_column("properties"), wrap_column("url")),
        [
            (
                words.clean("/".join(map(str, row["types"])) or "–"),
                row["syntax"],
                words.clean(row["domain"]),
                words.clean(_told(row["properties"])),
                words.clean(row["url"]),
            )
            for row in found.rows
        ],
    )
    return say_more(
        found.rows, limit, "items", "No item matches. Pages say more with the crawl setting `items` on, its default."
    )


def _told(properties: dict[str, Any]) -> str:
    shown = [f"{name}: {_short(value)}" for name, value in properties.items() if _short(value)]
    return "; ".join(shown[:MOST_SHOWN])


def _short(value: Any) -> str:
    if isinstance(value, list):
        return _short(value[0]) + (f" (+{len(value) - 1})" if len(value) > 1 else "") if value else ""
    if isinstance(value, dict):
        inner = value.get("properties", value)
        return next((_short(inner[name]) for name in ("name", "@id", "url", "value") if name in inner), "{…}")
    return str(value)[:LONGEST_VALUE]
