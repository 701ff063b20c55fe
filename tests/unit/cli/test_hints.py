"""Every command that a message advises exists, with the flags it names."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.test_cli_docs import COMMANDS

from forager.cli import command_hints as hints

SOURCE = Path(__file__).parents[3] / "src" / "forager"
ADVISED = re.compile(r"`(forager [^`]+)`|\bTry: (forager [^`]+)$")


def texts(tree: ast.AST) -> Iterator[str]:
    """String literals; what is filled in stands as a word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "word" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def is_advice(hint: str) -> bool:
    """Patterns and examples with an ellipsis are none."""
    return hint.isprintable() and not set("…([|") & set(hint)


@functools.cache
def advised() -> frozenset[str]:
    found = set()
    for file in SOURCE.rglob("*.py"):
        for text in texts(ast.parse(file.read_text(encoding="utf-8"))):
            found |= {
                " ".join(hint.split()) for pair in ADVISED.findall(text) for hint in pair if hint and is_advice(hint)
            }
    return frozenset(found) | {
        hints.EXPORT,
        hints.DOMAINS,
        hints.refresh("a.example"),
        hints.refresh(None, now=True),
        hints.reset("a.example"),
        hints.crawl("http://a.example/", "--allow-network", "10.0.0.0/8"),
        hints.why("a.example"),
        hints.fetch("http://a.example/"),
        hints.rendered("a.example"),
        hints.sitemap("http://a.example/sitemap.xml"),
        hints.domain("a.example"),
        hints.settings("a.example"),
        hints.pages("a.example"),
    }


def command_of(words: list[str]) -> tuple[str, Any] | None:
    """The command a hint means: `domain shop.example reset` is `domain NAME reset`."""
    best: tuple[tuple[int, int], str, Any] | None = None
    for name, command in COMMANDS.items():
        pattern = name.split()
        pairs = list(zip(pattern, words, strict=False))
        if len(pattern) > len(words) or not all(part == word or part.isupper() for part, word in pairs):
            continue
        fits = sum(part == word for part, word in pairs), len(pattern)
        if best is None or fits > best[0]:
            best = fits, name, command
    return (best[1], best[2]) if best else None


@pytest.mark.parametrize("hint", sorted(advised()))
def test_every_command_that_is_advised_exists(hint: str) -> None:
    words = hint.split()[1:]
    if words[0].startswith("-") or words[0].isupper():
        return
    found = command_of(words)
    if found is None:  # a group of commands that a text is about
        assert any(name.startswith(f"{' '.join(words)} ") for name in COMMANDS), f"there is no command for `{hint}`"
        return
    name, command = found
    context = command.make_context(name, [], resilient_parsing=True)
    flags = {flag for each in command.get_params(context) for flag in (*each.opts, *each.secondary_opts)}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= flags, f"{name} has no such flag"


def test_hints_quote_what_a_shell_would_read() -> None:
    assert hints.crawl("http://a.example/?a=1&b=2") == "forager crawl 'http://a.example/?a=1&b=2'"
