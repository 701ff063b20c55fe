"""Imports all plug-ins in a process of their own and reports what they are, for `forager plugins`: one that crashes or
hangs when it is imported must not do so here.

Runs as `python -m forager.plugins.probe`, which writes a line before each plug-in and one after it.
"""

import json
import subprocess
import sys
from typing import TextIO

from forager.interpreter import python_module
from forager.plugins.models import PluginConfig, PluginInfo
from forager.plugins.registry import PluginRegistry

TIMEOUT_S = 20.0
"""For the plug-ins that are left; each that hangs takes this long."""
MARK = "\x1eforager:"
"""Begins our lines: a plug-in may print something too."""


def probe(config: PluginConfig) -> list[PluginInfo]:
    """Returns all plug-ins. One that ends the process is broken, and the others are looked at again without it."""
    found: dict[str, PluginInfo] = {}
    sources = PluginRegistry(config).sources
    while len(found) < len(sources):
        skipped = [source.name for source in sources if source.name in found]
        output, how = _run(config, skipped)
        begun = None
        for line in output.split("\n"):
            text = line.partition(MARK)[2]
            if not text:
                continue
            message = json.loads(text)
            if isinstance(message, str):
                begun = message
            else:
                found[message["name"]] = PluginInfo(**message | {"hooks": tuple(message["hooks"])})
        source = next((each for each in sources if each.name == begun and begun not in found), None)
        if source is not None:
            found[source.name] = PluginInfo(source.name, source.version, source.label, (), "broken", how)
        elif begun is None:
            break
    return [found[source.name] for source in sources if source.name in found]


def _run(config: PluginConfig, skipped: list[str]) -> tuple[str, str]:
    """Returns what the process wrote, and how it ended."""
    command = python_module("forager.plugins.probe", json.dumps(config), json.dumps(skipped))
    try:
        ended = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        return (error.stdout or b"").decode("utf-8", "replace"), "its import hangs"
    return ended.stdout.decode("utf-8", "replace"), f"its import ended the process with exit code {ended.returncode}"


def main() -> None:
    config, skipped = PluginConfig(*json.loads(sys.argv[1])), json.loads(sys.argv[2])
    plugins = PluginRegistry(config._replace(disabled=tuple(config.disabled)))
    stdout = sys.stdout
    sys.stdout = sys.stderr  # what a plug-in prints
    for source in plugins.sources:
        if source.name not in skipped:
            _write(stdout, source.name)
            info = plugins.describe(source)
            _write(stdout, {name: getattr(info, name) for name in PluginInfo.__slots__})


def _write(stdout: TextIO, message: object) -> None:
    stdout.write(f"\n{MARK}{json.dumps(message)}\n")
    stdout.flush()


if __name__ == "__main__":
    main()
