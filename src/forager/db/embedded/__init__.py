"""Forager's own PostgreSQL: one server per home, started by the first process to join, stopped by the last to leave.

Any number of processes may call these functions at any time; after kill -9 of everything, the next caller restarts it.

    join ──► ServerLease ──► leave   a lease is a shared lock, which the kernel releases when its process is killed
    keep / unkeep                    the last process to leave keeps the server running, or stops it again
    ensure_running                   restart a killed server
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
"""Disk errors that may occur while Forager runs and may pass: the database is unavailable."""
LOCK_PATIENCE_S = 120.0
READY_PATIENCE_S = 600.0
"""Recovery after a crash replays up to max_wal_size of log."""
LONGEST_PAUSE_S = 0.25
"""Each connection attempt to a server in recovery adds a line to its log."""


@dataclass(frozen=True, slots=True)
class Status:
    is_running: bool
    is_used: bool
    """Whether a Forager process holds a lease."""
    is_kept: bool
    pid: int | None
    version: int | None
    """The major version that created the cluster; None if there is no cluster yet."""
    size_bytes: int
    data: Path
    socket: Path
    log: Path


class ServerLease:
    """The right to use the server: it is not stopped while any process holds a lease."""

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
        """Releases the lease, and stops the server if it was the last one. A second call does nothing."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        try:
            with _translate_os_errors(self._place), _start_lock(self._place):
                _stop_if_last(self._place, handle)
        finally:
            os.close(handle)


def join(home: Path) -> ServerLease:
    """Acquires a lease on the home's server, creates and starts the server if necessary, and waits until it is
    ready."""
    place = Place.of(home)
    with _translate_os_errors(place):
        _make_home(place)
        with _start_lock(place):
            handle = private.open_file(place.users, os.O_RDONLY | os.O_CREAT)
            fcntl.flock(handle, fcntl.LOCK_SH)  # does not block: exclusive locks are taken under the start lock
        try:
            _run(place)
        except BaseException:
            os.close(handle)
            raise
        return ServerLease(place, handle)


def ensure_running(home: Path) -> str:
    """Starts the server, whatever its state, without acquiring a lease. Returns the DSN."""
    place = Place.of(home)
    with _translate_os_errors(place):
        _make_home(place)
        _run(place)
    return place.dsn


def keep(home: Path) -> None:
    """Keeps the server running after the last process leaves."""
    place = Place.of(home)
    with _translate_os_errors(place):
        _make_home(place)
        os.close(private.open_file(place.keep, os.O_RDONLY | os.O_CREAT))


def delete_keep_file(home: Path) -> None:
    Place.of(home).keep.unlink(missing_ok=True)


def stop(home: Path) -> bool:
    """Stops the server even if it is in use or kept. Returns True if none runs afterwards."""
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
    """Creates the home. The account that the server runs as can traverse root's home; any other home is private to its
    owner."""
    if not place.home.is_dir():
        place.home.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)


def _run(place: Place) -> None:
    """Starts the server. Does not hold the start lock during recovery, which may take minutes; other processes wait in
    parallel."""
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
    """Holds the lock that is required to start or stop the server. The kernel releases it when its holder is killed."""
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
    """Translates errors such as a full disk or a folder without write permission into one sentence about the home."""
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
