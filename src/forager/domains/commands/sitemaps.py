"""`forager domain NAME sitemaps`: the sitemaps and feeds of a site, and what they list."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.start import begin, run_query
from forager.cli.table import Note, extra, number, wrap_column

if TYPE_CHECKING:
    from datetime import datetime

    from forager.db.types import Connection

Row = dict[str, Any]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name or a URL.")]
FOUND_BY = {
    "robots": "robots.txt",
    "guess": "usual place",
    "index": "index",
    "page": "a page",
    "redirect": "redirect",
}
COLUMNS = (
    wrap_column("file"),
    extra("found by"),
    extra("format"),
    number("URLs"),
    number("new"),
    "read",
    extra("next"),
)


def sitemaps(name: Name, as_json: AsJson = False, home: Home = None) -> None:
    """List its sitemaps and feeds, how many URLs each lists, and how many were new."""
    from forager.domains.sitemaps import count_listed, list_sitemaps

    async def read(connection: "Connection") -> tuple[Row, list[Row]]:
        return await count_listed(connection, name), await list_sitemaps(connection, name)

    totals, rows = run_query(begin(home=home), "domain", read)
    if as_json:
        output.write_json({**totals, "files": rows})
        return
    if not rows:
        output.say("No sitemap and no feed of it is known so far.")
        return
    table.write(COLUMNS, list(_lines(rows, clock.now())))
    output.say(describe_totals(totals))


def describe_totals(totals: Row) -> str:
    """Returns what the files list in all, as a sentence."""
    files = words.things(totals["sitemaps"], "sitemap")
    if totals["feeds"]:
        files += f" and {words.things(totals['feeds'], 'feed')}"
    pages = "page is" if totals["pages"] == 1 else "pages are"
    return (
        f"{words.things(totals['urls'], 'URL')} in {files}: {words.count(totals['pages'])} {pages} known, "
        f"{words.count(totals['new_urls'])} new through them, {words.count(totals['orphans'])} linked by no page that "
        "was read."
    )


def _lines(rows: list[Row], now: "datetime") -> Iterator[tuple[str, ...] | Note]:
    for row in rows:
        yield (
            words.clean(row["url"]),
            FOUND_BY[row["found_by"]],
            row["format"] or "–",
            words.count(row["urls"]) if row["format"] else "–",
            words.count(row["new_urls"]) if row["format"] else "–",
            words.format_relative(row["read_at"], now),
            words.format_relative(row["next_visit_at"], now),
        )
        if trouble := find_trouble(row):
            yield Note(f"  └─ {words.clean(trouble)}")


def find_trouble(row: Row) -> str | None:
    """Returns why the last visit of a file failed, or why it was not read to its end."""
    if row["outcome"] not in {None, "success"}:
        code = row["status_code"] or row["error_code"]
        return f"{code}: {row['error_message']}" if row["error_message"] else str(code)
    problem: str | None = row["problem"]
    return problem
