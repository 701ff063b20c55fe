"""Manual pages: one per command, all flags in them, and roff that formatters accept."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.test_cli_docs import COMMANDS
from typer.main import get_command

from forager.cli.main import EXITS, app, run
from forager.cli.man import page_of, pages

ROOT: Any = get_command(app)
PAGES = pages(ROOT)


def test_every_command_has_a_page() -> None:
    assert set(PAGES) == {"forager.1"} | {f"forager-{name}.1" for name in ROOT.commands}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_flag_is_on_the_page(name: str) -> None:
    page = PAGES[f"forager-{name.split(maxsplit=1)[0]}.1"].replace("\\-", "-")
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            assert parameter.opts[0] in page


def test_the_first_page_lists_commands_and_exit_codes() -> None:
    page = PAGES["forager.1"].replace("\\-", "-")
    assert "forager-crawl (1)" in page
    assert " ".join(EXITS.split()) in page


def test_groff_has_no_complaint() -> None:
    if shutil.which("groff") is None:
        pytest.skip("there is no groff")
    ended = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww"],
        input="".join(PAGES.values()),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stderr == ""
    assert "FORAGER-CRAWL(1)" in ended.stdout


def test_a_page_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["man", "domain"]) == 0
    assert capsys.readouterr().out == page_of(ROOT, ["domain"])


def test_all_pages_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["man", "--to", str(tmp_path / "man1")]) == 0
    assert {path.name: path.read_text() for path in (tmp_path / "man1").iterdir()} == PAGES


def test_an_unknown_command_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["man", "nope"]) == 3
    assert "'nope'" in capsys.readouterr().err
