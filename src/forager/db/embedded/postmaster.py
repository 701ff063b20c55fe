"""Manages the server process: finds, probes, starts and stops it. The caller holds the start lock.

Connects to the socket to see whether the server runs, instead of trusting a pid: pids are reused, and those of another
container mean nothing here.
"""

import contextlib
import errno
import os
import re
import signal
import socket
import struct
import time
from enum import Enum, auto

from forager import clock
from forager.db.damage import ADVICE
from forager.db.embedded import binaries, private, processes
from forager.db.embedded.account import Account
from forager.db.embedded.paths import ROLE, Place
from forager.errors import ConfigurationError, DatabaseUnreachableError

POLL_S = 0.01
ANSWER_TIMEOUT_S = 5.0
START_PATIENCE_S = 15.0
"""Backends of a killed postmaster hold its shared memory until they notice; a new one cannot start before."""
STOP_PATIENCE_S = 60.0
LARGEST_LOG_BYTES = 16 * 1024 * 1024
LOST = re.compile(
    r"checkpoint record|could not open (file|directory)|invalid (page|magic)|control file|WAL", re.IGNORECASE
)
"""Log messages of a server whose own files are damaged or missing."""
FULL = re.compile(r"no space left|quota|read-only|permission denied", re.IGNORECASE)
PASSING_TROUBLES = ("shared memory block", "lock file", "could not create any Unix-domain sockets")


class Answer(Enum):
    ABSENT = auto()
    NOT_YET = auto()
    """A process listens, but is starting, recovering, stopping or frozen."""
    READY = auto()


def ask(place: Place) -> Answer:
    """Probes the socket with the first message of PostgreSQL's protocol."""
    with socket.socket(socket.AF_UNIX) as knock:
        knock.settimeout(ANSWER_TIMEOUT_S)
        try:
            knock.connect(str(place.socket))
        except (FileNotFoundError, ConnectionRefusedError):
            return Answer.ABSENT
        except (TimeoutError, BlockingIOError):
            return Answer.NOT_YET
        except PermissionError:
            raise ConfigurationError(
                f"The database in {place.data} belongs to another user: run Forager as that user, or choose another "
                "folder with FORAGER_HOME."
            ) from None
        return _greet(knock)


def _greet(knock: socket.socket) -> Answer:
    names = f"user\0{ROLE}\0database\0postgres\0\0".encode()
    try:
        knock.sendall(struct.pack("!ii", 8 + len(names), 3 << 16) + names)
        reply = knock.recv(1024)
        if not reply or (reply[:1] == b"E" and b"C57P03\0" in reply):  # cannot_connect_now
            return Answer.NOT_YET
        knock.sendall(b"X\0\0\0\4")
    except OSError:
        return Answer.NOT_YET
    return Answer.READY


def find(place: Place) -> int | None:
    """Returns the pid of this cluster's running server. The pid file alone proves nothing: the pid may have been
    reused, and the owner of the file may have written any number into it."""
    pid = _noted_pid(place)
    return pid if pid is not None and processes.is_server(pid, place.data) else None


def _noted_pid(place: Place) -> int | None:
    """Returns the pid in the pid file."""
    try:
        first = private.read_file(place.data, "postmaster.pid").partition("\n")[0].strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise
    return int(first) if first.isascii() and first.isdigit() and len(first) < 10 else None


def start(place: Place, account: Account) -> None:
    """Starts the server and waits until it listens. It may still have to recover: `ask` reports when it is ready."""
    give_up_at = clock.monotonic() + START_PATIENCE_S
    while True:
        _clean_up_stale(place)
        said_before = _open_log_end(place)
        if _wait_for_start(place, _launch(place, account)):
            return
        trouble = _trouble(place, said_before)
        if clock.monotonic() > give_up_at or not any(passing in trouble for passing in PASSING_TROUBLES):
            raise DatabaseUnreachableError(
                f"Forager's own PostgreSQL did not start: {trouble or 'it said nothing'} (see {place.log})."
            )
        time.sleep(0.2)


def _clean_up_stale(place: Place) -> None:
    """Cleans up after a kill -9 of the postmaster: no process listens on its socket, but its backends may still be
    busy."""
    if find(place) is None:
        for leftover in (place.socket, place.socket.with_name(place.socket.name + ".lock")):
            leftover.unlink(missing_ok=True)
        for pid in processes.servers_in(place.data):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGQUIT)


def _launch(place: Place, account: Account) -> int:
    """Launches the server through a shell that detaches it: it outlives this process, gets no Ctrl-C from it, and
    leaves no zombie."""
    let_go = 'export PG_GRANDPARENT_PID="$1"; shift; "$@" </dev/null >&2 & echo $!'
    # PostgreSQL considers a pid file stale if it contains the pid of its grandparent. Here the file is known to be
    # stale: another process may own that pid by now. The other guard, memory still in use by orphans, stays active.
    stale_pid = str(_noted_pid(place) or 0)
    command = [str(binaries.folder() / "postgres"), "-D", str(place.data)]
    with open(private.open_file(place.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab") as log:
        os.fchmod(log.fileno(), 0o600)  # earlier versions created it world-readable
        if os.geteuid() == 0:
            os.fchown(log.fileno(), account.uid, account.gid)  # its owner may start the server next time
        launched = account.run(["/bin/sh", "-c", let_go, "sh", stale_pid, *command], stderr=log.fileno())
    return int(launched.stdout)


def _open_log_end(place: Place) -> int:
    """Returns the current end of the log. Renames a log that has grown too large to `postgres.log.old`."""
    try:
        size = place.log.lstat().st_size
    except FileNotFoundError:
        return 0
    if size < LARGEST_LOG_BYTES:
        return size
    place.log.replace(place.log.with_suffix(".log.old"))
    return 0


def _wait_for_start(place: Place, pid: int) -> bool:
    give_up_at = clock.monotonic() + START_PATIENCE_S
    while ask(place) is Answer.ABSENT:
        if not processes.is_alive(pid) or clock.monotonic() > give_up_at:
            return ask(place) is not Answer.ABSENT
        time.sleep(POLL_S)
    return True


def _trouble(place: Place, said_before: int) -> str:
    """Returns why the server did not start, without the time stamp: its PANIC message, else its last one."""
    with open(private.open_file(place.log, os.O_RDONLY), "rb") as log:
        log.seek(said_before)
        lines = log.read().decode(errors="replace").splitlines()
    panic = [line.split("PANIC:", 1)[1].strip() for line in lines if "PANIC:" in line]
    fatal = [line.split("FATAL:", 1)[1].strip() for line in lines if "FATAL:" in line]
    found = (panic[:1] or fatal or lines or [""])[-1].rstrip(".")
    is_lost = (panic or LOST.search(found)) and not FULL.search(found)
    return f"{found}. {ADVICE}".rstrip(".") if is_lost else found


def stop(place: Place) -> bool:
    """Stops the server fast and cleanly; if it does not react, stops it as in a crash, from which it recovers."""
    for asked_by in (signal.SIGINT, signal.SIGQUIT):
        pid = find(place)
        if pid is None:
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, asked_by)
        _wait_for_end(pid)
    if place.socket_folder.parent != place.home:
        with contextlib.suppress(OSError):  # not empty, or never created
            place.socket_folder.rmdir()
    return find(place) is None and ask(place) is Answer.ABSENT


def _wait_for_end(pid: int) -> None:
    give_up_at = clock.monotonic() + STOP_PATIENCE_S
    while processes.is_alive(pid) and clock.monotonic() < give_up_at:
        time.sleep(POLL_S)
