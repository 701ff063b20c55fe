"""The marker file of a restore: while it exists, the home is incomplete and no other command uses it.

Without it, a killed restore left a home that looked healthy and empty. The marker is written before the first file and
removed after the last check; the restore holds a lock on it, which distinguishes a running restore from a killed one.
"""

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from forager import clock
from forager.errors import ConfigurationError, UsageError

NAME = "restore.unfinished"


@dataclass(frozen=True, slots=True)
class Restore:
    """The content of the marker."""

    source: str
    started_at: str
    database: str | None = None
    """Location of the external server that was found empty, if the restore uses one: its content now comes from the
    restore."""

    @property
    def since(self) -> datetime:
        return datetime.fromisoformat(self.started_at)


class Marker:
    """The marker of the restore that this process runs."""

    def __init__(self, path: Path, handle: int, before: Restore | None, now: Restore) -> None:
        self._path, self._handle = path, handle
        self.before = before
        """The killed restore whose remains are in the home."""
        self._now = now
        self.has_begun = before is not None

    def begin(self, database: str | None = None) -> None:
        """Marks the start of writing; `database` is the location of an external server that is written to."""
        self.has_begun = True
        if database is not None:
            self._now = replace(self._now, database=database)
            self.write()

    def write(self) -> None:
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, json.dumps(asdict(self._now)).encode(), 0)
        os.fsync(self._handle)
        _sync(self._path.parent)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)
        _sync(self._path.parent)

    def forget(self) -> None:
        """Removes the marker, and the home if it was created for it: nothing was restored."""
        self.remove()
        with contextlib.suppress(OSError):
            self._path.parent.rmdir()


@contextlib.contextmanager
def mark(home: Path, source: str) -> Iterator[Marker]:
    """Marks a home while it is being restored. The marker stays unless the caller removes it, or fails before it has
    begun."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(home / NAME, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        if not _locks(handle):
            raise UsageError(_running(home))
        before = _read(handle)
        now = (
            Restore(source, before.started_at, before.database) if before else Restore(source, clock.now().isoformat())
        )
        marker = Marker(home / NAME, handle, before, now)
        marker.write()
        try:
            yield marker
        except BaseException:
            if not marker.has_begun:
                marker.forget()
            raise
    finally:
        os.close(handle)


def find(home: Path) -> Restore | None:
    """Returns the restore that a home is marked with; None if the home is complete."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        handle = os.open(home / NAME, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            return _read(handle) or Restore("BACKUP", clock.now().isoformat())
        finally:
            os.close(handle)
    return None


def refuse(home: Path) -> None:
    """Raises if a restore is running or was killed: an incomplete instance must not be read or written."""
    found = find(home)
    if found is None:
        return
    handle = os.open(home / NAME, os.O_RDONLY)
    try:
        is_running = not _locks(handle)
    finally:
        os.close(handle)
    if is_running:
        raise UsageError(_running(home))
    raise ConfigurationError(
        f"The restore of {found.source} into {home} was not finished, so this instance is not whole: run "
        f"`forager restore {found.source} --into {home}` again. It removes what the first one left."
    )


def _running(home: Path) -> str:
    return f"A restore into {home} is running: wait until it is done."


def _read(handle: int) -> Restore | None:
    text = os.pread(handle, 64 * 1024, 0)
    if not text:
        return None
    try:
        return Restore(**json.loads(text))
    except (TypeError, ValueError):  # killed while writing the marker: nothing else was written yet
        return None


def _locks(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
