"""What all commands share: titled groups in plain help, and checks that arguments are readable text.

Typer renders titles with rich only, which would double the time `forager --help` takes. Commands and flags name their
group with `rich_help_panel`, as Typer calls it.
"""

from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from forager.cli import verbosity
from forager.cli.other_names import suggest_command

T = TypeVar("T")
FLAGS = "Options"
COMMANDS = "Commands"
TITLES = {
    "Crawl": "Crawl",
    "Look": "Look at what was found",
    "Look after it": "Operate",
    "Try one thing (no database)": "Try one thing (no database)",
}
"""The groups of commands, as commands name them and as they are shown."""
NO_CUT = 10_000
"""Characters of a summary: it is wrapped, and never cut."""


class Command(TyperCommand):
    """A command whose flags are listed under titles."""

    def get_params(self, ctx: Any) -> list[Any]:
        return verbosity.add_global_options(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        _check_encoding(ctx)
        verbosity.quiet_params(ctx.params)
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write(formatter, option_sections(self, ctx))


class Group(TyperGroup):
    """A command group whose commands are listed under titles."""

    def get_params(self, ctx: Any) -> list[Any]:
        return verbosity.add_global_options(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        _check_encoding(ctx)
        return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if ctx.parent is None and args[0] not in self.commands and (hint := suggest_command(args[0])):
            ctx.fail(f"No such command {args[0]!r}. Did you mean `{hint}`?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        shown = {name: command for name, command in self.commands.items() if not command.hidden}
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in shown.items():
            title = getattr(command, "rich_help_panel", None)
            line = (name, command.get_short_help_str(NO_CUT))
            sections.setdefault(title if isinstance(title, str) else COMMANDS, []).append(line)
        _write(formatter, order_sections(sections))


def order_sections(sections: dict[str, T]) -> dict[str, T]:
    """Returns the groups of commands in the order in which a new user needs them, under the titles of `TITLES`."""
    known = [title for title in TITLES if title in sections]
    return {TITLES.get(title, title): sections[title] for title in dict.fromkeys([*known, *sections])}


def option_sections(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Returns the arguments and flags of a command under their titles, each with its meaning."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        record = _record(parameter, ctx)
        if record:
            sections.setdefault(_flag_title(parameter), []).append(record)
    return _last(sections, FLAGS)


def _check_encoding(ctx: Any) -> None:
    """Rejects words that are not UTF-8: file names may be any bytes, but nothing else could be looked up or stored."""
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name)
        for word in value if isinstance(value, list | tuple) else [value]:
            if isinstance(word, str) and any("\ud800" <= letter <= "\udfff" for letter in word):
                shown = word.encode("utf-8", "backslashreplace").decode()
                raise typer.BadParameter(f"'{shown}' is not UTF-8, and has to be", ctx=ctx, param=parameter)


def _record(parameter: Any, ctx: Any) -> tuple[str, str] | None:
    """Shows arguments by their name alone: Typer would add the Python type."""
    if parameter.param_type_name == "argument":
        return parameter.metavar or parameter.name.upper(), parameter.help or ""
    found: tuple[str, str] | None = parameter.get_help_record(ctx)
    return found


def _flag_title(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    title = getattr(parameter, "rich_help_panel", None)
    return title if isinstance(title, str) else FLAGS


def _last(sections: dict[str, list[tuple[str, str]]], title: str) -> dict[str, list[tuple[str, str]]]:
    """Lists `--help` and other flags without a group after the groups."""
    rest = {name: lines for name, lines in sections.items() if name != title}
    return rest | ({title: sections[title]} if title in sections else {})


def _write(formatter: Any, sections: dict[str, list[tuple[str, str]]]) -> None:
    for title, lines in sections.items():
        with formatter.section(title):
            formatter.write_dl(lines)
