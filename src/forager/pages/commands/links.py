"""`forager links`: where a page leads, who links to it, and which pages most link to."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home, Limit
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import color_cell, number, say_more, text_column, wrap_column
from forager.errors import UsageError

Row = dict[str, Any]
NONE = "No link is stored. `forager crawl` finds them."


def register(app: typer.Typer) -> None:
    app.command("links", cls=Command, rich_help_panel="Look")(links)


def links(
    url: Annotated[str | None, typer.Argument(metavar="[URL]", help="URL of a page; it is normalised.")] = None,
    *,
    incoming: Annotated[bool, typer.Option("--in", help="Only links to it.")] = False,
    outgoing: Annotated[bool, typer.Option("--out", help="Only links from it.")] = False,
    top: Annotated[bool, typer.Option("--top", help="The pages that most pages link to.")] = False,
    domain: DomainName = None,
    limit: Limit = 20,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Show the links from a page and to it, or the pages with most links to them."""
    reject_invalid(url, is_top=top, has_side=incoming or outgoing, domain=domain)
    if top:
        return _show_top(domain, limit, as_json=as_json, home=home)
    from forager.pages.links import links_of

    both = incoming == outgoing
    page = run_query(
        begin(home=home),
        "links",
        lambda connection: links_of(
            connection, url or "", outgoing=outgoing or both, incoming=incoming or both, limit=limit
        ),
    )
    if as_json:
        return output.write_json(page)
    return _write(page, limit)


def reject_invalid(url: str | None, *, is_top: bool, has_side: bool, domain: str | None) -> None:
    if url is None and not is_top:
        raise UsageError("Name a page, or ask for --top: forager links https://example.com/")
    if is_top and (url is not None or has_side):
        raise UsageError("--top is about all pages; leave out the URL, --in and --out.")
    if domain is not None and not is_top:
        raise UsageError("--domain goes with --top.")


def _show_top(domain: str | None, limit: int, *, as_json: bool, home: Any) -> None:
    from forager.pages.links import most_linked

    rows = run_query(begin(home=home), "links", lambda connection: most_linked(connection, domain=domain, limit=limit))
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (number("links"), "status", wrap_column("url"), text_column("title")),
        [
            (words.count(row["links"]), color_cell(row["status"]), words.clean(row["url"]), words.clean(row["title"]))
            for row in rows
        ],
    )
    return say_more(rows, limit, "pages", NONE)


def _write(page: Row, limit: int) -> None:
    screen = output.console()
    screen.print(words.clean(page["url"]), style="bold", soft_wrap=True)
    if "out" in page:
        _write_side(_out_words(page["out"], page["domain"]), page["out"]["links"], page["out"]["stored"], limit)
    if "out" in page and page["out"]["external"]:
        _write_external(page["out"]["external"])
    if "in" in page:
        _write_side(_in_words(page["in"]), page["in"]["links"], page["in"]["pages"], limit)


def _write_external(rows: Sequence[Row]) -> None:
    output.console().print(f"\nleads out of scope to {words.things(len(rows), 'URL')}, not visited", soft_wrap=True)
    table.write(
        ("rel", wrap_column("url"), text_column("words")),
        [(row["rel"], words.clean(row["url"]), words.clean(row["anchor"])) for row in rows],
    )


def _out_words(side: Row, domain: str) -> str:
    if side["counted"] is None:
        return "leads nowhere that is known: it was not read yet"
    if not side["stored"] and side["counted"]:
        why = "" if side["is_stored"] else f"; `forager domain {domain} set --links` stores those of later visits"
        return f"leads to {words.things(side['counted'], 'page')}, which were learned and not stored{why}"
    return f"leads to {words.things(side['stored'], 'page')}"


def _in_words(side: Row) -> str:
    domains = f" of {words.things(side['domains'], 'domain')}" if side["pages"] else ""
    return f"{words.things(side['pages'], 'page')}{domains} {'links' if side['pages'] == 1 else 'link'} to it"


def _write_side(title: str, rows: Sequence[Row], total: int, limit: int) -> None:
    more = f", {words.count(limit)} of them here" if total > len(rows) else ""
    output.console().print(f"\n{title}{more}", soft_wrap=True)
    if rows:
        table.write(
            ("status", number("code"), "rel", wrap_column("url"), text_column("words")),
            [
                (
                    color_cell(row["status"]),
                    str(row["status_code"] or "–"),
                    row["rel"],
                    words.clean(row["url"]),
                    words.clean(row["anchor"]),
                )
                for row in rows
            ],
        )
