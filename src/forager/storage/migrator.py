"""Uploads archive files to a bucket: they are written locally, where a file can grow, and moved when they are closed.

A record is durable locally before a task refers to it, so nothing is lost while the bucket is unavailable; files wait.
A local file is deleted only when the bucket confirms that it has all of it. A killed upload leaves no object, and the
next worker starts it again.
"""

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from forager import clock
from forager.errors import ConfigurationError, StoreError
from forager.logs import log
from forager.storage.bucket import Bucket
from forager.storage.objects import ARCHIVES
from forager.storage.plugin_location import PluginLocation
from forager.storage.upload import StoppedError, upload
from forager.storage.warc_file import INDEX

LOOK_EVERY_S = 5.0
REST_S = 30.0
"""Pause after an error."""
AT_THE_END_S = 60.0
"""A worker that stops moves its last file if that takes no longer; otherwise the next worker does."""


class WarcMover:
    def __init__(self, folder: Path, bucket: Bucket | PluginLocation) -> None:
        self._folder = folder
        self._bucket = bucket
        self._stop = threading.Event()
        self._until: float | None = None
        self._thread = threading.Thread(target=self._run, name="warc mover", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Moves the files that are closed by now, within a time limit."""
        self._until = clock.monotonic() + AT_THE_END_S
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            is_last = self._stop.is_set()
            is_fine = self.move_all()
            if is_last:
                return
            self._stop.wait(LOOK_EVERY_S if is_fine else REST_S)

    def move_all(self) -> bool:
        """Returns whether all closed files are in the bucket now, or are being moved by other workers."""
        try:
            if isinstance(self._bucket, PluginLocation) and not self._bucket.takes_files():
                return True
            for path in sorted(self._folder.glob("*.warc.gz")):
                self._move(path)
        except StoppedError:
            return False
        except (StoreError, ConfigurationError, OSError) as error:
            log().warning("archive files wait here", action="archive.waits", error=str(error))
            return False
        return True

    def _move(self, path: Path) -> None:
        with contextlib.suppress(FileNotFoundError, BlockingIOError), _locked(path):
            if not path.exists():
                return  # another worker was faster
            index = path.with_name(path.name + INDEX)
            if index.exists():
                self._upload(index)
            self._upload(path)
            index.unlink(missing_ok=True)
            path.unlink()
            log().info("archive file moved", action="archive.moved", file=path.name, to=str(self._bucket))

    def _upload(self, path: Path) -> None:
        if isinstance(self._bucket, Bucket):
            upload(self._bucket, path, ARCHIVES + path.name, is_late=self._is_late)
        elif self._is_late():
            raise StoppedError
        else:
            self._bucket.put_file(ARCHIVES + path.name, path)

    def _is_late(self) -> bool:
        return self._until is not None and clock.monotonic() > self._until


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Ensures that one worker moves the file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
