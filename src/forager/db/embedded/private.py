"""Files in folders that another account may own: opened without following links, so that its owner cannot make root
read, overwrite or give away a file elsewhere."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from forager.errors import ConfigurationError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PLAIN = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""A pipe that somebody put in a file's place does not block who opens it."""


def open_file(path: Path, flags: int) -> int:
    """Opens a regular file, created with mode 0600 where `flags` say so; as root it is given to its folder's owner."""
    handle = os.open(path, flags | PLAIN, 0o600)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise ConfigurationError(f"{path} is not a plain file: remove it.")
        if os.geteuid() == 0 and flags & os.O_CREAT:
            folder = path.parent.stat()
            os.fchown(handle, folder.st_uid, folder.st_gid)
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_file(folder: Path, name: str) -> str:
    """Returns the text of a file; raises FileNotFoundError where it or its folder does not exist."""
    with open_folder(folder) as handle, open(os.open(name, os.O_RDONLY | PLAIN, dir_fd=handle), "rb") as file:
        return file.read().decode(errors="replace")


def write_file(folder: Path, name: str, text: str, uid: int, gid: int) -> None:
    """Replaces a file as a whole, with mode 0600, in a folder that must belong to `uid`."""
    fresh = f"{name}.new"
    with open_folder(folder) as handle:
        if os.fstat(handle).st_uid != uid:
            raise ConfigurationError(f"Forager needs the folder {folder}, but it belongs to another user: remove it.")
        with suppress(FileNotFoundError):
            os.unlink(fresh, dir_fd=handle)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | PLAIN
        with open(os.open(fresh, flags, 0o600, dir_fd=handle), "w", encoding="utf-8") as file:
            if os.geteuid() == 0:
                os.fchown(file.fileno(), uid, gid)
            file.write(text)
        os.rename(fresh, name, src_dir_fd=handle, dst_dir_fd=handle)


def give(path: Path, uid: int, gid: int) -> None:
    """Gives a file, or a folder with all that is in it, to an account. Files with a second name are left alone: the
    other name may be somebody else's."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        _give_entry(path.name, path.parent, uid, gid)
        return
    for _, _, names, handle in os.fwalk(path, topdown=False, follow_symlinks=False):
        for name in names:
            _give_one(name, handle, uid, gid)
        os.fchown(handle, uid, gid)


def _give_entry(name: str, folder: Path, uid: int, gid: int) -> None:
    with open_folder(folder) as handle:
        _give_one(name, handle, uid, gid)


def _give_one(name: str, handle: int, uid: int, gid: int) -> None:
    found = os.stat(name, dir_fd=handle, follow_symlinks=False)
    if found.st_nlink == 1 or stat.S_ISLNK(found.st_mode):
        os.chown(name, uid, gid, dir_fd=handle, follow_symlinks=False)


@contextmanager
def open_folder(path: Path) -> Iterator[int]:
    handle = os.open(path, FOLDER)
    try:
        yield handle
    finally:
        os.close(handle)
