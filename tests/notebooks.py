"""Runs the notebooks of docs/notebooks cell by cell, as Jupyter does, without Jupyter.

`python -m tests.notebooks` runs them and writes their outputs; a test compares.
"""

import ast
import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "docs/notebooks"


def run_notebook(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns a notebook as it is stored, and as it is after running it."""
    stored = json.loads(path.read_text("utf-8"))
    ran = json.loads(path.read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(_code_cells(ran), 1):
        cell["execution_count"] = number
        cell["outputs"] = _run_cell("".join(cell["source"]), names, number)
    return stored, ran


def _code_cells(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (cell for cell in notebook["cells"] if cell["cell_type"] == "code")


def _run_cell(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Runs a cell; returns what it prints, and the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    tree.body = tree.body[:-1] if last is not None else tree.body
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def write(path: Path, notebook: dict[str, Any]) -> None:
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", "utf-8")


def main() -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        _, ran = run_notebook(path)
        write(path, ran)
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
