"""Files in a bucket under names we choose: copies of archive files, backups. Calls block and run in threads.

Unlike bodies these are never confirmed or counted, so a file is one object, with the name of the file.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from forager.errors import ConfigurationError, StoreError
from forager.storage.bucket import UPLOAD_S, Bucket, connect, translate_error
from forager.storage.upload import never, upload

if TYPE_CHECKING:
    from obstore.store import S3Store

LIST_AT_ONCE = 1000
PIECE_BYTES = 1024 * 1024


class BucketFile(NamedTuple):
    """A file in the bucket."""

    size_bytes: int
    modified_at: datetime


class BucketFolder:
    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket

    def __str__(self) -> str:
        return str(self.bucket)

    @cached_property
    def _store(self) -> "S3Store":
        return connect(self.bucket, timeout_s=UPLOAD_S)

    def put(self, path: Path, name: str, *, is_late: Callable[[], bool] = never) -> None:
        upload(self.bucket, path, name, is_late=is_late)

    def look(self, name: str) -> BucketFile | None:
        try:
            found = self._store.head(name)
        except FileNotFoundError:
            return None
        except Exception as error:
            raise self._translate_error(error, name) from None
        return BucketFile(found["size"], found["last_modified"])

    def pieces(self, name: str) -> Iterator[bytes]:
        try:
            for piece in self._store.get(name).stream(min_chunk_size=PIECE_BYTES):
                yield bytes(piece)
        except Exception as error:
            raise self._translate_error(error, name) from None

    def read(self, name: str) -> bytes:
        return b"".join(self.pieces(name))

    def get(self, name: str, path: Path) -> None:
        """Downloads into a file that the caller makes durable."""
        with path.open("wb") as file:
            for piece in self.pieces(name):
                file.write(piece)
        path.chmod(0o600)

    def digest(self, name: str) -> bytes:
        """Returns the checksum of the whole object, which is read from end to end."""
        checksum = hashlib.sha256()
        for piece in self.pieces(name):
            checksum.update(piece)
        return checksum.digest()

    def files(self, prefix: str = "") -> dict[str, BucketFile]:
        """Lists all files below a folder of the bucket."""
        found: dict[str, BucketFile] = {}
        try:
            for portion in self._store.list(prefix or None, chunk_size=LIST_AT_ONCE):
                found.update({each["path"]: BucketFile(each["size"], each["last_modified"]) for each in portion})
        except Exception as error:
            raise self._translate_error(error, prefix) from None
        return found

    def folders(self) -> Sequence[str]:
        """Returns the names that have files below them."""
        try:
            return list(self._store.list_with_delimiter()["common_prefixes"])
        except Exception as error:
            raise self._translate_error(error, "") from None

    def delete(self, names: Sequence[str]) -> None:
        """Deletes files; missing ones count as deleted."""
        try:
            for start in range(0, len(names), LIST_AT_ONCE):
                self._store.delete(list(names[start : start + LIST_AT_ONCE]))
        except FileNotFoundError:
            return
        except Exception as error:
            raise self._translate_error(error, names[0]) from None

    def _translate_error(self, error: Exception, name: str) -> StoreError | ConfigurationError:
        if isinstance(error, StoreError | ConfigurationError):
            return error
        return translate_error(error, self.bucket, name)
