"""A bucket with a local folder as fallback: new bodies go to the bucket, older local ones stay readable.

A body that a visit confirms is moved to the bucket. Archive files that are open, or not uploaded yet, are local.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from forager.errors import StoreError
from forager.storage.location import Location, Stored


class LayeredLocation:
    def __init__(self, front: Location, behind: Location) -> None:
        self._front = front
        self._behind = behind

    def put(self, items: Mapping[str, bytes]) -> Mapping[str, StoreError]:
        return self._front.put(items)

    def get(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Checks the local folder first, which costs almost nothing."""
        try:
            return self._behind.get(key, start, length)
        except StoreError as error:
            if error.reason != "missing":
                raise
        return self._front.get(key, start, length)

    def size(self, key: str) -> int:
        try:
            return self._behind.size(key)
        except StoreError as error:
            if error.reason != "missing":
                raise
        return self._front.size(key)

    def confirm(self, keys: Sequence[str]) -> set[str]:
        there = self._front.confirm(keys)
        left = self._behind.confirm([key for key in keys if key not in there])
        for key in left:
            with contextlib.suppress(StoreError):
                self._front.put({key: self._behind.get(key)})  # if that fails, the local copy still exists
        return there | left

    def delete(self, keys: Sequence[str], *, unless_since: datetime) -> list[str]:
        gone = self._behind.delete(keys, unless_since=unless_since)
        return self._front.delete(gone, unless_since=unless_since)

    def list(self, prefix: str = "") -> Iterator[Stored]:
        """Lists both locations; a body that was moved may appear twice."""
        yield from self._front.list(prefix)
        yield from self._behind.list(prefix)
