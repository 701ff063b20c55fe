"""PostgreSQL, embedded or external: opening it, its schema and migrations, and named SQL statements.

Holds no table's statements: those live with the table's owner.
"""

from forager.db import statements
from forager.db.cancelled import give_up_if_cancelled
from forager.db.database import Database, open_database
from forager.db.pool import CONNECTION_LOST, STATEMENT_FAILED

__all__ = [
    "CONNECTION_LOST",
    "STATEMENT_FAILED",
    "Database",
    "give_up_if_cancelled",
    "open_database",
    "statements",
]
