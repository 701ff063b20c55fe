"""The name before the verb: what Typer is given instead."""

import pytest

from forager.cli.main import run
from forager.cli.name_first import put_command_first

VERBS = ("show", "reset", "set")


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        ("shop.example", "show shop.example"),
        ("shop.example --json", "show shop.example --json"),
        ("--json shop.example", "show --json shop.example"),
        ("shop.example reset", "reset shop.example"),
        ("shop.example reset --reason x", "reset shop.example --reason x"),
        ("shop.example set --every 6h", "set shop.example --every 6h"),
        ("shop.example rest", "rest shop.example"),
        ("shop.example --help", "show shop.example --help"),
        ("reset --help", "reset --help"),
        ("reset shop.example", "reset shop.example"),
        ("reset", "reset"),
        ("set reset", "reset set"),
        ("--help", "--help"),
        ("", "show"),
    ],
)
def test_the_verb_comes_first(typed: str, given: str) -> None:
    assert put_command_first(typed.split(), VERBS) == given.split()


@pytest.mark.parametrize(
    ("typed", "usage"),
    [
        ("domain --help", "Usage: forager domain NAME [VERB] [OPTIONS]"),
        ("domain shop.example --help", "Usage: forager domain NAME [OPTIONS]"),
        ("domain shop.example reset --help", "Usage: forager domain NAME reset [OPTIONS]"),
        ("domain set -h", "Usage: forager domain NAME set [OPTIONS]"),
        ("page http://shop.example/ every --help", "Usage: forager page URL every TIME [OPTIONS]"),
    ],
)
def test_help_shows_it_as_it_is_typed(capsys: pytest.CaptureFixture[str], typed: str, usage: str) -> None:
    assert run(typed.split()) == 0
    assert capsys.readouterr().out.splitlines()[0] == usage


def test_a_mistyped_verb_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["domain", "shop.example", "rest"]) == 2
    assert "Did you mean 'reset'" in capsys.readouterr().err
