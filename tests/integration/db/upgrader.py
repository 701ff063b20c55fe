"""A process that upgrades a database by the migrations of a folder, and may be killed."""

import asyncio
import sys
from pathlib import Path

from forager.db import migrate, migration_files

_, dsn, folder = sys.argv
migration_files.FOLDER = Path(folder)
asyncio.run(migrate.upgrade(dsn))
