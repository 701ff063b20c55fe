"""Accesses files in folders that another account may own, without following links, so that the owner cannot make root
read, overwrite or give away a file elsewhere."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from forager.errors import ConfigurationError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PLAIN = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""Opening does not block if the file was replaced by a pipe."""


def open_file(path: Path, flags: int) -> int:
    """Opens a regular file, created with mode 0600 if `flags` say so; under root it is given to its folder's owner."""
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
    """Returns the text of a file; raises FileNotFoundError if it or its folder does not exist."""
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
    """Changes the owner of a file, or of a folder with its content."""
    with open_folder(path.parent) as folder:
        chown_tree(path.name, folder, uid, gid)


def chown_tree(name: str, folder: int, uid: int, gid: int, *, only_of: int | None = None) -> None:
    """Changes the owner of an entry of an open folder, with its content; `only_of` limits this to files of that user.
    Skips files with several hard links: another link may belong to another user."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(found.st_mode):
        for _, folders, names, handle in os.fwalk(name, topdown=False, follow_symlinks=False, dir_fd=folder):
            for each in (*names, *folders):
                _chown_entry(each, handle, uid, gid, only_of)
    _chown_entry(name, folder, uid, gid, only_of)


def _chown_entry(name: str, folder: int, uid: int, gid: int, only_of: int | None) -> None:
    with suppress(FileNotFoundError):
        handle = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            found = os.fstat(handle)
            if is_single(found) and only_of in {None, found.st_uid}:
                os.chown(f"/proc/self/fd/{handle}", uid, gid)  # the inode that was checked, not its current name
        finally:
            os.close(handle)


def is_single(found: os.stat_result) -> bool:
    """Returns True for a folder, a link, or a file with a single hard link."""
    return found.st_nlink == 1 or stat.S_ISDIR(found.st_mode) or stat.S_ISLNK(found.st_mode)


@contextmanager
def open_resolved(path: Path) -> Iterator[int]:
    """Opens a folder by a path without links, so that a link inserted later is not followed."""
    handle = os.open("/", FOLDER)
    try:
        for part in path.parts[1:]:
            below = os.open(part, FOLDER, dir_fd=handle)
            os.close(handle)
            handle = below
    except OSError as error:
        os.close(handle)
        raise ConfigurationError(
            f"{path} cannot be opened ({error.strerror}): it is no folder, or somebody exchanged it for a link."
        ) from None
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def open_folder(path: Path) -> Iterator[int]:
    handle = os.open(path, FOLDER)
    try:
        yield handle
    finally:
        os.close(handle)
