"""Programs tell problems apart by their type: every type is listed, and every conflict has one of its own."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from forager.api.errors import PROBLEMS
from forager.errors import ForagerError

PACKAGE = Path(__file__).parents[3] / "src/forager"


def calls(name: str) -> Iterator[tuple[str, ast.Call]]:
    for path in PACKAGE.rglob("*.py"):
        if "cli" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node


def kinds(of: type[ForagerError] = ForagerError) -> Iterator[type[ForagerError]]:
    yield of
    for kind in of.__subclasses__():
        yield from kinds(kind)


def test_every_conflict_names_its_problem() -> None:
    found = {where: call.args[1:] for where, call in calls("ConflictError")}
    assert len(found) > 15
    assert [where for where, rest in found.items() if not rest] == []
    named = {word.value for rest in found.values() for word in rest if isinstance(word, ast.Constant)}
    assert named - PROBLEMS.keys() == set()


def test_every_kind_of_error_has_a_problem_that_is_listed() -> None:
    assert {kind.problem for kind in kinds()} - PROBLEMS.keys() == set()


@pytest.mark.parametrize("function", ["build_response", "_later", "ApiError"])
def test_what_the_api_answers_with_is_listed(function: str) -> None:
    words = [
        word.value
        for where, call in calls(function)
        if where.startswith("api")
        for word in call.args
        if isinstance(word, ast.Constant) and isinstance(word.value, str) and word.value.replace("_", "").isalpha()
    ]
    assert words
    assert {word for word in words if word.islower()} - PROBLEMS.keys() == set()
