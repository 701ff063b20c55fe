"""`-v` and `-q`, before and after every command."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.test_cli_docs import COMMANDS
from typer.main import get_command

from forager import logs
from forager.cli import output
from forager.cli.main import app, run
from forager.cli.name_first import put_command_first
from forager.cli.verbosity import LOG_LEVEL

Forager = Callable[..., tuple[int, str, str]]


@pytest.fixture
def forager(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Iterator[Callable[..., tuple[int, str, str]]]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(LOG_LEVEL, "warning")

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    yield call
    output.set_quiet(False)
    logs.configure()


@pytest.mark.parametrize("words", [["-v", "settings"], ["settings", "-v"], ["settings", "--verbose", "--json"]])
def test_verbose_logs_at_debug(forager: Forager, words: list[str]) -> None:
    assert forager(*words)[0] == 0
    assert os.environ[LOG_LEVEL] == "debug"
    assert logs.is_debug()


@pytest.mark.parametrize("words", [["-q", "settings"], ["settings", "-q"], ["settings", "--quiet"]])
def test_quiet_prints_data_only(forager: Forager, words: list[str]) -> None:
    code, out, err = forager(*words)
    assert code == 0
    assert "politeness.delay" in out
    assert err == ""
    assert os.environ[LOG_LEVEL] == "error"


def test_quiet_still_prints_errors(forager: Forager) -> None:
    code, _, err = forager("-q", "crawl", "not a url")
    assert code == 2
    assert err.startswith("forager: ")


def test_the_later_flag_wins(forager: Forager) -> None:
    forager("-q", "settings", "-v")
    assert logs.is_debug()
    assert not output.is_quiet()


def test_one_command_does_not_make_the_next_one_quiet(forager: Forager) -> None:
    forager("-q", "settings")
    assert forager("settings")[2] != ""


@pytest.mark.parametrize("flag", ["-v", "-q"])
def test_the_flags_may_stand_before_the_name(flag: str) -> None:
    verbs = {"show": 1, "reset": 1}
    assert put_command_first([flag, "a.example", "reset"], verbs) == ["reset", "a.example", flag]
    assert put_command_first([flag, "a.example"], verbs) == ["show", "a.example", flag]


def options_of(command: Any) -> list[str]:
    context = command.make_context("x", [], resilient_parsing=True)
    return [name for each in command.get_params(context) for name in (*each.opts, *each.secondary_opts)]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_takes_them_once(name: str) -> None:
    names = options_of(COMMANDS[name])
    for flag in ("-v", "--verbose", "-q", "--quiet"):
        assert names.count(flag) == 1, flag
    assert len(names) == len(set(names))


def test_the_program_takes_them() -> None:
    assert {"-v", "--verbose", "-q", "--quiet"} <= set(options_of(get_command(app)))
