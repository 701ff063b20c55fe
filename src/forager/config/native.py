"""Reports which inner loops run in C here, for a person who investigates the speed. Each package decides for itself
what it uses; this module only checks files, as importing all packages takes half a second."""

from importlib.machinery import PathFinder
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
WITHOUT = (
    "There was no C compiler, or no Python.h, at the installation: Forager works; "
    "reading a page takes about ten times as long."
)


def check_native(package: Path = PACKAGE) -> dict[str, bool]:
    """Returns the packages that have inner loops in C, and whether they were compiled for this Python."""
    return {
        door.parent.name: PathFinder.find_spec("_native", [str(door.parent)]) is not None
        for door in sorted(package.glob("*/compiled.py"))
    }


def describe_native(package: Path = PACKAGE) -> str:
    missing = [room for room, is_there in check_native(package).items() if not is_there]
    return f"Inner loops of {' and '.join(missing)} are not in C. {WITHOUT}" if missing else "Inner loops are in C."
