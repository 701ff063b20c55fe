"""The interface to the location of bodies: a local folder, or a bucket before it. Calls block and run in threads.

Keys are built by us from hashes and numbers, and validated nevertheless: a malformed key never reaches a file system.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from forager.errors import StoreError

PART = r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}"
KEY = re.compile(rf"{PART}(?:/{PART}){{0,3}}")
LONGEST_KEY = 400


class Stored(NamedTuple):
    key: str
    size_bytes: int
    modified_at: datetime


class Location(Protocol):
    def put(self, items: Mapping[str, bytes]) -> Mapping[str, StoreError]:
        """Stores each atomically, and durably when this returns; returns those that could not be stored."""

    def get(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """Returns all of it, or a range. Raises StoreError, with the reason `missing` if there is none."""

    def size(self, key: str) -> int:
        """Returns its length in bytes. Raises StoreError, with the reason `missing` if there is none."""

    def confirm(self, keys: Sequence[str]) -> set[str]:
        """Returns those that exist. They count as stored just now, so that retention keeps them."""

    def delete(self, keys: Sequence[str], *, unless_since: datetime) -> list[str]:
        """Deletes them and returns those deleted; keeps those that were stored or confirmed since that moment."""

    def list(self, prefix: str = "") -> Iterator[Stored]:
        """Lists everything below a folder, in no order."""


def parts_of(key: str) -> list[str]:
    """Returns the folders and the name. No key has `..`, an absolute path, a NUL or a name that file systems reject."""
    if len(key) > LONGEST_KEY or not KEY.fullmatch(key):
        raise StoreError(f"{key[:100]!r} is no key of the store.", "bad_key")
    return key.split("/")
