"""Files of a backup: hard-linked if they are on the same disk and never change, else copied; listed with checksums.

Calls block and run in threads. A crawl may continue: files appear only when they are complete, and those that still
grow are copied after the database was dumped, so that they contain whatever it refers to.
"""

import contextlib
import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from forager.errors import StoreError
from forager.storage.files import CHUNK, PART, digest, make_folder, sync_file

FOLDERS = frozenset({"bodies", "cold", "extractors"})
"""Folders of a data folder whose files are in a backup."""
EDITED = ("extractors/",)
"""Files that a person changes: a link would change with them."""
GROWING = (".open", ".cdxj")
"""Suffixes of files that are written in place."""
LEFT_OUT = frozenset({"tmp", "dying"})
"""Folders of the store whose files are unreferenced."""
OPEN = ".open"
TRIES = 3


@dataclass(slots=True)
class CollectedFiles:
    """Path below the backup's folder of files → size and checksum."""

    files: dict[str, tuple[int, str]] = field(default_factory=dict)
    linked: int = 0
    copied: int = 0
    is_stopped: bool = False
    """The caller no longer waits: a thread cannot be cancelled, so it checks this between two files."""

    @property
    def size_bytes(self) -> int:
        return sum(size for size, _ in self.files.values())


@dataclass(frozen=True, slots=True)
class Older:
    """The files of an earlier backup: a file that is the same there needs no new checksum."""

    folder: Path | None = None
    files: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def checksum_of(self, name: str, path: Path) -> str | None:
        size, checksum = self.files.get(name, (-1, ""))
        if self.folder is None or size != path.stat().st_size:
            return None
        with contextlib.suppress(OSError):
            return checksum if path.samefile(self.folder / name) else None
        return None


def gather(
    sources: Mapping[str, Path],
    into: Path,
    gathered: CollectedFiles,
    *,
    older: Older,
    also_growing: bool,
    may_link: bool = True,
) -> None:
    """Adds files of the sources that are not collected yet."""
    for _ in range(TRIES):
        missed = 0
        for name, source in _walk(sources):
            if gathered.is_stopped:
                return
            if name in gathered.files or (name.endswith(GROWING) and not also_growing):
                continue
            try:
                _take(source, into, name, gathered, older=older, may_link=may_link)
            except FileNotFoundError:  # it was closed or deleted after it was listed
                missed += 1
        if not missed:
            break
    for name in [name for name in gathered.files if name.endswith(OPEN)]:
        if name.removesuffix(OPEN) in gathered.files:
            del gathered.files[name]
            (into / name).unlink()


def _walk(sources: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    for prefix, root in sources.items():
        for folder, folders, names in os.walk(root):
            folders[:] = sorted(name for name in folders if Path(folder) != root or name not in LEFT_OUT)
            for name in sorted(names):
                path = Path(folder, name)
                if not name.endswith(PART) and path.is_file() and not path.is_symlink():
                    yield f"{prefix}/{path.relative_to(root).as_posix()}", path


def _take(source: Path, into: Path, name: str, gathered: CollectedFiles, *, older: Older, may_link: bool) -> None:
    target = into / name
    make_folder(target.parent)
    if may_link and not name.endswith(GROWING) and not name.startswith(EDITED) and _link(source, target):
        gathered.linked += 1
        gathered.files[name] = target.stat().st_size, older.checksum_of(name, target) or digest(target).hex()
    else:
        gathered.copied += 1
        gathered.files[name] = _copy(source, target)


def _link(source: Path, target: Path) -> bool:
    try:
        os.link(source, target, follow_symlinks=False)
    except FileNotFoundError:
        raise
    except OSError:  # another disk, or one without links
        return False
    return True


def _copy(source: Path, target: Path) -> tuple[int, str]:
    """Copies up to the size at the start: a file that grows has no end. The caller syncs all at once."""
    checksum, size = hashlib.sha256(), 0
    with source.open("rb") as there, target.open("wb") as here:
        left = os.fstat(there.fileno()).st_size
        while left and (piece := there.read(min(CHUNK, left))):
            here.write(piece)
            checksum.update(piece)
            size += len(piece)
            left -= len(piece)
    target.chmod(0o600)
    return size, checksum.hexdigest()


def write_list(path: Path, gathered: CollectedFiles) -> bytes:
    """Returns its checksum."""
    with gzip.GzipFile(path, "wb", mtime=0) as packed:
        for name, (size, checksum) in sorted(gathered.files.items()):
            packed.write(json.dumps({"path": name, "size_bytes": size, "sha256": checksum}).encode() + b"\n")
    path.chmod(0o600)
    sync_file(path)
    return digest(path)


def read_list(path: Path) -> dict[str, tuple[int, str]]:
    return parse_file_list(path.read_bytes())


def parse_file_list(packed: bytes) -> dict[str, tuple[int, str]]:
    rows = [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    return {_safe(row["path"]): (row["size_bytes"], row["sha256"]) for row in rows}


def _safe(name: str) -> str:
    """Rejects paths of an untrusted list that lead out of the folders of stored files: a settings file beside them
    could name a program to run."""
    folder, *rest = name.split("/")
    is_inside = folder in FOLDERS and rest and not any(part in {"", ".", ".."} for part in rest)
    if not is_inside or "\0" in name:
        raise StoreError(
            f"The backup lists a file with a bad name ({name[:100]!r}): it is not one of ours.", "bad_name"
        )
    return name


def verify_files(folder: Path, files: Mapping[str, tuple[int, str]]) -> list[str]:
    """Returns files that are missing or changed, in words."""
    found = []
    for name, (size, checksum) in files.items():
        path = folder / name
        if path.is_symlink() or not path.is_file():
            found.append(f"{name} is missing")
        elif path.stat().st_size != size or digest(path).hex() != checksum:
            found.append(f"{name} is damaged")
    return found


def put_back(folder: Path, files: Mapping[str, tuple[int, str]], home: Path) -> None:
    """Copies, never links: the restored instance must not share files with its backup."""
    for name in files:
        target = home / name
        make_folder(target.parent)
        _copy(folder / name, target)


def remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
