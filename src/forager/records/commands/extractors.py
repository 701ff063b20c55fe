"""`forager extractors`: the extractor files, what each finds, and how often."""

from pathlib import Path
from typing import Annotated, Any

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, DomainName, Home, Limit
from forager.cli.help import Command, Group
from forager.cli.start import begin, run_query
from forager.cli.table import Cell, number, say_more, text_column, wrap_column
from forager.errors import NotFoundError, UsageError

Row = dict[str, Any]
SUMMARY = "List extractors; show one, check a file, see coverage."
BROKEN = 1


def register(app: typer.Typer) -> None:
    family = typer.Typer(cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help=SUMMARY)
    family.callback(invoke_without_command=True)(extractors)
    for name, function in (("show", show), ("check", check), ("coverage", coverage)):
        family.command(name, cls=Command)(function)
    app.add_typer(family, name="extractors", rich_help_panel="Look")


def extractors(context: typer.Context, *, as_json: AsJson = False, home: Home = None) -> None:
    """List extractors; show one, check a file, see coverage."""
    if context.invoked_subcommand is not None:
        if as_json or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager extractors {verb} --json.")
        return None
    rows, bad, folder = _list(home)
    if as_json:
        return output.write_json({"extractors": rows, "bad_files": bad})
    now = clock.now()
    table.write(
        (
            "name",
            "kind",
            wrap_column("file"),
            number("records"),
            number("complete"),
            number("gone"),
            "seen",
            number("failed"),
        ),
        [
            (
                row["name"],
                row["kind"] or "–",
                row["file"] or "–",
                words.count(row["records"]),
                words.count(row["complete"]),
                words.count(row["gone"]),
                words.format_relative(row["last_seen_at"], now) if row["last_seen_at"] else "–",
                Cell(words.count(row["failed"]), "red" if row["failed"] else ""),
            )
            for row in rows
        ],
    )
    for row in rows:
        if row["model"]:
            output.say(f"{row['name']} asks a model: {_tell_model(row['model'])}.")
    for each in bad:
        output.complain(each["problem"])
    if not rows and not bad:
        output.say(f"No extractor yet: write a file into {folder}; docs/how-to/extractors.md shows how.")
    return None


def _tell_model(model: Row) -> str:
    """Returns how far an extractor is that asks a model."""
    if not model["is_configured"]:
        return "off, because model.url is not set"
    told = f"{words.things(model['waiting'], 'page')} waiting, {words.count(model['done'])} read"
    if model["failed"]:
        told += f", {words.count(model['failed'])} given up"
    told += f", {words.count(model['calls_today'])} of {words.count(model['max_calls_per_day'])} calls today"
    if model["paused_until"]:
        told += f", left alone until {model['paused_until']:%H:%M} UTC"
    return told + (f"; last error: {words.clean(model['last_error']).rstrip('.')}" if model["last_error"] else "")


def _list(home: Any) -> tuple[list[Row], list[Row], Path]:
    from forager.records import service

    settings = begin(home=home)
    rows, bad = run_query(settings, "extractors", lambda conn: service.list_extractors(conn, settings))
    return rows, bad, service.folder_of(settings.home)


def show(name: Annotated[str, typer.Argument(metavar="NAME")], *, as_json: AsJson = False, home: Home = None) -> None:
    """Show one extractor: what it is for, its fields, its numbers."""
    rows, bad, _ = _list(home)
    row = next((each for each in rows if each["name"] == name), None)
    if row is None:
        broken = "".join(f" {each['problem']}" for each in bad)
        raise NotFoundError(f"There is no extractor {name!r}; `forager extractors` lists them.{broken}")
    if as_json:
        return output.write_json(row)
    match = row["match"] or {}
    told = [
        ("kind", row["kind"]),
        ("file", row["file"]),
        ("about", row["description"]),
        *((key, ", ".join(value) if isinstance(value, list) else value) for key, value in match.items()),
        ("fields", ", ".join(row["fields"])),
        ("records", f"{words.count(row['records'])}, {words.count(row['complete'])} complete"),
        ("last error", row["last_error"]),
        ("model", _tell_model(row["model"]) if row["model"] else None),
    ]
    return table.write(
        (text_column("what"), wrap_column("value")), [(key, words.clean(str(value))) for key, value in told if value]
    )


def check(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]…", help="Default: all of the data folder.")
    ] = None,
    *,
    home: Home = None,
) -> None:
    """Check extractor files without running them."""
    from forager.parsing.extractors.load import load_file, load_folder
    from forager.records.service import folder_of

    settings = begin(home=home)
    problems: list[str] = []
    names: list[str] = []
    if files:
        for path in files:
            try:
                names.append(load_file(path).name)
            except UsageError as error:
                problems.append(str(error))
    else:
        loaded = load_folder(folder_of(settings.home))
        names = [each.name for each, _ in loaded.all()]
        problems = [bad.problem for bad in loaded.bad]
    for problem in problems:
        output.complain(problem)
    output.say(f"{words.things(len(names), 'extractor')} good{': ' + ', '.join(names) if names else ''}.")
    if problems:
        raise typer.Exit(BROKEN)


def coverage(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Only of this extractor.")] = None,
    *,
    domain: DomainName = None,
    days: Annotated[int, typer.Option(min=1, max=366, metavar="N", help="Days back.")] = 14,
    limit: Limit = 200,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List how often each field was found, by domain and day."""
    from forager.records import queries

    rows = run_query(
        begin(home=home),
        "extractors",
        lambda conn: queries.list_coverage(conn, domain=domain, extractor=name, days=days, limit=limit),
    )
    if as_json:
        return output.write_json_list(rows)
    table.write(
        (
            "day",
            wrap_column("domain"),
            "extractor",
            "field",
            number("found"),
            number("valid"),
            number("missing"),
            number("rate"),
        ),
        [
            (
                f"{row['day']:%Y-%m-%d}",
                row["domain"],
                row["extractor"],
                row["field"] or Cell("(record)", "dim"),
                words.count(row["found"]),
                words.count(row["valid"]),
                words.count(row["missing"]),
                "–" if row["rate"] is None else f"{row['rate']:.0%}",
            )
            for row in rows
        ],
    )
    return say_more(rows, limit, "rows", "No extractor ran yet.")
