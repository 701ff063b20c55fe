"""Makes files durable: with one fsync each if they are few, with one `syncfs` of their disk if they are many.

200 new files in as many folders take 400 calls of fsync, each a commit of the disk's journal; `syncfs` does it in one.
"""

import ctypes
import os
import sys
from collections.abc import Sequence
from functools import cache

FEW = 8
"""Up to this number, files are synced one by one: a slow crawl should not flush the whole disk for one page."""


def sync_files(folder: int, names: Sequence[str]) -> dict[str, OSError]:
    """Returns those that could not be made durable."""
    if len(names) > FEW and _has_syncfs():
        try:
            _sync_disk(folder)
        except OSError as trouble:
            return dict.fromkeys(names, trouble)
        return {}
    return {name: error for name in names if (error := _sync_file(folder, name)) is not None}


def sync_folders(folders: Sequence[int]) -> None:
    """Syncs the directory entries; by descriptor."""
    if len(folders) > FEW and _has_syncfs():
        _sync_disk(folders[0])
        return
    for folder in folders:
        os.fsync(folder)


def _sync_file(folder: int, name: str) -> OSError | None:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        return error
    return None


def _sync_disk(descriptor: int) -> None:
    if _libc().syncfs(descriptor):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _has_syncfs() -> bool:
    return sys.platform == "linux" and hasattr(_libc(), "syncfs")


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
