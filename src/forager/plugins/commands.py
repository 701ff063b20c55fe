"""`forager plugins`, `forager init` and `forager test`: what is loaded, a new plug-in, and its contracts."""

from pathlib import Path
from typing import Annotated

import typer

from forager import clock
from forager.cli import format as words
from forager.cli import output, table
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command, Group
from forager.cli.start import Noted, begin, read_settings, run_action, run_query
from forager.cli.table import Cell, Note, number, wrap_column
from forager.errors import UsageError

PANEL = "Look after it"
TRY = "Try one thing (no database)"
COLOURS = {"loaded": "green", "broken": "red", "gone": "red", "disabled": "dim"}


def register(app: typer.Typer) -> None:
    family = typer.Typer(
        cls=Group, rich_markup_mode=None, subcommand_metavar="[VERB]", help="List plug-ins, with their errors."
    )
    family.callback(invoke_without_command=True)(plugins)
    family.command("clear", cls=Command)(clear)
    app.add_typer(family, name="plugins", rich_help_panel=PANEL)
    start = typer.Typer(cls=Group, rich_markup_mode=None, no_args_is_help=True, help="Write a new extractor.")
    start.callback()(init)
    start.command("extractor", cls=Command)(init_extractor)
    app.add_typer(start, name="init", rich_help_panel=TRY)
    app.command("test", cls=Command, rich_help_panel=TRY)(run_contracts)


def plugins(
    context: typer.Context,
    *,
    trace: Annotated[bool, typer.Option("--trace", help="Show the traceback of each last error.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """List plug-ins, with their errors."""
    if context.invoked_subcommand is not None:
        if as_json or trace or home:
            verb = context.invoked_subcommand
            raise UsageError(f"Flags of `{verb}` stand behind it: forager plugins {verb} --json.")
        return None
    import asyncio

    from forager.plugins.service import find_plugins, list_plugins

    settings = begin(home=home)
    found = asyncio.run(find_plugins(settings))
    rows = run_query(settings, "plugins", lambda conn: list_plugins(conn, found))
    if as_json:
        return output.write_json_list([row.to_dict() for row in rows])
    now = clock.now()
    lines: list[tuple[str | Cell, ...] | Note] = []
    for row in rows:
        state = Cell(row.state, COLOURS.get(row.state, ""))
        hooks = ", ".join(row.hooks) or "–"
        lines.append((row.name, row.version or "–", state, words.count(row.errors), hooks, words.clean(row.source)))
        if row.problem:
            lines.append(Note(f"  └─ {words.clean(row.problem)}"))
        for each in row.failures:
            when = words.format_relative(each.last_at, now)
            where = f" at {words.clean(each.url)}" if each.url else ""
            lines.append(
                Note(f"  └─ {each.hook}, {words.count(each.errors)}×, {when}: {words.clean(each.error)}{where}")
            )
            lines += [Note(f"     {words.clean(line)}") for line in each.traceback.splitlines() if trace]
    return table.write(
        ("plug-in", "version", "state", number("errors"), wrap_column("hooks"), wrap_column("source")), lines
    )


def clear(
    name: Annotated[str | None, typer.Argument(metavar="[PLUGIN]", help="A plug-in; by default all.")] = None,
    *,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Forget the errors of plug-ins."""
    from forager.plugins.service import clear_errors

    cleared = run_action(
        begin(home=home),
        "plugins",
        lambda conn: clear_errors(conn, name),
        noted=lambda cleared: Noted("plugin.clear", "plugin", name, {"hooks": cleared}),
    )
    if as_json:
        return output.write_json({"cleared": cleared})
    return output.say(f"The errors of {words.things(cleared, 'hook')} are forgotten.")


def init() -> None:
    """Write a new extractor."""


def init_extractor(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the plug-in: letters, digits, - and _.")],
    *,
    toml: Annotated[bool, typer.Option("--toml", help="Write an extractor file, without code.")] = False,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="FOLDER", help="Write it there; by default to plugins or extractors in the data folder."
        ),
    ] = None,
    home: Home = None,
) -> None:
    """Write an extractor of records, with a page and the expected result."""
    from forager.plugins.scaffold import write_extractor

    folder = to or Path(read_settings(home=home).home) / ("extractors" if toml else "plugins")
    written = write_extractor(folder, name, as_toml=toml)
    for path in written:
        output.say(f"Written: {path}")
    output.say(f"Change it, and check it with: forager test {written[0]}")


def run_contracts(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="[PATH]",
            help="A plug-in, an extractor file, or a folder of some; by default those of the data folder.",
        ),
    ] = None,
    *,
    update: Annotated[bool, typer.Option("--update", help="Write what was found as the expected result.")] = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Check that extractors find in their fixtures what they are expected to find."""
    from forager.plugins.contracts import find_contracts, run_contract

    contracts = find_contracts(*([path] if path else _own_folders(Path(read_settings(home=home).home))))
    results = [run_contract(contract, update=update) for contract in contracts]
    failed = [result for result in results if not result.is_kept]
    if as_json:
        shown = [
            {
                "contract": each.name,
                "passed": each.is_kept,
                "updated": each.is_updated,
                "difference": each.difference or None,
                "error": each.error or None,
            }
            for each in results
        ]
        output.write_json_list(shown)
    else:
        for each in results:
            state = "updated" if each.is_updated else "ok" if each.is_kept else "failed"
            lines = [f"{state:<8} {each.name}", *(each.error or each.difference).splitlines()]
            print("\n    ".join(map(words.clean, lines)))  # noqa: T201 (data, on standard output)
        told = f"{words.things(len(results), 'contract')}, {len(failed)} failed."
        hint = " If it is right now: forager test --update." if any(each.difference for each in failed) else ""
        output.say(told + hint)
    if failed:
        raise typer.Exit(1)


def _own_folders(home: Path) -> list[Path]:
    folders = [home / name for name in ("plugins", "extractors")]
    return [folder for folder in folders if folder.exists()] or folders[:1]
