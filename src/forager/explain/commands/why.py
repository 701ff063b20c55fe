"""`forager why URL|DOMAIN`: gate by gate, and when it will be fetched. Prints what `explain.why` found."""

import textwrap
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forager.cli import format as words
from forager.cli import output
from forager.cli.flags import AsJson, Home
from forager.cli.help import Command
from forager.cli.start import begin, run_query

if TYPE_CHECKING:
    from rich.console import Console

    from forager.explain.conditions import Gate
    from forager.explain.why import ExplainResult

MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "dim")}
NAME_WIDTH = 11
INDENT = 4


def register(app: typer.Typer) -> None:
    app.command("why", cls=Command, rich_help_panel="Look")(why)


def why(
    what: Annotated[str, typer.Argument(metavar="URL|DOMAIN", help="A page or a domain, known or not.")],
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Explain why a page or domain is, or is not, being fetched now."""
    from forager.explain.conditions import build_fetch_policy
    from forager.explain.why import explain, parse_query

    parse_query(what)
    settings = begin(home=home)
    manners = build_fetch_policy(settings)
    answer = run_query(settings, "why", lambda connection: explain(connection, what, manners))
    if as_json:
        output.write_json(as_document(answer))
    else:
        _write(answer)


def build_message(answer: "ExplainResult") -> str:
    """The whole answer in one sentence."""
    outlook = answer.outlook
    match outlook.kind:
        case "now":
            return f"It is being fetched now: {outlook.because}."
        case "at":
            assert outlook.at is not None
            is_paused = any(gate.name == "pause" and gate.is_closed for gate in answer.domain_checks)
            when = "when the pause is over" if is_paused else _when(outlook.at, answer.asked_at, "at about ")
            return f"It will be fetched {when}: {outlook.because}."
        case "never":
            remedy = f"; to change that: `{outlook.remedy}`" if outlook.remedy else ""
            return f"It will not be fetched: {outlook.because}{remedy}."


def as_document(answer: "ExplainResult") -> dict[str, Any]:
    return {
        "asked": answer.asked,
        "url": answer.url,
        "domain": answer.domain,
        "asked_at": answer.asked_at,
        "answer": answer.outlook.kind,
        "next_fetch_at": answer.outlook.at if answer.outlook.kind == "at" else None,
        "sentence": build_message(answer),
        "remedy": answer.outlook.remedy,
        "page_checks": [asdict(gate) for gate in answer.page_checks],
        "domain_checks": [asdict(gate) for gate in answer.domain_checks],
    }


def _write(answer: "ExplainResult") -> None:
    from rich.text import Text

    screen = output.console()
    if answer.url is not None:
        screen.print(Text(words.clean(answer.url), style="bold"))
        _write_checks(screen, answer.page_checks, answer.asked_at)
    title = answer.domain if answer.url is None else f"domain {answer.domain}"
    screen.print(Text(words.clean(title), style="bold"))
    _write_checks(screen, answer.domain_checks, answer.asked_at)
    screen.print(Text(_fill(words.clean(build_message(answer)), screen.width, ""), style="bold"))


def _write_checks(screen: "Console", gates: tuple["Gate", ...], now: datetime) -> None:
    from rich.text import Text

    margin = " " * (INDENT + NAME_WIDTH + 1)
    for gate in gates:
        mark, colour = MARKS[gate.is_open]
        opening = f", opens {_when(gate.opens_at, now)}" if gate.is_closed and gate.opens_at else ""
        told = _fill(words.clean(gate.sentence + opening), screen.width, margin)
        line = Text(f"  {mark} ", style=colour).append(f"{gate.name:<{NAME_WIDTH}} ", style="not dim default")
        screen.print(line.append(told.removeprefix(margin), style="dim" if gate.is_open is None else "default"))


def _when(at: datetime, now: datetime, before: str = "") -> str:
    from forager.explain.conditions import format_time

    seconds = (at - now).total_seconds()
    return "in a moment" if seconds < 1 else f"{before}{format_time(at, now)} (in {words.duration(seconds)})"


def _fill(text: str, width: int, margin: str) -> str:
    """Wrapped lines stay under their first; a URL or a command is never cut."""
    return textwrap.fill(
        text, width, initial_indent=margin, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
    )
