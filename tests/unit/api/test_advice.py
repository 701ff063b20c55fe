"""Whoever is told a command over HTTP is told the request too: every command that an error names has one."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import forager
from forager.api.app import create_app
from forager.api.command_hints import COMMAND, REQUESTS, add_http_requests
from forager.config.loader import load

ONLY_AT_A_TERMINAL = ("crawl", "init", "reindex", "backup")
SHELLS = ("cli", "api", "db", "playground", "runtime", "config")


def sentences() -> Iterator[str]:
    """What services of features raise; values in it are `X`."""
    for path in _services():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise):
                yield from (_text(each) for each in ast.walk(node) if isinstance(each, ast.JoinedStr | ast.Constant))


def _services() -> Iterator[Path]:
    for path in Path(forager.__path__[0]).glob("*/*.py"):
        if path.parent.name not in SHELLS and path.stem not in ("commands", "routes"):
            yield path


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(each) if isinstance(each, ast.Constant) else "X" for each in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else ""


def test_every_command_that_is_named_has_a_request() -> None:
    named = {command for sentence in sentences() for command in COMMAND.findall(sentence)}
    alone = {each for each in named if "over HTTP" not in add_http_requests(f"`forager {each}`")}
    assert len(named) > 15
    assert {each for each in alone if not each.startswith(ONLY_AT_A_TERMINAL)} == set()


def test_every_request_is_one_of_the_api() -> None:
    paths = create_app(load({})).openapi()["paths"]
    for _, request in REQUESTS:
        method, path, *_ = request.split()
        assert method.lower() in paths[path], request


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("`forager runs` lists them.", "`forager runs` (over HTTP: GET /api/runs) lists them."),
        ("`forager alerts rules` lists", "`forager alerts rules` (over HTTP: GET /api/alerts/rules) lists"),
        ("`forager runsaway`", "`forager runsaway`"),
        ("it belongs to a `forager crawl`", "it belongs to a `forager crawl`"),
        ("no command at all", "no command at all"),
    ],
)
def test_the_request_stands_behind_the_command(said: str, told: str) -> None:
    assert add_http_requests(said) == told
