"""Command lines of our own child processes."""

import sys


def python_module(module: str, *arguments: str) -> tuple[str, ...]:
    """Returns the command that runs a module of ours in this interpreter.

    `-P` keeps the current directory out of the import path: without it a `queue.py` that lies in the folder where
    somebody starts a crawl is imported, and so executed, by every worker.
    """
    return (sys.executable, "-P", "-m", module, *arguments)
