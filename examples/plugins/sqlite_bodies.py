"""A plug-in that stores bodies and images in one SQLite file, instead of a file for each.

Copy it to the folder `plugins` of the data folder, and set `storage.bucket = "sqlite:/srv/bodies.db"`.
"""

import contextlib
import sqlite3
from datetime import UTC, datetime

import forager
from forager.plugins import Storage

TABLE = """
CREATE TABLE IF NOT EXISTS bodies (key TEXT PRIMARY KEY, content BLOB NOT NULL, used_at REAL NOT NULL) WITHOUT ROWID
"""


class SqliteLocation:
    def __init__(self, path):
        self._path = path
        with self._transaction() as file:
            file.execute(TABLE)

    @contextlib.contextmanager
    def _transaction(self):
        """Opens the file anew: several threads and processes use it at once."""
        with contextlib.closing(sqlite3.connect(self._path, timeout=20)) as file, file:
            yield file

    def put(self, items):
        now = datetime.now(UTC).timestamp()
        with self._transaction() as file:
            rows = [(key, content, now) for key, content in items.items()]
            file.executemany("INSERT OR REPLACE INTO bodies VALUES (?, ?, ?)", rows)

    def get(self, key, start=0, length=None):
        with self._transaction() as file:
            found = file.execute("SELECT content FROM bodies WHERE key = ?", (key,)).fetchone()
        if found is None:
            raise FileNotFoundError(key)
        return found[0][start:] if length is None else found[0][start : start + length]

    def size(self, key):
        return len(self.get(key))

    def confirm(self, keys):
        now = datetime.now(UTC).timestamp()
        with self._transaction() as file:
            update = "UPDATE bodies SET used_at = ? WHERE key = ?"
            return [key for key in keys if file.execute(update, (now, key)).rowcount]

    def delete(self, keys, *, unless_since):
        with self._transaction() as file:
            since = unless_since.timestamp()
            file.executemany("DELETE FROM bodies WHERE key = ? AND used_at < ?", [(key, since) for key in keys])
            exists = "SELECT 1 FROM bodies WHERE key = ?"
            return [key for key in keys if file.execute(exists, (key,)).fetchone() is None]

    def list(self, prefix=""):
        query = "SELECT key, length(content), used_at FROM bodies WHERE key GLOB ?"
        with self._transaction() as file:
            rows = file.execute(query, (f"{prefix}/*" if prefix else "*",)).fetchall()
        return [(key, size, datetime.fromtimestamp(used_at, UTC)) for key, size, used_at in rows]


@forager.hookimpl
def register_storage():
    return [Storage("sqlite", SqliteLocation)]
