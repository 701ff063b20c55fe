"""The seam to wherever bodies are: a local folder, or a bucket before it. Calls block: they are made in threads.

Keys are made by us from hashes and numbers, and checked nevertheless: what is no key in form reaches no file system.
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
        """Each whole or not at all, and durable when this returns; answers what could not be stored."""

    def get(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        """All of it, or a piece. Raises StoreError, with the reason `missing` where there is none."""

    def confirm(self, keys: Sequence[str]) -> set[str]:
        """Those that are there. They count as put just now: who deletes what is old leaves them."""

    def delete(self, keys: Sequence[str], *, unless_since: datetime) -> list[str]:
        """What is gone now; left is what was put or confirmed since that moment."""

    def list(self, prefix: str = "") -> Iterator[Stored]:
        """Everything below a folder, in no order."""


def parts_of(key: str) -> list[str]:
    """The folders and the name. No key has `..`, an absolute path, a NUL or a name no file system takes."""
    if len(key) > LONGEST_KEY or not KEY.fullmatch(key):
        raise StoreError(f"{key[:100]!r} is no key of the store.", "bad_key")
    return key.split("/")
