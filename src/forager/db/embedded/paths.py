"""Defines the paths in a Forager home. Only names paths and creates folders; starts nothing.

home/postgres/         the cluster               home/postgres.lock    held while a process starts or stops it
home/postgres.new.*/   a cluster being created   home/postgres.users   shared lock of every process that uses it
home/postgres.log      the server's log          home/postgres.keep    if present, the server is kept running
home/socket/           the folder of the server's only socket
"""

import hashlib
import os
import stat
import threading
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from forager.errors import ConfigurationError

PORT = 5432
"""Only part of the socket file's name; nothing listens on TCP."""
ROLE = "forager"
"""The role Forager connects as: the owner of its database, and not a superuser."""
SUPERUSER = "postgres"
DATABASE = "forager"
LONGEST_SOCKET_PATH_BYTES = 99
"""The kernel's limit is 103 (macOS) or 107 (Linux)."""


@dataclass(frozen=True, slots=True)
class Place:
    home: Path

    @classmethod
    def of(cls, home: Path) -> "Place":
        """Resolves the path, so that two spellings of one folder are equal."""
        return cls(home.expanduser().resolve())

    @property
    def data(self) -> Path:
        return self.home / "postgres"

    @property
    def new_data(self) -> Path:
        return self.home / f"postgres.new.{os.getpid()}-{threading.get_ident()}"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    @property
    def start_lock(self) -> Path:
        return self.home / "postgres.lock"

    @property
    def users(self) -> Path:
        return self.home / "postgres.users"

    @property
    def keep(self) -> Path:
        return self.home / "postgres.keep"

    @property
    def socket_folder(self) -> Path:
        """Returns the socket folder: in the home or, if its path is too long for a socket, a short path that every
        process derives identically."""
        inside = self.home / "socket"
        if len(os.fsencode(_socket_in(inside))) <= LONGEST_SOCKET_PATH_BYTES:
            return inside
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return Path("/tmp").resolve() / f"forager-{_owner(self.home)}-{digest}"  # noqa: S108 (0700, checked by open_folder)

    @property
    def socket(self) -> Path:
        return _socket_in(self.socket_folder)

    @property
    def dsn(self) -> str:
        return self.dsn_of(DATABASE)

    def dsn_of(self, database: str, role: str = ROLE) -> str:
        host = quote(str(self.socket_folder), safe="")
        return f"postgresql://{role}@/{quote(database, safe='')}?host={host}&port={PORT}"


def _socket_in(folder: Path) -> Path:
    return folder / f".s.PGSQL.{PORT}"


def _owner(home: Path) -> int:
    try:
        return home.stat().st_uid
    except FileNotFoundError:
        return os.geteuid()


def open_folder(path: Path, uid: int, gid: int) -> None:
    """Creates a folder that only `uid` may enter, or verifies an existing one: every user can write to /tmp."""
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        pass
    else:
        if os.geteuid() == 0:
            os.chown(path, uid, gid, follow_symlinks=False)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid:
        raise ConfigurationError(
            f"Forager needs the folder {path} for its database, but it belongs to somebody else: remove it."
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        path.chmod(0o700)
