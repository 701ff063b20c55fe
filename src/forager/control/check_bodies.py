"""Are the bodies and images there that the database says are stored? Looks at names and sizes; the content of bodies is
verified when they are read."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from forager.archive import store as bodies
from forager.archive.place import Place
from forager.archive.refs import OPEN, key_of
from forager.errors import StoreError
from forager.images.retention import stored_files

NAME = "bodies_stored"
PURPOSE = (
    "Every body and image on record has its file in the store, and every record of an archive that a task refers to is"
    " within it."
)
AT_ONCE = 5000
QUESTIONS = 16
"""Files that are looked for at the same time: a bucket is some way off."""
NOT_TOLD = frozenset({"store_away", "store_refused", "no_bucket"})
"""Who gets no answer knows nothing about a file."""


async def find_missing(conn: Any, place: Place) -> tuple[int, list[str]]:
    """How many files were looked at, and which of them are missing or too short, in words."""
    ends = await bodies.ends_of_archives(conn)
    looked_at, missing = 0, []
    async for portion in bodies.stored_names(conn, at_once=AT_ONCE):
        looked_at += len(portion)
        missing += await asyncio.to_thread(_missing, place, [name for name, _ in portion], ends)
    async for keys in stored_files(conn, at_once=AT_ONCE):
        looked_at += len(keys)
        missing += await asyncio.to_thread(_missing_files, place, keys)
    return looked_at, missing


def _missing_files(place: Place, keys: Sequence[str]) -> list[str]:
    return _without(keys, lambda key: _has(place, key, 0, 0))


def _missing(place: Place, names: Sequence[str], ends: dict[str, int]) -> list[str]:
    return _without(names, lambda name: _is_there(place, name, ends.get(name, 0)))


def _without(names: Sequence[str], is_there: Callable[[str], bool]) -> list[str]:
    with ThreadPoolExecutor(QUESTIONS) as threads:
        found = threads.map(is_there, names)
        return [f"{name} is not in the store" for name, is_found in zip(names, found, strict=True) if not is_found]


def _is_there(place: Place, name: str, until: int) -> bool:
    """A file that is still written has another ending."""
    key = key_of(name)
    candidates = (key, key + OPEN) if name.endswith(".gz") else (key,)
    return any(_has(place, candidate, max(until - 1, 0), min(until, 1)) for candidate in candidates)


def _has(place: Place, key: str, start: int, length: int) -> bool:
    try:
        place.get(key, start, length)
    except StoreError as error:
        if error.reason in NOT_TOLD:
            raise
        return False
    return True
