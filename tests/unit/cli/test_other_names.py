"""Names of other programs get a suggestion, and it is one that works."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.test_hints import command_of
from typer.main import get_command

from forager.cli.main import app, run
from forager.cli.other_names import OTHER_NAMES, suggest_command


@pytest.mark.parametrize("hint", sorted(set(OTHER_NAMES.values())))
def test_the_command_exists(hint: str) -> None:
    words = hint.split()[1:]
    if words[0].startswith("--"):
        return
    found = command_of(words)
    assert found is not None
    flags = {flag for parameter in found[1].params for flag in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= flags


def test_no_name_hides_a_command() -> None:
    root: Any = get_command(app)
    assert not set(OTHER_NAMES) & set(root.commands)


def test_it_is_suggested(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path))
    assert run(["recalculate-priorities"]) == 2
    assert "Did you mean `forager domains score`?" in capsys.readouterr().err
    assert run(["crwal"]) == 2
    assert "Did you mean 'crawl'?" in capsys.readouterr().err


def test_underscores_are_hyphens() -> None:
    assert suggest_command("Recalculate_Priorities") == "forager domains score"
    assert suggest_command("nope") is None
