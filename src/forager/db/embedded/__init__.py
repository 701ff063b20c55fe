"""Forager's own PostgreSQL: one server per home, started by whoever comes first, stopped by whoever leaves last.

Any number of processes may call any of this at any time; after kill -9 of everything, the next caller brings it back.

    join ──► Seat ──► leave        a seat is a shared lock, so that a killed process gives its own back
    keep / unkeep                  the last one to leave lets the server run, or stops it again
    ensure_running                 bring a killed server back
"""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from forager import clock
from forager.db.embedded import account, binaries, cluster, postmaster, private
from forager.db.embedded.paths import Place, open_folder
from forager.db.embedded.postmaster import Answer
from forager.errors import ConfigurationError, DatabaseUnreachableError

PASSING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
"""Trouble with the disk that comes while we run and may go again: the database is unavailable."""
LOCK_PATIENCE_S = 120.0
READY_PATIENCE_S = 600.0
"""Recovery after a crash replays up to max_wal_size of log."""
LONGEST_PAUSE_S = 0.25
"""Each question to a server that recovers is a line in its log."""


@dataclass(frozen=True, slots=True)
class Status:
    is_running: bool
    is_used: bool
    """Whether a Forager process has a seat."""
    is_kept: bool
    pid: int | None
    version: int | None
    """The major version that made the cluster; None when there is no cluster yet."""
    size_bytes: int
    data: Path
    socket: Path
    log: Path


class ServerLease:
    """The right to use the server: while anybody has one, nobody stops it."""

    def __init__(self, place: Place, handle: int) -> None:
        self._place = place
        self._handle: int | None = handle

    @property
    def dsn(self) -> str:
        return self._place.dsn

    @property
    def home(self) -> Path:
        return self._place.home

    def leave(self) -> None:
        """Give the seat back, and stop the server if it was the last one. A second call does nothing."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        try:
            with _translate_os_errors(self._place), _start_lock(self._place):
                _stop_if_last(self._place, handle)
        finally:
            os.close(handle)


def join(home: Path) -> ServerLease:
    """Take a seat at the home's server, which is made and started if need be, and wait until it is ready."""
    place = Place.of(home)
    with _translate_os_errors(place):
        _make_home(place)
        with _start_lock(place):
            handle = private.open_file(place.users, os.O_RDONLY | os.O_CREAT)
            fcntl.flock(handle, fcntl.LOCK_SH)  # at once: whoever takes it alone holds the start lock
        try:
            _run(place)
        except BaseException:
            os.close(handle)
            raise
        return ServerLease(place, handle)


def ensure_running(home: Path) -> str:
    """Bring the server up, whatever happened to it, without taking a seat. Returns the DSN."""
    place = Place.of(home)
    with _translate_os_errors(place):
        _make_home(place)
        _run(place)
    return place.dsn


def keep(home: Path) -> None:
    """From now on the last one to leave lets the server run."""
    place = Place.of(home)
    with _translate_os_errors(place):
        _make_home(place)
        os.close(private.open_file(place.keep, os.O_RDONLY | os.O_CREAT))


def delete_keep_file(home: Path) -> None:
    Place.of(home).keep.unlink(missing_ok=True)


def stop(home: Path) -> bool:
    """Stop the server even if it is in use or kept. True if none runs afterwards."""
    place = Place.of(home)
    if not place.home.is_dir():
        return True
    with _translate_os_errors(place), _start_lock(place):
        return postmaster.stop(place)


def status(home: Path) -> Status:
    place = Place.of(home)
    with _translate_os_errors(place):
        return Status(
            is_running=postmaster.ask(place) is not Answer.ABSENT,
            is_used=_is_used(place),
            is_kept=place.keep.exists(),
            pid=postmaster.find(place),
            version=cluster.version_of(place),
            size_bytes=_size_of(place.data),
            data=place.data,
            socket=place.socket,
            log=place.log,
        )


def _make_home(place: Place) -> None:
    """Root's home is passed by the account that the server runs as; any other is its owner's alone."""
    if not place.home.is_dir():
        place.home.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)


def _run(place: Place) -> None:
    """The start lock is not held during recovery, which may take minutes; who comes meanwhile waits beside us."""
    give_up_at = clock.monotonic() + READY_PATIENCE_S
    pause_s = postmaster.POLL_S
    while clock.monotonic() < give_up_at:
        match postmaster.ask(place):
            case Answer.READY:
                return
            case Answer.NOT_YET:
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            case Answer.ABSENT:
                with _start_lock(place):
                    _ensure_started(place)
    raise DatabaseUnreachableError(
        f"Forager's own PostgreSQL in {place.data} runs, but is not ready after {READY_PATIENCE_S:.0f} s: "
        f"see {place.log}."
    )


def _ensure_started(place: Place) -> None:
    if postmaster.ask(place) is not Answer.ABSENT:
        return
    cluster.check_version(place)
    owner = account.choose(place.data, binaries.folder())
    if cluster.exists(place):
        cluster.take_over(place, owner)
    else:
        cluster.create(place, owner)
    open_folder(place.socket_folder, owner.uid, owner.gid)
    cluster.configure(place, place.data, owner)
    postmaster.start(place, owner)


def _stop_if_last(place: Place, handle: int) -> None:
    fcntl.flock(handle, fcntl.LOCK_UN)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return
    if not place.keep.exists():
        postmaster.stop(place)


def _is_used(place: Place) -> bool:
    try:
        handle = private.open_file(place.users, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


@contextlib.contextmanager
def _start_lock(place: Place) -> Iterator[None]:
    """Only its holder starts or stops the server. The kernel takes it back from a killed holder."""
    handle = private.open_file(place.start_lock, os.O_RDONLY | os.O_CREAT)
    try:
        give_up_at = clock.monotonic() + LOCK_PATIENCE_S
        while not _locks(handle):
            if clock.monotonic() > give_up_at:
                raise DatabaseUnreachableError(
                    f"Another Forager process has been starting or stopping the database in {place.home} for "
                    f"{LOCK_PATIENCE_S:.0f} s: end that process, then try again."
                )
            time.sleep(postmaster.POLL_S)
        yield
    finally:
        os.close(handle)


def _locks(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _translate_os_errors(place: Place) -> Iterator[None]:
    """A full disk, a folder we may not write: trouble with the home, in one sentence."""
    try:
        yield
    except OSError as error:
        says = f"Forager cannot keep its database in {place.home}: {error.strerror or error}"
        if error.errno in PASSING:
            raise DatabaseUnreachableError(f"{says}. Make the disk take writes again, then run it again.") from None
        raise ConfigurationError(
            f"{says} ({error.filename or place.home}). Choose another folder with FORAGER_HOME."
        ) from error


def _size_of(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += (Path(path) / name).lstat().st_size
    return total
