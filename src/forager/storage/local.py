"""Bodies in a local folder. Writes are atomic: a temporary file, made durable, renamed to its final name.

Folders are opened from the root one by one without following links, so that nothing planted below the root makes
Forager write, read or delete outside of it. The root itself may be a link: an operator can move it to another disk.
"""

import contextlib
import errno
import itertools
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from forager import clock
from forager.errors import StoreError
from forager.storage.file_sync import sync_files, sync_folders
from forager.storage.location import Stored, parts_of

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
TEMPORARY, DYING = "tmp", "dying"
LEFT_BEHIND_S = 86_400.0
"""A temporary file of this age belongs to a process that was killed."""
REASONS = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EFBIG: "disk_full",
    errno.EACCES: "not_writable",
    errno.EPERM: "not_writable",
    errno.EROFS: "not_writable",
    errno.ENOENT: "missing",
    errno.ELOOP: "not_ours",
    errno.ENOTDIR: "not_ours",
}


def translate_error(error: OSError, key: str) -> StoreError:
    reason = REASONS.get(error.errno or 0, "store_error")
    return StoreError(f"{key} of the store of bodies: {(error.strerror or str(error)).lower()}.", reason)


class LocalLocation:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._numbers = itertools.count()
        self._mark = f"{os.getpid()}-{os.urandom(4).hex()}"

    def put(self, items: Mapping[str, bytes]) -> dict[str, StoreError]:
        failed: dict[str, StoreError] = {}
        written: dict[str, str] = {}
        with self._folders() as folders:
            try:
                temporary = folders.enter((TEMPORARY,), make=True)
            except OSError as error:
                return {key: translate_error(error, TEMPORARY) for key in items}
            for key, content in items.items():
                try:
                    written[key] = self._write(temporary, content)
                except OSError as error:
                    failed[key] = translate_error(error, key)
            failed |= self._move(folders, temporary, written)
        return failed

    def get(self, key: str, start: int = 0, length: int | None = None) -> bytes:
        *place, name = parts_of(key)
        try:
            with self._folders() as folders:
                descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folders.enter(place))
                try:
                    return _read(descriptor, key, start, length)
                finally:
                    os.close(descriptor)
        except OSError as error:
            raise translate_error(error, key) from error

    def size(self, key: str) -> int:
        *place, name = parts_of(key)
        try:
            with self._folders() as folders:
                found = os.stat(name, dir_fd=folders.enter(place), follow_symlinks=False)
        except OSError as error:
            raise translate_error(error, key) from error
        if not stat.S_ISREG(found.st_mode):
            raise StoreError(f"{key} of the store of bodies is no file.", "not_ours")
        return found.st_size

    def confirm(self, keys: Sequence[str]) -> set[str]:
        there = set()
        with self._folders() as folders:
            for key in keys:
                *place, name = parts_of(key)
                with contextlib.suppress(OSError):
                    os.utime(name, dir_fd=folders.enter(place), follow_symlinks=False)
                    there.add(key)
        return there

    def delete(self, keys: Sequence[str], *, unless_since: datetime) -> list[str]:
        """Moves each file aside before checking its age: a worker that confirms it meanwhile finds it missing and
        stores it again."""
        gone: list[str] = []
        with self._folders() as folders:
            for key in keys:
                *place, name = parts_of(key)
                try:
                    aside = folders.enter((DYING,), make=True)
                    if self._delete(folders.enter(place), name, aside, unless_since):
                        gone.append(key)
                except FileNotFoundError:
                    gone.append(key)
                except OSError as error:
                    raise translate_error(error, key) from error
        return gone

    def list(self, prefix: str = "") -> Iterator[Stored]:
        root = self._root.joinpath(*parts_of(prefix)) if prefix else self._root
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in {TEMPORARY, DYING}]
            for name in names:
                path = Path(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    found = path.lstat()
                    if stat.S_ISREG(found.st_mode):
                        key = path.relative_to(self._root).as_posix()
                        yield Stored(key, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))

    def remove_stale(self) -> int:
        """Removes what processes that were killed long ago had not finished writing or deleting; returns the number of
        files."""
        return sum(self._remove_stale(folder) for folder in (TEMPORARY, DYING))

    def _remove_stale(self, folder: str) -> int:
        removed = 0
        with self._folders() as folders, contextlib.suppress(OSError):
            place = folders.enter((folder,))
            for name in os.listdir(place):
                with contextlib.suppress(OSError):
                    if clock.now().timestamp() - os.stat(name, dir_fd=place).st_mtime > LEFT_BEHIND_S:
                        os.unlink(name, dir_fd=place)
                        removed += 1
        return removed

    @contextlib.contextmanager
    def _folders(self) -> Iterator["_Folders"]:
        folders = _Folders(self._root)
        try:
            yield folders
        finally:
            folders.close()

    def _write(self, temporary: int, content: bytes) -> str:
        name = f"{self._mark}-{next(self._numbers)}"
        descriptor = os.open(name, NEW_FILE, 0o600, dir_fd=temporary)
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(descriptor, left) :]
        except OSError:
            os.unlink(name, dir_fd=temporary)
            raise
        finally:
            os.close(descriptor)
        return name

    def _move(self, folders: "_Folders", temporary: int, written: Mapping[str, str]) -> dict[str, StoreError]:
        """Makes the content durable, then renames, then makes the name durable."""
        failed: dict[str, StoreError] = {}
        changed: dict[int, str] = {}
        broken = sync_files(temporary, list(written.values()))
        for key, name in written.items():
            *place, last = parts_of(key)
            try:
                if name in broken:
                    raise broken[name]
                folder = folders.enter(place, make=True)
                os.replace(name, last, src_dir_fd=temporary, dst_dir_fd=folder)
                changed[folder] = key
            except OSError as error:
                failed[key] = translate_error(error, key)
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=temporary)
        try:
            sync_folders([*folders.grown, *changed])
        except OSError as error:
            return {key: translate_error(error, key) for key in written}
        return failed

    def _delete(self, folder: int, name: str, aside: int, unless_since: datetime) -> bool:
        since = unless_since.timestamp()
        if os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime >= since:
            return False
        os.replace(name, name, src_dir_fd=folder, dst_dir_fd=aside)
        if os.stat(name, dir_fd=aside, follow_symlinks=False).st_mtime >= since:
            os.replace(name, name, src_dir_fd=aside, dst_dir_fd=folder)
            return False
        os.unlink(name, dir_fd=aside)
        return True


