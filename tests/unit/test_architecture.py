"""ARCHITECTURE.md names the rooms that exist: a newcomer finds each folder of the tree in its floors table."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/forager"
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"`([a-z][a-z_]*)/?`")
NO_ROOMS = {"__init__.py", "__main__.py"}


def floors_named() -> set[str]:
    """Rooms under the heading that speaks of floors: in backticks in a table's rows, or separated by | in a block."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    headings = list(HEADING.finditer(text))
    at = next(at for at, heading in enumerate(headings) if "floor" in heading.group().lower())
    end = headings[at + 1].start() if at + 1 < len(headings) else len(text)
    section = text[headings[at].end() : end]
    in_rows = [name for line in section.splitlines() if line.startswith("|") for name in NAME.findall(line)]
    return {*in_rows, *(name for block in FENCED.findall(section) for name in rooms_of(block))}


def rooms_of(block: str) -> set[str]:
    """Of each line what stands before a wide gap; the rest explains."""
    lines = [re.split(r"\s{2,}|\t", line.strip())[0] for line in block.splitlines() if line.strip()]
    return {room.strip().strip("`") for line in lines for room in line.split("|")}


def rooms() -> set[str]:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return folders | {path.stem for path in PACKAGE.glob("*.py") if path.name not in NO_ROOMS}


def test_every_room_is_named_in_the_floors_table() -> None:
    assert rooms() - floors_named() == set()


def test_every_room_named_there_exists() -> None:
    assert floors_named() - rooms() == set()


def test_the_floors_that_are_checked_are_those_of_the_tree() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    assert {room.strip() for layer in layers for room in layer.split("|")} == rooms()
