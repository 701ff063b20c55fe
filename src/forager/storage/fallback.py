"""A bucket before a local folder: new bodies go to the bucket, those stored here before stay readable.

What a visit confirms moves over by the way. Archive files that are still written, or wait to be moved, are here.
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
        """Here first: that costs next to nothing."""
        try:
            return self._behind.get(key, start, length)
        except StoreError as error:
            if error.reason != "missing":
                raise
        return self._front.get(key, start, length)

    def confirm(self, keys: Sequence[str]) -> set[str]:
        there = self._front.confirm(keys)
        left = self._behind.confirm([key for key in keys if key not in there])
        for key in left:
            with contextlib.suppress(StoreError):
                self._front.put({key: self._behind.get(key)})  # if that fails, it is still here
        return there | left

    def delete(self, keys: Sequence[str], *, unless_since: datetime) -> list[str]:
        gone = self._behind.delete(keys, unless_since=unless_since)
        return self._front.delete(gone, unless_since=unless_since)

    def list(self, prefix: str = "") -> Iterator[Stored]:
        """A body that moved over comes twice."""
        yield from self._front.list(prefix)
        yield from self._behind.list(prefix)