class _Folders:
    """Descriptors of the folders that one call needs, each opened once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: dict[tuple[str, ...], int] = {}
        self.grown: set[int] = set()
        """Folders in which a folder was created."""

    def enter(self, parts: Sequence[str], *, make: bool = False) -> int:
        path = tuple(parts)
        if path not in self._open:
            self._open[path] = self._enter_root(make=make) if not path else self._enter_below(path, make=make)
        return self._open[path]

    def _enter_root(self, *, make: bool) -> int:
        if make:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _enter_below(self, path: tuple[str, ...], *, make: bool) -> int:
        above = self.enter(path[:-1], make=make)
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(path[-1], mode=0o700, dir_fd=above)
                self.grown.add(above)
        return os.open(path[-1], FOLDER, dir_fd=above)

    def close(self) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)


def _read(descriptor: int, key: str, start: int, length: int | None) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{key} of the store of bodies is no file.", "not_ours")
    wanted = found.st_size - start if length is None else length
    if start + wanted > found.st_size or wanted < 0:
        raise StoreError(f"{key} of the store of bodies ends before byte {start + max(wanted, 0):,}.", "damaged")
    pieces = []
    while wanted:
        piece = os.pread(descriptor, wanted, start)
        if not piece:
            raise StoreError(f"{key} of the store of bodies ends early.", "damaged")
        pieces.append(piece)
        start, wanted = start + len(piece), wanted - len(piece)
    return b"".join(pieces)
