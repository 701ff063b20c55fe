"""Which inner loops are in C here, for a person who wonders about the speed. Each room decides for itself what it
takes; this only looks at files, as importing all rooms takes half a second."""

from importlib.machinery import PathFinder
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
WITHOUT = (
    "There was no C compiler, or no Python.h, at the installation: Forager works; "
    "reading a page takes about ten times as long."
)


def check_native(package: Path = PACKAGE) -> dict[str, bool]:
    """Rooms that have inner loops in C, and whether they were compiled for this Python."""
    return {
        door.parent.name: PathFinder.find_spec("_native", [str(door.parent)]) is not None
        for door in sorted(package.glob("*/compiled.py"))
    }


def describe_native(package: Path = PACKAGE) -> str:
    missing = [room for room, is_there in check_native(package).items() if not is_there]
    return f"Inner loops of {' and '.join(missing)} are not in C. {WITHOUT}" if missing else "Inner loops are in C."
