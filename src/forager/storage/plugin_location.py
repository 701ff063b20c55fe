"""Bodies where a plug-in stores them: `storage.bucket = "SCHEME:TARGET"`.

Whatever the plug-in raises is a StoreError: like a full disk it pauses the worker until bodies can be stored again.
"""

import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from forager.errors import ConfigurationError, StoreError
from forager.plugins import registry
from forager.plugins.collect import collect
from forager.plugins.contributions import Storage
from forager.plugins.registry import PluginRegistry
from forager.storage.location import Stored, parts_of

HOOK = "register_storage"
SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,30}")
OURS = ("s3", "http", "https", "file")
METHODS = ("put", "get", "size", "confirm", "delete", "list")
PROBE = "probe"


class PluginLocation:
    """The location that a plug-in opens, at the first call; a later call tries again if that fails."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._opening = threading.Lock()
        self._opened: tuple[str, Any] | None = None

    def __str__(self) -> str:
        return self._url

    def probe(self) -> None:
        """Asks for a body that does not exist. Raises ConfigurationError."""
        try:
            with self._translated(PROBE) as place:
                place.confirm([PROBE])
        except StoreError as error:
            raise ConfigurationError(str(error)) from None

    def put(self, items: Mapping[str, bytes]) -> dict[str, StoreError]:
        for key in items:
            parts_of(key)
        try:
            with self._translated(_bodies(items)) as place:
                failed = {key: error for key, error in dict(place.put(dict(items)) or {}).items() if key in items}
        except StoreError as error:
            return dict.fromkeys(items, error)
        return {key: self._failure(key, error) for key, error in failed.items()}

    def get(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        parts_of(key)
        with self._translated(key, may_miss=True) as place:
            content = bytes(memoryview(place.get(key, start, length)))
        if length is not None and len(content) != length:
            raise StoreError(f"{key} in {self} ends before byte {start + length:,}.", "damaged")
        return content

    def size(self, key: str) -> int:
        parts_of(key)
        with self._translated(key, may_miss=True) as place:
            return int(place.size(key))

    def confirm(self, keys: Sequence[str]) -> set[str]:
        """Returns those that exist; missing ones, and those whose state is unknown, are left out."""
        for key in keys:
            parts_of(key)
        try:
            with self._translated(_bodies(keys)) as place:
                return set(place.confirm(list(keys))) & set(keys)
        except StoreError:
            return set()

    def delete(self, keys: Sequence[str], *, unless_since: datetime) -> list[str]:
        for key in keys:
            parts_of(key)
        with self._translated(_bodies(keys)) as place:
            gone = set(place.delete(list(keys), unless_since=unless_since))
        return [key for key in keys if key in gone]

    def list(self, prefix: str = "") -> Iterator[Stored]:
        if prefix:
            parts_of(prefix)
        with self._translated(prefix or "the list") as place:
            for each in place.list(prefix):
                found = Stored(*each)
                parts_of(found.key)
                yield found

    def takes_files(self) -> bool:
        """Whether archive files can be moved there. Raises StoreError."""
        with self._translated("archive files") as place:
            return callable(getattr(place, "put_file", None))

    def put_file(self, key: str, path: Path) -> None:
        """Stores a large file; returns when all of it is there. Raises StoreError."""
        parts_of(key)
        with self._translated(key) as place:
            place.put_file(key, path)
        if (stored := self.size(key)) != (size := path.stat().st_size):
            raise StoreError(f"{key} in {self} has {stored:,} bytes instead of {size:,}.", "damaged")

    @contextmanager
    def _translated(self, what: str, *, may_miss: bool = False) -> Iterator[Any]:
        place = self._open()
        try:
            yield place
        except GeneratorExit:
            raise
        except FileNotFoundError as error:
            if may_miss:
                raise StoreError(f"{what} in {self} is not there.", "missing") from None
            raise self._failure(what, error) from error
        except (Exception, SystemExit) as error:
            raise self._failure(what, error) from error

    def _failure(self, what: str, error: object) -> StoreError:
        if isinstance(error, StoreError):
            return error
        plugin = self._opened[0] if self._opened else ""
        if isinstance(error, BaseException):
            registry.current().note(plugin, HOOK, error)
        text = " ".join(str(error).split())[:300].rstrip(".")
        kind = f"{type(error).__name__}: " if isinstance(error, BaseException) else ""
        return StoreError(f"The plug-in {plugin} failed with {what} in {self}: {kind}{text}.", "plugin_failed")

    def _open(self) -> Any:
        with self._opening:
            if self._opened is None:
                scheme, _, target = self._url.partition(":")
                found = _storages(registry.current()).get(scheme)
                if found is None:
                    known = ", ".join(["s3", *_storages(registry.current())])
                    raise StoreError(
                        f"No plug-in stores bodies in {self._url} (storage.bucket): there are {known}.", "store_refused"
                    )
                self._opened = found[0], _opened(*found, target, self._url)
            return self._opened[1]


def _bodies(keys: Collection[str]) -> str:
    return "one body" if len(keys) == 1 else f"{len(keys):,} bodies"


@lru_cache(8)
def plugin_location(_plugins: PluginRegistry, url: str) -> PluginLocation:
    """Returns the location of these plug-ins: one for each process."""
    return PluginLocation(url)


def _opened(plugin: str, storage: Storage, target: str, url: str) -> Any:
    try:
        place = storage.open(target)
        missing = [name for name in METHODS if not callable(getattr(place, name, None))]
        if missing:
            raise TypeError(f"its location has no {', '.join(missing)}")
    except (Exception, SystemExit) as error:
        registry.current().note(plugin, HOOK, error)
        text = " ".join(str(error).split())[:300].rstrip(".")
        raise StoreError(
            f"The plug-in {plugin} failed to open {url}: {type(error).__name__}: {text}.", "plugin_failed"
        ) from error
    return place


@lru_cache(4)
def _storages(plugins: PluginRegistry) -> dict[str, tuple[str, Storage]]:
    found: dict[str, tuple[str, Storage]] = {}
    for plugin, each in collect(HOOK, Storage):
        if SCHEME.fullmatch(str(each.scheme)) and each.scheme not in OURS and each.scheme not in found:
            found[each.scheme] = plugin, each
        else:
            plugins.note(plugin, HOOK, ValueError(f"{each.scheme!r} is no scheme, or one that exists already"))
    return found
