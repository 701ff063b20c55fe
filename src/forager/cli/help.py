"""What all commands share: titled groups in plain help, and checks that arguments are readable text.

Typer renders titles with rich only, which would double the time `forager --help` takes. Commands and flags name their
group with `rich_help_panel`, as Typer calls it.
"""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

FLAGS = "Options"
COMMANDS = "Commands"


class Command(TyperCommand):
    """A command whose flags are listed under titles."""

    def invoke(self, ctx: Any) -> Any:
        _check_encoding(ctx)
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = _record(parameter, ctx)
            if record:
                sections.setdefault(_flag_title(parameter), []).append(record)
        _write(formatter, _last(sections, FLAGS))


class Group(TyperGroup):
    """A command group whose commands are listed under titles."""

    def invoke(self, ctx: Any) -> Any:
        _check_encoding(ctx)
        return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        shown = {name: command for name, command in self.commands.items() if not command.hidden}
        room = formatter.width - 6 - max(len(name) for name in shown)
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in shown.items():
            title = getattr(command, "rich_help_panel", None)
            line = (name, command.get_short_help_str(room))
            sections.setdefault(title if isinstance(title, str) else COMMANDS, []).append(line)
        _write(formatter, sections)


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
