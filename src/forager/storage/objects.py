"""Bodies in a bucket. Each is one object, uploaded in one request: atomic, and durable once the server responds.

An object cannot be touched, and cannot be deleted conditionally: between checking its age and deleting it, another
worker may have stored it again. So every day has names of its own (`ab/cdef….zst/20261116`). What is stored or
confirmed today is under today's name, and retention deletes names of days that are over. Archive files have no day:
their names are unique, and they are never confirmed.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from forager import clock
from forager.errors import ConfigurationError, StoreError
from forager.storage.bucket import Bucket, connect, translate_error
from forager.storage.location import Stored, parts_of

if TYPE_CHECKING:
    from obstore.store import S3Store

T = TypeVar("T")
AT_ONCE = 32
"""Requests open at once for one batch: a body takes one round trip, however small it is."""
DAY = "%Y%m%d"
ONE_DAY = timedelta(days=1)
RIGHT_NOW = timedelta(minutes=1)
ARCHIVES = "warc/"
LIST_AT_ONCE = 1000


class Named(NamedTuple):
    """One object."""

    name: str
    size_bytes: int
    modified_at: datetime


class BucketLocation:
    def __init__(self, bucket: Bucket) -> None:
        self.bucket = bucket

    @cached_property
    def _store(self) -> "S3Store":
        return connect(self.bucket)

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(AT_ONCE, thread_name_prefix="bucket")

    def put(self, items: Mapping[str, bytes]) -> dict[str, StoreError]:
        today = _today()

        def put(key: str) -> None:
            self._store.put(_name(key, today), items[key])

        _, failed = self._for_each(items, put)
        return failed

    def get(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        for _ in range(2):  # the name of an earlier day may be deleted between listing and reading
            found = self._find(key)
            if found is None:
                break
            try:
                return self._read(found, key, start, length)
            except FileNotFoundError:
                continue
            except Exception as error:
                raise self._translate_error(error, key) from None
        raise StoreError(f"{key} in {self.bucket} is not there.", "missing")

    def size(self, key: str) -> int:
        found = self._find(key)
        if found is None:
            raise StoreError(f"{key} in {self.bucket} is not there.", "missing")
        return found.size_bytes

    def confirm(self, keys: Sequence[str]) -> set[str]:
        """Returns those that exist; missing ones, and those whose state is unknown, are left out."""
        found, _ = self._for_each(keys, self._confirm)
        return {key for key, is_there in found.items() if is_there}

    def delete(self, keys: Sequence[str], *, unless_since: datetime) -> list[str]:
        def delete(key: str) -> bool:
            objects = self._objects(key)
            free = [each.name for each in objects if _is_free(key, each, unless_since)]
            if free:
                self._store.delete(free)
            return len(free) == len(objects)

        found, failed = self._for_each(keys, delete)
        for error in failed.values():
            raise error
        return [key for key, is_gone in found.items() if is_gone]

    def list(self, prefix: str = "") -> Iterator[Stored]:
        if prefix:
            parts_of(prefix)
        for key, objects in itertools.groupby(self._walk(prefix), lambda each: _key(each.name)):
            newest = max(objects, key=lambda each: each.name)
            yield Stored(key, newest.size_bytes, newest.modified_at)

    def _for_each(
        self, keys: Mapping[str, object] | Sequence[str], work: Callable[[str], T]
    ) -> tuple[dict[str, T], dict[str, StoreError]]:
        """Runs many requests at once. After one finds the server unavailable, the others are not tried: each would wait
        as long for the same error."""
        done: dict[str, T] = {}
        failed: dict[str, StoreError] = {}
        away: list[StoreError] = []

        def one(key: str) -> None:
            parts_of(key)
            if away:
                failed[key] = away[0]
                return
            try:
                done[key] = work(key)
            except StoreError as error:
                failed[key] = error
            except Exception as error:
                failed[key] = self._translate_error(error, key)
            if key in failed and failed[key].reason == "store_away":
                away.append(failed[key])

        for _ in self._threads.map(one, keys):
            pass
        return done, failed

    def _confirm(self, key: str) -> bool:
        today = _today()
        for _ in range(2):
            found = self._find(key)
            if found is None:
                return False
            if found.name == _name(key, today):
                return True
            try:
                self._store.copy(found.name, _name(key, today))
            except FileNotFoundError:
                continue  # deleted in between, or confirmed by another worker
            self._store.delete([each.name for each in self._objects(key) if each.name < _name(key, today)])
            return True
        return False

    def _find(self, key: str) -> Named | None:
        """Returns its newest object."""
        return max(self._objects(key), default=None, key=lambda each: each.name)

    def _objects(self, key: str) -> Sequence[Named]:
        parts_of(key)
        if not _is_archive(key):
            return [*self._walk(key)]
        try:
            found = self._store.head(key)
        except FileNotFoundError:
            return []
        except Exception as error:
            raise self._translate_error(error, key) from None
        return [Named(key, found["size"], found["last_modified"])]

    def _walk(self, prefix: str) -> Iterator[Named]:
        try:
            for portion in self._store.list(prefix or None, chunk_size=LIST_AT_ONCE):
                yield from (Named(each["path"], each["size"], each["last_modified"]) for each in portion)
        except Exception as error:
            raise self._translate_error(error, prefix) from None

    def _read(self, found: Named, key: str, start: int, length: int | None) -> bytes:
        wanted = found.size_bytes - start if length is None else length
        if start + wanted > found.size_bytes or wanted < 0:
            raise StoreError(f"{key} in {self.bucket} ends before byte {start + max(wanted, 0):,}.", "damaged")
        if not wanted:
            return b""
        content = self._store.get_range(found.name, start=start, length=wanted).to_bytes()
        if len(content) != wanted:
            raise StoreError(f"{key} in {self.bucket} ends early.", "damaged")
        return content

    def _translate_error(self, error: Exception, key: str) -> StoreError:
        if isinstance(error, StoreError):
            return error
        if isinstance(error, ConfigurationError):
            return StoreError(str(error), "store_refused")
        return translate_error(error, self.bucket, key)


def _today() -> str:
    return f"{clock.now().astimezone(UTC):{DAY}}"


def _is_archive(key: str) -> bool:
    return key.startswith(ARCHIVES)


def _name(key: str, day: str) -> str:
    return key if _is_archive(key) else f"{key}/{day}"


def _key(name: str) -> str:
    return name if _is_archive(name) else name.rpartition("/")[0]


def _is_free(key: str, found: Named, since: datetime) -> bool:
    """Returns whether no worker stored or confirmed it since. For a day that is not over by then this is unknown, so it
    is kept; but a caller that deletes everything up to a moment ago, as a purge does, may delete it."""
    is_old = found.modified_at < since
    if _is_archive(key) or clock.now() - since < RIGHT_NOW:
        return is_old
    return datetime.strptime(found.name.rpartition("/")[2], DAY).replace(tzinfo=UTC) + ONE_DAY <= since
