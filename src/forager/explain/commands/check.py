"""`forager check`: the promises of the design, verified on the live database. Exit code 1 when one is broken."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import begin, repair, require_bucket

if TYPE_CHECKING:
    from forager.explain.check import Finding, PromiseResult

BROKEN = 1
Deep = Annotated[
    bool,
    typer.Option("--deep", help="Also read all bodies, the history and the schema; takes as long as the disk needs."),
]
NAME_WIDTH = 18


def register(app: typer.Typer) -> None:
    app.command("check", cls=Command, rich_help_panel="Look after it")(check)


def check(deep: Deep = False, as_json: AsJson = False, home: Home = None) -> None:
    """Verify the guarantees on the live database."""
    from forager.explain.service import look

    settings = begin(home=home)
    require_bucket(settings)
    verdicts = repair(settings, "check", lambda pool: look(pool, settings, deep=deep))
    broken = [verdict for verdict in verdicts if verdict.broken]
    if as_json:
        output.write_json({"is_clean": not broken, "promises": [_as_row(verdict) for verdict in verdicts]})
    else:
        write_check_results(verdicts)
    if broken:
        names = "; ".join(f"{verdict.promise.number} ({verdict.promise.sentence.lower()})" for verdict in broken)
        output.complain(f"{'guarantee' if len(broken) == 1 else 'guarantees'} violated: {names}.")
        output.say("`forager repair --dry-run` shows what would be done about each.")
        raise typer.Exit(BROKEN)


def write_check_results(verdicts: list["PromiseResult"]) -> None:
    from rich.text import Text

    screen = output.console()
    for verdict in verdicts:
        is_kept = not verdict.broken
        line = Text(" ✓ " if is_kept else " ✗ ", style="bold green" if is_kept else "bold red")
        line.append(f"{verdict.promise.number}  {verdict.promise.sentence}", style="default")
        line.append(f"  {words.things(verdict.broken, 'broken row')}" if verdict.broken else "", style="red")
        screen.print(line)
        for finding in verdict.findings:
            screen.print(Text(_counts(finding), style="red" if finding.broken else "dim"))
            for indent, text in _explain(finding):
                screen.print(Text(_wrap_text(text, indent, screen.width), style="dim"))


def _counts(finding: "Finding") -> str:
    """What was asked, how many rows were looked at, how many of them are broken."""
    things = finding.things.replace("_", " ").removesuffix("s")
    broken = f", {words.count(finding.broken)} broken" if finding.broken else ""
    return f"      {finding.name:<{NAME_WIDTH}} looked at {words.things(finding.looked_at, things)}{broken}"


def _explain(finding: "Finding") -> list[tuple[int, str]]:
    """Lines with their indents."""
    if not finding.broken:
        return []
    more = finding.broken - len(finding.examples)
    rest = [(8, f"and {words.count(more)} more")] if more > 0 else []
    examples = [(8, words.clean(example)) for example in finding.examples]
    repair = [(8, f"Repair: {finding.repair}")] if finding.repair else []
    return [(8, finding.sentence), *examples, *rest, *repair]


def _wrap_text(text: str, indent: int, width: int) -> str:
    """Wrapped lines stay under their first."""
    import textwrap

    margin = " " * indent
    return textwrap.fill(text, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)


def _as_row(verdict: "PromiseResult") -> dict[str, Any]:
    return {
        "promise": verdict.promise.number,
        "sentence": verdict.promise.sentence,
        "broken": verdict.broken,
        "checks": [
            {
                "name": finding.name,
                "sentence": finding.sentence,
                "looked_at": finding.looked_at,
                "things": finding.things,
                "broken": finding.broken,
                "examples": finding.examples,
                "repair": finding.repair,
            }
            for finding in verdict.findings
        ],
    }
