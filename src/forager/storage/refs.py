"""The reference from a task to its body: `snapshot:<hash>`, `text:<hash>`, or `warc:<file>:<offset>:<length>`. Pure.

The second part is the name under which the database knows the stored file. A ref comes from a database, not from an
untrusted source; nevertheless a malformed ref is never looked up.
"""

import re
from typing import NamedTuple

from forager.errors import StoreError

SNAPSHOT = re.compile(r"snapshot:([0-9a-f]{64})")
TEXT = re.compile(r"text:([0-9a-f]{64})")
WARC = re.compile(r"warc:([A-Za-z0-9][A-Za-z0-9_-]{0,99}\.warc\.gz):([0-9]{1,18}):([0-9]{1,12})")
OPEN = ".open"
"""The suffix of a WARC file that is still being written."""


class SnapshotRef(NamedTuple):
    name: str
    """The hash of the content, in hex."""

    @property
    def key(self) -> str:
        return f"{self.name[:2]}/{self.name[2:]}.zst"

    def __str__(self) -> str:
        return f"snapshot:{self.name}"


class TextRef(NamedTuple):
    name: str
    """The hash of the content, in hex."""

    @property
    def key(self) -> str:
        return SnapshotRef(self.name).key

    def __str__(self) -> str:
        return f"text:{self.name}"


class WarcRef(NamedTuple):
    name: str
    """The name of the file once it is complete."""
    offset: int
    length: int

    @property
    def key(self) -> str:
        return f"warc/{self.name}"

    def __str__(self) -> str:
        return f"warc:{self.name}:{self.offset}:{self.length}"


def parse(ref: str) -> SnapshotRef | TextRef | WarcRef:
    if found := SNAPSHOT.fullmatch(ref):
        return SnapshotRef(found[1])
    if found := TEXT.fullmatch(ref):
        return TextRef(found[1])
    if found := WARC.fullmatch(ref):
        return WarcRef(found[1], int(found[2]), int(found[3]))
    raise StoreError(f"{ref[:100]!r} refers to no body.", "bad_ref")


def key_of(name: str) -> str:
    """Returns the location of the file that the database knows by this name."""
    return WarcRef(name, 0, 0).key if name.endswith(".warc.gz") else SnapshotRef(name).key
