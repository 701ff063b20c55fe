"""Are the cold files there that the database says visits moved to? Looks at names and sizes; `archive verify` reads."""

import asyncio
from pathlib import Path
from typing import Any

from forager.frontier import history
from forager.frontier.history import Slice

NAME = "cold_files"
PURPOSE = "Every cold file visits moved to is there, and as large as it was when it was verified."


async def find_missing(conn: Any, folder: Path) -> tuple[int, list[str]]:
    """How many files were looked at, and which are missing or another size, in words."""
    slices = [each for each in await history.read_slices(conn) if each.status in {"moving", "moved"}]
    return len(slices), await asyncio.to_thread(_missing, folder, slices)


def _missing(folder: Path, slices: list[Slice]) -> list[str]:
    return [
        f"{each.file} is not in {folder} as it was" for each in slices if _size(folder / each.file) != each.stored_bytes
    ]


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
