"""Child processes of ours are started without the current directory in their import path."""

import subprocess
import sys
from pathlib import Path

from forager.interpreter import python_module

PACKAGE = Path(__file__).parents[2] / "src/forager"
ISOLATED = {
    "db/dump.py": 'sys.executable, "-I"',
    "interpreter.py": 'sys.executable, "-P"',
    "cli/root.py": "sys.executable, *sys.orig_argv[1:]",
}
"""The files that may name the interpreter, and how each keeps the current directory out. The last one becomes the very
command that a person gave."""


def test_a_module_in_the_current_directory_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit('imported from the current directory')")
    command = python_module("forager", "--version")
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    unsafe = [sys.executable, "-c", "import queue"]
    assert subprocess.run(unsafe, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_no_other_file_starts_the_interpreter() -> None:
    naming = {
        str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8")
        for path in PACKAGE.rglob("*.py")
        if "sys.executable" in path.read_text(encoding="utf-8")
    }
    assert naming.keys() == ISOLATED.keys()
    assert all(ISOLATED[name] in text for name, text in naming.items())
