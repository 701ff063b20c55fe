"""Files that must be complete: made durable, renamed to their final name, disk errors reported in one sentence."""

import contextlib
import ctypes
import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from forager.errors import StoreError

PART = ".part"
"""The suffix of incomplete files."""
CHUNK = 1024 * 1024
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@contextlib.contextmanager
def translate_errors(path: Path, advice: str) -> Iterator[None]:
    """Translates errors of the file system."""
    try:
        yield
    except OSError as error:
        raise translate_error(error, path, advice) from None


def translate_error(error: OSError, path: Path, advice: str) -> StoreError:
    where = error.filename or path
    if error.errno in FULL:
        return StoreError(f"The disk is full ({where}): make room there. {advice}", "disk_full")
    return StoreError(f"{where}: {(error.strerror or str(error)).lower()}. {advice}")


def make_folder(folder: Path) -> None:
    """Creates a folder that only its owner may enter: its contents were private to the database."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def write_atomic(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + PART)
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.chmod(0o600)
    part.replace(path)


def publish(path: Path) -> None:
    """Renames a complete and durable part to its final name."""
    path.with_name(path.name + PART).replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(root: Path) -> None:
    """Makes everything below a folder durable with one call for its file system: an fsync for each of 95,000 small
    files took more than 400 s. Folders right below it may be mounted from elsewhere."""
    for folder in (root, *(path for path in root.iterdir() if path.is_dir())):
        handle = os.open(folder, os.O_RDONLY)
        try:
            _syncfs(handle)
        finally:
            os.close(handle)


def _syncfs(handle: int) -> None:
    """Calls `syncfs`, which Python does not provide; if the C library does not either, all disks are synced."""
    sync = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if sync is None:
        os.sync()
    elif sync(handle) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def sync_file(path: Path) -> None:
    sync_folder(path)


def digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def size_of(folder: Path) -> tuple[int, int]:
    """Returns how many files are below a folder, and their bytes on disk; hard links count once."""
    seen: dict[tuple[int, int], int] = {}
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                found = os.lstat(os.path.join(path, name))
                seen[found.st_dev, found.st_ino] = found.st_size
    return len(seen), sum(seen.values())
