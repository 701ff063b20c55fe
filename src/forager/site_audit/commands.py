"""`forager report`: what the owner of a site would want to repair, from what crawls found."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.durations import parse_past_time
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import begin, run_query
from forager.cli.table import Cell, number, text_column, wrap_column
from forager.errors import UsageError

if TYPE_CHECKING:
    from forager.db.types import Connection
    from forager.site_audit.models import Comparison, Finding, SiteReport

COLORS = {"error": "red", "warning": "yellow", "notice": "dim"}
MOST_EXAMPLES = 3
"""Examples in the terminal; the HTML has twenty, unless --limit says otherwise."""
MOST_IN_FILE = 20
ROWS_AT_ONCE = 500


def register(app: typer.Typer) -> None:
    app.command("report", cls=Command, rich_help_panel="Look")(report)


def report(
    site: Annotated[str, typer.Argument(metavar="SITE", help="Name or URL of a domain that was crawled.")],
    *,
    html: Annotated[
        str | None,
        typer.Option("--html", metavar="FILE", help="Write the report as one HTML file; - for standard output."),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FOLDER", help="Write all findings, a CSV file for each kind.")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="WHEN", help="Show what changed since: 2026-01-31, or 7d, 12h ago."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, max=1000, metavar="N", help="Examples of each finding.")
    ] = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Report broken links, redirects, titles, canonicals, orphans, slow pages and more of a site."""
    from forager.site_audit.service import report_site

    if as_json and html == "-":
        raise UsageError("--json and --html - both write to standard output; give --html a file.")
    since = parse_past_time(compare, clock.now()) if compare is not None else None
    examples = limit or (MOST_IN_FILE if html is not None or as_json else MOST_EXAMPLES)

    settings = begin(home=home)
    if csv is not None:
        csv.mkdir(parents=True, exist_ok=True)

    async def read(connection: "Connection") -> "SiteReport":
        found = await report_site(connection, site, since=since, examples=examples)
        if csv is not None:
            await _write_csv(connection, found, csv)
        return found

    found = run_query(settings, "report", read)
    if html is not None:
        from forager.site_audit.html import render_report

        with output.open_output(None if html == "-" else html) as file:
            file.write(render_report(found).encode())
    if as_json:
        from forager.site_audit.rows import as_document

        output.write_json(as_document(found))
    elif html is None and csv is None:
        _write(found)
    else:
        written = " and ".join(str(path) for path in (html if html != "-" else None, csv) if path is not None)
        if written:
            output.say(f"{_describe_total(found)} Written to {written}.")


async def _write_csv(connection: "Connection", report: "SiteReport", folder: Path) -> None:
    """Writes a file for each kind of finding that has some, and `summary.csv`, from the same snapshot."""
    from forager.export.csv_rows import line
    from forager.site_audit.checks import BY_NAME
    from forager.site_audit.rows import COLUMNS, SUMMARY_COLUMNS, list_rows, list_summary
    from forager.site_audit.service import find_site, list_findings

    site = await find_site(connection, report.site)
    with output.open_output(str(folder / "summary.csv")) as file:
        file.write("\n".join([line(SUMMARY_COLUMNS), *map(line, list_summary(report)), ""]).encode())
    for finding in report.findings:
        if not finding.total:
            (folder / f"{finding.name}.csv").unlink(missing_ok=True)
            continue
        check = BY_NAME[finding.name]
        with output.open_output(str(folder / f"{finding.name}.csv")) as file:
            file.write(f"{line(COLUMNS)}\n".encode())
            async for example in list_findings(connection, site.id, check):
                file.write("".join(f"{line(row)}\n" for row in list_rows(check, example)).encode())


def _write(report: "SiteReport") -> None:
    screen = output.console()
    screen.print(words.clean(report.base_url), style="bold", soft_wrap=True)
    screen.print(
        f"{words.things(report.pages, 'page')} known, {words.count(report.visited)} visited, "
        f"{words.count(report.html)} read as HTML\n",
        soft_wrap=True,
    )
    table.write(
        (number("found"), "kind", wrap_column("finding")),
        [
            (words.count(each.total), Cell(each.severity, COLORS[each.severity]), each.title)
            for each in report.findings
            if each.total
        ],
    )
    for finding in report.findings:
        if finding.total:
            _write_finding(finding)
    _write_depths(report)
    if report.comparison is not None:
        _write_comparison(report.comparison)
    for note in report.notes:
        output.say(note)
    output.say(f"{_describe_total(report)} --html FILE writes a page to pass on, --csv FOLDER all of it.")


def _describe_total(report: "SiteReport") -> str:
    kinds = [each for each in report.findings if each.total]
    counted = ", ".join(
        words.things(sum(each.total for each in kinds if each.severity == severity), severity)
        for severity in COLORS
        if any(each.severity == severity for each in kinds)
    )
    return (
        f"{counted} in {words.things(report.visited, 'page')}." if counted else "Nothing was found that needs repair."
    )


def _write_finding(finding: "Finding") -> None:
    from rich.text import Text

    screen = output.console()
    screen.print()
    screen.print(Text(finding.title, style=f"bold {COLORS[finding.severity]}"), soft_wrap=True)
    for example in finding.examples:
        value = f"  {words.clean(example.value)}" if example.value else ""
        screen.print(Text(f"  {words.clean(example.url)}{value}"), soft_wrap=True)
        for other in example.others:
            screen.print(Text(f"    {finding.others} {words.clean(other)}"), soft_wrap=True)
        more = example.others_total - len(example.others)
        if example.others and more > 0:
            screen.print(f"    and {words.count(more)} more", soft_wrap=True)
    more = finding.total - len(finding.examples)
    if more > 0:
        screen.print(f"  and {words.count(more)} more", soft_wrap=True)


def _write_depths(report: "SiteReport") -> None:
    output.console().print("\nstatus by depth", style="bold")
    heads = ("pages", "ok", "redirects", "4xx", "5xx", "no answer", "robots", "not visited")
    table.write(
        (number("depth"), *(number(head) for head in heads)),
        [tuple(words.count(value) for value in row) for row in report.status_by_depth],
    )


def _write_comparison(found: "Comparison") -> None:
    from forager.site_audit.checks import COMPARED

    screen = output.console()
    screen.print(f"\nsince {found.since:%Y-%m-%d %H:%M} UTC", style="bold")
    table.write(
        (text_column("what"), number("then"), number("now"), number("new"), number("fixed")),
        [
            (COMPARED[each.kind], *(words.count(value) for value in (each.before, each.now, each.new, each.fixed)))
            for each in found.differences
        ],
    )
    for each in found.differences:
        for state, rows in (("new", each.new_examples), ("fixed", each.fixed_examples)):
            for row in rows:
                change = f"{row.past or 'not visited'} → {row.value or '–'}"
                screen.print(
                    f"  {state}: {words.clean(row.url)}  {words.clean(change)}", soft_wrap=True, highlight=False
                )
    screen.print(
        f"{words.things(found.new_pages, 'page')} new, content of {words.count(found.changed_pages)} changed",
        soft_wrap=True,
    )
    for note in found.not_comparable:
        screen.print(f"not compared: {note}", soft_wrap=True, style="dim")
