"""Only `domain_queue.py` changes a domain queue: other modules of the engine read it or call its methods."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from forager import engine

FOLDER = Path(engine.__path__[0])
OWNER = "domain_queue.py"
MUTATORS = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove"),
    *("setdefault", "sort", "update"),
}
OWNED = {"addresses", "breaker", "called_off", "pace", "streak", "targets"}
"""Attributes whose own methods change what the queue decides by."""
PACING = {"fail", "finish", "hold", "increase_delay", "leave", "note", "reset", "resume", "start", "succeed"}


def changes_in(source: str) -> Iterator[str]:
    """Yields the statements that change an attribute of something named `queue`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                changed = [part for target in targets for part in ast.walk(target) if is_stored(part)]
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                changed = [target]
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                changed = [owner] if changes_container(owner, name) else []
            case _:
                continue
        yield from (ast.unparse(part) for part in changed if attribute_of_queue(part) is not None)


def is_stored(part: ast.AST) -> bool:
    return isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load)


def changes_container(owner: ast.expr, method: str) -> bool:
    return attribute_of_queue(owner) in OWNED and method in MUTATORS | PACING


def attribute_of_queue(part: ast.AST) -> str | None:
    """Returns `x` of `queue.x`, `queue.x[…]` and `queue.x.y`."""
    while isinstance(part, ast.Attribute | ast.Subscript):
        if isinstance(part, ast.Attribute) and is_queue(part.value):
            return part.attr
        part = part.value
    return None


def is_queue(part: ast.expr) -> bool:
    name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
    return name.lstrip("_") == "queue"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_only_its_own_module_changes_a_domain_queue(path: Path) -> None:
    if path.name != OWNER:
        assert list(changes_in(path.read_text())) == []


@pytest.mark.parametrize(
    "statement",
    [
        "queue.is_lost = True",
        "self._queue.visits += 1",
        "queue.targets[0] = target",
        "queue.pace.base_s, other = 1.0, 2",
        "del queue.addresses[origin]",
        "queue.called_off.discard(1)",
        "queue.pace.hold(now, 1.0)",
    ],
)
def test_a_change_from_outside_is_found(statement: str) -> None:
    assert len(list(changes_in(statement))) == 1


@pytest.mark.parametrize("statement", ["queue.hold(now, 1.0)", "found = queue.targets", "pool.take(queue.pool)"])
def test_calls_and_reads_are_allowed(statement: str) -> None:
    assert list(changes_in(statement)) == []
