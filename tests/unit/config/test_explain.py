"""`forager settings NAME`: one setting, explained; names as people write them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forager.cli.main import run
from forager.config.explain import accepted, find_settings, suggest_settings
from forager.config.settings import FIELDS

Forager = Callable[..., tuple[int, str, str]]


@pytest.fixture
def forager(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Forager:
    monkeypatch.setenv("FORAGER_HOME", str(tmp_path / "home"))

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("politeness.delay", ("duration", "at least 0s")),
        ("log.level", ("one of debug, info, warning, error", None)),
        ("workers", ("whole number", "at least 1")),
        ("api.port", ("whole number", "at least 0, at most 65535")),
        ("database.url", ("URL that starts with postgresql:// or postgres://, or none", None)),
        ("politeness.adaptive_delay", ("true or false", None)),
        ("fetch.allow_ports", ("list of numbers", None)),
        ("fetch.max_page_size", ("size", "at least 1")),
    ],
)
def test_what_it_accepts(path: str, told: tuple[str, str | None]) -> None:
    found = accepted(path)
    assert (found.type, found.bounds) == told


@pytest.mark.parametrize("path", FIELDS)
def test_every_setting_can_be_explained_and_found(path: str) -> None:
    assert accepted(path).type
    assert find_settings(path) == [path]
    assert find_settings("FORAGER_" + path.replace(".", "_").upper()) == [path]


def test_a_last_part_or_a_section_is_enough() -> None:
    assert find_settings("delay") == ["politeness.delay"]
    assert find_settings("robots-ttl") == ["politeness.robots_ttl"]
    assert len(find_settings("timeout")) > 1
    assert set(find_settings("[log]")) == {"log.level", "log.format"}


@given(st.text(max_size=20))
def test_any_name_is_looked_up(name: str) -> None:
    assert set(find_settings(name)) <= set(FIELDS)
    assert set(suggest_settings(name)) <= set(FIELDS)


def test_it_is_explained(forager: Forager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORAGER_POLITENESS_DELAY", "2s")
    code, out, _ = forager("settings", "delay")
    assert code == 0
    for words in (
        "politeness.delay",
        "2s",
        "1s",
        "duration",
        "FORAGER_POLITENESS_DELAY",
        "at least 0s",
        "[politeness]",
    ):
        assert words in out


def test_as_json(forager: Forager) -> None:
    found = json.loads(forager("settings", "politeness.delay", "--json")[1])
    assert (found["value"], found["default"], found["source"], found["type"]) == ("1s", "1s", "default", "duration")


def test_a_typing_error_gets_a_suggestion(forager: Forager) -> None:
    code, _, err = forager("settings", "politness.dely")
    assert code == 3
    assert "politeness.delay" in err


def test_secrets_are_masked(forager: Forager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORAGER_DATABASE_URL", "postgresql://me:hidden@db.example/x")
    assert "hidden" not in forager("settings", "database.url")[1]


def test_the_data_folder_is_not_created(forager: Forager) -> None:
    assert forager("settings")[0] == 0
    assert forager("settings", "delay")[0] == 0
    assert not os.path.exists(os.environ["FORAGER_HOME"])
