"""What the processes of a worker load at their start: memory and processor time of each crawl."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("forager.runtime.worker", {"forager.parsing.page", "forager.parsing.tree", "turbohtml", "numpy", "py3langid"}),
        ("forager.engine.parser_server", {"forager.db", "forager.config", "asyncpg", "pydantic", "uvloop"}),
    ],
)
def test_a_process_loads_only_what_it_needs(module: str, unneeded: set[str]) -> None:
    code = f"import sys, {module}\nprint(*({unneeded!r} & set(sys.modules)))"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == []
