"""Folders that live as long as one measurement."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def fresh_folder() -> Iterator[Path]:
    """Open to all users, because PostgreSQL refuses to run as root and needs to get to its data folder."""
    folder = Path(tempfile.mkdtemp(prefix="forager-bench-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
