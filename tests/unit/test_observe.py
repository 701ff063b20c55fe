"""Lines of a log: one for each event, whatever is in it, saying what the process and the task are about."""

import ast
import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forager import logs as observe


@pytest.fixture(autouse=True)
def as_json(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(observe._choice, "everywhere", {})
    observe.configure(level="info", as_json=True)
    yield
    observe.configure()


async def test_each_task_speaks_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    async def visit(task: int) -> None:
        observe.about(task=task, domain=f"d{task}.example")
        await asyncio.sleep(0)
        observe.log(worker=7).info("x", action="y")

    await asyncio.gather(visit(1), visit(2))
    observe.log().info("x", action="z")
    first, second, last = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["task"], first["domain"], first["worker"]) == (1, "d1.example", 7)
    assert (second["task"], second["domain"]) == (2, "d2.example")
    assert "task" not in last


def test_what_a_line_says_itself_wins(capsys: pytest.CaptureFixture[str]) -> None:
    observe.bind_process_context(worker=1, domain="a")
    observe.log(domain="b").info("x", action="y", domain="c")
    line = json.loads(capsys.readouterr().err)
    assert (line["worker"], line["domain"]) == (1, "c")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=50))
def test_a_text_from_the_web_is_one_line(capsys: pytest.CaptureFixture[str], text: str) -> None:
    observe.log().info("x", action="y", title=text)
    written = capsys.readouterr().err
    assert written.count("\n") == 1
    assert json.loads(written)["title"] == text


def test_what_is_not_asked_for_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    observe.log().debug("x", action="y")
    assert capsys.readouterr().err == ""


def lines_said() -> Iterator[tuple[str, ast.Call]]:
    """Every call in the source that writes a line."""
    for path in Path(observe.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if is_call and ast.unparse(node.func).startswith("log("):  # type: ignore[attr-defined]
                yield f"{path.name}:{node.lineno}", node  # type: ignore[attr-defined, misc]


def test_every_line_has_an_action_with_a_noun_and_what_became_of_it() -> None:
    actions = {}
    for where, call in lines_said():
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        action = given.get("action")
        assert isinstance(action, ast.Constant), f"{where} names no action"
        actions[where] = action.value
        assert re.fullmatch(r"[a-z_]+\.[a-z_]+", str(action.value)), where
    assert len(actions) > 30
