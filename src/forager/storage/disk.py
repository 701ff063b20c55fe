"""Free space on the disk where Forager keeps its files."""

import shutil
from dataclasses import dataclass

from forager.config.settings import Settings


@dataclass(frozen=True, slots=True)
class Disk:
    path: str
    free_bytes: int
    total_bytes: int


def read_disks(settings: Settings) -> tuple[Disk, ...]:
    """Returns the disk of the data folder; None if it cannot be determined."""
    try:
        usage = shutil.disk_usage(settings.home)
    except OSError:
        return ()
    return (Disk(str(settings.home), usage.free, usage.total),)
