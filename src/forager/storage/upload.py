"""Uploads one file to a bucket, in parts if it is large. A killed upload leaves no object.

The request is signed with a checksum of its content, so a server accepts all of it as it was sent, or rejects it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from forager.errors import ConfigurationError, StoreError
from forager.storage.bucket import UPLOAD_S, Bucket, connect, translate_error

PART_BYTES = 8 * 1024 * 1024
MOST_PARTS = 9_000
PARTS_AT_ONCE = 4
"""So that an upload takes 32 MB of memory, however large the file is."""


class StoppedError(Exception):
    """The upload takes longer than the time limit."""


def never() -> bool:
    return False


def upload(bucket: Bucket, path: Path, key: str, *, is_late: Callable[[], bool] = never) -> None:
    """Uploads the file. Raises StoreError, and StoppedError as soon as the time limit has passed."""
    size = path.stat().st_size
    part = max(PART_BYTES, size // MOST_PARTS)
    try:
        store = connect(bucket, timeout_s=UPLOAD_S)
        if size <= part:
            store.put(key, path.read_bytes())
        else:
            store.put(key, _parts(path, part, is_late), chunk_size=part, max_concurrency=PARTS_AT_ONCE)
        stored = store.head(key)["size"]
    except (ConfigurationError, StoppedError):
        raise
    except Exception as error:
        if is_late():
            raise StoppedError from error
        raise translate_error(error, bucket, key) from None
    if stored != size:
        raise StoreError(f"{key} in {bucket} has {stored:,} bytes instead of {size:,}.", "damaged")


def _parts(path: Path, part: int, is_late: Callable[[], bool]) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(part):
            if is_late():
                raise StoppedError
            yield piece
