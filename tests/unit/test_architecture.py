"""ARCHITECTURE.md names the packages that exist: a newcomer finds each folder of the tree in its list of layers."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/forager"
HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"`([a-z][a-z_]*)/?`")
NO_PACKAGES = {"__init__.py", "__main__.py"}


def layers_named() -> set[str]:
    """Packages under the heading about layers: in backticks in a table's rows, or separated by | in a block."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    headings = list(HEADING.finditer(text))
    at = next(at for at, heading in enumerate(headings) if "layers" in heading.group().lower())
    end = headings[at + 1].start() if at + 1 < len(headings) else len(text)
    section = text[headings[at].end() : end]
    in_rows = [name for line in section.splitlines() if line.startswith("| `") for name in NAME.findall(line)[:1]]
    return {*in_rows, *(name for block in FENCED.findall(section) for name in packages_in(block))}


def packages_in(block: str) -> set[str]:
    """Of each line what stands before a wide gap; the rest explains."""
    lines = [re.split(r"\s{2,}|\t", line.strip())[0] for line in block.splitlines() if line.strip()]
    return {name.strip().strip("`") for line in lines for name in line.split("|")}


def packages() -> set[str]:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return folders | {path.stem for path in PACKAGE.glob("*.py") if path.name not in NO_PACKAGES}


def test_every_step_of_a_page_exists() -> None:
    """The table that follows one page names files and functions in them."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("### One page, from the command to its row")[2].partition("\n\n`")[0]
    steps = [row.split("|")[2] for row in table.splitlines() if re.match(r"\| \d+ \|", row)]
    named = [step for cell in steps for step in re.findall(r"`([\w/]+\.py)`: ((?:`\w+`(?:, )?)+)", cell)]
    missing = [
        (file, name)
        for file, names in named
        for name in re.findall(r"`(\w+)`", names)
        if not re.search(rf"^ *(?:async )?def {name}\(", (PACKAGE / file).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert 10 <= len(steps) <= 20
    assert len(named) >= len(steps)
    assert missing == []


def test_every_package_is_named_in_the_layers() -> None:
    assert packages() - layers_named() == set()


def test_every_package_named_there_exists() -> None:
    assert layers_named() - packages() == set()


def test_the_layers_that_are_checked_are_those_of_the_tree() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "module_layers")
    names = {name for layer in layers for name in re.findall(r"\bforager\.([a-z_]+)(?:\.\*\*)?(?=\s|$)", layer)}
    assert names - {"__main__"} == packages()
