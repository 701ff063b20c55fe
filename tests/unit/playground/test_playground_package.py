"""The playground is a package of its own, which Forager does without: only two commands import it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from forager import __version__
from forager.cli.main import run

ROOT = Path(__file__).parents[3]
IMPORT = re.compile(r"^\s*(?:from|import) forager_playground\b", re.MULTILINE)
ITS_IMPORT = re.compile(r"^\s*(?:from|import) (forager\b[\w.]*(?: import clock)?)", re.MULTILINE)
USERS = {"demo.py", "demo_report.py", "playground.py"}
"""The commands `forager demo` and `forager playground`."""
USED = {"forager.errors", "forager.interpreter", "forager import clock"}
"""What the playground takes of Forager."""


@pytest.mark.parametrize("command", ["demo", "playground"])
def test_without_it_a_command_says_how_to_install_it(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(sys.modules, "forager_playground", None)
    assert run((command,)) == 4
    said = capsys.readouterr().err
    assert "The playground is not installed: run `pip install . ./playground` in a clone" in " ".join(said.split())
    assert not (tmp_path / "home").exists()


def test_forager_imports_it_in_two_commands_only() -> None:
    importing = {path.name for path in (ROOT / "src/forager").rglob("*.py") if IMPORT.search(path.read_text("utf-8"))}
    assert importing == USERS


def test_it_imports_little_of_forager() -> None:
    modules = (path.read_text("utf-8") for path in (ROOT / "playground").rglob("*.py"))
    assert {name for text in modules for name in ITS_IMPORT.findall(text)} == USED


def test_both_packages_have_one_version() -> None:
    project = tomllib.loads((ROOT / "playground/pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__
