"""What lies where in a Forager home. Only names paths and makes folders; starts nothing.

home/postgres/         the cluster               home/postgres.lock    held while someone starts or stops it
home/postgres.new.*/   a cluster in the making   home/postgres.users   locked, shared, by everyone who uses it
home/postgres.log      what the server says      home/postgres.keep    there: the last one to leave lets it run
home/socket/           the server's only door
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
"""Only names the socket file; nothing listens on TCP."""
ROLE = "forager"
"""What Forager connects as: the owner of its database, and not a superuser."""
SUPERUSER = "postgres"
DATABASE = "forager"
LONGEST_SOCKET_PATH_BYTES = 99
"""The kernel's limit is 103 (macOS) or 107 (Linux)."""


@dataclass(frozen=True, slots=True)
class Place:
    home: Path

    @classmethod
    def of(cls, home: Path) -> "Place":
        """Two spellings of one folder are one place."""
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
        """In the home, or, where its path is too long for a socket, a short one that every process derives alike."""
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
    """Make a folder only `uid` may enter, or make sure that it is one: /tmp is everybody's."""
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
