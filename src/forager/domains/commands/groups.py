"""`forager domains groups`: domains added up by registrable domain, state, source or parser."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home, Limit
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import extra, number, say_more, wrap_column


class GroupBy(StrEnum):
    PARENT = "parent"
    STATUS = "status"
    SOURCE = "source"
    PARSER = "parser"


TITLES = {GroupBy.PARENT: "registrable domain"}
By = Annotated[GroupBy, typer.Option(help="What the domains of a group have in common.")]


def register(family: typer.Typer) -> None:
    family.command("groups", cls=Command)(groups)


def groups(by: By = GroupBy.PARENT, limit: Limit = 20, as_json: AsJson = False, home: Home = None) -> None:
    """Add domains up: by registrable domain, state, source or parser."""
    from forager.domains import queries as domain_queries

    rows = run_query(
        begin(home=home),
        "domains",
        lambda connection: domain_queries.group_domains(connection, by=by.value, limit=limit),
    )
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (
            *(wrap_column(TITLES.get(by, by.value)), number("domains"), number("pages"), number("read")),
            *(extra(number("left")), extra(number("errors")), number("images"), number("per page"), "last crawled"),
        ),
        [_line(row) for row in rows],
    )
    return say_more(rows, limit, "groups", "Nothing is known yet.")


def _line(row: dict[str, Any]) -> tuple[str, ...]:
    """Images are those that are stored, or those that were seen where none are, as by default."""
    stored = row["images_stored"]
    per_page = row["image_yield_rate"] if stored else row["avg_images_per_page"]
    return (
        words.clean(row["name"]),
        words.count(row["domains"]),
        words.count(row["pages_discovered"]),
        f"{row['coverage']:.0%}" if row["pages_discovered"] else "–",
        words.count(row["frontier_size"]),
        words.count(row["total_error_count"]),
        words.count(stored or row["images_found"]),
        f"{per_page:.2f}" if row["pages_read"] else "–",
        words.format_relative(row["last_crawled_at"], clock.now()),
    )
