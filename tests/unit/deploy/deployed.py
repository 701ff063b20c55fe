"""What `deploy/` says, for the tests beside: its files, the commands and the settings they name."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from typer.main import get_command

from forager.cli.main import app

DEPLOY = Path(__file__).parents[3] / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
COMPOSE = DEPLOY / "compose.yaml"
CONTAINERFILE = DEPLOY / "Containerfile"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
SUBSTITUTED = re.compile(r"\$\{\w+:-([^}]*)\}")


def texts() -> dict[str, str]:
    """Every file that a person or a program reads settings from."""
    files = [path for path in DEPLOY.rglob("*") if path.is_file() and "grafana" not in path.parts]
    return {str(path.relative_to(DEPLOY)): path.read_text(encoding="utf-8") for path in files}


def compose() -> Any:
    """As compose reads it where `.env` says nothing."""
    return yaml.safe_load(SUBSTITUTED.sub(r"\1", COMPOSE.read_text(encoding="utf-8")))


def manifests() -> list[tuple[str, Any]]:
    """Every Kubernetes object with the file it stands in."""
    return [
        (str(path.relative_to(KUBERNETES)), document)
        for path in sorted(KUBERNETES.rglob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]


def instruction(name: str) -> str:
    """The last such line of the Containerfile, with the lines it goes on with."""
    text = CONTAINERFILE.read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line.startswith(f"{name} ")][-1].removeprefix(f"{name} ").strip()


def exec_starts() -> Iterator[Sequence[str]]:
    for unit in UNITS:
        (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE)
        yield shlex.split(line)


def parse(arguments: Sequence[str]) -> str:
    """The command that `forager ARGUMENTS` would run, options understood and nothing done; raises where it has none."""
    command: Any = get_command(app)
    context = command.make_context("forager", list(arguments))
    words: list[str] = []
    rest = list(arguments)
    while hasattr(command, "resolve_command"):
        if words and command.invoke_without_command and not command.commands.keys() & set(rest):
            break  # a family that does something by itself, as `forager worker` does
        name, command, rest = command.resolve_command(context, rest)
        words.append(name)
        context = command.make_context(name, list(rest), parent=context)
    return " ".join(words)
