"""Command lines of our own child processes."""

import sys


def python_module(module: str, *arguments: str) -> tuple[str, ...]:
    """Returns the command that runs a module of ours in this interpreter.

    `-P` keeps the current directory out of the import path: without it, every worker imports, and so executes, a
    `queue.py` in the folder where the operator starts a crawl.
    """
    return (sys.executable, "-P", "-m", module, *arguments)
