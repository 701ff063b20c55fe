"""The reference pages say what the program does: every command, every flag, every setting with its default."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from forager.cli.main import app
from forager.cli.name_first import SHOW, NameFirst
from forager.config.crawl_reference import write as write_crawl_settings
from forager.config.reference import write
from forager.export.commands.export import ExportKind
from forager.export.rows import COLUMNS

REFERENCE = Path(__file__).parents[3] / "docs" / "reference"
CLI = (REFERENCE / "cli.md").read_text(encoding="utf-8")
SECTIONS: dict[str, str] = dict(re.findall(r"^### forager (.*)\n((?:(?!^##).*\n?)*)", CLI, re.MULTILINE))


def commands(group: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if isinstance(command, NameFirst):
            for verb, inner in command.commands.items():
                yield f"{prefix}{name} {command.subject}" + ("" if verb == SHOW else f" {verb}"), inner
        elif hasattr(command, "commands"):
            if command.invoke_without_command:
                yield prefix + name, command
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield prefix + name, command


COMMANDS = dict(commands(get_command(app)))


def test_every_command_has_its_section_and_no_other() -> None:
    assert set(SECTIONS) == set(COMMANDS)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_flag_is_in_its_table_and_no_other(name: str) -> None:
    documented = set(
        re.findall(r"`(--?[a-z][a-z-]*)", "".join(re.findall(r"^\| `-.*? \|", SECTIONS[name], re.MULTILINE)))
    )
    real = {
        flag
        for parameter in COMMANDS[name].params
        if parameter.param_type_name == "option"
        for flag in (*parameter.opts, *parameter.secondary_opts)
    }
    assert documented == real - {"--help"}


def test_every_column_of_a_page_is_named() -> None:
    for column in COLUMNS["pages"]:
        assert f"`{column}`" in SECTIONS["export"]
    assert set(COLUMNS) == {what.value for what in ExportKind} - {ExportKind.WARC.value, ExportKind.WACZ.value}


def test_the_page_of_settings_is_what_is_written() -> None:
    assert (REFERENCE / "settings.md").read_text(encoding="utf-8") == write()
    assert (REFERENCE / "crawl-settings.md").read_text(encoding="utf-8") == write_crawl_settings()
