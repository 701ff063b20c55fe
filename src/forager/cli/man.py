"""`forager man`: manual pages, made from the commands themselves: `forager(1)`, and one page per command.

`page_of` and `pages` are pure; they return roff.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from forager import __version__
from forager.cli import output
from forager.cli.help import Command, option_sections, order_sections
from forager.cli.name_first import SHOW, NameFirst
from forager.errors import NotFoundError, UsageError

ENVIRONMENT = (
    ("FORAGER_HOME", "The data folder, as --home."),
    ("FORAGER_CONFIG", "A settings file, as --config."),
    ("FORAGER_*", "Any setting: politeness.delay is FORAGER_POLITENESS_DELAY. `forager settings NAME` says the name."),
    ("NO_COLOR", "No colours on a terminal."),
)
FILES = (
    ("~/.local/share/forager", "The data folder of a user; /var/lib/forager for root."),
    ("forager.toml", "In the data folder: its settings."),
)
To = Annotated[
    Path | None,
    typer.Option("--to", metavar="FOLDER", help="Write all pages to this folder, such as ~/.local/share/man/man1."),
]
Words = Annotated[
    list[str] | None, typer.Argument(metavar="[COMMAND]...", help="A command; without one, the page of forager.")
]


def register(app: typer.Typer) -> None:
    def man(words: Words = None, to: To = None) -> None:
        """Show the manual page of a command, or write all pages to a folder.

        On a terminal the page opens in `man`, elsewhere it is printed as roff.
        """
        root = get_command(app)
        if to is None:
            return _show(page_of(root, words or []))
        if words:
            raise UsageError("--to writes all pages: leave out the command, or --to.")
        return _write_all(root, to.expanduser())

    app.command("man", cls=Command, rich_help_panel="Look after it")(man)


def _show(page: str) -> None:
    viewer = shutil.which("man")
    if viewer is None or not sys.stdout.isatty() or sys.platform == "darwin":
        sys.stdout.write(page)
    else:
        subprocess.run([viewer, "-l", "-"], input=page, text=True, check=False)


def _write_all(root: Any, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    written = pages(root)
    for name, page in written.items():
        (folder / name).write_text(page, encoding="utf-8")
    output.say(f"{len(written)} manual pages written to {folder}.")


def pages(root: Any) -> dict[str, str]:
    """Returns all pages by file name: `forager.1`, `forager-crawl.1`, …"""
    names = [name for name, command in root.commands.items() if not command.hidden]
    return {"forager.1": page_of(root, [])} | {f"forager-{name}.1": page_of(root, [name]) for name in names}


def page_of(root: Any, words: Sequence[str]) -> str:
    """Returns the page of a command, or of the program; the page of a group has all its commands."""
    if not words:
        return _join(_program(root))
    command = root.commands.get(words[0])
    if command is None:
        raise NotFoundError(f"There is no command {words[0]!r}. `forager --help` lists them all.")
    return _join(_command_page(words[0], command))


def _program(root: Any) -> Iterator[str]:
    yield from _head("forager", root.help)
    yield from (".SH SYNOPSIS", ".B forager", _text("[OPTIONS] COMMAND [ARGS]..."))
    yield from (".SH DESCRIPTION", _text(root.help))
    yield from _options(root)
    sections: dict[str, list[tuple[str, Any]]] = {}
    for name, command in root.commands.items():
        if not command.hidden:
            sections.setdefault(str(command.rich_help_panel or "Commands"), []).append((name, command))
    yield ".SH COMMANDS"
    for title, commands in order_sections(sections).items():
        yield f".SS {_text(title)}"
        for name, command in commands:
            yield from (".TP", f".BR forager\\-{_text(name)} (1)", _text(_first_paragraph(command.help)))
    yield from (".SH EXIT STATUS", _text(root.epilog))
    yield ".SH ENVIRONMENT"
    yield from _pairs(ENVIRONMENT)
    yield ".SH FILES"
    yield from _pairs(FILES)


def _command_page(name: str, command: Any) -> Iterator[str]:
    yield from _head(f"forager-{name}", command.help)
    yield ".SH SYNOPSIS"
    for index, (path, each) in enumerate(_commands(f"forager {name}", command)):
        yield from ([".br"] if index else [])
        yield f".B {_text(path)}"
        yield _text(" ".join([*_arguments(each, path), "[OPTIONS]"]))
    yield from (".SH DESCRIPTION", *_paragraphs(command.help))
    for path, each in _commands(f"forager {name}", command):
        if each is not command:
            yield from (f".SH {_text(path)}", *_paragraphs(each.help))
        yield from _options(each, is_alone=each is command)
    yield from (".SH SEE ALSO", ".BR forager (1)")


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Returns the commands of a group as they are typed, and the group itself where it can be run."""
    if isinstance(command, NameFirst):
        for verb, each in command.commands.items():
            yield f"{path} {command.subject}" + ("" if verb == SHOW else f" {verb}"), each
    elif hasattr(command, "commands"):
        if command.invoke_without_command:
            yield path, command
        for name, each in command.commands.items():
            yield from _commands(f"{path} {name}", each)
    else:
        yield path, command


def _arguments(command: Any, path: str) -> list[str]:
    """Returns the arguments of a command; one that is in its path already, as the name of a domain, is left out."""
    names = [_argument(each) for each in command.params if each.param_type_name == "argument"]
    return [name for name in names if name not in path.split()]


def _argument(parameter: Any) -> str:
    name = str(parameter.metavar or parameter.name.upper())
    many = "..." if parameter.nargs == -1 and not name.endswith("...") else ""
    return f"{name}{many}" if parameter.required or name.startswith("[") else f"[{name}]{many}"


def _options(command: Any, *, is_alone: bool = True) -> Iterator[str]:
    context = command.make_context(command.name, [], resilient_parsing=True, help_option_names=["-h", "--help"])
    for title, records in option_sections(command, context).items():
        yield f".{'SH' if is_alone else 'SS'} {_text(title.upper() if is_alone else title)}"
        yield from _pairs(records)


def _pairs(records: Sequence[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in records:
        yield from (".TP", f".B {_text(name)}", _text(meaning) or "\\&")


def _head(name: str, meaning: str | None) -> Iterator[str]:
    yield f'.TH "{name.upper()}" "1" "" "Forager {__version__}" "Forager"'
    yield from (".SH NAME", f"{_text(name)} \\- {_text(_first_paragraph(meaning))}")


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())


def _paragraphs(text: str | None) -> Iterator[str]:
    for paragraph in (text or "").split("\n\n"):
        yield from (".PP", _text(" ".join(paragraph.split())))


def _text(text: str) -> str:
    """Escapes text for roff: a backslash, a hyphen that must stay one, other than ASCII, a line that looks like a
    request."""
    escaped = re.sub(r"\s+", " ", text).strip().replace("\\", "\\e").replace("-", "\\-")
    escaped = "".join(sign if sign.isascii() else f"\\[u{ord(sign):04X}]" for sign in escaped)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _join(lines: Iterator[str]) -> str:
    return "\n".join(lines) + "\n"
