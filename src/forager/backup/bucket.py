"""Backups in a bucket: each has its own dump, list and manifest; the files they list are stored once for all of them.

    forager-20260116T020000Z/   database.dump, files.jsonl.gz, forager.toml, and manifest.json, which is sent last
    files/ab/cdef…              a stored file, named by its checksum

So a nightly backup sends only what is new, and a killed upload resumes: what arrived is not sent again, and without a
manifest nothing counts as a backup. Calls block and run in threads.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

from forager import clock
from forager.backup import archive as backup
from forager.backup import files as backup_files
from forager.backup.archive import DUMP, FILES, LIST, MANIFEST, NAME, SETTINGS, Backup
from forager.errors import NotFoundError, StoreError
from forager.storage.bucket_folder import BucketFolder
from forager.storage.files import make_folder
from forager.storage.upload import StoppedError, never

LOCK = ".bucket.lock"
AT_ONCE = 16
CHECKSUM = re.compile(r"[0-9a-f]{64}")
HALF_FOR_S = 86_400.0
"""How long something without a manifest may still be uploading."""
Listed = Mapping[str, tuple[int, str]]


def put(made: Backup, there: BucketFolder, name: str, *, is_stopped: Callable[[], bool] = never) -> int:
    """Uploads a backup; returns how many files were sent that were not there yet."""
    listed = backup_files.read_list(made.path / LIST)
    known = there.files(FILES)
    new = {key: made.path / FILES / path for key, (path, size) in _keys(listed).items() if not _is(known, key, size)}
    _for_each(new, lambda key: there.put(new[key], key, is_late=is_stopped), is_stopped)
    for own in (DUMP, LIST, SETTINGS):
        there.put(made.path / own, f"{name}/{own}", is_late=is_stopped)
    known = there.files(FILES)
    if lost := [key for key, (_, size) in _keys(listed).items() if not _is(known, key, size)]:
        raise StoreError(f"{there}/{lost[0]} is not there any more: somebody deletes in it. Make the backup again.")
    there.put(made.path / MANIFEST, f"{name}/{MANIFEST}")
    return len(new)


def list_backups(there: BucketFolder) -> list[Backup]:
    """Returns complete backups, oldest first."""
    found = []
    for name in _names(there, of=MANIFEST):
        with contextlib.suppress(NotFoundError, StoreError):
            found.append(read(there, name))
    return found


def read(there: BucketFolder, name: str) -> Backup:
    try:
        return backup.parse_manifest(there.read(f"{name}/{MANIFEST}"), Path(name), f"{there}/{name}")
    except StoreError as error:
        if error.reason != "missing":
            raise
    names = _names(there, of=MANIFEST)
    hint = f"the newest there is {names[-1]}" if names else f"there is none in {there}"
    raise NotFoundError(f"{there}/{name} is no backup: it has no {MANIFEST}; {hint}.")


def fetch(there: BucketFolder, name: str, into: Path, *, is_stopped: Callable[[], bool] = never) -> Backup:
    """Downloads a backup as a folder, to restore or verify it."""
    make_folder(into)
    for own in (LIST, DUMP, SETTINGS, MANIFEST):
        there.get(f"{name}/{own}", into / own)
    listed = backup_files.read_list(into / LIST)
    for path in listed:
        make_folder((into / FILES / path).parent)
    _for_each(listed, lambda path: there.get(_key(listed[path][1]), into / FILES / path), is_stopped)
    return backup.read(into)


def remove_old(there: BucketFolder, *, older_than_s: float) -> list[str]:
    """Removes older backups, never the newest; what killed uploads left; and files that no backup lists any more."""
    now, whole = clock.now(), _names(there, of=MANIFEST)
    old = [name for name in whole[:-1] if backup.stamp(name) < now - timedelta(seconds=older_than_s)]
    half_since = now - timedelta(seconds=HALF_FOR_S)
    others = [name for name in _names(there) if name not in whole and backup.stamp(name) < half_since]
    half = [name for name in others if there.files(name)]  # some servers list empty folders
    if old:
        there.delete([f"{name}/{MANIFEST}" for name in old])  # first, so that the rest does not look complete
    if old or half:
        there.delete([f"{name}/{own}" for name in (*old, *half) for own in (DUMP, LIST, SETTINGS)])
        _prune(there, [name for name in whole if name not in old])
    return old


def _prune(there: BucketFolder, names: Sequence[str]) -> None:
    needed = {key for name in names for key in _keys(_read_list(there, name))}
    if unneeded := [key for key in there.files(FILES) if key not in needed]:
        there.delete(unneeded)


def _read_list(there: BucketFolder, name: str) -> Listed:
    return backup_files.parse_file_list(there.read(f"{name}/{LIST}"))


def _names(there: BucketFolder, of: str | None = None) -> list[str]:
    """Returns the names of backups by date; complete ones have a manifest."""
    found = sorted(name for name in there.folders() if NAME.fullmatch(name))
    return [name for name in found if of is None or there.look(f"{name}/{of}") is not None]


def _keys(listed: Listed) -> dict[str, tuple[str, int]]:
    """Returns name in the bucket → a file with this content, and its size."""
    return {_key(checksum): (path, size) for path, (size, checksum) in listed.items()}


def _key(checksum: str) -> str:
    if not CHECKSUM.fullmatch(checksum):
        raise StoreError("The backup lists a file with a bad checksum: it is not one of ours.", "bad_name")
    return f"{FILES}/{checksum[:2]}/{checksum[2:]}"


def _is(known: Mapping[str, tuple[int, object]], key: str, size: int) -> bool:
    return key in known and known[key][0] == size


def _for_each(names: Iterable[str], work: Callable[[str], None], is_stopped: Callable[[], bool]) -> None:
    """Runs many transfers at once. The first error ends it: those under way finish, no more are started."""
    failed: list[BaseException] = []

    def one(name: str) -> None:
        if failed or is_stopped():
            return
        try:
            work(name)
        except BaseException as error:  # raised below, in the caller's thread
            failed.append(error)

    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="backup") as threads:
        for _ in threads.map(one, names):
            pass
    if failed:
        raise failed[0]
    if is_stopped():
        raise StoppedError
