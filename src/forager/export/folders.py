"""The folder that an export writes to, with the operations of a folder in a bucket (`storage/bucket_folder.py`)."""

import shutil
import tempfile
from pathlib import Path

from forager.storage.bucket import Bucket
from forager.storage.bucket_folder import BucketFolder
from forager.storage.files import sync_file, sync_folder, translate_errors, write_atomic
from forager.storage.upload import open_upload

SPOOL = ".forager-export-"
"""Prefix of the folder for what is not complete; readers of partitions ignore names that begin with a dot."""
ADVICE = "The same export can be repeated: what is complete is replaced."


class LocalFolder:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def read(self, name: str) -> bytes:
        return (self._path / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        with translate_errors(self._path / name, ADVICE):
            write_atomic(self._path / name, content)
            sync_folder(self._path)

    def make_spool(self) -> Path:
        """Creates the folder for what is not complete, on the same disk; removes those of exports that were killed."""
        with translate_errors(self._path, ADVICE):
            self._path.mkdir(parents=True, exist_ok=True)
            for left in self._path.glob(SPOOL + "*"):
                shutil.rmtree(left, ignore_errors=True)
            return Path(tempfile.mkdtemp(prefix=SPOOL, dir=self._path))

    def publish(self, path: Path, name: str) -> None:
        """Moves a complete file to its name: it replaces the one before in one step."""
        target = self._path / name
        with translate_errors(target, ADVICE):
            target.parent.mkdir(parents=True, exist_ok=True)
            sync_file(path)
            path.replace(target)
            sync_folder(target.parent)

    def names(self) -> list[str]:
        """Returns all files, by their names below the folder."""
        found = (path for path in self._path.rglob("*") if path.is_file())
        return sorted(path.relative_to(self._path).as_posix() for path in found)

    def delete(self, names: list[str]) -> None:
        for name in names:
            (self._path / name).unlink(missing_ok=True)


class ObjectFolder:
    """The same in a bucket."""

    def __init__(self, bucket: Bucket) -> None:
        self._folder = BucketFolder(bucket)

    def __str__(self) -> str:
        return str(self._folder)

    def read(self, name: str) -> bytes:
        return self._folder.read(name)

    def write(self, name: str, content: bytes) -> None:
        with open_upload(self._folder.bucket, name) as stream:
            stream.write(content)

    def make_spool(self) -> Path:
        return Path(tempfile.mkdtemp(prefix=SPOOL))

    def publish(self, path: Path, name: str) -> None:
        self._folder.put(path, name)

    def names(self) -> list[str]:
        return sorted(self._folder.files())

    def delete(self, names: list[str]) -> None:
        if names:
            self._folder.delete(names)


Folder = LocalFolder | ObjectFolder
