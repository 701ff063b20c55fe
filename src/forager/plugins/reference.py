"""Writes `docs/reference/hooks.md`: `python -m forager.plugins.reference > docs/reference/hooks.md`.

A test compares the page with what this writes.
"""

import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

from forager.plugins import contributions, specifications
from forager.plugins.page import Page
from forager.plugins.registry import hook_names

HEAD = """# Hooks of plug-ins

Written by `python -m forager.plugins.reference`; do not edit.

A plug-in is a Python file in the folder `plugins` of the data folder, or an installed package with an entry point in
the group `forager.plugins`. It implements any of these hooks as a function with `@forager.hookimpl`; it may leave out
arguments it does not need. [Write a plug-in](../how-to/plugins.md) shows how.

Each plug-in is called by itself, in the order of their names, files before packages. There are no hook wrappers. A file
is imported by the processes that call one of its hooks only, and only if it contains the hook's name.
"""
PAGE = """
## The page

`page` is a `forager.plugins.Page`: read-only, and whatever takes time is done when it is first asked for.

| attribute | value |
|---|---|
"""
CONTRIBUTIONS = """
## What is registered

Import these from `forager.plugins`.
"""
FIELD_TEXT = re.compile(r'^    (\w+): [^\n]+\n    """(.*?)"""', re.MULTILINE | re.DOTALL)


def write_reference() -> str:
    parts = [HEAD]
    for name in hook_names():
        function = getattr(specifications, name)
        parts.append(
            f"\n## `{name}({', '.join(inspect.signature(function).parameters)})`\n\n{inspect.getdoc(function)}\n"
        )
    rows = [f"| `{name}` | {text} |\n" for name, text in _page_attributes()]
    parts += [PAGE, *rows, CONTRIBUTIONS]
    for kind in (
        each for each in vars(contributions).values() if isinstance(each, type) and dataclasses.is_dataclass(each)
    ):
        parts.append(
            f"\n### `{kind.__name__}`\n\n{inspect.getdoc(kind)}\n\n| field | meaning | default |\n|---|---|---|\n"
        )
        parts += _field_rows(kind)
    return "".join(parts)


def _page_attributes() -> Iterator[tuple[str, str]]:
    for name, value in vars(Page).items():
        getter = getattr(value, "fget", None) or getattr(value, "func", None)
        if getter is not None and not name.startswith("_"):
            yield name, _one_line(inspect.getdoc(getter) or "The title of the page.")
    yield "view", "The view that the parsers inside Forager work with; it may change with every version."


def _field_rows(kind: Any) -> Iterator[str]:
    texts = dict(FIELD_TEXT.findall(inspect.getsource(kind)))
    for field in dataclasses.fields(kind):
        default = "" if field.default is dataclasses.MISSING else f"`{field.default!r}`"
        yield f"| `{field.name}` | {_one_line(texts.get(field.name, 'Its name.'))} | {default} |\n"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(write_reference())
